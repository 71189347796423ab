/* SPDX-License-Identifier: GPL-2.0 */
/*
 * retransmit - timeouts and go-back-N
 *
 * Requester and completer report events and never touch the timer.
 */
#ifndef ROVER_RETRANSMIT_H
#define ROVER_RETRANSMIT_H

#include "qp/qp.h"

/* Events; tx_lock held. */

/* Packets up to @psn, the newest, were sent. */
void rover_retransmit_sent(struct rover_qp *qp, u32 psn);
/* req.una has advanced. */
void rover_retransmit_progress(struct rover_qp *qp);
/* Send all from req.una again. */
void rover_retransmit_go_back(struct rover_qp *qp);
/* Go back after an RNR NAK with @code, for a @receive or for memory. */
void rover_retransmit_rnr_wait(struct rover_qp *qp, u8 code, bool receive);
/* Send the last packet again, with AckReq; return false for READ and atomic. */
bool rover_retransmit_resend_last(struct rover_qp *qp);
void rover_retransmit_rnr_done(struct rover_qp *qp);
/* Stop the timer. */
void rover_retransmit_stop(struct rover_qp *qp);

/**
 * rover_retransmit_expired() - handle the timer
 * @qp: alive
 * Context: tx_lock held.
 * Return: false when retries are used up.
 */
bool rover_retransmit_expired(struct rover_qp *qp);

/**
 * rover_retransmit_row() - return the row of a request
 * @qp: alive; tx_lock held
 * @index: ring index, from req.oldest to req.fetched
 */
static inline struct rover_sent *rover_retransmit_row(struct rover_qp *qp,
						      u32 index)
{
	return &qp->req.sent[index % ROVER_MAX_INFLIGHT];
}

/**
 * rover_retransmit_packets() - return the PSNs of a request
 * @qp: queue pair
 * @row: request with packets; a READ spans its responses
 */
static inline u32 rover_retransmit_packets(const struct rover_qp *qp,
					   const struct rover_sent *row)
{
	return row->length ? ((row->length - 1) >> qp->mtu_shift) + 1 : 1;
}

/* Test for a request answered by its own response, not an ACK. */
static inline bool rover_retransmit_is_rd_atomic(const struct rover_sent *row)
{
	return rover_wrs[row->opcode].flags & ROVER_WR_RD_ATOMIC;
}

/* Largest READ request; a multiple of any MTU. */
#define ROVER_READ_PIECE	(128 * 1024)

static inline u32 rover_retransmit_piece(const struct rover_qp *qp)
{
	return ROVER_READ_PIECE >> qp->mtu_shift;
}

#endif /* ROVER_RETRANSMIT_H */
