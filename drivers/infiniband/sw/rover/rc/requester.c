// SPDX-License-Identifier: GPL-2.0
/*
 * requester - from work requests to packets
 *
 * A WQE is copied once, validated, given a row in req.sent, and sent as far as
 * cwnd, credits, max_rd_atomic and the device allow.  After a go-back WQEs are
 * read and validated again.
 *
 * A long READ is sent as requests of ROVER_READ_PIECE bytes, so cwnd limits
 * responses, too (decision 0008).  UC packets are never outstanding, so cwnd
 * never closes.
 */
#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/cq.h"
#include "qp/early.h"
#include "qp/flush.h"
#include "qp/qp_state.h"
#include "qp/wqe.h"
#include "rc/cc.h"
#include "rc/credit.h"
#include "rc/exts.h"
#include "rc/localop.h"
#include "rc/pace.h"
#include "rc/requester.h"
#include "rc/retransmit.h"
#include "tx/nettx.h"
#include "tx/plug.h"
#include "wire/psn.h"

/*
 * Trains per run; one in process context, as softirqs deliver packets between
 * runs.
 */
#define BUDGET		32
#define BUDGET_PROCESS	1

#define BUDGET_LOCAL	64

/* UC packets per run: no cwnd limits the time with softirqs off. */
#define BUDGET_UC	64

/* AckReq after so many packets, or a part of a small cwnd */
#define ACKREQ_EVERY	32
#define ACKREQ_PART	4

struct requester_budget {
	int trains;
	int local;
	int uc_packets;
};

void rover_requester_init(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *sent = req->sent;
	u32 index = qp->sq.head;

	lockdep_assert_held(&qp->tx_lock);
	memset(req, 0, sizeof(*req));
	req->sent = sent;
	req->psn = qp->attr.sq_psn & ROVER_PSN_MASK;
	req->next_psn = req->psn;
	req->una = req->psn;
	req->oldest = index;
	req->sending = index;
	req->fetched = index;
	req->acked_psn = req->psn;
	req->dropped_psn = ~0;
	req->rnr_retries = qp->attr.rnr_retry;
	rover_pagein_reset(&qp->tx_pagein);
	rover_pagein_reset(&qp->resp_pagein);
	WRITE_ONCE(qp->stream.cpu, ROVER_CPU_ANY);
	WRITE_ONCE(qp->stream.adapt.peer_says, ROVER_POLL_ADAPT_NONE);
	rover_gaps_reset(&qp->gaps);
	rover_retransmit_init(qp);
	rover_cc_init(qp);
}

static bool requester_is_uc(const struct rover_qp *qp)
{
	return qp->transport == ROVER_TRANSPORT_UC;
}

/* Fetching ******************************************************************/

/*
 * Validate local memory first: a bad key would leave half a message at the
 * peer.  Single packets are validated as they are gathered.
 */
static enum rover_fault requester_check_memory(struct rover_qp *qp,
					       struct rover_wqe *wqe,
					       u64 length)
{
	const struct rover_wr *wr = &rover_wrs[wqe->hdr.opcode];
	int access = wr->flags & ROVER_WR_SCATTER ? IB_ACCESS_LOCAL_WRITE : 0;

	if (wqe->hdr.flags & ROVER_WQE_INLINE ||
	    (wr->flags & ROVER_WR_GATHER && length <= qp->mtu))
		return ROVER_OK;
	rover_sgl_set_local(&qp->req.sgl, qp->pd, wqe->sge, wqe->hdr.num_sge,
			    access, NULL);
	return rover_sgl_check(&qp->req.sgl);
}

static enum rover_fault requester_check_flush(const struct rover_send_wqe *hdr)
{
	if (hdr->imm & ~(u32)(ROVER_FLUSH_PLACEMENT | ROVER_FLUSH_SELECTIVITY))
		return ROVER_FAULT_WQE;
	return hdr->compare_add > ROVER_MAX_MSG ? ROVER_FAULT_SEND_LENGTH :
						  ROVER_OK;
}

