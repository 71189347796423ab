/* SPDX-License-Identifier: GPL-2.0 */
/* qp_state - states, errors and events */
#ifndef ROVER_QP_STATE_H
#define ROVER_QP_STATE_H

#include "qp/qp.h"
#include "wire/fault.h"

/* Permissions of a state (IBTA 10.3.1). */
#define ROVER_MAY_POST_SEND	(1U << 0)
#define ROVER_MAY_POST_RECV	(1U << 1)
#define ROVER_MAY_SEND		(1U << 2)	/* start new requests */
#define ROVER_MAY_COMPLETE	(1U << 3)	/* complete, retransmit */
#define ROVER_MAY_RECEIVE	(1U << 4)	/* accept requests */
#define ROVER_MUST_FLUSH	(1U << 5)	/* flush both rings */
#define ROVER_MUST_FLUSH_SEND	(1U << 6)

extern const u8 rover_qp_may[IB_QPS_ERR + 1];

/**
 * rover_qp_allows() - test what the state permits
 * @qp: queue pair
 * @mask: one of ROVER_MAY_* and ROVER_MUST_FLUSH*
 */
static inline bool rover_qp_allows(const struct rover_qp *qp, u8 mask)
{
	return rover_qp_may[READ_ONCE(qp->state)] & mask;
}

/**
 * rover_qp_event() - raise an event
 * @qp: alive
 * @type: event
 * Context: tx_lock or rx_lock held.
 */
void rover_qp_event(struct rover_qp *qp, enum ib_event_type type);

/**
 * rover_qp_forget() - remove CQEs from kernel CQs
 * @qp: was reset or is being destroyed
 * Context: process.
 */
void rover_qp_forget(struct rover_qp *qp);

/**
 * rover_qp_fail() - move a queue pair to ERR
 * @qp: alive
 * @event: to raise; ROVER_EVENT_NONE for none
 *
 * Does nothing in RESET and ERR.  Kicks a flush of both rings, which waits for
 * the caller's lock.  Call before writing a CQE in error: userspace may then
 * query the state (IBTA 10.3.1).
 * Context: tx_lock or rx_lock held.
 */
void rover_qp_fail(struct rover_qp *qp, enum rover_event event);

/**
 * rover_qp_fail_send() - move a queue pair to SQE
 * @qp: alive, of an unreliable service (IBTA 10.3.1.7)
 *
 * Does nothing unless in RTS or SQD.  The caller then runs @qp to flush the
 * send ring.
 * Context: tx_lock held.
 */
void rover_qp_fail_send(struct rover_qp *qp);

/**
 * rover_qp_drained() - raise SQ_DRAINED, if enabled, once in a stay in SQD
 * @qp: alive, in SQD, all requests done
 * Context: tx_lock held.
 */
void rover_qp_drained(struct rover_qp *qp);

/**
 * rover_qp_last_wqe() - raise LAST_WQE_REACHED once in a stay in ERR
 * @qp: alive, in ERR; its last receive of the SRQ is complete (IBTA 11.6.3)
 * Context: rx_lock held.
 */
void rover_qp_last_wqe(struct rover_qp *qp);

#endif /* ROVER_QP_STATE_H */
