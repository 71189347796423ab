// SPDX-License-Identifier: GPL-2.0
/*
 * responder - from request packets to memory
 *
 * Packets pass the checks of IBTA figure 89, in its order, and are executed.
 * responder_refuse() turns a fault into NAK, completion and event.
 *
 * At most one ACK is sent, at the end of a batch and after pending READ
 * responses, as answers leave in order (IBTA 9.7.5.1.2).
 *
 * Of a peer that retransmits selectively, packets behind a missing one are held
 * (early), and ACKs tell which have arrived (sack).
 *
 * XRC: see xrc.h.
 */
#include "core/trace.h"
#include "mem/mw.h"
#include "qp/cq.h"
#include "qp/early.h"
#include "qp/flush.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "qp/xrc.h"
#include "rc/ack.h"
#include "rc/credit.h"
#include "rc/mpe.h"
#include "rc/outofseq.h"
#include "rc/page_wait.h"
#include "rc/rd_atomic.h"
#include "rc/reqcheck.h"
#include "rc/responder.h"
#include "wire/psn.h"

void rover_responder_init(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;
	struct rover_saved *saved = rsp->saved;
	struct rover_res *res = rsp->res;
	u32 max = rsp->res_max, i;

	lockdep_assert_held(&qp->rx_lock);
	memset(rsp, 0, sizeof(*rsp));
	rsp->res = res;
	rsp->saved = saved;
	rsp->res_max = max;
	for (i = 0; i < max; i++)
		saved[i].psn = ~0;
	rsp->psn = qp->attr.rq_psn & ROVER_PSN_MASK;
	WRITE_ONCE(qp->peer_sack, false);
	rover_pagein_reset(&qp->rx_pagein);
}

/* Completions ****************************************************************/

static noinline void responder_complete_recv(struct rover_qp *qp,
					     const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	struct rover_cqe cqe = {
		.wr_id = rsp->wqe.wr_id,
		.src_qpn = qp->remote_qpn,
		.byte_len = rsp->received,
		.opcode = rsp->class == ROVER_CLASS_WRITE ?
			  ROVER_CQE_RECV_WRITE_IMM : ROVER_CQE_RECV,
	};

	if (pkt->op->flags & ROVER_OP_IMM) {
		cqe.imm = (__force u32)pkt->imm;
		cqe.flags = ROVER_CQE_WITH_IMM;
	} else if (pkt->op->flags & ROVER_OP_INV) {
		cqe.imm = be32_to_cpu(pkt->imm);
		cqe.flags = ROVER_CQE_WITH_INV;
	}
	rsp->have_wqe = false;
	/* Release first: the completion handler may close the key. */
	rover_sgl_release(&rsp->dst);
	rover_wqe_recv_complete(qp, &cqe, pkt->solicited);
}

/* Checks and execution *******************************************************/

/* Take a receive, or keep that of a lost message. */
static enum rover_fault responder_take_recv(struct rover_qp *qp)
{
	return qp->rsp.have_wqe ? ROVER_OK : rover_wqe_recv(qp, 0);
}

/* A SEND takes a receive at its start, a WRITE with immediate at its end. */
static enum rover_fault responder_check_recv(struct rover_qp *qp,
					     const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (pkt->op->class == ROVER_CLASS_SEND) {
		if (!(pkt->op->flags & ROVER_OP_START))
			return ROVER_OK;
		fault = responder_take_recv(qp);
		if (!fault)
			rover_sgl_set_local(&rsp->dst, qp->recv_pd, rsp->sge,
					    rsp->wqe.num_sge,
					    IB_ACCESS_LOCAL_WRITE,
					    &qp->rx_pagein);
		return fault;
	}
	return pkt->op->flags & ROVER_OP_RECV ?
	       responder_take_recv(qp) : ROVER_OK;
}

/* Check before a receive is taken; else when payload is written. */
static enum rover_fault responder_open_write(struct rover_qp *qp,
					     const struct rover_packet *pkt)
{
	const struct rover_reth *reth = &pkt->hdr.reth;
	struct rover_rsp *rsp = &qp->rsp;
	u32 len = be32_to_cpu(reth->length);

	if (len > ROVER_MAX_MSG)
		return ROVER_FAULT_LENGTH;
	rsp->length = len;
	rover_sgl_set_remote(&rsp->dst, qp->pd, qp->obj.key,
			     be64_to_cpu(reth->va), len,
			     be32_to_cpu(reth->rkey), IB_ACCESS_REMOTE_WRITE,
			     &qp->rx_pagein);
	return len && pkt->op->flags & ROVER_OP_RECV ?
	       rover_sgl_check(&rsp->dst) : ROVER_OK;
}