static void requester_start_wqe(struct rover_qp *qp,
				const struct rover_sent *row)
{
	struct rover_req *req = &qp->req;
	struct rover_wqe *wqe = &req->wqe;

	wqe->valid = true;
	req->wqe_psns = rover_retransmit_packets(qp, row);
	rover_sgl_set_local(&req->sgl, qp->pd, wqe->sge, wqe->hdr.num_sge, 0,
			    &qp->tx_pagein);
	if (req->wqe_psns_sent)
		rover_sgl_seek(&req->sgl, (u64)req->wqe_psns_sent << qp->mtu_shift);
}

static bool requester_do_local(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	const struct rover_send_wqe *hdr = &req->wqe.hdr;

	rover_sgl_release(&req->sgl);
	if (rover_localop_waits(qp, &req->wqe))
		return false;
	req->wqe_fault = rover_localop_run(qp, &req->wqe);
	if (req->wqe_fault)
		return false;
	*rover_retransmit_row(qp, req->fetched++) = (struct rover_sent) {
		.wr_id = hdr->wr_id,
		.psn = req->psn,
		.opcode = hdr->opcode,
		.flags = hdr->flags,
		.ssn = req->ssn,
	};
	req->sending = req->fetched;
	rover_localop_complete(qp);
	return true;
}

/*
 * Validate a new WQE and give it a row.  Execute a local operation at once; it
 * leaves req.wqe invalid.
 */
static bool requester_fetch_new(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row;
	enum rover_fault fault;
	u64 length = 0;
	int posted;

	if (!rover_qp_allows(qp, ROVER_MAY_SEND))
		return false;
	posted = rover_ring_posted(&qp->sq, req->fetched);
	if (posted < 0) {
		rover_sgl_release(&req->sgl);
		rover_qp_fail(qp, ROVER_EVENT_QP_FATAL);
		return false;
	}
	if (!posted)
		return false;

	fault = rover_wqe_copy(qp, req->fetched, &req->wqe, &length);
	req->sending = req->fetched;
	req->wqe_psns_sent = 0;
	if (!fault && !rover_wr_fits(&rover_wrs[req->wqe.hdr.opcode],
				     qp->transport))
		fault = ROVER_FAULT_WQE;
	if (!fault && rover_localop_is(req->wqe.hdr.opcode))
		return requester_do_local(qp);
	if (!fault && req->wqe.hdr.opcode == ROVER_WQE_FLUSH)
		fault = requester_check_flush(&req->wqe.hdr);
	if (!fault)
		fault = requester_check_memory(qp, &req->wqe, length);
	if (!fault &&
	    rover_wrs[req->wqe.hdr.opcode].flags & ROVER_WR_RD_ATOMIC &&
	    !qp->attr.max_rd_atomic)
		fault = ROVER_FAULT_WQE;
	req->wqe_fault = fault;
	if (fault)
		return false;
	if (rover_wrs[req->wqe.hdr.opcode].flags & ROVER_WR_ATOMIC)
		length = sizeof(u64);
	row = rover_retransmit_row(qp, req->fetched++);
	*row = (struct rover_sent) {
		.wr_id = req->wqe.hdr.wr_id,
		.psn = req->psn,
		.length = length,
		.opcode = req->wqe.hdr.opcode,
		.flags = req->wqe.hdr.flags,
		.ssn = req->ssn,
	};
	req->ssn += rover_credit_takes_recv(row);
	WRITE_ONCE(req->long_wr, length >= ROVER_LONG_BYTES);
	/* Do not move UC to another CPU: packets could be reordered. */
	WRITE_ONCE(req->long_tx, req->long_wr && !requester_is_uc(qp) &&
		   rover_wrs[row->opcode].flags & ROVER_WR_GATHER);
	WRITE_ONCE(req->long_read,
		   req->long_wr && row->opcode == ROVER_WQE_READ);
	WRITE_ONCE(req->qd1_streak, length <= ROVER_QD1_BYTES && posted == 1 &&
		   req->psn == req->una ? req->qd1_streak + 1 : 0);
	requester_start_wqe(qp, row);
	return true;
}

