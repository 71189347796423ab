// SPDX-License-Identifier: GPL-2.0
/*
 * counter - hardware counters of ports and queue pairs
 *
 * Sets qp->stats.  Its users are under RCU or have softirqs off: a grace period
 * later none uses the old counters.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "qp/qp_table.h"
#include "verbs/counter.h"

/* rover's part of a struct rdma_counter */
struct rover_counter {
	struct rover_stats __percpu *stats;
};

static const struct rdma_stat_desc counter_descs[ROVER_STAT_COUNT] = {
#define X(id, label, text) [ROVER_STAT_##id] = { .name = label },
	ROVER_STATS(X)
#undef X
};

static struct rdma_hw_stats *counter_alloc_values(void)
{
	return rdma_alloc_hw_stats_struct(counter_descs, ROVER_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static void counter_read_values(struct rdma_hw_stats *values,
				struct rover_stats __percpu *stats)
{
	unsigned int i;

	for (i = 0; i < ROVER_STAT_COUNT; i++)
		values->value[i] = rover_stat_read(stats, i);
}

struct rdma_hw_stats *rover_counter_alloc_port(struct ib_device *ib, u32 port)
{
	return counter_alloc_values();
}

int rover_counter_get_port(struct ib_device *ib, struct rdma_hw_stats *stats,
			   u32 port, int index)
{
	if (!port)
		return -EINVAL;
	counter_read_values(stats, rover_dev(ib)->stats);
	return ROVER_STAT_COUNT;
}

static struct rover_counter *counter_find(const struct rdma_counter *counter)
{
	return xa_load(&rover_dev(counter->device)->counters, counter->id);
}

static void counter_free(struct rover_counter *priv)
{
	free_percpu(priv->stats);
	kfree(priv);
}

/* Never sets @counter->id to 0, which means "not allocated". */
static struct rover_counter *counter_create(struct rdma_counter *counter)
{
	struct rover_counter *priv = kzalloc_obj(*priv);

	if (!priv)
		return NULL;
	priv->stats = alloc_percpu(struct rover_stats);
	if (!priv->stats ||
	    xa_alloc(&rover_dev(counter->device)->counters, &counter->id, priv,
		     xa_limit_31b, GFP_KERNEL)) {
		counter_free(priv);
		return NULL;
	}
	return priv;
}

/* The cores of 6.1 and 6.12 may bind a queue pair that is being destroyed. */
int rover_counter_bind(struct rdma_counter *counter, struct ib_qp *ib, u32 port)
{
	struct rover_qp *qp = rover_qp_get_ib(ib);
	struct rover_counter *priv;

	if (!qp)
		return -EINVAL;
	priv = counter->id ? counter_find(counter) : counter_create(counter);
	if (priv) {
		ib->counter = counter;
		/* Pairs with READ_ONCE() in rover_qp_count(): zeroed stats. */
		smp_store_release(&qp->stats, priv->stats);
	}
	rover_qp_put(qp);
	return priv ? 0 : -ENOMEM;
}

int rover_counter_unbind(struct ib_qp *ib, u32 port)
{
	struct rover_qp *qp = rover_qp_get_ib(ib);

	if (qp) {
		WRITE_ONCE(qp->stats, qp->dev->stats);
		rover_qp_put(qp);
	}
	ib->counter = NULL;
	synchronize_rcu();
	return 0;
}

int rover_counter_dealloc(struct rdma_counter *counter)
{
	struct rover_dev *dev = rover_dev(counter->device);
	struct rover_counter *priv;
	unsigned int i;

	xa_lock(&dev->counters);
	priv = __xa_erase(&dev->counters, counter->id);
	for (i = 0; priv && i < ROVER_STAT_COUNT; i++)
		dev->counted.v[i] += rover_stat_read(priv->stats, i);
	xa_unlock(&dev->counters);
	if (priv)
		counter_free(priv);
	return 0;
}

u64 rover_counter_total(struct rover_dev *dev, enum rover_stat id)
{
	u64 total = rover_stat_read(dev->stats, id);
	struct rover_counter *priv;
	unsigned long at;

	xa_lock(&dev->counters);
	total += dev->counted.v[id];
	xa_for_each(&dev->counters, at, priv)
		total += rover_stat_read(priv->stats, id);
	xa_unlock(&dev->counters);
	return total;
}

struct rdma_hw_stats *rover_counter_alloc_stats(struct rdma_counter *counter)
{
	return counter_alloc_values();
}

int rover_counter_update_stats(struct rdma_counter *counter)
{
	struct rover_counter *priv = counter_find(counter);

	if (priv)
		counter_read_values(counter->stats, priv->stats);
	return 0;
}

void rover_counter_init(struct rdma_counter *counter)
{
}
