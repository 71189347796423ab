// SPDX-License-Identifier: GPL-2.0
/*
 * xrc - whose a request of XRC is
 *
 * Runs under rx_lock with softirqs off, and under rcu_read_lock().
 */
#include "qp/srq.h"
#include "qp/xrc.h"

/* Of another domain is as good as none (IBTA annex A14). */
static struct rover_srq *find(struct rover_qp *qp, u32 srqn)
{
	struct rover_obj *obj = rover_table_find(&qp->dev->srqs, srqn);
	struct rover_srq *srq;

	lockdep_assert_held(&qp->rx_lock);
	if (!obj)
		return NULL;
	srq = container_of(obj, struct rover_srq, obj);
	return srq->xrcd == qp->xrcd ? srq : NULL;
}

static void turn_to(struct rover_qp *qp, struct rover_srq *srq)
{
	qp->srq = srq;
	qp->rcq = srq->cq;
	qp->pd = srq->ib.pd;
	qp->recv_pd = srq->ib.pd;
}

enum rover_fault rover_xrc_aim(struct rover_qp *qp, u32 srqn)
{
	struct rover_srq *srq;

	if (!qp->xrcd)
		return ROVER_OK;
	srq = find(qp, srqn);
	if (!srq)
		return ROVER_FAULT_XRCETH;
	turn_to(qp, srq);
	return ROVER_OK;
}

enum rover_fault rover_xrc_turn(struct rover_qp *qp,
				const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	struct rover_srq *srq;

	srq = find(qp, pkt->srqn);
	if (!srq)
		return ROVER_FAULT_XRCETH;
	if (pkt->op->flags & ROVER_OP_START) {
		/* A receive left over from a message that lacked memory is its. */
		if (rsp->have_wqe && srq->birth != rsp->srq_birth)
			return ROVER_FAULT_XRCETH;
		rsp->srqn = pkt->srqn;
		rsp->srq_birth = srq->birth;
	}
	if (srq->birth != rsp->srq_birth)
		return ROVER_FAULT_XRCETH;
	turn_to(qp, srq);
	return ROVER_OK;
}

bool rover_xrc_hold(struct rover_qp *qp)
{
	struct rover_srq *srq;

	if (!qp->xrcd)
		return true;
	srq = find(qp, qp->rsp.srqn);
	if (!srq || srq->birth != qp->rsp.srq_birth)
		return false;
	turn_to(qp, srq);
	return true;
}