static bool requester_fetch_again(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row = rover_retransmit_row(qp, req->sending);
	enum rover_fault fault;
	u64 length = 0;

	fault = rover_wqe_copy(qp, req->sending, &req->wqe, &length);
	if (!fault && (req->wqe.hdr.opcode != row->opcode ||
		       (!(rover_wrs[row->opcode].flags & ROVER_WR_ATOMIC) &&
			length != row->length)))
		fault = ROVER_FAULT_WQE;
	req->wqe_fault = fault;
	if (fault)
		return false;
	requester_start_wqe(qp, row);
	return true;
}

/* Sending *******************************************************************/

/* READs before one that is sent again were complete when it was first sent. */
static bool requester_is_fenced(const struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;

	return req->wqe.hdr.flags & ROVER_WQE_FENCE && !req->wqe_psns_sent &&
	       req->psn == req->next_psn && req->rd_atomic;
}

/* One packet is sent again to get an answer, and was not lost. */
static bool requester_is_probe(const struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;

	return req->psn != req->next_psn &&
	       !rover_gaps_left(&qp->gaps, req->psn);
}

/*
 * A READ request takes the PSNs of its responses.  One that the peer may not have
 * is not split when it is sent again: it would need more of the peer's resources
 * than max_rd_atomic allows.
 */
static u32 requester_next_psns(const struct rover_qp *qp,
			       const struct rover_sent *row)
{
	const struct rover_req *req = &qp->req;
	u32 piece = rover_retransmit_piece(qp), psns, left;

	if (row->opcode != ROVER_WQE_READ)
		return 1;
	psns = min(req->wqe_psns, rounddown(req->wqe_psns_sent, piece) + piece) -
	       req->wqe_psns_sent;
	left = qp->gaps.lost ? rover_gaps_left(&qp->gaps, req->psn) : 0;
	return left ? min(psns, left) : psns;
}

/*
 * Test for the middle of a READ request whose start, requested again, has not
 * arrived.  A responder asked for the middle may forget the start, as rdma_rxe
 * does.
 */
static bool requester_is_read_middle(const struct rover_qp *qp,
				     const struct rover_sent *row)
{
	const struct rover_req *req = &qp->req;

	return row->opcode == ROVER_WQE_READ && req->psn != req->una &&
	       req->wqe_psns_sent % rover_retransmit_piece(qp) &&
	       !READ_ONCE(qp->peer_sack);
}

static bool requester_is_msg_end(const struct rover_req *req, u32 psns)
{
	return req->wqe_psns_sent + psns == req->wqe_psns;
}

static bool requester_may_send(const struct rover_qp *qp,
			       const struct rover_sent *row, u32 psns)
{
	const struct rover_req *req = &qp->req;
	u32 inflight = rover_retransmit_inflight(qp);
	bool end = requester_is_msg_end(req, psns);

	if (unlikely(requester_is_probe(qp)))
		return true;
	/* Out of credits: probe if no AckReq is in flight (9.7.7.2.5). */
	if (!rover_credit_available(qp, row, end) && inflight &&
	    !req->since_ackreq)
		return false;
	if (rover_retransmit_is_rd_atomic(row) && req->psn == req->next_psn &&
	    req->rd_atomic >= qp->attr.max_rd_atomic)
		return false;
	if (requester_is_fenced(qp) || requester_is_read_middle(qp, row))
		return false;
	/* Everything waits for the oldest packet. */
	if (unlikely(req->psn == req->una && req->psn != req->next_psn))
		return true;
	/* Responses queue at the peer: a READ may exceed a window nearly empty. */
	if (row->opcode == ROVER_WQE_READ && 8 * inflight <= qp->cc.packets)
		return true;
	/* Exceed cwnd if no AckReq is in flight: no ACK would open it. */
	return inflight + psns <= qp->cc.packets ||
	       inflight <= req->since_ackreq;
}

static u8 requester_opcode(const struct rover_qp *qp,
			   const struct rover_sent *row)
{
	const struct rover_wr *wr = &rover_wrs[row->opcode];
	u32 packets = qp->req.wqe_psns, offset = qp->req.wqe_psns_sent;

	if (packets == 1 || rover_retransmit_is_rd_atomic(row))
		return wr->only;
	if (!offset)
		return wr->first;
	return offset + 1 == packets ? wr->last : wr->middle;
}

