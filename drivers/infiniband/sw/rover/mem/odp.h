/* SPDX-License-Identifier: GPL-2.0 */
/*
 * odp - on-demand paging: user pages that are not pinned
 *
 * Leaves of 2 MiB of user addresses record where pages are.  An access locks
 * the leaf with softirqs off, for at most the copy of a page; the kernel waits
 * for this lock before it takes the page:
 *
 *	access				kernel (MMU notifier)
 *	lock the leaf			lock the leaf
 *	look up the page		forget the page
 *	use it				unlock the leaf
 *	unlock the leaf			unmap, move, or share the page
 *
 * A thread pages in absent pages on request, then tells the request's owner.
 * Sleepable callers use rover_odp_prefetch().
 *
 * Packets may point to a page after the access: see sgl_may_zcopy().
 */
#ifndef ROVER_ODP_H
#define ROVER_ODP_H

#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core/dev.h"
#include "wire/fault.h"

struct rover_odp;
struct rover_leaf;

/* Counters, in pages. */
enum rover_odp_count {
	ROVER_ODP_FAULTS,		/* paged in on request */
	ROVER_ODP_INVALIDATIONS,
	ROVER_ODP_PREFETCHES,		/* paged in on advice */
	ROVER_ODP_COUNTS
};

/* enum rover_stat of each counter. */
extern const u8 rover_odp_stats[ROVER_ODP_COUNTS];

enum rover_odp_want {
	ROVER_ODP_PRESENT,	/* only pages mapped now */
	ROVER_ODP_READ,
	ROVER_ODP_WRITE,
};

enum rover_pagein_state {
	ROVER_PAGEIN_IDLE,
	ROVER_PAGEIN_PENDING,
	ROVER_PAGEIN_DONE,	/* access again */
	ROVER_PAGEIN_FAILED,
};

/**
 * struct rover_pagein - page-in request, embedded in its owner
 * @work: runs the page-in
 * @done: called afterwards in process context; owns a reference of @refs
 * @refs: owner's reference count
 * @odp: memory; referenced while pending
 * @id: rover_odp.id of @odp
 * @va: first user address
 * @pages: pages wanted; the first is required
 * @write: for writing
 * @state: enum rover_pagein_state; under the owner's lock, except that the
 *	thread ends ROVER_PAGEIN_PENDING
 */
struct rover_pagein {
	struct work_struct work;
	void (*done)(struct rover_pagein *pagein);
	refcount_t *refs;
	struct rover_odp *odp;
	u64 id;
	unsigned long va;
	u16 pages;
	bool write;
	u8 state;
};

/**
 * rover_pagein_init() - initialise a request
 * @pagein: zeroed
 * @refs: owner's reference count
 * @done: see struct rover_pagein
 */
void rover_pagein_init(struct rover_pagein *pagein, refcount_t *refs,
		       void (*done)(struct rover_pagein *pagein));

static inline bool rover_pagein_pending(const struct rover_pagein *pagein)
{
	/* Pairs with odp_pagein_work() in odp.c: its effects are visible. */
	return smp_load_acquire(&pagein->state) == ROVER_PAGEIN_PENDING;
}

/**
 * rover_pagein_reset() - discard a result
 * @pagein: pending or not; owner's lock held
 */
static inline void rover_pagein_reset(struct rover_pagein *pagein)
{
	if (!rover_pagein_pending(pagein))
		pagein->state = ROVER_PAGEIN_IDLE;
}

/**
 * rover_odp_new() - create ODP memory of the calling process
 * @dev: device that counts
 * Context: process, the owner.
 * Return: memory for one region; NULL if out of memory.
 */
struct rover_odp *rover_odp_new(struct rover_dev *dev);

/**
 * rover_odp_share() - add a region to ODP memory
 * @odp: of a region
 */
struct rover_odp *rover_odp_share(struct rover_odp *odp);

/**
 * rover_odp_close() - remove a region from ODP memory
 * @odp: unused by it
 *
 * Does not wait for page-ins.
 * Context: may sleep.
 */
void rover_odp_close(struct rover_odp *odp);

/**
 * rover_odp_enter() - find a page and lock its leaf
 * @odp: of a region in use
 * @va: user address
 * @write: to be written
 * @entered: result, for rover_odp_leave()
 * Context: softirqs off; one page at a time.
 * Return: NULL if absent, or not writable when needed.
 */
struct page *rover_odp_enter(struct rover_odp *odp, u64 va, bool write,
			     struct rover_leaf **entered);

/**
 * rover_odp_leave() - unlock a leaf
 * @leaf: of rover_odp_enter()
 */
void rover_odp_leave(struct rover_leaf *leaf);

/**
 * rover_odp_pagein() - request a page-in
 * @odp: of a region in use
 * @pagein: request, pending or not
 * @va: user address of the missing byte
 * @len: bytes wanted in all, not 0
 * @write: for writing
 * Context: lock of @pagein's owner held.
 * Return: PAGE: @pagein is pending, for these pages or others; retry when done.
 * MEMORY: this page-in has failed.
 */
enum rover_fault rover_odp_pagein(struct rover_odp *odp,
				  struct rover_pagein *pagein, u64 va, u64 len,
				  bool write);

/**
 * rover_odp_prefetch() - page in now
 * @odp: of a region in use, or referenced
 * @va: first user address
 * @len: bytes
 * @want: access to page in for
 * Context: any process; sleeps.
 * Return: 0; -EFAULT, -EPERM as of a user page fault; -ENOMEM; -EBUSY if
 * invalidated all the time; -ECANCELED without regions; -EINTR if killed.
 */
int rover_odp_prefetch(struct rover_odp *odp, u64 va, u64 len,
		       enum rover_odp_want want);

/**
 * rover_odp_queue_advice() - run work that prefetches, on a thread of the process
 * @odp: referenced
 * @work: not queued
 * Context: any.
 */
void rover_odp_queue_advice(struct rover_odp *odp, struct work_struct *work);

/* For use after the regions; process context. */
struct rover_odp *rover_odp_get(struct rover_odp *odp);
void rover_odp_put(struct rover_odp *odp);

/**
 * rover_odp_read() - read a counter
 * @odp: of a region
 * @count: counter
 */
u64 rover_odp_read(const struct rover_odp *odp, enum rover_odp_count count);

#endif /* ROVER_ODP_H */
