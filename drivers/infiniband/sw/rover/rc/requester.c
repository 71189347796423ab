// SPDX-License-Identifier: GPL-2.0
/*
 * requester - from work requests to packets
 *
 * A work request is copied out of the ring once, proved, given a row in
 * req.sent and then sent packet by packet, as far as the window of
 * unacknowledged packets, the READ and atomic credits and the device allow.
 * The place (req.psn, req.sending, req.offset) may be set back at any time by
 * retransmit; requests are then read and proved again.
 *
 * A long READ is asked for in pieces of ROVER_READ_PIECE bytes, each a READ request
 * of its own to the peer: so the window also limits what flows towards us, and
 * what is lost can be asked for again from where it was lost.
 *
 * What never leaves the host (localop) is done on the way, when all before it
 * has been sent.
 *
 * Unreliable connections send in the same way, but that nothing of it is
 * outstanding once it has left: so no window ever closes.
 *
 * Runs under tx_lock with softirqs off.
 */
#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/cq.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "rc/credit.h"
#include "rc/cwnd.h"
#include "rc/localop.h"
#include "rc/requester.h"
#include "rc/retransmit.h"
#include "tx/nettx.h"
#include "tx/plug.h"
#include "wire/exts.h"
#include "wire/psn.h"

/*
 * Trains per run; what is left over is the next run's.  In process context that
 * comes at once, and in between softirqs are on: what has been sent is on its
 * way, or received on another CPU, while the next train is made.
 */
#define BUDGET		32
#define BUDGET_PROCESS	1

/* Requests without packets per run. */
#define BUDGET_LOCAL	64

/*
 * Packets per run of a connection without acknowledges: no window keeps it from
 * sending all there is, be it gigabytes, with softirqs off.
 */
#define BUDGET_UNRELIABLE	64

/* Packets after which an acknowledge is asked for in any case. */
#define ACKREQ_EVERY	32

/* What is left of this run. */
struct budget {
	int trains;
	int local;
	int unreliable;
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
	req->acked = index;
	req->sending = index;
	req->fetched = index;
	req->implied_nak_psn = ~0;
	req->psn_lost = ~0;
	req->rnr_retries = qp->attr.rnr_retry;
	rover_demand_reset(&qp->tx_demand);
	rover_demand_reset(&qp->resp_demand);
	WRITE_ONCE(qp->stream.cpu, ROVER_CPU_ANY);
	WRITE_ONCE(qp->stream.adapt.told, ROVER_POLL_ADAPT_NOTHING);
	qp->rtx.deadline = 0;
	qp->rtx.sample_at = 0;
	qp->rtx.srtt = 0;
	qp->rtx.rttvar = 0;
	qp->rtx.backoff = 0;
	qp->rtx.tries = 0;
	rover_cwnd_init(qp);
}

/* Does the peer never answer? */
static bool unreliable(const struct rover_qp *qp)
{
	return qp->transport == ROVER_TRANSPORT_UC;
}

/* Fetching ******************************************************************/

/*
 * Local memory is proved before the first packet leaves, so that a bad key
 * does not leave half a message at the peer.  What is one packet is proved as it
 * is gathered, and does not leave before.
 */
static enum rover_fault prove_memory(struct rover_qp *qp, struct rover_wqe *wqe,
				     u64 length)
{
	const struct rover_wr *wr = &rover_wrs[wqe->hdr.opcode];
	int access = wr->flags & ROVER_WR_SCATTER ? IB_ACCESS_LOCAL_WRITE : 0;

	if (wqe->hdr.flags & ROVER_WQE_INLINE ||
	    (wr->flags & ROVER_WR_GATHER && length <= qp->mtu))
		return ROVER_OK;
	rover_sgl_aim(&qp->req.sgl, qp->pd, wqe->sge, wqe->hdr.num_sge, access,
		      NULL);
	return rover_sgl_check(&qp->req.sgl);
}

/* What has no place in its header would be another FLUSH. */
static enum rover_fault prove_flush(const struct rover_send_wqe *hdr)
{
	if (hdr->imm & ~(u32)(ROVER_FLUSH_PLACEMENT | ROVER_FLUSH_SELECTIVITY))
		return ROVER_FAULT_WQE;
	return hdr->compare_add > ROVER_MAX_MSG ? ROVER_FAULT_SEND_LENGTH :
						  ROVER_OK;
}

