/* SPDX-License-Identifier: GPL-2.0 */
/*
 * odp - memory on demand: a program's pages, while the program has them there
 *
 * Nothing is pinned.  Where the pages of a program are is kept in leaves, each
 * for 2 MiB of its addresses, made when one of them is first wanted.  Whoever
 * moves bytes enters a page and leaves it again, with softirqs off, and for so
 * short that the kernel waits for him when it takes the page away:
 *
 *	who moves bytes			the kernel (mmu notifier)
 *	lock the leaf			lock the leaf
 *	look the page up		forget the page, whoever wants it later
 *	use it				has to ask for it anew
 *	unlock the leaf			unlock the leaf
 *					unmap, move, or share the page
 *
 * A page that is not there is demanded: a thread brings it in, as a fault of the
 * program's own would, and then tells who waits.  One who may sleep brings it in
 * himself (prefetch).
 *
 * What only is to be read may be held by a reference beyond all this: it is then
 * what it was when it was entered.
 */
#ifndef ROVER_ODP_H
#define ROVER_ODP_H

#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core/dev.h"
#include "wire/fault.h"

struct rover_odp;
struct rover_leaf;

/* What is counted, in pages. */
enum rover_odp_count {
	ROVER_ODP_FAULTS,		/* brought in because somebody waited */
	ROVER_ODP_INVALIDATIONS,	/* taken away */
	ROVER_ODP_PREFETCHES,		/* brought in because a program said so */
	ROVER_ODP_COUNTS
};

/* The device's counters of the same, enum rover_stat; they have the names. */
extern const u8 rover_odp_stats[ROVER_ODP_COUNTS];

/* How pages are wanted. */
enum rover_odp_want {
	ROVER_ODP_PRESENT,	/* only those that the program has there now */
	ROVER_ODP_READ,
	ROVER_ODP_WRITE,
};

enum rover_demand_state {
	ROVER_DEMAND_IDLE,
	ROVER_DEMAND_WAITS,	/* for the thread */
	ROVER_DEMAND_DONE,	/* the thread has done what it could */
	ROVER_DEMAND_FAILED,	/* it could not: the memory cannot be had */
};

/**
 * struct rover_demand - somebody who waits for memory, embedded in him
 * @work: brings it in
 * @met: called when that is over, in process context; it has the reference
 *	to the owner that was taken with the demand
 * @refs: the owner's
 * @odp: where it is wanted; referenced while the demand waits
 * @id: of @odp, to know it again
 * @va: first byte, an address of the program
 * @pages: as many are wanted together, the first one most of all
 * @write: to be written to
 * @state: enum rover_demand_state; of the owner's lock, but that the thread ends
 *	ROVER_DEMAND_WAITS
 */
struct rover_demand {
	struct work_struct work;
	void (*done)(struct rover_demand *demand);
	refcount_t *refs;
	struct rover_odp *odp;
	u64 id;
	unsigned long va;
	u16 pages;
	bool write;
	u8 state;
};

/**
 * rover_demand_init() - an owner that may wait
 * @demand: zeroed
 * @refs: the owner's references
 * @met: see there
 */
void rover_demand_init(struct rover_demand *demand, refcount_t *refs,
		       void (*done)(struct rover_demand *demand));

/* Has it been asked for and is not there yet?  What was done to it is seen. */
static inline bool rover_demand_waits(const struct rover_demand *demand)
{
	/* Pairs with the release in odp.c. */
	return smp_load_acquire(&demand->state) == ROVER_DEMAND_WAITS;
}

/**
 * rover_demand_reset() - nobody wants to know how it ended
 * @demand: whether it waits or not; the owner's lock held
 */
static inline void rover_demand_reset(struct rover_demand *demand)
{
	if (!rover_demand_waits(demand))
		demand->state = ROVER_DEMAND_IDLE;
}

/**
 * rover_odp_new() - the memory of the program that calls
 * @dev: device, for its counters
 *
 * Context: process, of the program.
 * Return: for one region; NULL without memory.
 */
struct rover_odp *rover_odp_new(struct rover_dev *dev);

/**
 * rover_odp_share() - the same for one more region
 * @odp: of a region
 */
struct rover_odp *rover_odp_share(struct rover_odp *odp);

/**
 * rover_odp_close() - and one less
 * @odp: not used by that region any more
 *
 * What is still being brought in for the last one is brought in for nobody, and
 * is not waited for.
 *
 * Context: may sleep.
 */
void rover_odp_close(struct rover_odp *odp);

/**
 * rover_odp_enter() - a page, which stays until it is left
 * @odp: of a region in use
 * @va: an address of the program
 * @write: it is going to be written to
 * @in: where to put what to leave
 *
 * Context: softirqs off; may be in one page at a time.
 * Return: NULL when it is not there, or not so that it may be written to.
 */
struct page *rover_odp_enter(struct rover_odp *odp, u64 va, bool write,
			     struct rover_leaf **entered);

/**
 * rover_odp_leave() - the kernel may take it from now on
 * @in: as rover_odp_enter() left it
 */
void rover_odp_leave(struct rover_leaf *leaf);

/**
 * rover_odp_demand() - see to it that memory comes
 * @odp: of a region in use
 * @demand: who wants it; one thing at a time
 * @va: the byte that is not there
 * @len: and so many in all are wanted, not 0
 * @write: to be written to
 *
 * Context: the lock of the demand's owner held; does not sleep.
 * Return: ROVER_FAULT_PAGE: @met will be called, then look again (at once or
 * after what was asked for before); ROVER_FAULT_MEMORY: it was asked for, and
 * cannot be had.
 */
enum rover_fault rover_odp_demand(struct rover_odp *odp,
				  struct rover_demand *demand, u64 va, u64 len,
				  bool write);

/**
 * rover_odp_prefetch() - bring memory in now
 * @odp: of a region in use, or referenced
 * @va: first byte, an address of the program
 * @len: bytes
 * @want: how
 *
 * Context: process, of anybody; sleeps.
 * Return: 0; -EFAULT, -EPERM as a fault of the program would have it; -ENOMEM;
 * -EBUSY when it goes faster than it comes; -ECANCELED when no region wants it
 * any more; -EINTR when the caller has been killed.
 */
int rover_odp_prefetch(struct rover_odp *odp, u64 va, u64 len,
		       enum rover_odp_want want);

/* A reference for who may need it longer than the region; process context. */
struct rover_odp *rover_odp_get(struct rover_odp *odp);
void rover_odp_put(struct rover_odp *odp);

/**
 * rover_odp_read() - how often it happened
 * @odp: of a region
 * @count: what
 */
u64 rover_odp_read(const struct rover_odp *odp, enum rover_odp_count count);

#endif /* ROVER_ODP_H */