static enum rover_fault responder_place_payload(struct rover_qp *qp,
						const struct rover_packet *pkt)
{
	bool write = pkt->op->class == ROVER_CLASS_WRITE;
	struct rover_rsp *rsp = &qp->rsp;
	u64 total = (u64)rsp->received + pkt->payload;
	enum rover_fault fault;

	/* Limit of any message (IBTA 9.7.4.1.6). */
	if (total > ROVER_MAX_MSG)
		return ROVER_FAULT_LENGTH;
	if (write && (total > rsp->length ||
		      (pkt->op->flags & ROVER_OP_END && total != rsp->length)))
		return ROVER_FAULT_LENGTH;
	if (!write && total > rsp->dst.total)
		return ROVER_FAULT_TOO_LONG;
	if (!pkt->payload)
		return ROVER_OK;
	fault = rover_zcopy_place(&rsp->dst, pkt->skb, pkt->payload_at,
				  pkt->payload, pkt->zcopy);
	return write ? fault : rover_fault_of_recv(fault);
}

/* Release first: closing the key waits for references. */
static enum rover_fault responder_invalidate_key(struct rover_qp *qp,
						 const struct rover_packet *pkt)
{
	rover_sgl_release(&qp->rsp.dst);
	return rover_mw_invalidate(qp->pd, qp->obj.key, be32_to_cpu(pkt->imm),
				   true) ?
	       ROVER_FAULT_INVALIDATE : ROVER_OK;
}

static inline void responder_finish_message(struct rover_qp *qp,
					    const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	rsp->in_message = false;
	rsp->msn++;
	rover_qp_count(qp, rsp->class == ROVER_CLASS_SEND ?
		    ROVER_STAT_RX_SEND : ROVER_STAT_RX_WRITE);
	if (pkt->op->flags & ROVER_OP_RECV)
		responder_complete_recv(qp, pkt);
}

static enum rover_fault responder_receive_data(struct rover_qp *qp,
					       const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (pkt->op->flags & ROVER_OP_START) {
		rsp->class = pkt->op->class;
		rsp->received = 0;
		fault = rsp->class == ROVER_CLASS_WRITE ?
			responder_open_write(qp, pkt) : ROVER_OK;
		if (fault)
			return fault;
	}
	fault = responder_check_recv(qp, pkt);
	if (fault)
		return fault;
	rsp->in_message = true;
	fault = responder_place_payload(qp, pkt);
	if (!fault && pkt->op->flags & ROVER_OP_INV)
		fault = responder_invalidate_key(qp, pkt);
	return fault;
}

static enum rover_fault responder_execute_data(struct rover_qp *qp,
					       const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault = responder_receive_data(qp, pkt);

	if (fault)
		return fault;
	rsp->received += pkt->payload;
	rsp->psn = rover_psn_add(rsp->psn, pkt->packets);
	rsp->ack_due |= pkt->ackreq;
	if (pkt->op->flags & ROVER_OP_END)
		responder_finish_message(qp, pkt);
	return ROVER_OK;
}

static enum rover_fault responder_execute_read(struct rover_qp *qp,
					       const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;
	u32 npsn;

	if (!rover_rd_atomic_has_space(qp, pkt->psn, 1))
		return ROVER_FAULT_RD_ATOMIC;
	/* rsp.dst is free: READs come between messages. */
	fault = rover_reqcheck_read(qp, pkt, &rsp->dst, &npsn);
	if (fault)
		return fault;
	rsp->msn++;
	rsp->psn = rover_psn_add(rsp->psn, npsn);
	rover_qp_count(qp, ROVER_STAT_RX_READ);
	rover_rd_atomic_read(qp, pkt->psn, npsn, &pkt->hdr.reth, false);
	return ROVER_OK;
}

static enum rover_fault responder_execute_atomic(struct rover_qp *qp,
						 const struct rover_packet *pkt)
{
	bool swap = pkt->opcode == rover_opcode_in(ROVER_RC_CMP_SWAP,
						   qp->transport);
	const struct rover_atometh *atom = &pkt->hdr.atometh;
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;
	u64 orig;

	if (!rover_rd_atomic_has_space(qp, pkt->psn, 1))
		return ROVER_FAULT_RD_ATOMIC;
	rover_sgl_set_remote(&rsp->dst, qp->pd, qp->obj.key,
			     be64_to_cpu(atom->va), sizeof(u64),
			     be32_to_cpu(atom->rkey), IB_ACCESS_REMOTE_ATOMIC,
			     &qp->rx_pagein);
	fault = rover_sgl_atomic(&rsp->dst, swap, be64_to_cpu(atom->compare),
				 be64_to_cpu(atom->swap_add), &orig);
	if (fault)
		return fault;
	rsp->msn++;
	rsp->psn = rover_psn_add(rsp->psn, 1);
	rover_qp_count(qp, ROVER_STAT_RX_ATOMIC);
	rover_rd_atomic_save(qp, pkt->psn, orig);
	return ROVER_OK;
}