static void start_wqe(struct rover_qp *qp, const struct rover_sent *row)
{
	struct rover_req *req = &qp->req;
	struct rover_wqe *wqe = &req->wqe;

	wqe->valid = true;
	req->packets = rover_retransmit_packets(qp, row);
	rover_sgl_aim(&req->sgl, qp->pd, wqe->sge, wqe->hdr.num_sge, 0,
		      &qp->tx_demand);
	if (req->offset)
		rover_sgl_seek(&req->sgl, (u64)req->offset << qp->mtu_shift);
}

/* A request without packets, the first after all that was sent: do it now. */
static bool do_local(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	const struct rover_send_wqe *hdr = &req->wqe.hdr;

	rover_sgl_release(&req->sgl);
	if (rover_localop_waits(qp, &req->wqe))
		return false;
	req->fault = rover_localop_run(qp, &req->wqe);
	if (req->fault)
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
 * A request that was never sent before: prove it and give it a row.  One
 * without packets is done by then, and leaves no request to be sent.
 */
static bool fetch_new(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row;
	enum rover_fault fault;
	u64 length = 0;
	int posted;

	if (!rover_qp_allows(qp, ROVER_MAY_SEND) ||
	    req->fetched - req->acked >= ROVER_MAX_INFLIGHT)
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
	req->offset = 0;
	if (!fault && !rover_wr_fits(&rover_wrs[req->wqe.hdr.opcode],
				     qp->transport))
		fault = ROVER_FAULT_WQE;
	if (!fault && rover_localop_is(req->wqe.hdr.opcode))
		return do_local(qp);
	if (!fault && req->wqe.hdr.opcode == ROVER_WQE_FLUSH)
		fault = prove_flush(&req->wqe.hdr);
	if (!fault)
		fault = prove_memory(qp, &req->wqe, length);
	if (!fault && rover_wrs[req->wqe.hdr.opcode].flags & ROVER_WR_RD_ATOMIC &&
	    !qp->attr.max_rd_atomic)
		fault = ROVER_FAULT_WQE;
	req->fault = fault;
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
	req->ssn += rover_credit_takes(row);
	WRITE_ONCE(req->long_wr, length >= ROVER_BULK);
	/* What is not acknowledged may be on its way still, and is not to be passed. */
	WRITE_ONCE(req->long_tx, req->long_wr && !unreliable(qp) &&
		   rover_wrs[row->opcode].flags & ROVER_WR_GATHER);
	WRITE_ONCE(req->long_read, req->long_wr && row->opcode == ROVER_WQE_READ);
	WRITE_ONCE(req->qd1_streak, length <= ROVER_ALONE && posted == 1 &&
		   req->psn == req->una ? req->qd1_streak + 1 : 0);
	start_wqe(qp, row);
	return true;
}

/* A request that was sent before: it must still say what it said then. */
static bool fetch_again(struct rover_qp *qp)
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
	req->fault = fault;
	if (fault)
		return false;
	start_wqe(qp, row);
	return true;
}

/* Sending *******************************************************************/

static bool fenced(const struct rover_qp *qp)
{
	return qp->req.wqe.hdr.flags & ROVER_WQE_FENCE && !qp->req.offset &&
	       qp->req.rd_atomic;
}

/*
 * PSNs that the next packet takes: a READ request takes its responses'.  What is
 * asked for again is no more than a window: the first answer may be late only,
 * and the second then is in the way of what is new.
 */
static u32 psns_of_next(const struct rover_qp *qp, const struct rover_sent *row)
{
	const struct rover_req *req = &qp->req;
	u32 piece = rover_retransmit_piece(qp), psns;

	if (row->opcode != ROVER_WQE_READ)
		return 1;
	psns = min(req->packets, rounddown(req->offset, piece) + piece) -
	       req->offset;
	return req->psn == req->next_psn ? psns : min(psns, qp->cwnd.packets);
}

