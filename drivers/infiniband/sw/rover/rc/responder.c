// SPDX-License-Identifier: GPL-2.0
/*
 * responder - from packets to memory
 *
 * Each request packet passes one chain of checks, in the order of IBTA figure
 * 89: sequence number, order within its message, permission, resources,
 * length, key; then it is executed.  A link of the chain that breaks returns
 * its fault, and one place makes of it a NAK, a receive completion and an
 * event.
 *
 * Answers are only noted while a batch of packets is taken in; at its end
 * there is at most one acknowledge.  Answers leave in the order of the
 * requests (IBTA 9.7.5.1.2), so an acknowledge waits for the READ responses
 * before it.
 *
 * Of an unreliable connection there is no answer, and a message with a gap is
 * no message.  Of XRC each request tells whose it is (xrc).
 *
 * Runs under rx_lock with softirqs off; packets come under rcu_read_lock().
 */
#include "core/trace.h"
#include "mem/mw.h"
#include "qp/cq.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "qp/xrc.h"
#include "rc/ack.h"
#include "rc/credit.h"
#include "rc/mpe.h"
#include "rc/page_wait.h"
#include "rc/readresp.h"
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
	rover_demand_reset(&qp->rx_demand);
}

/* Completions ****************************************************************/

/* The receive of a message that arrived well. */
static noinline void complete_recv(struct rover_qp *qp,
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
	/* Whoever hears of it may close the key of what we still hold. */
	rover_sgl_release(&rsp->dst);
	rover_wqe_recv_complete(qp, &cqe, pkt->solicited);
}

/* The chain ******************************************************************/

/* Does this packet stand where it may in its message (IBTA 9.7.4.1.3)? */
static enum rover_fault check_order(struct rover_qp *qp,
				    const struct rover_packet *pkt)
{
	const struct rover_rsp *rsp = &qp->rsp;

	if (pkt->op->flags & ROVER_OP_START)
		return rsp->in_message ? ROVER_FAULT_OPCODE : ROVER_OK;
	return rsp->in_message && rsp->class == pkt->op->class ?
	       ROVER_OK : ROVER_FAULT_OPCODE;
}

/* Has the program opened the queue pair to this kind of request? */
static enum rover_fault check_permission(const struct rover_qp *qp, const struct rover_packet *pkt)
{
	static const int need[ROVER_CLASS_READ_RESP] = {
		[ROVER_CLASS_WRITE] = IB_ACCESS_REMOTE_WRITE,
		[ROVER_CLASS_READ] = IB_ACCESS_REMOTE_READ,
		[ROVER_CLASS_ATOMIC] = IB_ACCESS_REMOTE_ATOMIC,
		[ROVER_CLASS_ATOMIC_WRITE] = IB_ACCESS_REMOTE_WRITE,
		[ROVER_CLASS_RESERVED] = ~0,	/* more than can be granted */
	};
	int right = need[pkt->op->class];

	return right & ~qp->access ? ROVER_FAULT_OPCODE : ROVER_OK;
}

/* FIRST and MIDDLE are full, LAST is not empty (IBTA 9.7.4.1.6). */
static inline enum rover_fault check_length(const struct rover_qp *qp,
					    const struct rover_packet *pkt)
{
	u16 flags = pkt->op->flags;

	if (!(flags & ROVER_OP_PAYLOAD))
		return pkt->payload ? ROVER_FAULT_LENGTH : ROVER_OK;
	if (!(flags & ROVER_OP_END))
		return pkt->payload == pkt->packets << qp->mtu_shift ?
		       ROVER_OK : ROVER_FAULT_LENGTH;
	return pkt->payload <= qp->mtu &&
	       (flags & ROVER_OP_START || pkt->payload) ?
	       ROVER_OK : ROVER_FAULT_LENGTH;
}

/* The next receive, or the one left over from a message that was lost. */
static enum rover_fault take_recv(struct rover_qp *qp)
{
	return qp->rsp.have_wqe ? ROVER_OK : rover_wqe_recv(qp, 0);
}

