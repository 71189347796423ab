/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * ring.h: the program's side of the rings that rover-abi.h describes. Every
 * access to a word that the kernel also touches is here, and carries the name
 * of its barrier: P1 to P6, whose partners are K1 to K6 in the module.
 */
#ifndef PROVIDER_RING_H
#define PROVIDER_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "lock.h"

/* A shared word as C11 wants it. The layout is the plain word's. */
#define rover_word(field)	((atomic_uint *)&(field))
#define rover_byte(field)	((const atomic_uchar *)&(field))

static_assert(sizeof(atomic_uint) == 4 && sizeof(atomic_uchar) == 1,
	      "atomics are plain words");

/**
 * struct rover_ring - a mapped ring
 * @hdr: first page; NULL when the queue does not exist
 * @slots: entries
 * @entries: power of two
 * @stride: bytes of an entry
 * @size: of the mapping
 */
struct rover_ring {
	struct rover_ring_hdr *hdr;
	char *slots;
	uint32_t entries;
	uint32_t stride;
	size_t size;
};

/**
 * struct rover_queue - a queue of work requests, which the program fills
 * @ring: what is shared
 * @tail: index after the last entry given to the kernel
 * @head: index of the oldest entry not retired, as last seen
 * @cap: most entries outstanding: max_send_wr or max_recv_wr as granted
 * @max_sge: gather or scatter entries, as granted
 * @lock: serialises posting
 */
struct rover_queue {
	struct rover_ring ring;
	uint32_t tail;
	uint32_t head;
	uint32_t cap;
	uint32_t max_sge;
	struct rover_lock lock;
};

/**
 * rover_ring_map() - map a ring the kernel has described
 * @ring: to be filled in
 * @fd: of the context
 * @desc: the description; 0 entries make an empty ring without a mapping
 * @stride: bytes that an entry must have room for
 *
 * Return: 0 or a negative errno; -EPROTO when the description makes no sense.
 */
int rover_ring_map(struct rover_ring *ring, int fd,
		   const struct rover_uapi_ring *desc, size_t stride);

/**
 * rover_queue_map() - the same for a queue that the program fills
 * @q: its ring, @cap and @max_sge are to be filled in
 * @fd: of the context
 * @desc: the description; 0 entries make a queue that takes nothing
 * @cap: most entries outstanding, as granted
 * @max_sge: gather or scatter entries, as granted
 * @stride: bytes that an entry must have room for
 *
 * Return: as rover_ring_map(); after an error a ring may be mapped.
 */
int rover_queue_map(struct rover_queue *q, int fd,
		    const struct rover_uapi_ring *desc, uint32_t cap,
		    uint32_t max_sge, size_t stride);

/**
 * rover_ring_unmap() - undo rover_ring_map(); an empty ring is fine
 * @ring: not used by any thread any more
 */
void rover_ring_unmap(struct rover_ring *ring);

static inline void *rover_slot(const struct rover_ring *ring, uint32_t index)
{
	return ring->slots + (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/**
 * rover_queue_full() - is there no room for one more entry?
 * @q: locked
 * @tail: index the entry would get; ahead of @q->tail while a list is posted
 *
 * The kernel's word is read only when the last one seen does not suffice.
 */
static inline bool rover_queue_full(struct rover_queue *q, uint32_t tail)
{
	if (tail - q->head < q->cap)
		return false;
	if (!q->ring.hdr)
		return true;
	/* P3, pairs with K3: a slot seen retired is no longer read. */
	q->head = atomic_load_explicit(rover_word(q->ring.hdr->head),
				       memory_order_acquire);
	return tail - q->head >= q->cap;
}

/**
 * rover_queue_publish() - give what was written to the kernel
 * @q: locked
 * @tail: index after the last entry written
 */
static inline void rover_queue_publish(struct rover_queue *q, uint32_t tail)
{
	q->tail = tail;
	/* P1, pairs with K1: a tail seen means the entries before it seen. */
	atomic_store_explicit(rover_word(q->ring.hdr->tail), tail,
			      memory_order_release);
}

/* Does the kernel wait for receives, and for no more than there are by now? */
static inline bool rover_ring_awaited(const struct rover_ring *ring)
{
	uint32_t tail, want;

	if (!atomic_load_explicit(rover_word(ring->hdr->waits), memory_order_acquire))
		return false;
	want = atomic_load_explicit(rover_word(ring->hdr->waits_for), memory_order_relaxed);
	tail = atomic_load_explicit(rover_word(ring->hdr->tail), memory_order_relaxed);
	return (int32_t)(tail - want) >= 0;
}

/**
 * rover_queue_asleep() - has the kernel to be told of what was just published?
 * @q: published; need not be locked any more
 */
static inline bool rover_queue_asleep(struct rover_queue *q)
{
	/*
	 * P2 and P7, pair with K2 and K7: either the kernel sees the tail or we see
	 * that it has gone to sleep, or waits.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(rover_word(q->ring.hdr->flags),
				    memory_order_relaxed) &
	       ROVER_RING_NEED_WAKEUP || rover_ring_awaited(&q->ring);
}

/**
 * rover_queue_restart() - forget what is posted: the queue pair was reset
 * @q: of a queue pair in RESET, which the kernel does not look at; its lock may
 *	be kept from an earlier call of this thread
 */
static inline void rover_queue_restart(struct rover_queue *q)
{
	if (!q->ring.hdr)
		return;
	rover_lock_nested(&q->lock);
	q->head = atomic_load_explicit(rover_word(q->ring.hdr->head),
				       memory_order_acquire);
	rover_queue_publish(q, q->head);
	rover_unlock_nested(&q->lock);
}

/**
 * rover_ring_completion() - the completion at an index
 * @ring: completion ring
 * @index: free-running
 *
 * Return: the completion, or NULL when it is still to come.
 */
static inline const struct rover_cqe *
rover_ring_completion(const struct rover_ring *ring, uint32_t index)
{
	const struct rover_cqe *cqe = rover_slot(ring, index);
	uint8_t lap = !(index & ring->entries);

	/* P4, pairs with K4: a phase seen means a completion seen. */
	if ((atomic_load_explicit(rover_byte(cqe->phase),
				  memory_order_acquire) & 1) != lap)
		return NULL;
	return cqe;
}

/**
 * rover_ring_consume() - give completions back to the kernel
 * @ring: completion ring
 * @head: index of the first completion not yet read
 */
static inline void rover_ring_consume(struct rover_ring *ring, uint32_t head)
{
	/* P5, pairs with K5: a slot seen free has been read. */
	atomic_store_explicit(rover_word(ring->hdr->head), head,
			      memory_order_release);
}

/**
 * rover_ring_arm() - ask for an event
 * @ring: completion ring
 * @arm: new arm word
 */
static inline void rover_ring_arm(struct rover_ring *ring, uint32_t arm)
{
	atomic_store_explicit(rover_word(ring->hdr->arm), arm,
			      memory_order_relaxed);
	/*
	 * P6, pairs with K6: the poll that follows finds the completion or the
	 * kernel finds the arm word.
	 */
	atomic_thread_fence(memory_order_seq_cst);
}

static inline bool rover_ring_dead(const struct rover_ring *ring)
{
	return atomic_load_explicit(rover_word(ring->hdr->flags),
				    memory_order_acquire) & ROVER_RING_DEAD;
}

#endif /* PROVIDER_RING_H */
