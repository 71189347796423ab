// SPDX-License-Identifier: GPL-2.0
/* qp_state - states, errors and events */
#include "core/trace.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"

/* IBTA 10.3.1.  RC never enters SQE: a failed request moves it to ERR. */
const u8 rover_qp_may[IB_QPS_ERR + 1] = {
	[IB_QPS_RESET]	= 0,
	[IB_QPS_INIT]	= ROVER_MAY_POST_RECV,
	[IB_QPS_RTR]	= ROVER_MAY_POST_RECV | ROVER_MAY_RECEIVE,
	[IB_QPS_RTS]	= ROVER_MAY_POST_SEND | ROVER_MAY_POST_RECV |
			  ROVER_MAY_SEND | ROVER_MAY_COMPLETE |
			  ROVER_MAY_RECEIVE,
	[IB_QPS_SQD]	= ROVER_MAY_POST_SEND | ROVER_MAY_POST_RECV |
			  ROVER_MAY_COMPLETE | ROVER_MAY_RECEIVE,
	[IB_QPS_SQE]	= ROVER_MAY_POST_SEND | ROVER_MAY_POST_RECV |
			  ROVER_MAY_RECEIVE | ROVER_MUST_FLUSH_SEND,
	[IB_QPS_ERR]	= ROVER_MAY_POST_SEND | ROVER_MAY_POST_RECV |
			  ROVER_MUST_FLUSH | ROVER_MUST_FLUSH_SEND,
};

void rover_qp_event(struct rover_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &qp->dev->ib,
		.element.qp = qp->ib,
		.event = type,
	};

	if (qp->ib->event_handler)
		qp->ib->event_handler(&event, qp->ib->qp_context);
}

static void qp_state_raise(struct rover_qp *qp, enum rover_event event)
{
	static const enum ib_event_type types[] = {
		[ROVER_EVENT_QP_FATAL]		= IB_EVENT_QP_FATAL,
		[ROVER_EVENT_QP_REQ_ERR]	= IB_EVENT_QP_REQ_ERR,
		[ROVER_EVENT_QP_ACCESS_ERR]	= IB_EVENT_QP_ACCESS_ERR,
	};

	rover_qp_event(qp, types[event]);
}

void rover_qp_forget(struct rover_qp *qp)
{
	if (qp->scq)
		rover_cq_forget(qp->scq, qp->ib);
	if (qp->rcq && qp->rcq != qp->scq)
		rover_cq_forget(qp->rcq, qp->ib);
}

void rover_qp_fail(struct rover_qp *qp, enum rover_event event)
{
	int from = READ_ONCE(qp->state);

	lockdep_assert(lockdep_is_held(&qp->rx_lock) ||
		       lockdep_is_held(&qp->tx_lock));

	/* The other side may fail meanwhile, under its lock. */
	if (from == IB_QPS_RESET || from == IB_QPS_ERR ||
	    cmpxchg(&qp->state, from, IB_QPS_ERR) != from)
		return;
	trace_rover_qp_state(qp->obj.key, from, IB_QPS_ERR);

	/* K2: the run kicked below sees a post, or the poster sees the flag. */
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
	if (!qp->srq)
		rover_ring_flag(&qp->rq, ROVER_RING_NEED_WAKEUP);
	rover_qp_set_work(qp, ROVER_WORK_TX);
	rover_qp_set_work(qp, ROVER_WORK_RX);
	rover_qp_kick(qp);

	if (event != ROVER_EVENT_NONE)
		qp_state_raise(qp, event);
}

void rover_qp_fail_send(struct rover_qp *qp)
{
	int from = READ_ONCE(qp->state);

	lockdep_assert_held(&qp->tx_lock);

	/* The receive side may fail meanwhile. */
	if ((from != IB_QPS_RTS && from != IB_QPS_SQD) ||
	    cmpxchg(&qp->state, from, IB_QPS_SQE) != from)
		return;
	trace_rover_qp_state(qp->obj.key, from, IB_QPS_SQE);
	/* K2, as in rover_qp_fail(). */
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

void rover_qp_drained(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	if (qp->req.drained)
		return;
	qp->req.drained = true;
	if (qp->attr.en_sqd_async_notify)
		rover_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

void rover_qp_last_wqe(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	if (qp->rsp.last_wqe)
		return;
	qp->rsp.last_wqe = true;
	rover_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}
