/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xrc - XRC targets
 *
 * A request to an XRC target names an SRQ of the target's domain, which brings
 * receives, CQ and PD (IBTA annex A14).  So @srq, @rcq, @pd and @recv_pd of the
 * target are set during a request, under rx_lock and rcu_read_lock(), and NULL
 * otherwise: userspace may destroy all between two packets.  Targets keep only
 * number and @gen of the SRQ (decision 0018).
 *
 * The functions do nothing for other queue pairs.
 */
#ifndef ROVER_XRC_H
#define ROVER_XRC_H

#include "qp/packet.h"
#include "qp/qp.h"
#include "wire/fault.h"

/**
 * rover_xrc_use_srq() - use an SRQ
 * @qp: alive
 * @srqn: its number
 * Context: rx_lock held, under rcu_read_lock() until rover_xrc_clear_srq().
 * Return: ROVER_OK; XRCETH if the domain has no such SRQ.
 */
enum rover_fault rover_xrc_use_srq(struct rover_qp *qp, u32 srqn);

/* Slow path of rover_xrc_open() */
enum rover_fault rover_xrc_open_target(struct rover_qp *qp,
				       const struct rover_packet *pkt);

/**
 * rover_xrc_open() - use the SRQ that a request names
 * @qp: alive
 * @pkt: in sequence; starts a message, or belongs to the current one
 * Context: as rover_xrc_use_srq().
 * Return: as rover_xrc_use_srq(); XRCETH if the message began with another SRQ.
 */
static inline enum rover_fault rover_xrc_open(struct rover_qp *qp,
					      const struct rover_packet *pkt)
{
	return likely(!qp->xrcd) ? ROVER_OK : rover_xrc_open_target(qp, pkt);
}

/**
 * rover_xrc_use_current_srq() - use the SRQ of the current message
 * @qp: alive
 * Context: as rover_xrc_use_srq().
 * Return: false if the SRQ is gone, with the receive taken from it.
 */
bool rover_xrc_use_current_srq(struct rover_qp *qp);

/**
 * rover_xrc_clear_srq() - stop using the SRQ
 * @qp: alive
 * Context: rx_lock held.
 */
static inline void rover_xrc_clear_srq(struct rover_qp *qp)
{
	if (likely(!qp->xrcd))
		return;
	qp->srq = NULL;
	qp->rcq = NULL;
	qp->pd = NULL;
	qp->recv_pd = NULL;
}

#endif /* ROVER_XRC_H */