/*
 * The middle of what was one READ request, when what is before it in there was
 * asked for again, too, and has not come yet?  A responder need not remember
 * more of a request than what it was last asked for of it, and rdma_rxe does not:
 * asked for the middle, it would never again give what is before that.
 */
static bool is_middle(const struct rover_qp *qp, const struct rover_sent *row)
{
	const struct rover_req *req = &qp->req;

	return row->opcode == ROVER_WQE_READ && req->psn != req->una &&
	       req->offset % rover_retransmit_piece(qp);
}

/* Is that all of this request? */
static bool is_end(const struct rover_req *req, u32 psns)
{
	return req->offset + psns == req->packets;
}

static bool may_send(const struct rover_qp *qp, const struct rover_sent *row,
		     u32 psns)
{
	const struct rover_req *req = &qp->req;
	u32 flying = rover_psn_diff(req->psn, req->una);
	bool end = is_end(req, psns);

	/* What asks brings news; without any on its way one may go and ask (9.7.7.2.5). */
	if (!rover_credit_left(qp, row, end) && flying && !req->since_ackreq)
		return false;
	if (rover_retransmit_answered(row) && req->rd_atomic >= qp->attr.max_rd_atomic)
		return false;
	if (fenced(qp) || is_middle(qp, row))
		return false;
	/* Nor does the window wait for what nothing on its way has asked for. */
	return flying + psns <= qp->cwnd.packets || flying <= req->since_ackreq;
}

static u8 opcode_in_rc(const struct rover_qp *qp, const struct rover_sent *row)
{
	const struct rover_wr *wr = &rover_wrs[row->opcode];
	u32 packets = qp->req.packets, offset = qp->req.offset;

	if (packets == 1 || rover_retransmit_answered(row))
		return wr->only;
	if (!offset)
		return wr->first;
	return offset + 1 == packets ? wr->last : wr->middle;
}

/* Is all that has packets sent, when @psns more are? */
static bool is_last(const struct rover_qp *qp, u32 psns)
{
	const struct rover_req *req = &qp->req;
	const struct rover_send_wqe *next;
	u8 opcode;

	if (!is_end(req, psns) ||
	    rover_psn_diff(rover_psn_add(req->psn, psns), req->next_psn) < 0)
		return false;
	if (rover_ring_posted(&qp->sq, req->fetched) <= 0)
		return true;
	/* Not proved: a program may deceive itself. */
	next = rover_ring_slot(&qp->sq, req->fetched);
	opcode = READ_ONCE(next->opcode);
	return opcode < ROVER_WQE_OPCODES && rover_localop_is(opcode);
}

/*
 * Ask for an acknowledge when nothing would follow that asks: at the end of
 * what is posted or of the peer's receives, when the window closes, and every now
 * and then in between.
 */
static bool want_ack(struct rover_qp *qp, const struct rover_sent *row, u32 psns)
{
	const struct rover_req *req = &qp->req;
	u32 flying = rover_psn_diff(req->psn, req->una) + psns;
	s32 old = rover_psn_diff(req->next_psn, req->psn);
	bool end = is_end(req, psns);

	if (is_last(qp, psns) || rover_credit_ends(qp, row, end))
		return true;
	/* The last one is sent again for this; with no retries there is no second time. */
	if ((old > 0 && old <= (s32)psns) || (end && !qp->attr.retry_cnt))
		return true;
	return flying >= qp->cwnd.packets || req->since_ackreq + 1 >= ACKREQ_EVERY;
}

/* The packet at the present place. */
static int send_packet(struct rover_qp *qp, struct rover_train *train,
		       struct rover_sent *row, u32 psns)
{
	struct rover_req *req = &qp->req;
	u64 at = (u64)req->offset << qp->mtu_shift;
	enum rover_fault fault;
	u8 opcode = rover_opcode_in(opcode_in_rc(qp, row), qp->transport);
	u16 flags = rover_opcodes[opcode].flags;
	struct rover_outgoing out __uninitialized;
	int err;