static enum rover_fault responder_execute_mpe(struct rover_qp *qp,
					      const struct rover_packet *pkt)
{
	bool flush = pkt->op->class == ROVER_CLASS_FLUSH;
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (!rover_rd_atomic_has_space(qp, pkt->psn, 1))
		return ROVER_FAULT_RD_ATOMIC;
	fault = flush ? rover_mpe_flush(qp, pkt) : rover_mpe_store(qp, pkt);
	if (fault)
		return fault;
	rsp->msn++;
	rsp->psn = rover_psn_add(rsp->psn, 1);
	rover_qp_count(qp, flush ? ROVER_STAT_RX_FLUSH : ROVER_STAT_RX_ATOMIC);
	rover_rd_atomic_read(qp, pkt->psn, 1, NULL, false);
	return ROVER_OK;
}

static enum rover_fault responder_execute(struct rover_qp *qp,
					  const struct rover_packet *pkt)
{
	enum rover_fault fault;

	fault = rover_reqcheck_order(qp, pkt);
	if (!fault)
		fault = rover_xrc_open(qp, pkt);
	if (!fault)
		fault = rover_reqcheck_access(qp, pkt);
	if (!fault)
		fault = rover_reqcheck_length(qp, pkt);
	if (fault)
		return fault;
	switch (pkt->op->class) {
	case ROVER_CLASS_READ:
		return responder_execute_read(qp, pkt);
	case ROVER_CLASS_ATOMIC:
		return responder_execute_atomic(qp, pkt);
	case ROVER_CLASS_ATOMIC_WRITE:
	case ROVER_CLASS_FLUSH:
		return responder_execute_mpe(qp, pkt);
	default:
		return responder_execute_data(qp, pkt);
	}
}

/* Faults and events **********************************************************/

static void responder_refuse(struct rover_qp *qp,
			     const struct rover_packet *pkt,
			     enum rover_fault fault)
{
	const struct rover_fault_info *info = &rover_faults[fault];
	struct rover_rsp *rsp = &qp->rsp;

	trace_rover_fault(qp->obj.key, pkt->psn, fault);
	rover_sgl_release(&rsp->dst);
	rsp->nak_due = info->syndrome;
	if (fault == ROVER_FAULT_RNR) {
		/* Do not NAK packets behind this one. */
		rsp->nak_due |= qp->attr.min_rnr_timer;
		rsp->nak_sent = true;
		rover_credit_watch(qp);
		return;
	}
	if (info->syndrome == ROVER_NAK_REM_ACCESS)
		rover_qp_count(qp, ROVER_STAT_RESP_REMOTE_ACCESS);
	if (fault == ROVER_FAULT_TOO_LONG)
		rover_qp_count(qp, ROVER_STAT_RESP_LOCAL_LENGTH);
	if (fault == ROVER_FAULT_XRCETH)
		rover_qp_count(qp, ROVER_STAT_RESP_XRCETH);
	rsp->have_wqe = rsp->have_wqe && rover_xrc_use_current_srq(qp);
	/* If a receive was taken, its completion replaces the event. */
	if (rsp->have_wqe) {
		rsp->have_wqe = false;
		rover_qp_fail(qp, ROVER_EVENT_NONE);
		rover_wqe_recv_fail(qp, rsp->wqe.wr_id, fault,
				    info->resp_wc ?: IB_WC_WR_FLUSH_ERR);
		return;
	}
	rover_qp_fail(qp, info->resp_event);
}

/* A revoked payload (zcopy) counts as a lost packet. */
static void responder_drop_revoked(struct rover_qp *qp,
				   const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	if (pkt->op->flags & ROVER_OP_START)
		rsp->in_message = false;
	rsp->nak_sent = true;
	rsp->nak_due = ROVER_NAK_PSN_SEQ;
	rover_packet_drop(qp, pkt, ROVER_STAT_DROP_REVOKED);
}

/* First packet in RTR (IBTA 11.6.3.3). */
static void responder_comm_est(struct rover_qp *qp)
{
	qp->rsp.comm_est = true;
	if (READ_ONCE(qp->state) == IB_QPS_RTR)
		rover_qp_event(qp, IB_EVENT_COMM_EST);
}

