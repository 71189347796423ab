// SPDX-License-Identifier: GPL-2.0
/*
 * dgram - messages that are whole in one packet, and done when it is sent
 *
 * Whoever receives is at anybody's mercy: what does not fit is dropped and
 * counted, and takes no receive and no state with it (IBTA 9.8.3, 9.9.3).
 *
 * Under a queue pair's lock, with softirqs off.
 */
#include "core/trace.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "ud/dgram.h"
#include "wire/psn.h"

/* Messages in one go. */
#define BUDGET		64

void rover_dgram_init(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	memset(&qp->req, 0, sizeof(qp->req));
	rover_demand_reset(&qp->tx_demand);
	rover_dgram_psn(&qp->req, qp->attr.sq_psn & ROVER_PSN_MASK);
}

/* Sending ********************************************************************/

/* Return false when there is nothing more to send, or it may not be sent. */
static bool send_next(struct rover_qp *qp, const struct rover_sending *how,
		      void *arg, int *budget)
{
	const struct rover_send_wqe *hdr = &qp->req.wqe.hdr;
	int posted = rover_ring_posted(&qp->sq, qp->sq.head);
	struct rover_sent row;
	enum rover_fault fault;
	u32 len = 0;

	if (posted < 0)
		rover_qp_fail(qp, ROVER_EVENT_QP_FATAL);
	if (posted <= 0 || !rover_qp_allows(qp, ROVER_MAY_SEND))
		return false;
	if (!(*budget)--) {
		set_bit(ROVER_WORK_TX, &qp->work);
		return false;
	}
	if (how->full(qp, arg))
		return false;

	fault = how->emit(qp, arg, &len);
	rover_sgl_release(&qp->req.sgl);
	/* It stays where it is: whoever brings its memory runs us again. */
	if (unlikely(fault == ROVER_FAULT_PAGE))
		return false;
	/* The slot first: a program that sees the completion may use it. */
	rover_ring_retire(&qp->sq, 1);
	if (fault) {
		trace_rover_fault(qp->obj.key, qp->req.psn, fault);
		rover_qp_fail_send(qp);
		rover_wqe_fail(qp, hdr->wr_id, hdr->opcode, fault);
		return false;
	}
	row = (struct rover_sent) {
		.wr_id = hdr->wr_id,
		.length = len,
		.opcode = hdr->opcode,
		.flags = hdr->flags,
	};
	rover_wqe_complete(qp, &row, ROVER_OK);
	return true;
}

void rover_dgram_send(struct rover_qp *qp, const struct rover_sending *how,
		      void *arg)
{
	int budget = BUDGET;

	lockdep_assert_held(&qp->tx_lock);
	while (send_next(qp, how, arg, &budget))
		;
}

/* Receiving ******************************************************************/

/* The receive that was taken is good for nothing: so is the queue pair. */
static void fail_recv(struct rover_qp *qp, enum rover_fault fault, u32 psn)
{
	trace_rover_fault(qp->obj.key, psn, fault);
	rover_qp_fail(qp, ROVER_EVENT_NONE);
	rover_wqe_recv_fail(qp, qp->rsp.wqe.wr_id, fault,
			    rover_faults[fault].resp_wc);
}

/* There is no receive for it. */
static void refuse(struct rover_qp *qp, enum rover_fault fault, u8 opcode,
		   u32 psn)
{
	if (fault == ROVER_FAULT_RNR) {
		rover_qp_drop(qp, ROVER_STAT_DROP_NO_RECV, opcode, psn);
	} else if (fault == ROVER_FAULT_TOO_LONG) {
		rover_qp_drop(qp, ROVER_STAT_DROP_RECV_SHORT, opcode, psn);
	} else {
		trace_rover_fault(qp->obj.key, psn, fault);
		rover_qp_fail(qp, rover_faults[fault].resp_event);
	}
}

/* Take the oldest receive, if it has room: else it stays where it is. */
static enum rover_fault take(struct rover_qp *qp, u32 need)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	/* Still in hand, as its memory was not there when the last one came. */
	if (unlikely(rsp->have_wqe))
		return need > rsp->dst.total ? ROVER_FAULT_TOO_LONG : ROVER_OK;
	fault = rover_wqe_recv(qp, need);
	if (!fault)
		rover_sgl_init(&rsp->dst, qp->recv_pd, rsp->sge,
			       rsp->wqe.num_sge, IB_ACCESS_LOCAL_WRITE,
			       &qp->rx_demand);
	return fault;
}

bool rover_dgram_take(struct rover_qp *qp, u32 need, u8 opcode, u32 psn)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	lockdep_assert_held(&qp->rx_lock);
	fault = take(qp, need);
	if (!rsp->have_wqe || fault == ROVER_FAULT_TOO_LONG) {
		refuse(qp, fault, opcode, psn);
		return false;
	}
	if (fault) {
		rsp->have_wqe = false;
		fail_recv(qp, fault, psn);
		return false;
	}
	rover_sgl_seek(&rsp->dst, 0);
	return true;
}

bool rover_dgram_end(struct rover_qp *qp, enum rover_fault fault, u8 opcode,
		     u32 psn)
{
	lockdep_assert_held(&qp->rx_lock);
	rover_sgl_release(&qp->rsp.dst);
	/* Lost, but the next one finds memory. */
	if (unlikely(fault == ROVER_FAULT_PAGE)) {
		rover_qp_drop(qp, ROVER_STAT_DROP_PAGE, opcode, psn);
		return false;
	}
	qp->rsp.have_wqe = false;
	if (fault)
		fail_recv(qp, fault, psn);
	return !fault;
}
