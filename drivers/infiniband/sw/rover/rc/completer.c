// SPDX-License-Identifier: GPL-2.0
/*
 * completer - from responses to completions
 *
 * Requests before req.una are completed, in order: SENDs and WRITEs by an ACK,
 * READs and atomics by their response.  An ACK past a missing response is an
 * implied NAK (IBTA 9.7.5.1.1): recovery requests it again.  Responses behind a
 * missing one are held (early) if the peer answers a request for a part of a
 * READ.
 */
#include "core/trace.h"
#include "qp/cq.h"
#include "qp/early.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "rc/completer.h"
#include "rc/credit.h"
#include "rc/cc.h"
#include "rc/localop.h"
#include "rc/page_wait.h"
#include "rc/recovery.h"
#include "rc/retransmit.h"
#include "rc/rto.h"
#include "wire/psn.h"
#include "wire/sack.h"

static struct rover_sent *completer_oldest(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	return req->oldest == req->fetched ?
	       NULL : rover_retransmit_row(qp, req->oldest);
}

/* READ, FLUSH and ATOMIC WRITE get READ responses. */
static bool completer_is_read(const struct rover_sent *row)
{
	return !(rover_wrs[row->opcode].flags & ROVER_WR_ATOMIC);
}

static void completer_retire_oldest(struct rover_qp *qp, enum rover_fault fault)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row = rover_retransmit_row(qp, req->oldest);

	/* The request may be acknowledged while it is sent again. */
	if (req->sending == req->oldest) {
		req->sending++;
		req->wqe_psns_sent = 0;
		req->wqe.valid = false;
	}
	req->resp.valid = false;
	req->oldest++;
	/* Release first: a kernel completion handler may close the key. */
	if (!qp->user)
		rover_sgl_release(&req->resp_sgl);
	/* The completion lets userspace reuse the slot: free it first. */
	rover_ring_retire(&qp->sq, 1);
	rover_wqe_complete(qp, row, fault);
	if (!fault)
		rover_localop_complete(qp);
}

static void completer_progress(struct rover_qp *qp, u32 packets)
{
	rover_retransmit_progress(qp, packets);
	if (unlikely(qp->rtx.probe_at))
		rover_recovery_progress(qp);
	rover_cc_acked(qp, packets);
	rover_path_progress(&qp->path, (u64)packets << qp->mtu_shift);
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

/* Advance una to @psn, or to the first READ or atomic without response. */
static void completer_ack_until(struct rover_qp *qp, u32 psn)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row;
	u32 una = req->una;

	while ((row = completer_oldest(qp))) {
		u32 end = rover_psn_add(row->psn,
					rover_retransmit_packets(qp, row));

		if (rover_retransmit_is_rd_atomic(row))
			break;
		if (rover_psn_diff(psn, end) < 0) {
			if (rover_psn_diff(psn, req->una) > 0)
				req->una = psn;
			break;
		}
		req->una = end;
		completer_retire_oldest(qp, ROVER_OK);
	}
	if (req->una != una)
		completer_progress(qp, rover_psn_diff(req->una, una));
}