/* Unreliable connections *****************************************************/

/*
 * Drop packet and message without an answer (IBTA 9.8.2, 9.9.3).  The receive
 * stays for the next message.
 */
static void responder_drop_uc(struct rover_qp *qp,
			      const struct rover_packet *pkt,
			      enum rover_fault fault)
{
	static const u8 counters[ROVER_FAULTS] = {
		[ROVER_FAULT_OPCODE] = ROVER_STAT_DROP_OPCODE,
		[ROVER_FAULT_LENGTH] = ROVER_STAT_DROP_LENGTH,
		[ROVER_FAULT_TOO_LONG] = ROVER_STAT_DROP_RECV_SHORT,
		[ROVER_FAULT_RNR] = ROVER_STAT_DROP_NO_RECV,
		[ROVER_FAULT_KEY ... ROVER_FAULT_MEMORY] =
			ROVER_STAT_RESP_REMOTE_ACCESS,
		[ROVER_FAULT_PAGE] = ROVER_STAT_DROP_PAGE,
	};

	qp->rsp.in_message = false;
	rover_packet_drop(qp, pkt, counters[fault] ?: ROVER_STAT_DROP_SEQ);
}

/* After a gap, accept only the start of a message. */
static bool responder_uc_in_sequence(struct rover_qp *qp,
				     const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	bool gap = pkt->psn != rsp->psn;

	if (gap)
		rover_qp_count(qp, ROVER_STAT_OUT_OF_SEQUENCE);
	rsp->psn = rover_psn_add(pkt->psn, pkt->packets);
	if (gap || pkt->op->flags & ROVER_OP_START)
		rsp->in_message = false;
	return pkt->op->flags & ROVER_OP_START ||
	       (rsp->in_message && rsp->class == pkt->op->class);
}

static void responder_receive_uc(struct rover_qp *qp,
				 const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (!rsp->comm_est)
		responder_comm_est(qp);
	if (!responder_uc_in_sequence(qp, pkt)) {
		responder_drop_uc(qp, pkt, ROVER_OK);
		return;
	}
	fault = rover_reqcheck_access(qp, pkt);
	if (!fault)
		fault = rover_reqcheck_length(qp, pkt);
	if (!fault)
		fault = responder_receive_data(qp, pkt);
	if (fault == ROVER_FAULT_RQ_CORRUPT || fault == ROVER_FAULT_RQ_RING ||
	    fault == ROVER_FAULT_RECV_MEMORY) {
		responder_refuse(qp, pkt, fault);
		rsp->nak_due = 0;
	} else if (fault) {
		responder_drop_uc(qp, pkt, fault);
	} else {
		rsp->received += pkt->payload;
		if (pkt->op->flags & ROVER_OP_END)
			responder_finish_message(qp, pkt);
	}
}

/* Reliable connections *******************************************************/

static void responder_receive_expected(struct rover_qp *qp,
				       const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (pkt->op->class >= ROVER_CLASS_READ &&
	    rover_outofseq_is_crowded(qp, pkt)) {
		rover_packet_drop(qp, pkt, ROVER_STAT_DROP_UNANSWERED);
		return;
	}
	if (!rsp->comm_est)
		responder_comm_est(qp);
	rsp->nak_sent = false;
	rsp->nak_due = 0;
	fault = responder_execute(qp, pkt);
	if (unlikely(rover_fault_is_loss(fault))) {
		if (fault == ROVER_FAULT_PAGE)
			rover_page_wait_begin(qp, pkt);
		else
			responder_drop_revoked(qp, pkt);
		return;
	}
	rsp->page_wait = false;
	if (fault)
		responder_refuse(qp, pkt, fault);
}

/*
 * Execute a portion of the packets that were held behind the one just received.
 * After a fault, or without a row for a READ, the peer sends all again.
 */
static void responder_receive_held(struct rover_qp *qp)
{
	struct rover_early *early = &qp->rx_early;
	struct rover_rsp *rsp = &qp->rsp;
	struct rover_held *held;
	s32 left = ROVER_EARLY_PORTION;
	bool refused = false;
	u32 psn;

	rsp->ack_due = true;
	while (!refused && rover_qp_allows(qp, ROVER_MAY_RECEIVE) &&
	       (held = rover_early_take(qp, early, rsp->psn))) {
		psn = rsp->psn;
		responder_receive_expected(qp, rover_early_packet(held));
		rover_early_put(held);
		refused = rsp->psn == psn;
		left -= rover_psn_diff(rsp->psn, psn);
		if (left <= 0 && !refused && !rsp->nak_due) {
			rover_qp_set_work(qp, ROVER_WORK_RX);
			return;
		}
	}
	/* Without a gap those left overlap what was received meanwhile. */
	if (refused || rsp->nak_due || !early->gaps.num)
		rover_early_purge(qp, early);
}

