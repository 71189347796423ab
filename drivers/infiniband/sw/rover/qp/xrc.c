// SPDX-License-Identifier: GPL-2.0
/* xrc - XRC targets */
#include "qp/srq.h"
#include "qp/xrc.h"

/* Only SRQs of the target's domain (IBTA annex A14). */
static struct rover_srq *xrc_find_srq(struct rover_qp *qp, u32 srqn)
{
	struct rover_obj *obj = rover_table_find(&qp->dev->srqs, srqn);
	struct rover_srq *srq;

	lockdep_assert_held(&qp->rx_lock);
	if (!obj)
		return NULL;
	srq = container_of(obj, struct rover_srq, obj);
	return srq->xrcd == qp->xrcd ? srq : NULL;
}

static void xrc_use_srq(struct rover_qp *qp, struct rover_srq *srq)
{
	qp->srq = srq;
	qp->rcq = srq->cq;
	qp->pd = srq->ib.pd;
	qp->recv_pd = srq->ib.pd;
}

enum rover_fault rover_xrc_use_srq(struct rover_qp *qp, u32 srqn)
{
	struct rover_srq *srq;

	if (!qp->xrcd)
		return ROVER_OK;
	srq = xrc_find_srq(qp, srqn);
	if (!srq)
		return ROVER_FAULT_XRCETH;
	xrc_use_srq(qp, srq);
	return ROVER_OK;
}

enum rover_fault rover_xrc_open_target(struct rover_qp *qp,
				       const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	struct rover_srq *srq;

	srq = xrc_find_srq(qp, pkt->srqn);
	if (!srq)
		return ROVER_FAULT_XRCETH;
	if (pkt->op->flags & ROVER_OP_START) {
		/* A receive of a lost message belongs to its own SRQ. */
		if (rsp->have_wqe && srq->gen != rsp->srq_gen)
			return ROVER_FAULT_XRCETH;
		rsp->srqn = pkt->srqn;
		rsp->srq_gen = srq->gen;
	}
	if (srq->gen != rsp->srq_gen)
		return ROVER_FAULT_XRCETH;
	xrc_use_srq(qp, srq);
	return ROVER_OK;
}

bool rover_xrc_use_current_srq(struct rover_qp *qp)
{
	struct rover_srq *srq;

	if (!qp->xrcd)
		return true;
	srq = xrc_find_srq(qp, qp->rsp.srqn);
	if (!srq || srq->gen != qp->rsp.srq_gen)
		return false;
	xrc_use_srq(qp, srq);
	return true;
}