/* Report the responses of a batch as progress.  Call before go-back or wait. */
static void completer_settle(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	u32 answered = req->resp_packets;

	req->resp_packets = 0;
	if (answered && rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		completer_progress(qp, answered);
}

static void completer_implied_nak(struct rover_qp *qp, u32 psn)
{
	struct rover_req *req = &qp->req;

	completer_settle(qp);
	/* Dropped here: it is requested again when it can be stored. */
	if (req->resp_page_wait)
		return;
	if (!qp->attr.retry_cnt) {
		rover_qp_count(qp, ROVER_STAT_IMPLIED_NAK);
		rover_completer_dead(qp);
		return;
	}
	rover_recovery_implied_nak(qp, psn);
}

/* Retries are allowed, and ask for missing packets alone. */
static bool completer_is_selective(const struct rover_qp *qp)
{
	return READ_ONCE(qp->peer_sack) && qp->attr.retry_cnt;
}

static void completer_fail_oldest(struct rover_qp *qp, enum rover_fault fault)
{
	trace_rover_fault(qp->obj.key, qp->req.una, fault);
	rover_retransmit_stop(qp);
	rover_qp_fail(qp, ROVER_EVENT_NONE);
	if (completer_oldest(qp))
		completer_retire_oldest(qp, fault);
}

/* Acknowledges ***************************************************************/

static void completer_handle_nak(struct rover_qp *qp, u8 syndrome)
{
	switch (syndrome) {
	case ROVER_NAK_PSN_SEQ:
		/* A NAK counts as a retry (IBTA 9.9.2.1). */
		if (!qp->attr.retry_cnt) {
			rover_qp_count(qp, ROVER_STAT_PACKET_SEQ_ERR);
			rover_completer_dead(qp);
			break;
		}
		rover_recovery_nak(qp);
		break;
	case ROVER_NAK_INV_REQ:
		rover_qp_count(qp, ROVER_STAT_REQ_REMOTE_INVALID);
		completer_fail_oldest(qp, ROVER_FAULT_REM_INV_REQ);
		break;
	case ROVER_NAK_REM_ACCESS:
		rover_qp_count(qp, ROVER_STAT_REQ_REMOTE_ACCESS);
		completer_fail_oldest(qp, ROVER_FAULT_REM_ACCESS);
		break;
	case ROVER_NAK_REM_OP:
		completer_fail_oldest(qp, ROVER_FAULT_REM_OP);
		break;
	default:
		completer_fail_oldest(qp, ROVER_FAULT_BAD_RESP);
	}
}

/* Test for a NAK after which the peer is in error and answers no more. */
static bool completer_is_fatal_nak(u8 syndrome)
{
	return (syndrome & ROVER_AETH_KIND) == ROVER_AETH_NAK &&
	       syndrome != ROVER_NAK_PSN_SEQ;
}

/*
 * Apply a fatal NAK that overtook responses, once these have arrived: the peer
 * answers no retry.  If they are lost, timeouts fail the request.
 */
static void completer_apply_early_nak(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (!req->early_nak)
		return;
	completer_settle(qp);
	completer_ack_until(qp, req->early_nak_psn);
	if (completer_oldest(qp) && req->una == req->early_nak_psn)
		completer_handle_nak(qp, req->early_nak);
}

/*
 * Test whether retrying is futile: the response arrived but was dropped (ODP
 * fault, revoked payload), and the early NAK is for this request.
 */
static bool completer_retry_is_futile(struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;
	struct rover_sent *row = completer_oldest(qp);
	s32 at;

	if (req->dropped_psn != req->una || !req->early_nak || !row)
		return false;
	at = rover_psn_diff(req->early_nak_psn, row->psn);
	return at >= 0 && at < (s32)rover_retransmit_packets(qp, row);
}

static void completer_handle_rnr(struct rover_qp *qp, u8 code)
{
	struct rover_req *req = &qp->req;
	bool memory;

	rover_qp_count(qp, ROVER_STAT_RNR_NAK_RETRY);
	/* 7 means unlimited (IBTA 9.7.5.2.8). */
	if (qp->attr.rnr_retry != 7) {
		if (!req->rnr_retries) {
			rover_qp_count(qp, ROVER_STAT_RNR_RETRIES_EXCEEDED);
			completer_fail_oldest(qp, ROVER_FAULT_RNR_RETRY);
			return;
		}
		req->rnr_retries--;
	}
	memory = rover_page_wait_is_remote(qp, completer_oldest(qp));
	/* Credits already limit sending: keep cwnd. */
	if (!req->lsn_valid && !memory)
		rover_cc_probe(qp);
	rover_retransmit_rnr_wait(qp, code, !memory);
}

static void completer_receive_credits(struct rover_qp *qp, u8 value)
{
	struct rover_req *req = &qp->req;

	if (!rover_credit_update(qp, completer_oldest(qp), value))
		return;
	rover_qp_set_work(qp, ROVER_WORK_TX);
	if (req->rnr_wait) {
		req->rnr_woken = true;
		rover_retransmit_rnr_done(qp);
	}
}

/*
 * Process a selective acknowledgment; return false if the QP has failed: without
 * retries a gap fails it, as a sequence NAK would.
 */
static bool completer_learn(struct rover_qp *qp, const struct rover_packet *pkt)
{
	if (completer_is_selective(qp)) {
		rover_recovery_ack(qp, pkt);
	} else if (!qp->attr.retry_cnt &&
		   pkt->payload > sizeof(struct rover_sack)) {
		rover_qp_count(qp, ROVER_STAT_PACKET_SEQ_ERR);
		rover_completer_dead(qp);
		return false;
	}
	return true;
}

/* The peer waits for a packet that it has told to have: it dropped all held. */
static bool completer_reneged(const struct rover_qp *qp)
{
	const struct rover_gaps *gaps = &qp->gaps;

	return gaps->num && !qp->req.resp_page_wait &&
	       rover_psn_diff(gaps->high, qp->req.una) > 0 &&
	       !rover_gaps_find(gaps, qp->req.una);
}

static void completer_receive_ack(struct rover_qp *qp,
				  const struct rover_packet *pkt)
{
	u8 syndrome = rover_aeth_syndrome(&pkt->hdr.aeth);
	struct rover_req *req = &qp->req;
	bool ack = (syndrome & ROVER_AETH_KIND) == ROVER_AETH_ACK;
	u32 next = rover_psn_add(pkt->psn, ack);
	s32 past = rover_psn_diff(next, req->next_psn);

	trace_rover_ack_received(qp->obj.key, pkt->psn, syndrome);
	completer_settle(qp);
	/* Stale, or for a packet not sent yet. */
	if (rover_psn_diff(next, req->una) < 0 || past > 0 || (!ack && !past)) {
		rover_packet_drop(qp, pkt, ROVER_STAT_DROP_STALE_RESP);
		return;
	}
	rover_packet_note_sack(qp, pkt);
	if (ack && (rover_psn_diff(next, req->acked_psn) > 0 ||
		    rover_psn_diff(req->acked_psn, req->una) < 0))
		req->acked_psn = next;
	completer_ack_until(qp, next);
	if (ack && unlikely(pkt->payload) && !completer_learn(qp, pkt))
		return;
	if (ack && req->una == next)
		completer_receive_credits(qp, syndrome & ROVER_AETH_VALUE);
	if (!completer_oldest(qp) || !rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		return;
	if (req->una != next) {
		if (completer_is_fatal_nak(syndrome)) {
			req->early_nak = syndrome;
			req->early_nak_psn = next;
			if (completer_retry_is_futile(qp))
				completer_handle_nak(qp, syndrome);
		} else if (ack && completer_is_selective(qp)) {
			if (!req->resp_page_wait)
				rover_recovery_passed(qp, next);
		} else {
			completer_implied_nak(qp, pkt->psn);
		}
		return;
	}
	if (ack && unlikely(completer_reneged(qp)))
		rover_retransmit_go_back(qp);
	if (!ack && (syndrome & ROVER_AETH_KIND) == ROVER_AETH_RNR)
		completer_handle_rnr(qp, syndrome & ROVER_AETH_VALUE);
	else if (!ack)
		completer_handle_nak(qp, syndrome);
}

/* Responses with data ********************************************************/

/*
 * Set resp_sgl to the oldest request.  Compare its WQE, read again, with its
 * row: userspace may have changed it.
 */
static enum rover_fault completer_open_response(struct rover_qp *qp,
						const struct rover_sent *row)
{
	struct rover_req *req = &qp->req;
	struct rover_wqe *wqe = &req->resp;
	const void *slot = rover_ring_slot(&qp->sq, req->oldest);
	u64 length = 0;
	unsigned int i;

	if (wqe->valid && wqe->index == req->oldest)
		return ROVER_OK;
	memcpy(&wqe->hdr, slot, sizeof(wqe->hdr));
	barrier();
	if (wqe->hdr.opcode != row->opcode ||
	    wqe->hdr.num_sge > qp->max_send_sge)
		return ROVER_FAULT_WQE;
	memcpy(wqe->sge, slot + ROVER_SEND_WQE_HDR,
	       wqe->hdr.num_sge * sizeof(wqe->sge[0]));
	barrier();
	for (i = 0; i < wqe->hdr.num_sge; i++)
		length += wqe->sge[i].length;
	if (length < row->length)
		return ROVER_FAULT_WQE;
	wqe->index = req->oldest;
	wqe->valid = true;
	rover_sgl_set_local(&req->resp_sgl, qp->pd, wqe->sge, wqe->hdr.num_sge,
			    IB_ACCESS_LOCAL_WRITE, &qp->resp_pagein);
	return ROVER_OK;
}

static bool completer_read_fits(struct rover_qp *qp,
				const struct rover_sent *row,
				const struct rover_packet *pkt, u32 at)
{
	u64 left = row->length - ((u64)at << qp->mtu_shift);
	u32 packets = rover_retransmit_packets(qp, row);

	/* Each piece of a READ ends with LAST or ONLY. */
	if (pkt->payload != min(left, (u64)pkt->packets << qp->mtu_shift))
		return false;
	return at + pkt->packets < packets ||
	       (at + pkt->packets == packets && pkt->op->flags & ROVER_OP_END);
}

/* Return how many requests of a READ the first @packets responses complete. */
static u32 completer_pieces(const struct rover_qp *qp,
			    const struct rover_sent *row, u32 packets)
{
	u32 piece = rover_retransmit_piece(qp);

	return packets == rover_retransmit_packets(qp, row) ?
	       DIV_ROUND_UP(packets, piece) : packets / piece;
}

/*
 * Handle a response that could not be stored.  It is requested again, but not
 * by an implied NAK: after an ODP fault when the memory is there, after a
 * revoke (zcopy) at once.  Other faults fail the request.
 */
static void completer_handle_fault(struct rover_qp *qp,
				   const struct rover_packet *pkt,
				   enum rover_fault fault)
{
	struct rover_req *req = &qp->req;
	bool revoked = fault == ROVER_FAULT_REVOKED;

	if (!rover_fault_is_loss(fault)) {
		completer_fail_oldest(qp, fault);
		return;
	}
	req->resp_page_wait = true;
	req->dropped_psn = req->una;
	if (completer_retry_is_futile(qp)) {
		completer_handle_nak(qp, req->early_nak);
		return;
	}
	if (revoked)
		rover_qp_set_work(qp, ROVER_WORK_TX);
	rover_packet_drop(qp, pkt, revoked ? ROVER_STAT_DROP_REVOKED :
					     ROVER_STAT_DROP_PAGE);
}

static bool completer_receive_read(struct rover_qp *qp,
				   const struct rover_packet *pkt,
				   struct rover_sent *row)
{
	u32 at = rover_psn_diff(pkt->psn, row->psn);
	struct rover_req *req = &qp->req;
	enum rover_fault fault;

	if (!completer_read_fits(qp, row, pkt, at)) {
		completer_fail_oldest(qp, ROVER_FAULT_BAD_RESP);
		return false;
	}
	fault = completer_open_response(qp, row);
	if (!fault && pkt->payload) {
		rover_sgl_seek(&req->resp_sgl, (u64)at << qp->mtu_shift);
		fault = rover_zcopy_place(&req->resp_sgl, pkt->skb,
					  pkt->payload_at, pkt->payload,
					  pkt->zcopy);
	}
	if (fault) {
		completer_handle_fault(qp, pkt, fault);
		return false;
	}
	req->una = rover_psn_add(pkt->psn, pkt->packets);
	req->rd_atomic -= completer_pieces(qp, row, at + pkt->packets) -
			  completer_pieces(qp, row, at);
	if (at + pkt->packets == rover_retransmit_packets(qp, row))
		completer_retire_oldest(qp, ROVER_OK);
	return true;
}

static bool completer_receive_atomic(struct rover_qp *qp,
				     const struct rover_packet *pkt,
				     struct rover_sent *row)
{
	u64 orig = be64_to_cpu(pkt->hdr.atomack.orig);
	struct rover_req *req = &qp->req;
	enum rover_fault fault;

	fault = completer_open_response(qp, row);
	if (!fault) {
		rover_sgl_seek(&req->resp_sgl, 0);
		fault = rover_sgl_write_mem(&req->resp_sgl, &orig,
					    sizeof(orig));
	}
	if (fault) {
		completer_handle_fault(qp, pkt, fault);
		return false;
	}
	req->una = rover_psn_add(pkt->psn, 1);
	req->rd_atomic--;
	completer_retire_oldest(qp, ROVER_OK);
	return true;
}

/* Hold a response behind a missing one. */
static void completer_hold(struct rover_qp *qp, const struct rover_packet *pkt)
{
	u32 end = rover_psn_add(pkt->psn, pkt->packets);
	struct rover_req *req = &qp->req;
	int err;

	completer_settle(qp);
	err = rover_early_hold(qp, &qp->tx_early, req->una, end, pkt);
	if (err) {
		rover_packet_drop(qp, pkt, err == -EEXIST ?
				  ROVER_STAT_DROP_STALE_RESP :
				  ROVER_STAT_DROP_EARLY);
		return;
	}
	if (!req->resp_page_wait)
		rover_recovery_response(qp, pkt->psn, end);
}

/* Store the response to request req.una; return false if it was not. */
static bool completer_store(struct rover_qp *qp, const struct rover_packet *pkt)
{
	bool read = pkt->op->class == ROVER_CLASS_READ_RESP;
	struct rover_sent *row = completer_oldest(qp);

	if (!row || rover_psn_diff(pkt->psn, row->psn) < 0 ||
	    !rover_retransmit_is_rd_atomic(row) ||
	    read != completer_is_read(row)) {
		completer_fail_oldest(qp, ROVER_FAULT_BAD_RESP);
		return false;
	}
	if (!(read ? completer_receive_read(qp, pkt, row) :
		     completer_receive_atomic(qp, pkt, row)))
		return false;
	qp->req.resp_page_wait = false;
	qp->req.resp_packets += pkt->packets;
	return true;
}

/*
 * Store responses that were held behind the one just stored.  One that cannot be
 * is requested again, with all behind it.
 */
static void completer_store_held(struct rover_qp *qp)
{
	struct rover_early *early = &qp->tx_early;
	struct rover_req *req = &qp->req;
	struct rover_held *held;
	bool stored = true;

	while (stored) {
		/* A response implies an ACK of SENDs and WRITEs before it. */
		completer_ack_until(qp, rover_early_first(early, req->una));
		held = rover_early_take(qp, early, req->una);
		if (!held)
			break;
		stored = completer_store(qp, rover_early_packet(held)) &&
			 rover_qp_allows(qp, ROVER_MAY_COMPLETE);
		rover_early_put(held);
	}
	if (!stored || !early->gaps.num)
		rover_early_purge(qp, early);
}

/* ACKs that came while a response was missing count now. */
static void completer_ack_again(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (unlikely(rover_psn_diff(req->acked_psn, req->una) > 0))
		completer_ack_until(qp, req->acked_psn);
	else
		req->acked_psn = req->una;
}

static void completer_receive_data(struct rover_qp *qp,
				   const struct rover_packet *pkt)
{
	struct rover_req *req = &qp->req;

	if (rover_psn_diff(pkt->psn, req->una) < 0 ||
	    rover_psn_diff(pkt->psn, req->next_psn) >= 0 ||
	    rover_psn_diff(pkt->psn + pkt->packets, req->next_psn) > 0) {
		rover_rto_needless(qp);
		rover_packet_drop(qp, pkt, ROVER_STAT_DROP_STALE_RESP);
		return;
	}
	rover_packet_note_sack(qp, pkt);
	completer_ack_until(qp, pkt->psn);
	if (!completer_oldest(qp) || !rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		return;
	if (req->una != pkt->psn) {
		if (completer_is_selective(qp))
			completer_hold(qp, pkt);
		else
			completer_implied_nak(qp, pkt->psn);
		return;
	}
	if (!completer_store(qp, pkt))
		return;
	if (unlikely(qp->tx_early.num))
		completer_store_held(qp);
	if (rover_qp_allows(qp, ROVER_MAY_COMPLETE)) {
		completer_ack_again(qp);
		completer_apply_early_nak(qp);
	}
}

void rover_completer_receive(struct rover_qp *qp, const struct rover_packet *pkt)
{
	lockdep_assert_held(&qp->tx_lock);
	if (pkt->op->class == ROVER_CLASS_ACK)
		completer_receive_ack(qp, pkt);
	else
		completer_receive_data(qp, pkt);
}

void rover_completer_finish(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	rover_sgl_release(&qp->req.resp_sgl);
	completer_settle(qp);
}

void rover_completer_dead(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	rover_qp_count(qp, ROVER_STAT_RETRIES_EXCEEDED);
	completer_fail_oldest(qp, ROVER_FAULT_RETRY);
}
