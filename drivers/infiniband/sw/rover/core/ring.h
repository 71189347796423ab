/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring - queues shared with userspace
 *
 * See rover-abi.h for writers and barriers.  User memory is not trusted: the
 * kernel's indices are in struct rover_ring.  Callers hold the owner's lock:
 * tx_lock, rx_lock or that of the CQ.
 */
#ifndef ROVER_RING_H
#define ROVER_RING_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rover-abi.h>

struct rover_pages;

/**
 * struct rover_ring - the kernel's side of a ring
 * @hdr: shared with userspace
 * @slots: shared with userspace
 * @pages: may outlive the ring while mapped
 * @mask: entries - 1
 * @stride: bytes of an entry
 * @limit: maximum of outstanding entries, as requested
 * @head: consumer index of send and receive rings
 * @tail: producer index of completion rings and kernel-owned rings
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
 * rover_ring_create() - allocate a ring, charged to the memory cgroup
 * @ring: filled in
 * @ucontext: will map it; NULL for a kernel user
 * @entries: rounded up to a power of two
 * @stride: bytes of an entry; rounded up to a multiple of 64
 * @uapi: describes the mapping; NULL for a kernel user
 * Context: may sleep.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int rover_ring_create(struct rover_ring *ring, struct ib_ucontext *ucontext,
		      u32 entries, u32 stride, struct rover_uapi_ring *uapi);

/**
 * rover_ring_init_absent() - make a ring that is always empty and full
 * @ring: of an absent queue; needs no destruction
 */
void rover_ring_init_absent(struct rover_ring *ring);

/**
 * rover_ring_destroy() - free a ring
 * @ring: unused in the kernel; may be all zero; mapped pages stay
 * Context: may sleep.
 */
void rover_ring_destroy(struct rover_ring *ring);

/**
 * rover_ring_slot() - return the address of an entry
 * @ring: any
 * @index: free-running
 */
static inline void *rover_ring_slot(const struct rover_ring *ring, u32 index)
{
	return ring->slots + (size_t)(index & ring->mask) * ring->stride;
}

/**
 * rover_ring_posted() - count entries to consume
 * @ring: consumed by the kernel
 * @from: next index to consume; may be ahead of @ring->head
 * Return: -1 if userspace wrote an invalid index.
 */
static inline int rover_ring_posted(const struct rover_ring *ring, u32 from)
{
	/* K1.  Pairs with P1: WQEs before the tail are visible. */
	u32 tail = smp_load_acquire(&ring->hdr->tail);

	if (unlikely(tail - ring->head > ring->mask + 1 ||
		     tail - ring->head < from - ring->head))
		return -1;
	return tail - from;
}

/**
 * rover_ring_retire() - give slots back to the producer
 * @ring: consumed by the kernel
 * @n: number of slots
 */
static inline void rover_ring_retire(struct rover_ring *ring, u32 n)
{
	ring->head += n;
	/* K3.  Pairs with P3: the slots are no longer read. */
	smp_store_release(&ring->hdr->head, ring->head);
}

/**
 * rover_ring_flag() - set a flag for userspace
 * @ring: any
 * @flag: ROVER_RING_*
 */
static inline void rover_ring_flag(struct rover_ring *ring, u32 flag)
{
	WRITE_ONCE(ring->hdr->flags, READ_ONCE(ring->hdr->flags) | flag);
	/* K2.  Pairs with P2: the caller sees a new tail, or P2 the flag. */
	smp_mb();
}

/**
 * rover_ring_unflag() - clear a flag
 * @ring: any
 * @flag: ROVER_RING_*
 */
static inline void rover_ring_unflag(struct rover_ring *ring, u32 flag)
{
	WRITE_ONCE(ring->hdr->flags, READ_ONCE(ring->hdr->flags) & ~flag);
}

/**
 * rover_ring_watch() - ask the producer for a notification
 * @ring: receive ring
 * @tail: index to notify at; the caller then tests for it
 */
static inline void rover_ring_watch(struct rover_ring *ring, u32 tail)
{
	WRITE_ONCE(ring->hdr->waits_for, tail);
	/* K7.  Pairs with P7: waits_for is visible before waits. */
	smp_store_release(&ring->hdr->waits, 1);
	/* K7.  Pairs with P7: the caller sees a new tail, or P7 sees waits. */
	smp_mb();
}

/**
 * rover_ring_unwatch() - end rover_ring_watch()
 * @ring: any
 */
static inline void rover_ring_unwatch(struct rover_ring *ring)
{
	WRITE_ONCE(ring->hdr->waits, 0);
}

/**
 * rover_ring_wait_met() - test whether a notification is due
 * @ring: kernel-owned; its tail is published with a full barrier (P7)
 */
static inline bool rover_ring_wait_met(const struct rover_ring *ring)
{
	/* P7.  Pairs with K7 in rover_ring_watch(): waits_for is visible. */
	return smp_load_acquire(&ring->hdr->waits) &&
	       (s32)(READ_ONCE(ring->tail) - READ_ONCE(ring->hdr->waits_for)) >= 0;
}

#endif /* ROVER_RING_H */
