// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * lock.c: what the lock of a queue does when it has to sleep.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

static void futex(atomic_uint *word, int op, unsigned int value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void rover_lock_wait(struct rover_lock *lock)
{
	while (atomic_load_explicit(&lock->closed, memory_order_relaxed)) {
		pthread_spin_unlock(&lock->spin);
		futex(&lock->closed, FUTEX_WAIT, 1);
		pthread_spin_lock(&lock->spin);
	}
}

void rover_lock_close(struct rover_lock *lock)
{
	if (lock->single)
		return;
	rover_lock_nested(lock);
	atomic_store_explicit(&lock->closed, 1, memory_order_relaxed);
	pthread_spin_unlock(&lock->spin);
}

void rover_lock_open(struct rover_lock *lock)
{
	if (lock->single)
		return;
	pthread_spin_lock(&lock->spin);
	atomic_store_explicit(&lock->closed, 0, memory_order_relaxed);
	rover_unlock_nested(lock);
	futex(&lock->closed, FUTEX_WAKE, INT32_MAX);
}
