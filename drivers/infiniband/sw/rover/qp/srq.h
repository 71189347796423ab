/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srq - shared receive queues: one ring of receives for many queue pairs
 *
 * Queue pairs take receives under @lock, each while it holds its own rx_lock.
 * What a queue pair has taken is its own affair: the queue forgets it.
 *
 * One of XRC belongs to no queue pair: it has a number, by which requests name
 * it, and a completion queue for what it gives (xrc).
 *
 * Lifetime: queue pairs hold it by the core's count of its users, from before
 * create_qp to after destroy_qp, and destroy is refused as long as there is
 * one.  A destroyed queue pair takes no receive any more (@alive is cleared
 * under its rx_lock), so destroy finds nobody here but onlookers of old cores
 * (restrack), which look at the struct and not at the ring.  For one of XRC it
 * waits for those who may just have found it, under RCU.
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
 * struct rover_srq - a shared receive queue
 * @ib: the core's part
 * @obj: XRC: its number
 * @xrcd: XRC: its domain, to be compared and never followed; constant
 * @cq: XRC: completions of its receives; constant
 * @birth: XRC: of all that ever had a number, this one; constant
 * @user: mapped by a program; constant
 * @max_sge: as granted; constant
 * @lock: protects all below but @post, and takes receives; inside of rx_lock,
 *	a leaf but for @post, taken with softirqs off
 * @ring: receives
 * @limit: fewer than so many are to be told of, once; 0 when nobody asked
 * @told: where @ring was when that was last told: not again before a receive is
 *	taken, or a program that asks and asks fills the core's list of events
 * @dead: the ring made no sense; no receive is taken any more
 * @post: serialises kernel users that post; protects the ring's tail, and with
 *	@lock which ring it is; a leaf, taken with interrupts off
 * @ctl: one modify at a time; outside of both
 */
struct rover_srq {
	struct ib_srq ib;
	struct rover_obj obj;
	const void *xrcd;
	struct rover_cq *cq;
	u64 birth;
	bool user;
	u8 max_sge;
	spinlock_t lock;
	struct rover_ring ring;
	u32 limit;
	u32 told;
	bool dead;
	spinlock_t post;
	struct mutex ctl;
};

static inline struct rover_srq *rover_srq(struct ib_srq *ib)
{
	return container_of(ib, struct rover_srq, ib);
}

/* Verbs; signatures are those of struct ib_device_ops. */
int rover_srq_create(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int rover_srq_modify(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int rover_srq_query(struct ib_srq *ib, struct ib_srq_attr *attr);
int rover_srq_destroy(struct ib_srq *ib, struct ib_udata *udata);

/**
 * rover_srq_take() - take the oldest receive
 * @srq: of a queue pair
 * @need: bytes it has to have room for: else it stays, for others
 * @wqe: for its head
 * @sge: for its entries, ROVER_MAX_SGE
 *
 * Raises IB_EVENT_SRQ_LIMIT_REACHED when this leaves fewer than was asked for,
 * and IB_EVENT_SRQ_ERR, once, when the ring makes no sense.
 *
 * Context: the queue pair's rx_lock held, softirqs off.
 * Return: as rover_rq_take().
 */
enum rover_fault rover_srq_take(struct rover_srq *srq, u32 need,
				struct rover_recv_wqe *wqe,
				struct rover_sge *sge);

#endif /* ROVER_SRQ_H */
