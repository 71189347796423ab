/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * lock.h: the lock of a queue. A spinlock for what takes a moment, which can
 * also be held by a program between two calls, and be closed for a system call.
 */
#ifndef PROVIDER_LOCK_H
#define PROVIDER_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct rover_lock - the lock of a queue
 * @spin: held for as long as the lock is, but not while it is closed
 * @single: one thread uses the queue: nothing is locked
 * @closed: futex: 1 while a system call changes the queue
 * @holder: thread that holds the lock between two calls of its program, or 0
 */
struct rover_lock {
	pthread_spinlock_t spin;
	bool single;
	atomic_uint closed;
	atomic_uintptr_t holder;
};

/* Sleeps until the lock is open. Called with @spin held, and returns so. */
void rover_lock_wait(struct rover_lock *lock);

static inline void rover_lock_init(struct rover_lock *lock, bool single)
{
	pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
	lock->single = single;
	atomic_init(&lock->closed, 0);
	atomic_init(&lock->holder, 0);
}

static inline void rover_lock_destroy(struct rover_lock *lock)
{
	pthread_spin_destroy(&lock->spin);
}

static inline void rover_lock(struct rover_lock *lock)
{
	if (lock->single)
		return;
	pthread_spin_lock(&lock->spin);
	if (atomic_load_explicit(&lock->closed, memory_order_relaxed))
		rover_lock_wait(lock);
}

static inline void rover_unlock(struct rover_lock *lock)
{
	if (!lock->single)
		pthread_spin_unlock(&lock->spin);
}

/**
 * rover_lock_hold() - take a lock that is kept until a later call
 * @lock: not held by this thread
 */
static inline void rover_lock_hold(struct rover_lock *lock)
{
	rover_lock(lock);
	atomic_store_explicit(&lock->holder, (uintptr_t)pthread_self(),
			      memory_order_relaxed);
}

/**
 * rover_lock_release() - undo rover_lock_hold()
 * @lock: held by this thread
 */
static inline void rover_lock_release(struct rover_lock *lock)
{
	atomic_store_explicit(&lock->holder, 0, memory_order_relaxed);
	rover_unlock(lock);
}

/**
 * rover_lock_held() - is this lock kept from an earlier call of this thread?
 * @lock: may be held by anybody
 *
 * What another thread writes there meanwhile is never this thread's number.
 */
static inline bool rover_lock_held(struct rover_lock *lock)
{
	return atomic_load_explicit(&lock->holder, memory_order_relaxed) ==
	       (uintptr_t)pthread_self();
}

/* For verbs that a program may call while it holds the lock itself. */
static inline void rover_lock_nested(struct rover_lock *lock)
{
	if (!rover_lock_held(lock))
		rover_lock(lock);
}

static inline void rover_unlock_nested(struct rover_lock *lock)
{
	if (!rover_lock_held(lock))
		rover_unlock(lock);
}

/**
 * rover_lock_close() - keep others away without spinning
 * @lock: may be kept from an earlier call of this thread
 *
 * For a system call that changes the queue: those that come meanwhile sleep.
 */
void rover_lock_close(struct rover_lock *lock);

/**
 * rover_lock_open() - undo rover_lock_close()
 * @lock: closed by this thread, which keeps it if it did before
 */
void rover_lock_open(struct rover_lock *lock);

#endif /* PROVIDER_LOCK_H */