static void responder_receive_reliable(struct rover_qp *qp,
				       const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	s32 ahead = rover_psn_diff(pkt->psn, rsp->psn);

	if (unlikely(pkt->sack && !READ_ONCE(qp->peer_sack)) && ahead >= 0 &&
	    rover_early_reaches(qp, rsp->psn, rover_psn_add(pkt->psn, 1)))
		rover_packet_note_sack(qp, pkt);
	if (ahead > 0) {
		rover_outofseq_early(qp, pkt);
	} else if (ahead < 0) {
		rover_outofseq_duplicate(qp, pkt);
	} else {
		responder_receive_expected(qp, pkt);
		if (unlikely(qp->rx_early.num))
			responder_receive_held(qp);
	}
}

void rover_responder_receive(struct rover_qp *qp, const struct rover_packet *pkt)
{
	lockdep_assert_held(&qp->rx_lock);
	if (qp->transport == ROVER_TRANSPORT_UC)
		responder_receive_uc(qp, pkt);
	else
		responder_receive_reliable(qp, pkt);
	rover_xrc_clear_srq(qp);
}

/* Execute the next portion of the held packets. */
static void responder_continue(struct rover_qp *qp)
{
	rcu_read_lock();
	if (rover_qp_allows(qp, ROVER_MAY_RECEIVE))
		responder_receive_held(qp);
	rover_xrc_clear_srq(qp);
	rcu_read_unlock();
}

void rover_responder_finish(struct rover_qp *qp)
{
	enum rover_fault fault = ROVER_OK;
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	if (unlikely(rover_early_is_ready(&qp->rx_early, rsp->psn)))
		responder_continue(qp);
	rover_sgl_release(&rsp->dst);
	/* The ODP fault is resolved, or has failed. */
	if (unlikely(rsp->page_wait) && !rover_pagein_pending(&qp->rx_pagein))
		rover_page_wait_end(qp);
	if (rover_rd_atomic_pending(qp)) {
		fault = rover_rd_atomic_run(qp);
		if (fault && fault != ROVER_FAULT_PAGE) {
			/* NAK this READ, not the next request. */
			rsp->psn = rover_rd_atomic_psn(qp);
			rsp->res_send = rsp->res_tail;
			rsp->nak_due = rover_faults[fault].syndrome;
			rover_qp_fail(qp, rover_faults[fault].resp_event);
		}
	}
	/*
	 * ACK and NAK wait for pending READ responses.  In error only a NAK
	 * does, unless these wait for a page, which may never come.
	 */
	if (rover_rd_atomic_pending(qp) &&
	    (rover_qp_allows(qp, ROVER_MAY_RECEIVE) ||
	     (rsp->nak_due && !fault)))
		return;
	/* One ACK is for all that were held. */
	if (unlikely(rover_early_is_ready(&qp->rx_early, rsp->psn)) &&
	    rover_qp_allows(qp, ROVER_MAY_RECEIVE))
		return;
	if (rsp->nak_due)
		rover_ack_send(qp, rsp->nak_due, rsp->psn);
	else if (rsp->ack_due || rover_credit_wake_due(qp))
		rover_ack_send(qp, rover_credit_syndrome(qp),
			       rover_psn_add(rsp->psn, -1));
	rsp->nak_due = 0;
	rsp->ack_due = false;
}

void rover_responder_leave(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	rover_sgl_release(&qp->rsp.dst);
	rover_qp_set_work(qp, ROVER_WORK_RX);
}

void rover_responder_flush(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	rover_responder_reset(qp);
	rcu_read_lock();
	if (rsp->have_wqe && rover_xrc_use_current_srq(qp))
		rover_wqe_recv_fail(qp, rsp->wqe.wr_id, ROVER_FAULT_FLUSH,
				    rover_faults[ROVER_FAULT_FLUSH].req_wc);
	rsp->have_wqe = false;
	rover_xrc_clear_srq(qp);
	rcu_read_unlock();
	rover_flush_receives(qp);
}

void rover_responder_reset(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	rover_early_reset(qp, &qp->rx_early);
	rover_sgl_release(&rsp->dst);
	rsp->res_send = rsp->res_tail;
	rsp->ack_due = false;
	rsp->nak_due = 0;
	rsp->in_message = false;
	rsp->page_wait = false;
	rover_credit_unwatch(qp);
}