/* Test whether no request with packets follows these @psns. */
static bool requester_is_last(const struct rover_qp *qp, u32 psns)
{
	const struct rover_req *req = &qp->req;
	const struct rover_send_wqe *next;
	u8 opcode;

	if (!requester_is_msg_end(req, psns) ||
	    rover_psn_diff(rover_psn_add(req->psn, psns), req->next_psn) < 0)
		return false;
	if (rover_ring_posted(&qp->sq, req->fetched) <= 0)
		return true;
	/* Not validated: a program only harms itself. */
	next = rover_ring_slot(&qp->sq, req->fetched);
	opcode = READ_ONCE(next->opcode);
	return opcode < ROVER_WQE_OPCODES && rover_localop_is(opcode);
}

/*
 * Set AckReq where nothing may follow: at the end of ring, credits or cwnd; and
 * every ACKREQ_EVERY packets, or a part of a small cwnd: ACKs are what it opens
 * by.  But each AckReq splits a block (gso_long).
 */
static bool requester_want_ack(struct rover_qp *qp,
			       const struct rover_sent *row, u32 psns)
{
	const struct rover_req *req = &qp->req;
	u32 inflight = rover_retransmit_inflight(qp) + psns;
	bool end = requester_is_msg_end(req, psns);

	if (requester_is_last(qp, psns) || rover_credit_exhausted(qp, row, end))
		return true;
	/*
	 * Also on the last packet of a retransmission, or with retry_cnt 0 of
	 * each message: it cannot be sent again to ask.
	 */
	if ((req->psn != req->next_psn &&
	     rover_gaps_left(&qp->gaps, req->psn) <= psns) ||
	    (end && !qp->attr.retry_cnt))
		return true;
	return inflight >= qp->cc.packets ||
	       req->since_ackreq + 1 >= ACKREQ_EVERY ||
	       (unlikely((req->long_wr && qp->cc.ask_often) || qp->cc.rate) &&
		ACKREQ_PART * (req->since_ackreq + 1) >= qp->cc.packets);
}

static int requester_send_packet(struct rover_qp *qp, struct rover_train *train,
				 struct rover_sent *row, u32 psns)
{
	struct rover_req *req = &qp->req;
	u64 at = (u64)req->wqe_psns_sent << qp->mtu_shift;
	enum rover_fault fault;
	u8 opcode = rover_opcode_in(requester_opcode(qp, row), qp->transport);
	u16 flags = rover_opcodes[opcode].flags;
	struct rover_outgoing out __uninitialized;
	int err;

	rover_outgoing_init(&out, opcode, req->psn);
	out.retransmit = rover_psn_diff(req->psn, req->next_psn) < 0;
	out.sgl = &req->sgl;
	rover_exts_put(qp, &out, row, psns);
	if (rover_wrs[row->opcode].flags & ROVER_WR_GATHER) {
		out.len = min_t(u64, row->length - at, qp->mtu);
		if (!(flags & ROVER_OP_END) && !req->wqe_psns_sent)
			out.middles = req->wqe_psns - 2;
		if (req->wqe.hdr.flags & ROVER_WQE_INLINE)
			out.data = rover_ring_slot(&qp->sq, req->sending) +
				   ROVER_SEND_WQE_HDR + at;
	}
	if (flags & ROVER_OP_END && req->wqe.hdr.flags & ROVER_WQE_SOLICITED)
		out.flags = ROVER_BTH_SE;
	out.ackreq = !requester_is_uc(qp) && requester_want_ack(qp, row, psns);

	err = rover_train_add(train, &out, &fault);
	/* After an ODP fault, tx_pagein runs this QP again. */
	if (err == -EFAULT && fault != ROVER_FAULT_PAGE)
		req->wqe_fault = fault;
	if (err) {
		req->wqe.valid = false;		/* the cursor may have moved */
		return err;
	}
	if (out.ackreq)
		req->since_ackreq = 0;
	else
		req->since_ackreq++;
	if (out.retransmit)
		rover_qp_count(qp, ROVER_STAT_RETRANSMITTED);
	if (unlikely(qp->cc.rate))
		rover_pace_sent(qp, min_t(u64, row->length - at,
					  (u64)psns << qp->mtu_shift), psns);
	return 0;
}