	rover_outgoing_init(&out, opcode, req->psn);
	out.again = rover_psn_diff(req->psn, req->next_psn) < 0;
	out.sgl = &req->sgl;
	rover_exts_put(qp, &out, row, psns);
	if (rover_wrs[row->opcode].flags & ROVER_WR_GATHER) {
		out.len = min_t(u64, row->length - at, qp->mtu);
		if (!(flags & ROVER_OP_END) && !req->offset)
			out.middles = req->packets - 2;
		if (req->wqe.hdr.flags & ROVER_WQE_INLINE)
			out.data = rover_ring_slot(&qp->sq, req->sending) +
				   ROVER_SEND_WQE_HDR + at;
	}
	if (flags & ROVER_OP_END && req->wqe.hdr.flags & ROVER_WQE_SOLICITED)
		out.flags = ROVER_BTH_SE;
	out.ackreq = !unreliable(qp) && want_ack(qp, row, psns);

	err = rover_train_add(train, &out, &fault);
	/* What is not there yet is waited for: whoever brings it runs us again. */
	if (err == -EFAULT && fault != ROVER_FAULT_PAGE)
		req->fault = fault;
	if (err) {
		req->wqe.valid = false;		/* the cursor may have moved */
		return err;
	}
	if (out.ackreq)
		req->since_ackreq = 0;
	else
		req->since_ackreq++;
	if (out.again)
		rover_qp_count(qp, ROVER_STAT_RETRANSMITTED);
	return 0;
}

/*
 * Of a connection without acknowledges nothing is ever outstanding, and a
 * message is done when its last packet is made (IBTA 9.8.3).
 */
static void done_when_sent(struct rover_qp *qp, const struct rover_sent *row)
{
	struct rover_req *req = &qp->req;

	req->una = req->psn;
	if (req->acked == req->sending)
		return;
	req->acked = req->sending;
	/* Whoever hears of it may close the key of what we still hold. */
	rover_sgl_release(&req->sgl);
	/* The slot first: a program that sees the completion may use it. */
	rover_ring_retire(&qp->sq, 1);
	rover_wqe_complete(qp, row, ROVER_OK);
}

/* Move on past the packet just sent. */
static void advance(struct rover_qp *qp, const struct rover_sent *row, u32 psns)
{
	struct rover_req *req = &qp->req;

	req->psn = rover_psn_add(req->psn, psns);
	if (rover_psn_diff(req->psn, req->next_psn) > 0)
		req->next_psn = req->psn;
	req->offset += psns;
	if (rover_retransmit_answered(row))
		req->rd_atomic++;
	if (req->offset == req->packets) {
		req->wqe.valid = false;
		req->sending++;
		req->offset = 0;
	}
	if (unreliable(qp))
		done_when_sent(qp, row);
}

static bool have_wqe(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (req->wqe.valid)
		return true;
	for (; req->sending != req->fetched; req->sending++)
		if (!rover_localop_is(rover_retransmit_row(qp, req->sending)->opcode))
			return fetch_again(qp);
	return fetch_new(qp);
}

/* What this run has left is for the next. */
static bool spent(struct rover_qp *qp, int *left)
{
	if ((*left)-- > 0)
		return false;
	set_bit(ROVER_WORK_TX, &qp->work);
	return true;
}

/* Return false when there is nothing more to send, or it may not be sent. */
static bool step(struct rover_qp *qp, struct rover_train *train,
		 struct budget *budget)
{
	struct rover_req *req = &qp->req;
	struct rover_sent *row;
	u32 psns;
	int err;

	if (req->fault || !have_wqe(qp))
		return false;
	if (!req->wqe.valid)
		return !spent(qp, &budget->local);	/* done without a packet */
	row = rover_retransmit_row(qp, req->sending);
	psns = psns_of_next(qp, row);
	if (!may_send(qp, row, psns))
		return false;
	if (unreliable(qp) && spent(qp, &budget->unreliable))
		return false;
	if (train->packets == train->others &&
	    (spent(qp, &budget->trains) || rover_nettx_full(qp)))
		return false;
	err = send_packet(qp, train, row, psns);
	/* Without memory it is lost, and counted, like any other on the way. */
	if (!err || (err == -ENOMEM && unreliable(qp))) {
		advance(qp, row, psns);
		return true;
	}
	/* The timer brings us back, by itself or as a timeout. */
	if (err == -ENOMEM)
		rover_retransmit_sent(qp, req->psn);
	return false;
}

