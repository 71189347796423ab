/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srq - shared receive queues
 *
 * Lifetime: the core refuses destroy while queue pairs use the SRQ, and
 * destroyed queue pairs take no receives.  Restrack of old cores may still read
 * the struct, not the ring.  An XRC SRQ is found under RCU: destroy waits for a
 * grace period.
 */
#ifndef ROVER_SRQ_H
#define ROVER_SRQ_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "core/ring.h"
#include "core/table.h"
#include "wire/fault.h"

/**
 * struct rover_srq - shared receive queue
 * @ib: core object
 * @obj: XRC: number
 * @xrcd: XRC: domain, compare only
 * @cq: XRC: CQ of its receives
 * @gen: XRC: unique, unlike the number
 * @user: mapped by userspace
 * @max_sge: entries of a receive
 * @lock: protects @ring to @dead; inside of rx_lock, softirqs off
 * @ring: receives
 * @limit: raise SRQ_LIMIT_REACHED once below; 0 for never
 * @limit_head: @ring.head at that event; the next event needs another head, or
 *	userspace could flood the core's event list
 * @dead: the ring is corrupt; no receive is taken
 * @post: serialises posts of kernel users; protects the tail of @ring, and
 *	@ring with @lock; leaf inside of @lock, interrupts off
 * @ctl: serialises modify; outermost
 */
struct rover_srq {
	struct ib_srq ib;
	struct rover_obj obj;
	const void *xrcd;
	struct rover_cq *cq;
	u64 gen;
	bool user;
	u8 max_sge;
	spinlock_t lock;
	struct rover_ring ring;
	u32 limit;
	u32 limit_head;
	bool dead;
	spinlock_t post;
	struct mutex ctl;
};

static inline struct rover_srq *rover_srq(struct ib_srq *ib)
{
	return container_of(ib, struct rover_srq, ib);
}

/* ib_device_ops */
int rover_srq_create(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int rover_srq_modify(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int rover_srq_query(struct ib_srq *ib, struct ib_srq_attr *attr);
int rover_srq_destroy(struct ib_srq *ib, struct ib_udata *udata);

/**
 * rover_srq_take() - take the oldest receive
 * @srq: of a queue pair
 * @need: bytes it must hold; otherwise it stays
 * @wqe: filled with the head
 * @sge: filled with the entries
 *
 * Raises SRQ_LIMIT_REACHED below the limit, and SRQ_ERR once if the ring is
 * corrupt.
 * Context: rx_lock held, softirqs off.
 * Return: as rover_rq_take().
 */
enum rover_fault rover_srq_take(struct rover_srq *srq, u32 need,
				struct rover_recv_wqe *wqe,
				struct rover_sge *sge);

#endif /* ROVER_SRQ_H */