/* A UC message is done when its last packet is made (IBTA 9.8.3). */
static void requester_complete_uc(struct rover_qp *qp,
				  const struct rover_sent *row)
{
	struct rover_req *req = &qp->req;

	req->una = req->psn;
	if (req->oldest == req->sending)
		return;
	req->oldest = req->sending;
	/* Release first: the completion handler may close the key. */
	rover_sgl_release(&req->sgl);
	/* The completion lets userspace reuse the slot: free it first. */
	rover_ring_retire(&qp->sq, 1);
	rover_wqe_complete(qp, row, ROVER_OK);
}

static void requester_advance_psn(struct rover_qp *qp,
				  const struct rover_sent *row, u32 psns)
{
	struct rover_req *req = &qp->req;
	bool again = req->psn != req->next_psn;
	u32 psn = req->psn;

	req->psn = rover_psn_add(psn, psns);
	if (rover_psn_diff(req->psn, req->next_psn) > 0)
		req->next_psn = req->psn;
	req->wqe_psns_sent += psns;
	if (rover_retransmit_is_rd_atomic(row) && !again)
		req->rd_atomic++;
	if (req->wqe_psns_sent == req->wqe_psns) {
		req->wqe.valid = false;
		req->sending++;
		req->wqe_psns_sent = 0;
	}
	if (unlikely(again))
		rover_retransmit_resent(qp, psn, psns);
	if (requester_is_uc(qp))
		requester_complete_uc(qp, row);
}

static bool requester_have_wqe(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (req->wqe.valid)
		return true;
	for (; req->sending != req->fetched; req->sending++)
		if (!rover_localop_is(rover_retransmit_row(qp, req->sending)->opcode))
			return requester_fetch_again(qp);
	return requester_fetch_new(qp);
}

/* Return true if none is left; the QP runs again. */
static bool requester_budget_spent(struct rover_qp *qp, int *left)
{
	if ((*left)-- > 0)
		return false;
	rover_qp_set_work(qp, ROVER_WORK_TX);
	return true;
}

/* The oldest packet, sent again, does not wait: its deadline has begun. */
static bool requester_is_paced(struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;

	if (likely(!qp->cc.rate) ||
	    (req->psn == req->una && req->psn != req->next_psn))
		return false;
	rover_cc_tick(qp);
	return qp->cc.rate && rover_pace_waits(qp);
}

static bool requester_send_next(struct rover_qp *qp, struct rover_train *train,
				struct requester_budget *budget)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row;
	u32 psns;
	int err;

	if (req->wqe_fault || !requester_have_wqe(qp))
		return false;
	if (!req->wqe.valid)	/* a local operation, already done */
		return !requester_budget_spent(qp, &budget->local);
	row = rover_retransmit_row(qp, req->sending);
	psns = requester_next_psns(qp, row);
	if (!requester_may_send(qp, row, psns))
		return false;
	if (requester_is_uc(qp) &&
	    requester_budget_spent(qp, &budget->uc_packets))
		return false;
	if (train->packets == train->shared_packets &&
	    (requester_is_paced(qp) ||
	     requester_budget_spent(qp, &budget->trains) ||
	     rover_nettx_throttled(qp)))
		return false;
	err = requester_send_packet(qp, train, row, psns);
	/* A UC packet without memory is lost, as if on the wire. */
	if (!err || (err == -ENOMEM && requester_is_uc(qp))) {
		requester_advance_psn(qp, row, psns);
		return true;
	}
	/* Out of memory: the timer runs this QP again. */
	if (err == -ENOMEM)
		rover_retransmit_sent(qp, req->psn);
	return false;
}

/* Ending ********************************************************************/

/*
 * Fail a WQE once all before it are done: completions come in order (IBTA
 * 10.10.2.2).
 */
static void requester_fail_wqe(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (req->oldest != req->sending)
		return;
	trace_rover_fault(qp->obj.key, req->psn, req->wqe_fault);
	rover_retransmit_stop(qp);
	if (req->sending == req->fetched)
		req->fetched++;
	req->sending = ++req->oldest;
	rover_ring_retire(&qp->sq, 1);
	if (requester_is_uc(qp))
		rover_qp_fail_send(qp);
	else
		rover_qp_fail(qp, ROVER_EVENT_NONE);
	rover_wqe_fail(qp, req->wqe.hdr.wr_id, req->wqe.hdr.opcode, req->wqe_fault);
	if (requester_is_uc(qp))
		req->wqe_fault = ROVER_OK;
}

