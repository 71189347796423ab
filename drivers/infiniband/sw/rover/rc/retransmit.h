/* SPDX-License-Identifier: GPL-2.0 */
/*
 * retransmit - timeouts, and what to send again
 *
 * Requester and completer report events and never touch the timer.
 */
#ifndef ROVER_RETRANSMIT_H
#define ROVER_RETRANSMIT_H

#include "qp/qp.h"
#include "wire/psn.h"

/* Events; tx_lock held. */

/* A connection starts. */
void rover_retransmit_init(struct rover_qp *qp);
/* Packets from @psn, older ones, were sent again; continue where it pays. */
void rover_retransmit_resent(struct rover_qp *qp, u32 psn, u32 packets);
/* Packets up to @psn, the newest, were sent. */
void rover_retransmit_sent(struct rover_qp *qp, u32 psn);
/* req.una has advanced, by @packets. */
void rover_retransmit_progress(struct rover_qp *qp, u32 packets);
/* The peer is alive, and a gap may need another round trip. */
void rover_retransmit_restart_timer(struct rover_qp *qp, u64 now);
/* Send all from req.una again. */
void rover_retransmit_go_back(struct rover_qp *qp);
/* Likewise, but leave out what the peer has. */
void rover_retransmit_lose_all(struct rover_qp *qp);
/* qp.gaps has changed: continue with the first lost or new packet. */
void rover_retransmit_resume(struct rover_qp *qp);
/* Let the timer expire at @deadline or earlier. */
void rover_retransmit_start_timer(struct rover_qp *qp, u64 deadline);
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
	return &qp->req.sent[index & qp->sq.mask];
}

/**
 * rover_retransmit_find() - find the request that a PSN belongs to
 * @qp: alive; tx_lock held
 * @psn: from req.una to req.next_psn
 * Return: its ring index; req.fetched for req.next_psn, if that is of none.
 */
u32 rover_retransmit_find(struct rover_qp *qp, u32 psn);

/**
 * rover_retransmit_packets() - return the PSNs of a request
 * @qp: queue pair
 * @row: request with packets; a READ spans its responses
 */
static inline u32 rover_retransmit_packets(const struct rover_qp *qp,
					   const struct rover_sent *row)
{
	return rover_qp_packets(qp, row->length);
}

/* Test for a request answered by its own response, not an ACK. */
static inline bool rover_retransmit_is_rd_atomic(const struct rover_sent *row)
{
	return rover_wrs[row->opcode].flags & ROVER_WR_RD_ATOMIC;
}

/**
 * rover_retransmit_inflight() - return how many packets are on their way
 * @qp: alive; tx_lock held
 *
 * Without those that the peer has told to have, responses that it sends when
 * others have arrived, and those lost and not sent again.
 */
static inline u32 rover_retransmit_inflight(const struct rover_qp *qp)
{
	const struct rover_gaps *gaps = &qp->gaps;
	const struct rover_req *req = &qp->req;

	if (likely(!gaps->num))
		return rover_qp_unacked(qp);
	return rover_psn_diff(req->next_psn, gaps->high) + gaps->missing -
	       gaps->lost - gaps->asked;
}

/* Largest READ request; a multiple of any MTU. */
#define ROVER_READ_PIECE	(128 * 1024)

static inline u32 rover_retransmit_piece(const struct rover_qp *qp)
{
	return ROVER_READ_PIECE >> qp->mtu_shift;
}

#endif /* ROVER_RETRANSMIT_H */