/* SENDs need a receive at their start, WRITEs with immediate at their end. */
static enum rover_fault check_receive(struct rover_qp *qp,
				      const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (pkt->op->class == ROVER_CLASS_SEND) {
		if (!(pkt->op->flags & ROVER_OP_START))
			return ROVER_OK;
		fault = take_recv(qp);
		if (!fault)
			rover_sgl_aim(&rsp->dst, qp->recv_pd, rsp->sge,
				      rsp->wqe.num_sge, IB_ACCESS_LOCAL_WRITE,
				      &qp->rx_demand);
		return fault;
	}
	return pkt->op->flags & ROVER_OP_RECV ? take_recv(qp) : ROVER_OK;
}

/* All that it announces is proved with its first byte, or before a receive is taken. */
static enum rover_fault open_write(struct rover_qp *qp,
				   const struct rover_packet *pkt)
{
	const struct rover_reth *reth = &pkt->hdr.reth;
	struct rover_rsp *rsp = &qp->rsp;
	u32 len = be32_to_cpu(reth->length);

	if (len > ROVER_MAX_MSG)
		return ROVER_FAULT_LENGTH;
	rsp->length = len;
	rover_sgl_aim_one(&rsp->dst, qp->pd, qp->obj.key,
			  be64_to_cpu(reth->va), len, be32_to_cpu(reth->rkey),
			  IB_ACCESS_REMOTE_WRITE, &qp->rx_demand);
	return len && pkt->op->flags & ROVER_OP_RECV ?
	       rover_sgl_check(&rsp->dst) : ROVER_OK;
}