/*
 * Test whether the last packet lacks AckReq and no WQE follows: in SQD or at
 * fault.
 */
static bool requester_lacks_ackreq(const struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;

	return (req->wqe_fault || !rover_qp_allows(qp, ROVER_MAY_SEND)) &&
	       req->since_ackreq && req->psn == req->next_psn &&
	       rover_qp_inflight(qp) && qp->attr.retry_cnt &&
	       !requester_is_uc(qp);
}

/* Send the last packet again, now with AckReq: once. */
static inline bool requester_ask_for_ack(struct rover_qp *qp, bool *asked)
{
	if (*asked || likely(!requester_lacks_ackreq(qp)))
		return false;
	*asked = true;
	return rover_retransmit_resend_last(qp);
}

static void requester_send_trains(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_train train;
	struct requester_budget budget = {
		.trains = in_serving_softirq() ? BUDGET : BUDGET_PROCESS,
		.local = BUDGET_LOCAL,
		.uc_packets = BUDGET_UC,
	};
	bool asked = false;

	rover_plug_begin(&train, qp, &req->ip_id, rover_pace_train(qp));
	/* A UC buffer is the user's again once completed. */
	train.must_copy = requester_is_uc(qp);
	/* The only call of requester_send_next(): it is inlined. */
	while (requester_send_next(qp, &train, &budget) ||
	       requester_ask_for_ack(qp, &asked))
		;
	rover_plug_send(&train);
	rover_sgl_release(&req->sgl);
}

/* The memory of a dropped response is there: request it again. */
static void requester_ask_again(struct rover_qp *qp)
{
	if (rover_pagein_pending(&qp->resp_pagein))
		return;
	qp->req.resp_page_wait = false;
	rover_retransmit_go_back(qp);
	rover_retransmit_sent(qp, qp->req.una);
}

void rover_requester_run(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	u32 first, next;

	lockdep_assert_held(&qp->tx_lock);
	if (!rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		return;
	if (unlikely(req->resp_page_wait))
		requester_ask_again(qp);
	first = req->psn;
	next = req->next_psn;
	if (rover_cc_is_idle(qp))
		rover_cc_idle(qp);
	if (!req->rnr_wait) {
		requester_send_trains(qp);
		if (req->psn != first && !requester_is_uc(qp)) {
			WRITE_ONCE(req->last_tx_cpu, smp_processor_id());
			rover_retransmit_sent(qp, req->next_psn == next ?
					      req->una :
					      rover_psn_add(req->next_psn, -1));
		}
		if (req->wqe_fault)
			requester_fail_wqe(qp);
	}
	if (READ_ONCE(qp->state) == IB_QPS_SQD && req->oldest == req->fetched)
		rover_qp_drained(qp);
}

void rover_requester_flush(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	rover_retransmit_stop(qp);
	rover_pace_stop(qp);
	rover_early_purge(qp, &qp->tx_early);
	req->wqe.valid = false;
	req->resp.valid = false;
	req->resp_page_wait = false;
	while (qp->sq.head != req->fetched && req->sent) {
		struct rover_sent *row = rover_retransmit_row(qp, req->oldest++);

		rover_ring_retire(&qp->sq, 1);
		rover_wqe_complete(qp, row, ROVER_FAULT_FLUSH);
	}
	rover_flush_sends(qp);
	req->oldest = qp->sq.head;
	req->sending = qp->sq.head;
	req->fetched = qp->sq.head;
}

void rover_requester_reset(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	rover_retransmit_stop(qp);
	rover_pace_stop(qp);
	rover_early_reset(qp, &qp->tx_early);
	rover_gaps_free(&qp->gaps);
	req->wqe.valid = false;
	req->resp.valid = false;
	req->resp_page_wait = false;
	req->wqe_fault = ROVER_OK;
	req->oldest = qp->sq.head;
	req->sending = qp->sq.head;
	req->fetched = qp->sq.head;
}
