/* SPDX-License-Identifier: GPL-2.0 */
/*
 * credit - how many receives the peer has, and what we tell it of ours
 */
#ifndef ROVER_CREDIT_H
#define ROVER_CREDIT_H

#include "qp/qp.h"

/**
 * rover_credit_offer() - syndrome of an acknowledge: what we have
 * @qp: alive
 *
 * Context: rx_lock held.
 */
u8 rover_credit_offer(struct rover_qp *qp);

/**
 * rover_credit_await() - the peer found no receive: it is to hear of the next
 * @qp: alive; run once more when there are some already
 *
 * Context: rx_lock held.
 */
void rover_credit_await(struct rover_qp *qp);

/**
 * rover_credit_restocked() - is there something to tell that the peer waits for?
 * @qp: alive
 *
 * Context: rx_lock held.
 * Return: true once: an acknowledge is to be sent now.
 */
bool rover_credit_restocked(struct rover_qp *qp);

/**
 * rover_credit_forget() - nobody waits for receives any more
 * @qp: any
 *
 * Context: rx_lock held.
 */
void rover_credit_forget(struct rover_qp *qp);

/**
 * rover_credit_takes() - does this request take a receive from the peer?
 * @row: the request
 */
static inline bool rover_credit_takes(const struct rover_sent *row)
{
	return rover_wrs[row->opcode].flags & ROVER_WR_RECV;
}

/**
 * rover_credit_told() - the peer says how many receives it has
 * @qp: alive
 * @row: the oldest request that is not done; NULL without one
 * @code: as in the AETH
 *
 * Context: tx_lock held.
 * Return: true when more may be sent than before.
 */
bool rover_credit_told(struct rover_qp *qp, const struct rover_sent *row,
		       u8 code);

/**
 * rover_credit_needs() - does this packet find a receive or none?
 * @row: the request
 * @end: it is its last packet
 *
 * A SEND takes its receive with the first packet, a WRITE with the last.
 */
static inline bool rover_credit_needs(const struct rover_sent *row, bool end)
{
	return rover_credit_takes(row) &&
	       (end || row->opcode != ROVER_WQE_WRITE_IMM);
}

/**
 * rover_credit_left() - has the peer a receive for it, as far as is known?
 * @qp: alive
 * @row: the request; a packet without need of one goes if all before it may
 * @end: it is its last packet
 *
 * Context: tx_lock held.
 */
static inline bool rover_credit_left(const struct rover_qp *qp,
				     const struct rover_sent *row, bool end)
{
	const struct rover_req *req = &qp->req;

	return !req->lsn_valid ||
	       (s32)(row->ssn + rover_credit_needs(row, end) - req->lsn) <= 0;
}

/**
 * rover_credit_ends() - is there nothing left behind this packet?
 * @qp: alive
 * @row: the request
 * @end: it is its last packet
 *
 * Context: tx_lock held.
 */
static inline bool rover_credit_ends(const struct rover_qp *qp,
				     const struct rover_sent *row, bool end)
{
	const struct rover_req *req = &qp->req;

	return req->lsn_valid && rover_credit_needs(row, end) &&
	       (s32)(row->ssn + end - req->lsn) >= 0;
}

#endif /* ROVER_CREDIT_H */
