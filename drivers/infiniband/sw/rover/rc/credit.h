/* SPDX-License-Identifier: GPL-2.0 */
/* credit - end-to-end credits: posted receives */
#ifndef ROVER_CREDIT_H
#define ROVER_CREDIT_H

#include "qp/qp.h"

/**
 * rover_credit_syndrome() - return the AETH syndrome of an ACK
 * @qp: alive
 * Context: rx_lock held.
 */
u8 rover_credit_syndrome(struct rover_qp *qp);

/**
 * rover_credit_watch() - wait for receives after an RNR NAK
 * @qp: alive; sets ROVER_WORK_RX if enough are posted
 * Context: rx_lock held.
 */
void rover_credit_watch(struct rover_qp *qp);

/**
 * rover_credit_wake_due() - test whether to end the peer's RNR wait
 * @qp: alive
 * Context: rx_lock held.
 * Return: true once: send an ACK now.
 */
bool rover_credit_wake_due(struct rover_qp *qp);

/**
 * rover_credit_unwatch() - stop waiting for receives
 * @qp: any
 * Context: rx_lock held.
 */
void rover_credit_unwatch(struct rover_qp *qp);

/**
 * rover_credit_takes_recv() - test whether a request takes a receive
 * @row: request
 */
static inline bool rover_credit_takes_recv(const struct rover_sent *row)
{
	return rover_wrs[row->opcode].flags & ROVER_WR_RECV;
}

/**
 * rover_credit_update() - process the credits of an ACK
 * @qp: alive
 * @row: oldest outstanding request, or NULL
 * @code: of the AETH
 * Context: tx_lock held.
 * Return: true if more may be sent than before.
 */
bool rover_credit_update(struct rover_qp *qp, const struct rover_sent *row,
			 u8 code);

/**
 * rover_credit_needs_recv() - test whether a packet needs a receive
 * @row: request
 * @end: last packet
 *
 * A SEND takes it with the first packet, a WRITE with the last.
 */
static inline bool rover_credit_needs_recv(const struct rover_sent *row,
					   bool end)
{
	return rover_credit_takes_recv(row) &&
	       (end || row->opcode != ROVER_WQE_WRITE_IMM);
}

/**
 * rover_credit_available() - test whether credits allow a packet
 * @qp: alive
 * @row: request
 * @end: last packet
 *
 * A packet without receive is allowed if all requests before @row are.
 * Context: tx_lock held.
 */
static inline bool rover_credit_available(const struct rover_qp *qp,
					  const struct rover_sent *row,
					  bool end)
{
	const struct rover_req *req = &qp->req;

	return !req->lsn_valid ||
	       (s32)(row->ssn + rover_credit_needs_recv(row, end) -
		     req->lsn) <= 0;
}

/**
 * rover_credit_exhausted() - test whether a packet exhausts the credits
 * @qp: alive
 * @row: request
 * @end: last packet
 * Context: tx_lock held.
 */
static inline bool rover_credit_exhausted(const struct rover_qp *qp,
					  const struct rover_sent *row,
					  bool end)
{
	const struct rover_req *req = &qp->req;

	return req->lsn_valid && rover_credit_needs_recv(row, end) &&
	       (s32)(row->ssn + end - req->lsn) >= 0;
}

#endif /* ROVER_CREDIT_H */
