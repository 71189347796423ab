// SPDX-License-Identifier: GPL-2.0
/*
 * dgram - common code of UD and raw packet QPs
 *
 * Anyone may send to these QPs: unfit messages are dropped, counted and use up
 * no receive (IBTA 9.8.3, 9.9.3).
 */
#include "core/trace.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "ud/dgram.h"
#include "wire/psn.h"

/* Messages sent by one call. */
#define DGRAM_BUDGET		64

void rover_dgram_init(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	memset(&qp->req, 0, sizeof(qp->req));
	rover_pagein_reset(&qp->tx_pagein);
	rover_dgram_psn(&qp->req, qp->attr.sq_psn & ROVER_PSN_MASK);
}

/* Sending ********************************************************************/

static bool dgram_send_next(struct rover_qp *qp,
			    const struct rover_dgram_ops *ops, void *arg,
			    int *budget)
{
	const struct rover_send_wqe *hdr = &qp->req.wqe.hdr;
	int posted = rover_ring_posted(&qp->sq, qp->sq.head);
	struct rover_sent sent;
	enum rover_fault fault;
	u32 len = 0;

	if (posted < 0)
		rover_qp_fail(qp, ROVER_EVENT_QP_FATAL);
	if (posted <= 0 || !rover_qp_allows(qp, ROVER_MAY_SEND))
		return false;
	if (!(*budget)--) {
		rover_qp_set_work(qp, ROVER_WORK_TX);
		return false;
	}
	if (ops->full(qp, arg))
		return false;

	fault = ops->emit(qp, arg, &len);
	rover_sgl_release(&qp->req.sgl);
	/* The WQE stays: ODP work kicks the QP. */
	if (unlikely(fault == ROVER_FAULT_PAGE))
		return false;
	/* First: the completion lets userspace reuse the slot. */
	rover_ring_retire(&qp->sq, 1);
	if (fault) {
		trace_rover_fault(qp->obj.key, qp->req.psn, fault);
		rover_qp_fail_send(qp);
		rover_wqe_fail(qp, hdr->wr_id, hdr->opcode, fault);
		return false;
	}
	sent = (struct rover_sent) {
		.wr_id = hdr->wr_id,
		.length = len,
		.opcode = hdr->opcode,
		.flags = hdr->flags,
	};
	rover_wqe_complete(qp, &sent, ROVER_OK);
	return true;
}

void rover_dgram_send(struct rover_qp *qp, const struct rover_dgram_ops *ops,
		      void *arg)
{
	int budget = DGRAM_BUDGET;

	lockdep_assert_held(&qp->tx_lock);
	while (dgram_send_next(qp, ops, arg, &budget))
		;
}

/* Receiving ******************************************************************/

static void dgram_fail_recv(struct rover_qp *qp, enum rover_fault fault,
			    u32 psn)
{
	trace_rover_fault(qp->obj.key, psn, fault);
	rover_qp_fail(qp, ROVER_EVENT_NONE);
	rover_wqe_recv_fail(qp, qp->rsp.wqe.wr_id, fault,
			    rover_faults[fault].resp_wc);
}

static void dgram_refuse(struct rover_qp *qp, enum rover_fault fault, u8 opcode,
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

static enum rover_fault dgram_take_oldest(struct rover_qp *qp, u32 need)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	/* Kept by rover_dgram_finish_recv(). */
	if (unlikely(rsp->have_wqe))
		return need > rsp->dst.total ? ROVER_FAULT_TOO_LONG : ROVER_OK;
	fault = rover_wqe_recv(qp, need);
	if (!fault)
		rover_sgl_init(&rsp->dst, qp->recv_pd, rsp->sge,
			       rsp->wqe.num_sge, IB_ACCESS_LOCAL_WRITE,
			       &qp->rx_pagein);
	return fault;
}

bool rover_dgram_take_recv(struct rover_qp *qp, u32 need, u8 opcode, u32 psn)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	lockdep_assert_held(&qp->rx_lock);
	fault = dgram_take_oldest(qp, need);
	if (!rsp->have_wqe || fault == ROVER_FAULT_TOO_LONG) {
		dgram_refuse(qp, fault, opcode, psn);
		return false;
	}
	if (fault) {
		rsp->have_wqe = false;
		dgram_fail_recv(qp, fault, psn);
		return false;
	}
	rover_sgl_seek(&rsp->dst, 0);
	return true;
}

bool rover_dgram_finish_recv(struct rover_qp *qp, enum rover_fault fault,
			     u8 opcode, u32 psn)
{
	lockdep_assert_held(&qp->rx_lock);
	rover_sgl_release(&qp->rsp.dst);
	/* Keep the receive: its page will be there for the next packet. */
	if (unlikely(fault == ROVER_FAULT_PAGE)) {
		rover_qp_drop(qp, ROVER_STAT_DROP_PAGE, opcode, psn);
		return false;
	}
	qp->rsp.have_wqe = false;
	if (fault)
		dgram_fail_recv(qp, fault, psn);
	return !fault;
}
