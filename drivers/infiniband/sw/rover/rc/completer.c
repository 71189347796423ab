// SPDX-License-Identifier: GPL-2.0
/*
 * completer - from responses to completions
 *
 * req.una is the oldest PSN not yet acknowledged; requests before it are done
 * and completed, in order.  SENDs and WRITEs are done when acknowledged, READs
 * and atomics when their own responses have arrived: an acknowledge that runs
 * past one of those says that its response was lost (IBTA 9.7.5.1.1, implied
 * NAK), and it is asked for again.
 *
 * Runs under tx_lock with softirqs off.
 */
#include "core/trace.h"
#include "qp/cq.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "rc/completer.h"
#include "rc/credit.h"
#include "rc/cwnd.h"
#include "rc/localop.h"
#include "rc/page_wait.h"
#include "rc/retransmit.h"
#include "wire/psn.h"

/* The oldest outstanding request; NULL without one. */
static struct rover_sent *oldest(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	return req->acked == req->fetched ?
	       NULL : rover_retransmit_row(qp, req->acked);
}

/* Answered as a READ is, though maybe without data? */
static bool is_read(const struct rover_sent *row)
{
	return !(rover_wrs[row->opcode].flags & ROVER_WR_ATOMIC);
}

/* The oldest request is done, one way or the other. */
static void retire(struct rover_qp *qp, enum rover_fault fault)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row = rover_retransmit_row(qp, req->acked);

	/* It may be acknowledged while it is being sent once more. */
	if (req->sending == req->acked) {
		req->sending++;
		req->offset = 0;
		req->wqe.valid = false;
	}
	req->resp.valid = false;
	req->acked++;
	/* Whoever hears of it in the kernel may close the key of what we still hold. */
	if (!qp->user)
		rover_sgl_release(&req->resp_sgl);
	/* The slot first: a program that sees the completion may use it. */
	rover_ring_retire(&qp->sq, 1);
	rover_wqe_complete(qp, row, fault);
	if (!fault)
		rover_localop_complete(qp);
}

/* So many packets have arrived: news for whoever follows how the network is. */
static void progress(struct rover_qp *qp, u32 packets)
{
	rover_retransmit_progress(qp);
	rover_cwnd_acked(qp, packets);
	rover_path_carried(&qp->path, (u64)packets << qp->mtu_shift);
	set_bit(ROVER_WORK_TX, &qp->work);
}

/*
 * All packets before @psn have arrived.  Move una there, or up to the first
 * READ or atomic whose response has not.
 */
static void ack_until(struct rover_qp *qp, u32 psn)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row;
	u32 una = req->una;

	while ((row = oldest(qp))) {
		u32 end = rover_psn_add(row->psn,
					rover_retransmit_packets(qp, row));

		if (rover_retransmit_answered(row))
			break;		/* una is at it, or in it */
		if (rover_psn_diff(psn, end) < 0) {
			if (rover_psn_diff(psn, req->una) > 0)
				req->una = psn;
			break;
		}
		req->una = end;
		retire(qp, ROVER_OK);
	}
	if (req->una != una)
		progress(qp, rover_psn_diff(req->una, una));
}

/*
 * The answers that came together are progress, once for all of them; and before
 * anything that goes back or waits.
 */
