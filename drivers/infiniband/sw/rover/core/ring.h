/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring - queues that a program and the kernel share
 *
 * Memory and indices of the rings of rover-abi.h, which explains who
 * writes what and names every barrier.  User memory is never trusted here: the
 * indices the kernel owns live in struct rover_ring, outside of the mapping.
 * Locking is the owner's (tx_lock, rx_lock or the CQ's).
 */
#ifndef ROVER_RING_H
#define ROVER_RING_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rover-abi.h>

struct rover_pages;

/**
 * struct rover_ring - the kernel's side of a ring
 * @hdr: first page, shared with the program
 * @slots: entries, shared with the program
 * @pages: what it is made of; outlive us while a program maps them
 * @mask: entries - 1
 * @stride: bytes of an entry
 * @limit: most entries that may be outstanding: what the user asked for
 * @head: consumer index where the kernel consumes (send, receive)
 * @tail: producer index where the kernel produces (completions), and in
 *	kernel-owned send and receive rings what was posted
 */
struct rover_ring {
	struct rover_ring_hdr *hdr;
	void *slots;
	struct rover_pages *pages;
	u32 mask;
	u32 stride;
	u32 limit;
	u32 head;
	u32 tail;
};

/**
 * rover_ring_create() - allocate a ring
 * @ring: to be filled in
 * @ucontext: of the program that will map it; NULL for kernel users
 * @entries: wanted; rounded up to a power of two
 * @stride: bytes of an entry, rounded up to a multiple of 64 (a power of two
 *	is not needed)
 * @uapi: where to describe the mapping; NULL for kernel users
 *
 * The memory is charged to the caller's memory cgroup.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL for absurd sizes, -ENOMEM.
 */
int rover_ring_create(struct rover_ring *ring, struct ib_ucontext *ucontext,
		      u32 entries, u32 stride, struct rover_uapi_ring *uapi);

/**
 * rover_ring_init_absent() - a ring that is always empty and always full
 * @ring: to be filled in; needs no destruction
 *
 * For a queue that does not exist, where every other has one.
 */
void rover_ring_init_absent(struct rover_ring *ring);

/**
 * rover_ring_destroy() - let go of a ring
 * @ring: nobody in the kernel uses it any more; all zero is fine
 *
 * Pages that a program has mapped stay until it unmaps them.
 *
 * Context: may sleep.
 */
void rover_ring_destroy(struct rover_ring *ring);

/**
 * rover_ring_slot() - where an entry is
 * @ring: any
 * @index: free-running; masked here
 */
static inline void *rover_ring_slot(const struct rover_ring *ring, u32 index)
{
	return ring->slots + (size_t)(index & ring->mask) * ring->stride;
}

/**
 * rover_ring_posted() - entries that may be consumed
 * @ring: the kernel consumes it
 * @from: next index the caller would consume; may be ahead of @ring->head
 *
 * Barrier K1.  An index out of range is the program's error.
 *
 * Return: how many, or -1 when the producer index is nonsense.
 */
static inline int rover_ring_posted(const struct rover_ring *ring, u32 from)
{
	/* K1 */
	u32 tail = smp_load_acquire(&ring->hdr->tail);

	if (unlikely(tail - ring->head > ring->mask + 1 ||
		     tail - ring->head < from - ring->head))
		return -1;
	return tail - from;
}

/**
 * rover_ring_retire() - give consumed slots back to the producer
 * @ring: the kernel consumes it
 * @n: slots, oldest first
 *
 * Barrier K3.
 */
static inline void rover_ring_retire(struct rover_ring *ring, u32 n)
{
	ring->head += n;
	/* K3 */
	smp_store_release(&ring->hdr->head, ring->head);
}

/**
 * rover_ring_flag() - tell the program something
 * @ring: any
 * @flag: ROVER_RING_*
 *
 * Followed by a full barrier: K2.
 */
static inline void rover_ring_flag(struct rover_ring *ring, u32 flag)
{
	WRITE_ONCE(ring->hdr->flags, READ_ONCE(ring->hdr->flags) | flag);
	/* K2 */
	smp_mb();
}

/**
 * rover_ring_unflag() - take that back
 * @ring: any
 * @flag: ROVER_RING_*
 */
static inline void rover_ring_unflag(struct rover_ring *ring, u32 flag)
{
	WRITE_ONCE(ring->hdr->flags, READ_ONCE(ring->hdr->flags) & ~flag);
}

/**
 * rover_ring_watch() - ask to be told when there is more to consume
 * @ring: of receives; the kernel consumes it
 * @tail: where the producer is to come
 *
 * Barrier K7: the caller then looks whether it is there.
 */
static inline void rover_ring_watch(struct rover_ring *ring, u32 tail)
{
	WRITE_ONCE(ring->hdr->waits_for, tail);
	/* K7 */
	smp_store_release(&ring->hdr->waits, 1);
	/* And so that the tail is looked at after this. */
	smp_mb();
}

/**
 * rover_ring_unwatch() - no more need to tell
 * @ring: any
 */
static inline void rover_ring_unwatch(struct rover_ring *ring)
{
	WRITE_ONCE(ring->hdr->waits, 0);
}

/**
 * rover_ring_wait_met() - has the producer posted what the kernel asked for?
 * @ring: of the kernel's own, both ends; published, with a full barrier (P7)
 */
static inline bool rover_ring_wait_met(const struct rover_ring *ring)
{
	/* P7 */
	return smp_load_acquire(&ring->hdr->waits) &&
	       (s32)(READ_ONCE(ring->tail) - READ_ONCE(ring->hdr->waits_for)) >= 0;
}

#endif /* ROVER_RING_H */