/* Ending ********************************************************************/

/*
 * The request being sent is at fault.  It fails in its turn: when all before
 * it are done (IBTA 10.10.2.2: completions come in order).
 */
static void fail_in_turn(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (req->acked != req->sending)
		return;
	trace_rover_fault(qp->obj.key, req->psn, req->fault);
	rover_retransmit_stop(qp);
	if (req->sending == req->fetched)
		req->fetched++;		/* it never got a row */
	req->sending = ++req->acked;
	rover_ring_retire(&qp->sq, 1);
	if (unreliable(qp))
		rover_qp_fail_send(qp);
	else
		rover_qp_fail(qp, ROVER_EVENT_NONE);
	rover_wqe_fail(qp, req->wqe.hdr.wr_id, req->wqe.hdr.opcode, req->fault);
	if (unreliable(qp))
		req->fault = ROVER_OK;
}

/*
 * Has the last packet not asked for an acknowledge, since a request was posted
 * behind it that is not going to be sent: in SQD, or at fault?
 */
static bool requester_unasked(const struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;

	return (req->fault || !rover_qp_allows(qp, ROVER_MAY_SEND)) &&
	       req->since_ackreq && req->psn == req->next_psn &&
	       rover_qp_inflight(qp) && qp->attr.retry_cnt && !unreliable(qp);
}

static void requester_send(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_train train;
	struct budget budget = {
		.trains = in_serving_softirq() ? BUDGET : BUDGET_PROCESS,
		.local = BUDGET_LOCAL,
		.unreliable = BUDGET_UNRELIABLE,
	};

	rover_plug_begin(&train, qp, &req->ip_id, qp->cwnd.train);
	/* With the completion the buffer is the program's again. */
	train.copy = unreliable(qp);
	while (step(qp, &train, &budget))
		;
	if (unlikely(requester_unasked(qp)) && rover_retransmit_last(qp))
		while (step(qp, &train, &budget))
			;
	rover_plug_send(&train);
	rover_sgl_release(&req->sgl);
}

/* The memory of a response that was dropped is there: ask for it again. */
static void ask_again(struct rover_qp *qp)
{
	if (rover_demand_waits(&qp->resp_demand))
		return;
	qp->req.page_wait = false;
	qp->req.implied_nak_psn = ~0;
	rover_retransmit_go_back(qp);
	rover_retransmit_sent(qp, qp->req.una);
}

void rover_requester_run(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	u32 before;

	lockdep_assert_held(&qp->tx_lock);
	if (!rover_qp_allows(qp, ROVER_MAY_COMPLETE))
		return;
	if (unlikely(req->page_wait))
		ask_again(qp);
	before = req->psn;
	if (!req->rnr_wait) {
		requester_send(qp);
		if (req->psn != before && !unreliable(qp)) {
			WRITE_ONCE(req->last_tx_cpu, smp_processor_id());
			rover_retransmit_sent(qp, rover_psn_add(req->psn, -1));
		}
		if (req->fault)
			fail_in_turn(qp);
	}
	if (READ_ONCE(qp->state) == IB_QPS_SQD && req->acked == req->fetched)
		rover_qp_drained(qp);
}

void rover_requester_flush(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	rover_retransmit_stop(qp);
	req->wqe.valid = false;
	req->resp.valid = false;
	req->page_wait = false;
	while (qp->sq.head != req->fetched && req->sent) {
		struct rover_sent *row = rover_retransmit_row(qp, req->acked++);

		rover_ring_retire(&qp->sq, 1);
		rover_wqe_complete(qp, row, ROVER_FAULT_FLUSH);
	}
	rover_wqe_flush(qp);
	req->acked = qp->sq.head;
	req->sending = qp->sq.head;
	req->fetched = qp->sq.head;
}

void rover_requester_reset(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	rover_retransmit_stop(qp);
	req->wqe.valid = false;
	req->resp.valid = false;
	req->page_wait = false;
	req->fault = ROVER_OK;
	req->acked = qp->sq.head;
	req->sending = qp->sq.head;
	req->fetched = qp->sq.head;
}