static void settle(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	u32 answered = req->answered;

	req->answered = 0;
	if (answered && rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		progress(qp, answered);
}

/* A response is missing before what has just arrived. */
static void implied_nak(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	settle(qp);
	if (req->implied_nak_psn == req->una)
		return;
	req->implied_nak_psn = req->una;
	rover_qp_count(qp, ROVER_STAT_IMPLIED_NAK);
	if (!qp->attr.retry_cnt) {
		rover_completer_dead(qp);
		return;
	}
	rover_retransmit_go_back(qp);
	rover_retransmit_sent(qp, req->una);
}

/* The oldest request failed at this end or at the peer: so does the QP. */
static void fail(struct rover_qp *qp, enum rover_fault fault)
{
	trace_rover_fault(qp->obj.key, qp->req.una, fault);
	rover_retransmit_stop(qp);
	rover_qp_fail(qp, ROVER_EVENT_NONE);
	if (oldest(qp))
		retire(qp, fault);
}

/* Acknowledges ***************************************************************/

static void nak(struct rover_qp *qp, u8 syndrome)
{
	switch (syndrome) {
	case ROVER_NAK_PSN_SEQ:
		rover_qp_count(qp, ROVER_STAT_PACKET_SEQ_ERR);
		/* Each NAK is a retry, too (IBTA 9.9.2.1): with none allowed this ends it. */
		if (!qp->attr.retry_cnt) {
			rover_completer_dead(qp);
			break;
		}
		rover_path_lost(&qp->path);
		rover_cwnd_lost(qp);
		rover_retransmit_go_back(qp);
		rover_retransmit_sent(qp, qp->req.una);
		break;
	case ROVER_NAK_INV_REQ:
		rover_qp_count(qp, ROVER_STAT_REQ_REMOTE_INVALID);
		fail(qp, ROVER_FAULT_REM_INV_REQ);
		break;
	case ROVER_NAK_REM_ACCESS:
		rover_qp_count(qp, ROVER_STAT_REQ_REMOTE_ACCESS);
		fail(qp, ROVER_FAULT_REM_ACCESS);
		break;
	case ROVER_NAK_REM_OP:
		fail(qp, ROVER_FAULT_REM_OP);
		break;
	default:
		fail(qp, ROVER_FAULT_BAD_RESP);
	}
}

/* Will the peer, in error after this, answer nothing more? */
static bool is_last_word(u8 syndrome)
{
	return (syndrome & ROVER_AETH_KIND) == ROVER_AETH_NAK &&
	       syndrome != ROVER_NAK_PSN_SEQ;
}

/*
 * What the peer said last, before an answer that the network held up, counts
 * once that answer is there.  Asking for it again would be in vain; if it does
 * not come, the timeouts say so.
 */
static void recall_last_word(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (!req->early_nak)
		return;
	settle(qp);
	ack_until(qp, req->early_nak_psn);
	if (oldest(qp) && req->una == req->early_nak_psn)
		nak(qp, req->early_nak);
}

/*
 * Is there no use in waiting for an answer?  Not if it was here, and dropped as its
 * memory was not, and the peer's last word is about this very request.
 */
static bool in_vain(struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;
	struct rover_sent *row = oldest(qp);
	s32 at;

	if (req->psn_lost != req->una || !req->early_nak || !row)
		return false;
	at = rover_psn_diff(req->early_nak_psn, row->psn);
	return at >= 0 && at < (s32)rover_retransmit_packets(qp, row);
}

static void not_ready(struct rover_qp *qp, u8 code)
{
	struct rover_req *req = &qp->req;
	bool memory;

	rover_qp_count(qp, ROVER_STAT_RNR_NAK_RETRY);
	/* Seven is the one count without end (IBTA 9.7.5.2.8). */
	if (qp->attr.rnr_retry != 7) {
		if (!req->rnr_retries) {
			rover_qp_count(qp, ROVER_STAT_RNR_RETRIES_EXCEEDED);
			fail(qp, ROVER_FAULT_RNR_RETRY);
			return;
		}
		req->rnr_retries--;
	}
	memory = rover_page_wait_is_peers(qp, oldest(qp));
	/* Whoever tells of its receives is sent what it has room for, and one more. */
	if (!req->lsn_valid && !memory)
		rover_cwnd_probe(qp);
	rover_retransmit_not_ready(qp, code, !memory);
}

/* How many receives the peer has, behind all that is acknowledged. */
static void receive_credits(struct rover_qp *qp, u8 value)
{
	struct rover_req *req = &qp->req;

	if (!rover_credit_told(qp, oldest(qp), value))
		return;
	set_bit(ROVER_WORK_TX, &qp->work);
	if (req->rnr_wait) {
		req->rnr_woken = true;
		rover_retransmit_ready(qp);
	}
}

static void receive_ack(struct rover_qp *qp, const struct rover_packet *pkt)
{
	u8 syndrome = rover_aeth_syndrome(&pkt->hdr.aeth);
	struct rover_req *req = &qp->req;
	bool ack = (syndrome & ROVER_AETH_KIND) == ROVER_AETH_ACK;
	u32 next = rover_psn_add(pkt->psn, ack);
	s32 past = rover_psn_diff(next, req->next_psn);

	trace_rover_ack_received(qp->obj.key, pkt->psn, syndrome);
	settle(qp);
	/* A NAK names a packet that was sent; an ACK of old news is a ghost. */
	if (rover_psn_diff(next, req->una) < 0 || past > 0 || (!ack && !past)) {
		rover_qp_drop(qp, ROVER_STAT_DROP_STALE_RESP, pkt->opcode,
			      pkt->psn);
		return;
	}
	ack_until(qp, next);
	if (ack && req->una == next)
		receive_credits(qp, syndrome & ROVER_AETH_VALUE);
	if (!oldest(qp) || !rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		return;
	if (req->una != next) {
		if (is_last_word(syndrome)) {
			req->early_nak = syndrome;
			req->early_nak_psn = next;
			if (in_vain(qp))
				nak(qp, syndrome);
		} else {
			implied_nak(qp);
		}
		return;
	}
	if (!ack && (syndrome & ROVER_AETH_KIND) == ROVER_AETH_RNR)
		not_ready(qp, syndrome & ROVER_AETH_VALUE);
	else if (!ack)
		nak(qp, syndrome);
}

/* Responses with data ********************************************************/

/*
 * Where the data of the oldest request goes: read from the ring once more and
 * compared with what we remember, for the program may have written there.
 */
static enum rover_fault open_response(struct rover_qp *qp,
				      const struct rover_sent *row)
{
	struct rover_req *req = &qp->req;
	struct rover_wqe *wqe = &req->resp;
	const void *slot = rover_ring_slot(&qp->sq, req->acked);
	u64 length = 0;
	unsigned int i;

	if (wqe->valid && wqe->index == req->acked)
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
	wqe->index = req->acked;
	wqe->valid = true;
	rover_sgl_aim(&req->resp_sgl, qp->pd, wqe->sge, wqe->hdr.num_sge,
		      IB_ACCESS_LOCAL_WRITE, &qp->resp_demand);
	return ROVER_OK;
}

static bool read_fits(struct rover_qp *qp, const struct rover_sent *row,
		      const struct rover_packet *pkt, u32 at)
{
	u64 left = row->length - ((u64)at << qp->mtu_shift);
	u32 packets = rover_retransmit_packets(qp, row);

	/* LAST and ONLY may stand at the end of any piece, FIRST at its start. */
	if (pkt->payload != min(left, (u64)pkt->packets << qp->mtu_shift))
		return false;
	return at + pkt->packets < packets ||
	       (at + pkt->packets == packets && pkt->op->flags & ROVER_OP_END);
}

/*
 * What is wrong with the memory of a response.  If it only is not there yet, the
 * response is lost, and asked for again when it is: by us and not by the gap that
 * those that follow find.  One whose payload the peer has revoked is asked for at once.
 */
static void misplaced(struct rover_qp *qp, const struct rover_packet *pkt,
		      enum rover_fault fault)
{
	struct rover_req *req = &qp->req;
	bool revoked = fault == ROVER_FAULT_REVOKED;

	if (!rover_fault_is_loss(fault)) {
		fail(qp, fault);
		return;
	}
	req->page_wait = true;
	req->psn_lost = req->una;
	if (in_vain(qp)) {
		nak(qp, req->early_nak);
		return;
	}
	req->implied_nak_psn = req->una;
	if (revoked)
		set_bit(ROVER_WORK_TX, &qp->work);
	rover_qp_drop(qp, revoked ? ROVER_STAT_DROP_REVOKED :
		      ROVER_STAT_DROP_PAGE, pkt->opcode, pkt->psn);
}

/* Return false when it was not taken. */
static bool receive_read(struct rover_qp *qp, const struct rover_packet *pkt,
			 struct rover_sent *row)
{
	u32 at = rover_psn_diff(pkt->psn, row->psn);
	struct rover_req *req = &qp->req;
	enum rover_fault fault;

	if (!read_fits(qp, row, pkt, at)) {
		fail(qp, ROVER_FAULT_BAD_RESP);
		return false;
	}
	fault = open_response(qp, row);
	if (!fault && pkt->payload) {
		rover_sgl_seek(&req->resp_sgl, (u64)at << qp->mtu_shift);
		fault = rover_zcopy_place(&req->resp_sgl, pkt->skb,
					  pkt->payload_at, pkt->payload,
					  pkt->zcopy);
	}
	if (fault) {
		misplaced(qp, pkt, fault);
		return false;
	}
	req->una = rover_psn_add(pkt->psn, pkt->packets);
	if (pkt->op->flags & ROVER_OP_END && req->rd_atomic)
		req->rd_atomic--;
	if (at + pkt->packets == rover_retransmit_packets(qp, row))
		retire(qp, ROVER_OK);
	return true;
}

static bool receive_atomic(struct rover_qp *qp, const struct rover_packet *pkt,
			   struct rover_sent *row)
{
	u64 orig = be64_to_cpu(pkt->hdr.atomack.orig);
	struct rover_req *req = &qp->req;
	enum rover_fault fault;

	fault = open_response(qp, row);
	if (!fault) {
		rover_sgl_seek(&req->resp_sgl, 0);
		fault = rover_sgl_write_mem(&req->resp_sgl, &orig, sizeof(orig));
	}
	if (fault) {
		misplaced(qp, pkt, fault);
		return false;
	}
	req->una = rover_psn_add(pkt->psn, 1);
	if (req->rd_atomic)
		req->rd_atomic--;
	retire(qp, ROVER_OK);
	return true;
}

/* A response with data: all before it must be done, and it must be next. */
static void receive_data(struct rover_qp *qp, const struct rover_packet *pkt)
{
	bool read = pkt->op->class == ROVER_CLASS_READ_RESP;
	struct rover_req *req = &qp->req;
	struct rover_sent *row;

	if (rover_psn_diff(pkt->psn, req->una) < 0 ||
	    rover_psn_diff(pkt->psn, req->next_psn) >= 0) {
		rover_qp_drop(qp, ROVER_STAT_DROP_STALE_RESP, pkt->opcode,
			      pkt->psn);
		return;
	}
	ack_until(qp, pkt->psn);
	row = oldest(qp);
	if (!row || !rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		return;
	if (req->una != pkt->psn) {
		implied_nak(qp);
		return;
	}
	if (rover_psn_diff(pkt->psn, row->psn) < 0 || !rover_retransmit_answered(row) ||
	    read != is_read(row)) {
		fail(qp, ROVER_FAULT_BAD_RESP);
		return;
	}
	if (!(read ? receive_read(qp, pkt, row) : receive_atomic(qp, pkt, row)))
		return;
	req->page_wait = false;
	req->answered++;
	if (rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		recall_last_word(qp);
}

void rover_completer_receive(struct rover_qp *qp, const struct rover_packet *pkt)
{
	lockdep_assert_held(&qp->tx_lock);
	if (pkt->op->class == ROVER_CLASS_ACK)
		receive_ack(qp, pkt);
	else
		receive_data(qp, pkt);
}

void rover_completer_finish(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	rover_sgl_release(&qp->req.resp_sgl);
	settle(qp);
}

void rover_completer_dead(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	rover_qp_count(qp, ROVER_STAT_RETRIES_EXCEEDED);
	fail(qp, ROVER_FAULT_RETRY);
}