/* The payload of a SEND or WRITE goes where it belongs: the one copy. */
static enum rover_fault place(struct rover_qp *qp,
			      const struct rover_packet *pkt)
{
	bool write = pkt->op->class == ROVER_CLASS_WRITE;
	struct rover_rsp *rsp = &qp->rsp;
	u64 total = (u64)rsp->received + pkt->payload;
	enum rover_fault fault;

	/* Longer than any message may be (IBTA 9.7.4.1.6), however long the receive is. */
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

/* The peer gives up a key of ours: nothing here may still be using it. */
static enum rover_fault invalidate(struct rover_qp *qp,
				   const struct rover_packet *pkt)
{
	rover_sgl_release(&qp->rsp.dst);
	return rover_mw_invalidate(qp->pd, qp->obj.key, be32_to_cpu(pkt->imm),
				   true) ?
	       ROVER_FAULT_INVALIDATE : ROVER_OK;
}

/* A message has arrived whole. */
static inline void finish_message(struct rover_qp *qp,
				  const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	rsp->in_message = false;
	rsp->msn++;
	rover_qp_count(qp, rsp->class == ROVER_CLASS_SEND ?
		    ROVER_STAT_RX_SEND : ROVER_STAT_RX_WRITE);
	if (pkt->op->flags & ROVER_OP_RECV)
		complete_recv(qp, pkt);
}

/* A packet of a SEND or WRITE finds its place. */
static enum rover_fault take_in(struct rover_qp *qp,
				const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (pkt->op->flags & ROVER_OP_START) {
		rsp->class = pkt->op->class;
		rsp->received = 0;
		fault = rsp->class == ROVER_CLASS_WRITE ?
			open_write(qp, pkt) : ROVER_OK;
		if (fault)
			return fault;
	}
	fault = check_receive(qp, pkt);
	if (fault)
		return fault;
	rsp->in_message = true;
	fault = place(qp, pkt);
	if (!fault && pkt->op->flags & ROVER_OP_INV)
		fault = invalidate(qp, pkt);
	return fault;
}

static enum rover_fault execute_data(struct rover_qp *qp,
				     const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault = take_in(qp, pkt);

	if (fault)
		return fault;
	rsp->received += pkt->payload;
	rsp->psn = rover_psn_add(rsp->psn, pkt->packets);
	rsp->ack_due |= pkt->ackreq;
	if (pkt->op->flags & ROVER_OP_END)
		finish_message(qp, pkt);
	return ROVER_OK;
}

/* Key, rights and bounds of a READ, new or again; whose region stays in use in @sgl. */
static enum rover_fault check_read(struct rover_qp *qp,
				   const struct rover_packet *pkt,
				   struct rover_sgl *sgl, u32 *npsn)
{
	const struct rover_reth *reth = &pkt->hdr.reth;
	u32 len = be32_to_cpu(reth->length);

	if (len > ROVER_MAX_MSG)
		return ROVER_FAULT_LENGTH;
	*npsn = len ? DIV_ROUND_UP_ULL((u64)len, qp->mtu) : 1;
	if (!len)
		return ROVER_OK;
	rover_sgl_aim_one(sgl, qp->pd, qp->obj.key, be64_to_cpu(reth->va), len,
			  be32_to_cpu(reth->rkey), IB_ACCESS_REMOTE_READ, NULL);
	return rover_sgl_check(sgl);
}

static enum rover_fault execute_read(struct rover_qp *qp,
				     const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;
	u32 npsn;

	if (!rover_readresp_room(qp, pkt->psn))
		return ROVER_FAULT_RD_ATOMIC;
	/* It does not come within a message, whose place would be in there. */
	fault = check_read(qp, pkt, &rsp->dst, &npsn);
	if (fault)
		return fault;
	rsp->msn++;
	rsp->psn = rover_psn_add(rsp->psn, npsn);
	rover_qp_count(qp, ROVER_STAT_RX_READ);
	rover_readresp_read(qp, pkt->psn, npsn, &pkt->hdr.reth, false);
	return ROVER_OK;
}

static enum rover_fault execute_atomic(struct rover_qp *qp,
				       const struct rover_packet *pkt)
{
	bool swap = pkt->opcode == rover_opcode_in(ROVER_RC_CMP_SWAP,
						   qp->transport);
	const struct rover_atometh *atom = &pkt->hdr.atometh;
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;
	u64 orig;

	if (!rover_readresp_room(qp, pkt->psn))
		return ROVER_FAULT_RD_ATOMIC;
	rover_sgl_aim_one(&rsp->dst, qp->pd, qp->obj.key,
			  be64_to_cpu(atom->va), sizeof(u64),
			  be32_to_cpu(atom->rkey), IB_ACCESS_REMOTE_ATOMIC,
			  &qp->rx_demand);
	fault = rover_sgl_atomic(&rsp->dst, swap, be64_to_cpu(atom->compare),
				 be64_to_cpu(atom->swap_add), &orig);
	if (fault)
		return fault;
	rsp->msn++;
	rsp->psn = rover_psn_add(rsp->psn, 1);
	rover_qp_count(qp, ROVER_STAT_RX_ATOMIC);
	rover_readresp_atomic(qp, pkt->psn, orig);
	return ROVER_OK;
}

/*
 * Done, and to be answered by a READ response without data.  To answer once
 * more does not do it once more.
 */
static enum rover_fault execute_word(struct rover_qp *qp,
				     const struct rover_packet *pkt)
{
	bool flush = pkt->op->class == ROVER_CLASS_FLUSH;
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (!rover_readresp_room(qp, pkt->psn))
		return ROVER_FAULT_RD_ATOMIC;
	fault = flush ? rover_mpe_flush(qp, pkt) : rover_mpe_store(qp, pkt);
	if (fault)
		return fault;
	rsp->msn++;
	rsp->psn = rover_psn_add(rsp->psn, 1);
	rover_qp_count(qp, flush ? ROVER_STAT_RX_FLUSH : ROVER_STAT_RX_ATOMIC);
	rover_readresp_read(qp, pkt->psn, 1, NULL, false);
	return ROVER_OK;
}

static enum rover_fault execute(struct rover_qp *qp,
				const struct rover_packet *pkt)
{
	enum rover_fault fault;

	fault = check_order(qp, pkt);
	if (!fault)
		fault = rover_xrc_open(qp, pkt);
	if (!fault)
		fault = check_permission(qp, pkt);
	if (!fault)
		fault = check_length(qp, pkt);
	if (fault)
		return fault;
	switch (pkt->op->class) {
	case ROVER_CLASS_READ:
		return execute_read(qp, pkt);
	case ROVER_CLASS_ATOMIC:
		return execute_atomic(qp, pkt);
	case ROVER_CLASS_ATOMIC_WRITE:
	case ROVER_CLASS_FLUSH:
		return execute_word(qp, pkt);
	default:
		return execute_data(qp, pkt);
	}
}

/* Out of sequence ************************************************************/

/* Without a word: the counter tells. */
static void drop(struct rover_qp *qp, const struct rover_packet *pkt,
		 enum rover_stat why)
{
	rover_qp_drop(qp, why, pkt->opcode, pkt->psn);
}

/* Something before this packet was lost: say so once (IBTA 9.7.5.2.8). */
static void receive_early(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	drop(qp, pkt, ROVER_STAT_DROP_SEQ);
	if (rsp->nak_sent)
		return;
	rover_qp_count(qp, ROVER_STAT_OUT_OF_SEQUENCE);
	rsp->nak_sent = true;
	rsp->nak_due = ROVER_NAK_PSN_SEQ;
}

/* No row for a READ or atomic, but it is duplicates that have taken them. */
static bool crowded_out(const struct rover_qp *qp,
			const struct rover_packet *pkt)
{
	return pkt->op->class >= ROVER_CLASS_READ &&
	       !rover_readresp_room(qp, pkt->psn) &&
	       rover_readresp_crowded(qp);
}

/* Executed again.  Return false when it may not be. */
static bool read_again(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_sgl sgl = {};
	enum rover_fault fault;
	u32 npsn;

	if (check_permission(qp, pkt) || rover_xrc_aim(qp, pkt->srqn))
		return false;
	fault = check_read(qp, pkt, &sgl, &npsn);
	rover_sgl_release(&sgl);
	if (fault || rover_psn_diff(pkt->psn + npsn, qp->rsp.psn) > 0)
		return false;
	rover_readresp_read(qp, pkt->psn, npsn, &pkt->hdr.reth, true);
	return true;
}

/*
 * Seen before (IBTA 9.7.5.1.2): SENDs and WRITEs are acknowledged again, READs
 * executed again, atomics answered from memory, what has no result is answered.
 */
static void receive_duplicate(struct rover_qp *qp, const struct rover_packet *pkt)
{
	bool answered = pkt->op->class < ROVER_CLASS_READ || rover_readresp_room(qp, pkt->psn);

	rover_qp_count(qp, ROVER_STAT_DUPLICATE_REQUEST);
	switch (pkt->op->class) {
	case ROVER_CLASS_READ:
		answered = answered && read_again(qp, pkt);
		break;
	case ROVER_CLASS_ATOMIC:
		answered = answered && rover_readresp_again(qp, pkt->psn);
		break;
	case ROVER_CLASS_ATOMIC_WRITE:
	case ROVER_CLASS_FLUSH:
		if (answered)
			rover_readresp_read(qp, pkt->psn, 1, NULL, true);
		break;
	case ROVER_CLASS_RESERVED:
		answered = false;
		break;
	default:
		qp->rsp.ack_due = true;
	}
	/* The peer asks again. */
	if (!answered)
		drop(qp, pkt, ROVER_STAT_DROP_RATE);
}

/* Doors **********************************************************************/

/* The one place where a fault becomes NAK, completion and event. */
static void refuse(struct rover_qp *qp, const struct rover_packet *pkt,
		   enum rover_fault fault)
{
	const struct rover_fault_info *info = &rover_faults[fault];
	struct rover_rsp *rsp = &qp->rsp;

	trace_rover_fault(qp->obj.key, pkt->psn, fault);
	rover_sgl_release(&rsp->dst);
	rsp->nak_due = info->syndrome;
	if (fault == ROVER_FAULT_RNR) {
		/* What follows is out of sequence until this comes again. */
		rsp->nak_due |= qp->attr.min_rnr_timer;
		rsp->nak_sent = true;
		rover_credit_await(qp);
		return;
	}
	if (info->syndrome == ROVER_NAK_REM_ACCESS)
		rover_qp_count(qp, ROVER_STAT_RESP_REMOTE_ACCESS);
	if (fault == ROVER_FAULT_TOO_LONG)
		rover_qp_count(qp, ROVER_STAT_RESP_LOCAL_LENGTH);
	if (fault == ROVER_FAULT_XRCETH)
		rover_qp_count(qp, ROVER_STAT_RESP_XRCETH);
	rsp->have_wqe = rsp->have_wqe && rover_xrc_hold(qp);
	/* The completion of a receive that was taken says what an event would. */
	if (rsp->have_wqe) {
		rsp->have_wqe = false;
		rover_qp_fail(qp, ROVER_EVENT_NONE);
		rover_wqe_recv_fail(qp, rsp->wqe.wr_id, fault,
				    info->resp_wc ?: IB_WC_WR_FLUSH_ERR);
		return;
	}
	rover_qp_fail(qp, info->resp_event);
}

/* The sender revoked the payload on its way (zcopy): the packet counts as lost. */
static void lose_revoked(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	if (pkt->op->flags & ROVER_OP_START)
		rsp->in_message = false;
	rsp->nak_sent = true;
	rsp->nak_due = ROVER_NAK_PSN_SEQ;
	drop(qp, pkt, ROVER_STAT_DROP_REVOKED);
}

/* First word of the peer in RTR (IBTA 11.6.3.3). */
static void comm_est(struct rover_qp *qp)
{
	qp->rsp.comm_est = true;
	if (READ_ONCE(qp->state) == IB_QPS_RTR)
		rover_qp_tell(qp, IB_EVENT_COMM_EST);
}

/* Unreliable connections *****************************************************/

/*
 * What is wrong with a packet ends its message without a word to anybody (IBTA
 * 9.8.2, 9.9.3): only the counter tells.  A receive that was taken is kept for
 * the next message.
 */
static void lose(struct rover_qp *qp, const struct rover_packet *pkt,
		 enum rover_fault fault)
{
	static const u8 whys[ROVER_FAULTS] = {
		[ROVER_FAULT_OPCODE] = ROVER_STAT_DROP_OPCODE,
		[ROVER_FAULT_LENGTH] = ROVER_STAT_DROP_LENGTH,
		[ROVER_FAULT_TOO_LONG] = ROVER_STAT_DROP_RECV_SHORT,
		[ROVER_FAULT_RNR] = ROVER_STAT_DROP_NO_RECV,
		[ROVER_FAULT_KEY ... ROVER_FAULT_MEMORY] =
			ROVER_STAT_RESP_REMOTE_ACCESS,
		[ROVER_FAULT_PAGE] = ROVER_STAT_DROP_PAGE,
	};

	qp->rsp.in_message = false;
	drop(qp, pkt, whys[fault] ?: ROVER_STAT_DROP_SEQ);
}

/* One after a gap is good for something only if a message begins with it. */
static bool in_sequence(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	bool gap = pkt->psn != rsp->psn;

	if (gap)
		rover_qp_count(qp, ROVER_STAT_OUT_OF_SEQUENCE);
	rsp->psn = rover_psn_add(pkt->psn, pkt->packets);
	/* A message that had no end is none. */
	if (gap || pkt->op->flags & ROVER_OP_START)
		rsp->in_message = false;
	return pkt->op->flags & ROVER_OP_START ||
	       (rsp->in_message && rsp->class == pkt->op->class);
}

static void receive_unreliable(struct rover_qp *qp,
			       const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	if (!rsp->comm_est)
		comm_est(qp);
	if (!in_sequence(qp, pkt)) {
		lose(qp, pkt, ROVER_OK);
		return;
	}
	fault = check_permission(qp, pkt);
	if (!fault)
		fault = check_length(qp, pkt);
	if (!fault)
		fault = take_in(qp, pkt);
	if (fault == ROVER_FAULT_RQ_CORRUPT || fault == ROVER_FAULT_RQ_RING ||
	    fault == ROVER_FAULT_RECV_MEMORY) {
		/* That is our own program's doing. */
		refuse(qp, pkt, fault);
		rsp->nak_due = 0;
	} else if (fault) {
		lose(qp, pkt, fault);
	} else {
		rsp->received += pkt->payload;
		if (pkt->op->flags & ROVER_OP_END)
			finish_message(qp, pkt);
	}
}

/* Reliable connections *******************************************************/

static void receive_reliable(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	s32 ahead = rover_psn_diff(pkt->psn, rsp->psn);
	enum rover_fault fault;

	if (ahead > 0) {
		receive_early(qp, pkt);
		return;
	}
	if (ahead < 0) {
		receive_duplicate(qp, pkt);
		return;
	}
	if (crowded_out(qp, pkt)) {
		drop(qp, pkt, ROVER_STAT_DROP_RATE);
		return;
	}
	if (!rsp->comm_est)
		comm_est(qp);
	rsp->nak_sent = false;
	rsp->nak_due = 0;
	fault = execute(qp, pkt);
	if (unlikely(rover_fault_is_loss(fault))) {
		if (fault == ROVER_FAULT_PAGE)
			rover_page_wait_begin(qp, pkt);
		else
			lose_revoked(qp, pkt);
		return;
	}
	rsp->page_wait = false;
	if (fault)
		refuse(qp, pkt, fault);
}

void rover_responder_receive(struct rover_qp *qp, const struct rover_packet *pkt)
{
	lockdep_assert_held(&qp->rx_lock);
	if (qp->transport == ROVER_TRANSPORT_UC)
		receive_unreliable(qp, pkt);
	else
		receive_reliable(qp, pkt);
	rover_xrc_leave(qp);
}

void rover_responder_finish(struct rover_qp *qp)
{
	enum rover_fault fault = ROVER_OK;
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	rover_sgl_release(&rsp->dst);
	/* What was dropped for want of memory now has a place, or never will. */
	if (unlikely(rsp->page_wait) && !rover_demand_waits(&qp->rx_demand))
		rover_page_wait_end(qp);
	if (rover_readresp_pending(qp)) {
		fault = rover_readresp_run(qp);
		if (fault && fault != ROVER_FAULT_PAGE) {
			/* The last word is about this one, and not about the next request. */
			rsp->psn = rover_readresp_psn(qp);
			rsp->res_send = rsp->res_tail;
			rsp->nak_due = rover_faults[fault].syndrome;
			rover_qp_fail(qp, rover_faults[fault].resp_event);
		}
	}
	/* The last word comes last, in error, too, where it is a NAK; pages may never come. */
	if (rover_readresp_pending(qp) &&
	    (rover_qp_allows(qp, ROVER_MAY_RECEIVE) ||
	     (rsp->nak_due && !fault)))
		return;
	if (rsp->nak_due)
		rover_ack_send(qp, rsp->nak_due, rsp->psn);
	else if (rsp->ack_due || rover_credit_restocked(qp))
		rover_ack_send(qp, rover_credit_offer(qp), rover_psn_add(rsp->psn, -1));
	rsp->nak_due = 0;
	rsp->ack_due = false;
}

void rover_responder_leave(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	rover_sgl_release(&qp->rsp.dst);
	set_bit(ROVER_WORK_RX, &qp->work);
}

void rover_responder_flush(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	rover_responder_reset(qp);
	rcu_read_lock();
	if (rsp->have_wqe && rover_xrc_hold(qp))
		rover_wqe_recv_fail(qp, rsp->wqe.wr_id, ROVER_FAULT_FLUSH,
				    rover_faults[ROVER_FAULT_FLUSH].req_wc);
	rsp->have_wqe = false;
	rover_xrc_leave(qp);
	rcu_read_unlock();
	rover_wqe_recv_flush(qp);
}

void rover_responder_reset(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	rover_sgl_release(&rsp->dst);
	rsp->res_send = rsp->res_tail;
	rsp->ack_due = false;
	rsp->nak_due = 0;
	rsp->in_message = false;
	rsp->page_wait = false;
	rover_credit_forget(qp);
}
