/* SPDX-License-Identifier: GPL-2.0 */
/*
 * retransmit - what was sent, and when to send it again
 *
 * Its verbs are the events of the protocol; requester and completer report
 * them and never touch a timer themselves.
 */
#ifndef ROVER_RETRANSMIT_H
#define ROVER_RETRANSMIT_H

#include "qp/qp.h"

/* Events; tx_lock held, softirqs off. */

/* Packets up to @psn have left, @psn being the newest. */
void rover_retransmit_sent(struct rover_qp *qp, u32 psn);
/* @qp->req.una has moved forward. */
void rover_retransmit_progress(struct rover_qp *qp);
/* Everything from @qp->req.una on is to be sent again. */
void rover_retransmit_go_back(struct rover_qp *qp);
/*
 * The same, but the peer asked to be left alone for the time of @code; for want of
 * a @receive, or else of something else.
 */
void rover_retransmit_not_ready(struct rover_qp *qp, u8 code, bool receive);
/*
 * Only the last packet is to be sent again, with AckReq.  Return false when it is of a
 * request that is answered by data of its own.
 */
bool rover_retransmit_last(struct rover_qp *qp);
/* That time is over, or the peer says that it is. */
void rover_retransmit_ready(struct rover_qp *qp);
/* All is over (error, reset): no timer may fire into it. */
void rover_retransmit_stop(struct rover_qp *qp);

/**
 * rover_retransmit_expired() - the timer went off
 * @qp: alive
 *
 * Arms it again when it is too early, or marks the queue pair to be run.
 *
 * Context: tx_lock held, softirqs off.
 * Return: false when all retries are used up: the peer is gone.
 */
bool rover_retransmit_expired(struct rover_qp *qp);

/**
 * rover_retransmit_row() - the row of an outstanding request
 * @qp: alive; tx_lock held
 * @index: free-running ring index, from req.acked to req.fetched
 */
static inline struct rover_sent *rover_retransmit_row(struct rover_qp *qp,
						      u32 index)
{
	return &qp->req.sent[index % ROVER_MAX_INFLIGHT];
}

/**
 * rover_retransmit_packets() - PSNs that a request spans
 * @qp: its queue pair
 * @row: the request, not one of localop's; a READ spans its responses
 */
static inline u32 rover_retransmit_packets(const struct rover_qp *qp,
					   const struct rover_sent *row)
{
	return row->length ? ((row->length - 1) >> qp->mtu_shift) + 1 : 1;
}

/* Answered by data of its own, which an acknowledge cannot replace? */
static inline bool rover_retransmit_answered(const struct rover_sent *row)
{
	return rover_wrs[row->opcode].flags & ROVER_WR_RD_ATOMIC;
}

/* Bytes of a long READ that are asked for at once; a multiple of any MTU. */
#define ROVER_READ_PIECE	(128 * 1024)

/* The same in packets. */
static inline u32 rover_retransmit_piece(const struct rover_qp *qp)
{
	return ROVER_READ_PIECE >> qp->mtu_shift;
}

#endif /* ROVER_RETRANSMIT_H */
