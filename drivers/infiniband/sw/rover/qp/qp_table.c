// SPDX-License-Identifier: GPL-2.0
/* qp_table - look-up and lifetime of queue pairs */
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "wire/psn.h"

struct rover_table rover_qpns;

static struct kmem_cache *qp_table_cache;

/* Of all devices */
static atomic_t qp_table_unfreed;

void rover_qp_drop(const struct rover_qp *qp, enum rover_stat why, u8 opcode,
		   u32 psn)
{
	rover_drop(READ_ONCE(qp->stats), why, qp->obj.key, opcode, psn);
}

/* A page-in has ended: run the side that waits for it. */
static void qp_table_rerun(struct rover_qp *qp, int bit)
{
	rover_qp_set_work(qp, bit);
	/* Run the tasklet in local_bh_enable(), not in ksoftirqd. */
	local_bh_disable();
	rover_qp_kick(qp);
	local_bh_enable();
	rover_qp_put(qp);
}

static void qp_table_tx_paged_in(struct rover_pagein *pagein)
{
	qp_table_rerun(container_of(pagein, struct rover_qp, tx_pagein),
		       ROVER_WORK_TX);
}

static void qp_table_resp_paged_in(struct rover_pagein *pagein)
{
	qp_table_rerun(container_of(pagein, struct rover_qp, resp_pagein),
		       ROVER_WORK_TX);
}

static void qp_table_rx_paged_in(struct rover_pagein *pagein)
{
	qp_table_rerun(container_of(pagein, struct rover_qp, rx_pagein),
		       ROVER_WORK_RX);
}

struct rover_qp *rover_qp_table_alloc(void)
{
	struct rover_qp *qp = kmem_cache_zalloc(qp_table_cache, GFP_KERNEL);

	if (!qp)
		return NULL;
	refcount_set(&qp->refs, 1);
	skb_queue_head_init(&qp->backlog.requests);
	__skb_queue_head_init(&qp->backlog.responses);
	rover_pagein_init(&qp->tx_pagein, &qp->refs, qp_table_tx_paged_in);
	rover_pagein_init(&qp->resp_pagein, &qp->refs, qp_table_resp_paged_in);
	rover_pagein_init(&qp->rx_pagein, &qp->refs, qp_table_rx_paged_in);
	atomic_inc(&qp_table_unfreed);
	return qp;
}

static void qp_table_free_rcu(struct rcu_head *rcu)
{
	struct rover_qp *qp = container_of(rcu, struct rover_qp, rcu);

	/* Packets queued too late for a worker */
	skb_queue_purge(&qp->backlog.requests);
	__skb_queue_purge(&qp->backlog.responses);
	kmem_cache_free(qp_table_cache, qp);
	if (atomic_dec_and_test(&qp_table_unfreed))
		wake_up_var(&qp_table_unfreed);
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
		call_rcu(&qp->rcu, qp_table_free_rcu);
}

void rover_qp_kick(struct rover_qp *qp)
{
	/*
	 * Take a reference before the tasklet can drop it.  Under RCU none
	 * may be left.
	 */
	if (!refcount_inc_not_zero(&qp->refs))
		return;
	if (!rover_kick(&qp->kick))
		rover_qp_put(qp);
}

int rover_qp_table_init(void)
{
	int err;

	qp_table_cache = KMEM_CACHE(rover_qp,
				    SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	if (!qp_table_cache)
		return -ENOMEM;
	err = rover_table_init(&rover_qpns, ROVER_PSN_MASK);
	if (err)
		kmem_cache_destroy(qp_table_cache);
	return err;
}

void rover_qp_table_exit(void)
{
	/* skbs in a netdev's queue may still refer to memory and code. */
	wait_var_event(&qp_table_unfreed, !atomic_read(&qp_table_unfreed));
	/* Wait until qp_table_free_rcu() has returned. */
	rcu_barrier();
	rover_table_destroy(&rover_qpns);
	kmem_cache_destroy(qp_table_cache);
}
