// SPDX-License-Identifier: GPL-2.0
/*
 * qp_table - all queue pairs: how they are found, what their state allows, and how
 * they go to error and out of memory
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "wire/psn.h"

struct rover_table rover_qpns;

static struct kmem_cache *cache;

/* Queue pairs whose memory is not given back yet, all devices. */
static atomic_t unfreed;

/*
 * IBTA 10.3.1.  In INIT receives are accepted but nothing is delivered; in SQD
 * what is on the wire completes but nothing new starts; in ERR one may post and
 * gets it back flushed; in SQE that is so of what is to be sent, and only of
 * that.  RC never enters SQE: a failed request takes the whole queue pair to
 * ERR.
 */
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

void rover_qp_drop(const struct rover_qp *qp, enum rover_stat why, u8 opcode,
		   u32 psn)
{
	rover_drop(READ_ONCE(qp->stats), why, qp->obj.key, opcode, psn);
}

/* The memory is there, or cannot be had: whoever asked looks again. */
static void look_again(struct rover_qp *qp, int bit)
{
	set_bit(bit, &qp->work);
	/* The tasklet runs as soon as softirqs are on, and not in some thread. */
	local_bh_disable();
	rover_qp_kick(qp);
	local_bh_enable();
	rover_qp_put(qp);
}

static void tx_met(struct rover_demand *demand)
{
	look_again(container_of(demand, struct rover_qp, tx_demand),
		   ROVER_WORK_TX);
}

static void resp_met(struct rover_demand *demand)
{
	look_again(container_of(demand, struct rover_qp, resp_demand),
		   ROVER_WORK_TX);
}

static void rx_met(struct rover_demand *demand)
{
	look_again(container_of(demand, struct rover_qp, rx_demand),
		   ROVER_WORK_RX);
}

struct rover_qp *rover_qp_table_alloc(void)
{
	struct rover_qp *qp = kmem_cache_zalloc(cache, GFP_KERNEL);

	if (!qp)
		return NULL;
	refcount_set(&qp->refs, 1);
	skb_queue_head_init(&qp->backlog.requests);
	__skb_queue_head_init(&qp->backlog.responses);
	rover_demand_init(&qp->tx_demand, &qp->refs, tx_met);
	rover_demand_init(&qp->resp_demand, &qp->refs, resp_met);
	rover_demand_init(&qp->rx_demand, &qp->refs, rx_met);
	atomic_inc(&unfreed);
	return qp;
}

static void free_rcu(struct rcu_head *rcu)
{
	struct rover_qp *qp = container_of(rcu, struct rover_qp, rcu);

	/* Set aside when there was no reference left for the work. */
	skb_queue_purge(&qp->backlog.requests);
	__skb_queue_purge(&qp->backlog.responses);
	kmem_cache_free(cache, qp);
	if (atomic_dec_and_test(&unfreed))
		wake_up_var(&unfreed);
}

struct rover_qp *rover_qp_get_ib(struct ib_qp *ib)
{
	struct rover_qp *qp;

	rcu_read_lock();
	qp = rcu_dereference(container_of(ib, struct rover_ibqp, ib)->qp);
	if (qp && !refcount_inc_not_zero(&qp->refs))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

void rover_qp_put(struct rover_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		call_rcu(&qp->rcu, free_rcu);
}

void rover_qp_kick(struct rover_qp *qp)
{
	/*
	 * The list's reference must be there before the list is: the tasklet
	 * may run, and drop it, before rover_kick() returns.  One found under
	 * RCU may be at its end already; then there is nothing to run.
	 */
	if (!refcount_inc_not_zero(&qp->refs))
		return;
	if (!rover_kick(&qp->kick))
		rover_qp_put(qp);
}

void rover_qp_tell(struct rover_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &qp->dev->ib,
		.element.qp = qp->ib,
		.event = type,
	};

	if (qp->ib->event_handler)
		qp->ib->event_handler(&event, qp->ib->qp_context);
}

static void raise(struct rover_qp *qp, enum rover_event what)
{
	static const enum ib_event_type types[] = {
		[ROVER_EVENT_QP_FATAL]		= IB_EVENT_QP_FATAL,
		[ROVER_EVENT_QP_REQ_ERR]	= IB_EVENT_QP_REQ_ERR,
		[ROVER_EVENT_QP_ACCESS_ERR]	= IB_EVENT_QP_ACCESS_ERR,
	};

	rover_qp_tell(qp, types[what]);
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

	/*
	 * Modify writes the state under both locks and is out of the way, but
	 * the other side may fail at this moment too: one of us goes on.
	 */
	if (from == IB_QPS_RESET || from == IB_QPS_ERR ||
	    cmpxchg(&qp->state, from, IB_QPS_ERR) != from)
		return;
	trace_rover_qp_state(qp->obj.key, from, IB_QPS_ERR);

	/*
	 * From here on whatever is posted has to enter the kernel: either the
	 * run we ask for finds it, or its poster finds the flag (K2).
	 */
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
	if (!qp->srq)
		rover_ring_flag(&qp->rq, ROVER_RING_NEED_WAKEUP);
	set_bit(ROVER_WORK_TX, &qp->work);
	set_bit(ROVER_WORK_RX, &qp->work);
	rover_qp_kick(qp);

	if (event != ROVER_EVENT_NONE)
		raise(qp, event);
}

void rover_qp_fail_send(struct rover_qp *qp)
{
	int from = READ_ONCE(qp->state);

	lockdep_assert_held(&qp->tx_lock);

	/* The receiving side may fail at this moment, and with it all. */
	if ((from != IB_QPS_RTS && from != IB_QPS_SQD) ||
	    cmpxchg(&qp->state, from, IB_QPS_SQE) != from)
		return;
	trace_rover_qp_state(qp->obj.key, from, IB_QPS_SQE);
	/* See rover_qp_fail(). */
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
	set_bit(ROVER_WORK_TX, &qp->work);
}

void rover_qp_drained(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	if (qp->req.drained)
		return;
	qp->req.drained = true;
	if (qp->attr.en_sqd_async_notify)
		rover_qp_tell(qp, IB_EVENT_SQ_DRAINED);
}

void rover_qp_last_wqe(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	if (qp->rsp.last_wqe)
		return;
	qp->rsp.last_wqe = true;
	rover_qp_tell(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

int rover_qp_table_init(void)
{
	int err;

	cache = KMEM_CACHE(rover_qp, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	if (!cache)
		return -ENOMEM;
	err = rover_table_init(&rover_qpns, ROVER_PSN_MASK);
	if (err)
		kmem_cache_destroy(cache);
	return err;
}

void rover_qp_table_exit(void)
{
	/*
	 * All devices are gone, so all queue pairs are destroyed; skbs in some
	 * netdev's queue may still refer to the memory, and to our code.
	 */
	wait_var_event(&unfreed, !atomic_read(&unfreed));
	/* The callback that counted down to zero has to return, too. */
	rcu_barrier();
	rover_table_destroy(&rover_qpns);
	kmem_cache_destroy(cache);
}
