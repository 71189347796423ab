/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xrc - whose a request of XRC is
 *
 * An XRC target has no receives, no completion queue and no protection domain:
 * each request names a shared receive queue of the target's XRC domain, and with
 * it all of these (IBTA annex A14).  So @srq, @rcq, @pd and @recv_pd of a target
 * are those of the queue it is aimed at, under rx_lock and rcu_read_lock(), and
 * NULL otherwise.
 *
 * The program may destroy the queue at any time, and then the others, which is
 * why nothing of it is kept from one packet to the next but its number and which
 * of all queues it is.
 *
 * All calls are for queue pairs of any kind, and do nothing for others.
 */
#ifndef ROVER_XRC_H
#define ROVER_XRC_H

#include "qp/qp.h"
#include "wire/fault.h"
#include "wire/packet.h"

/**
 * rover_xrc_aim() - a target turns to a shared receive queue
 * @qp: alive
 * @srqn: number of the queue
 *
 * Context: rx_lock held, under rcu_read_lock() until rover_xrc_leave().
 * Return: ROVER_OK; XRCETH when the domain has no such queue.
 */
enum rover_fault rover_xrc_aim(struct rover_qp *qp, u32 srqn);

/* rover_xrc_open() of a target. */
enum rover_fault rover_xrc_turn(struct rover_qp *qp,
				const struct rover_packet *pkt);

/**
 * rover_xrc_open() - a target turns to the queue that a request is for
 * @qp: alive
 * @pkt: next in sequence; it begins a message, or belongs to that under way
 *
 * Context: as rover_xrc_aim().
 * Return: ROVER_OK; XRCETH when there is no such queue, or not the one that the
 * message began with.
 */
static inline enum rover_fault rover_xrc_open(struct rover_qp *qp,
					      const struct rover_packet *pkt)
{
	return likely(!qp->xrcd) ? ROVER_OK : rover_xrc_turn(qp, pkt);
}

/**
 * rover_xrc_hold() - a target turns to the queue of the message under way
 * @qp: alive
 *
 * Context: as rover_xrc_aim().
 * Return: false when it is gone, and what was taken from it with it.
 */
bool rover_xrc_hold(struct rover_qp *qp);

/**
 * rover_xrc_leave() - and turns away
 * @qp: alive
 *
 * Context: rx_lock held.
 */
static inline void rover_xrc_leave(struct rover_qp *qp)
{
	if (likely(!qp->xrcd))
		return;
	qp->srq = NULL;
	qp->rcq = NULL;
	qp->pd = NULL;
	qp->recv_pd = NULL;
}

#endif /* ROVER_XRC_H */
