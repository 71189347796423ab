// SPDX-License-Identifier: GPL-2.0
/*
 * counter - what has been counted, as administrators ask for it
 *
 * Who counts does not ask where: a queue pair has a pointer to counters, which is
 * changed here.  It counts under RCU or a lock with softirqs off, so a grace
 * period after the change nobody counts in the old place.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "qp/qp_table.h"
#include "verbs/counter.h"

/**
 * struct rover_counter - counters that queue pairs can be bound to
 * @stats: per CPU, like a device's
 */
struct rover_counter {
	struct rover_stats __percpu *stats;
};

static const struct rdma_stat_desc descs[ROVER_STAT_COUNT] = {
#define X(id, text) [ROVER_STAT_##id] = { .name = text },
	ROVER_STATS(X)
#undef X
};

static struct rdma_hw_stats *alloc_values(void)
{
	return rdma_alloc_hw_stats_struct(descs, ROVER_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static void get_values(struct rdma_hw_stats *values,
		       struct rover_stats __percpu *stats)
{
	unsigned int i;

	for (i = 0; i < ROVER_STAT_COUNT; i++)
		values->value[i] = rover_stat_read(stats, i);
}

struct rdma_hw_stats *rover_counter_alloc_port(struct ib_device *ib, u32 port)
{
	return alloc_values();
}

int rover_counter_get_port(struct ib_device *ib, struct rdma_hw_stats *stats,
			   u32 port, int index)
{
	if (!port)
		return -EINVAL;
	get_values(stats, rover_dev(ib)->stats);
	return ROVER_STAT_COUNT;
}

/* Counters of queue pairs ****************************************************/

static struct rover_counter *find(const struct rdma_counter *counter)
{
	return xa_load(&rover_dev(counter->device)->counters, counter->id);
}

static void destroy(struct rover_counter *own)
{
	free_percpu(own->stats);
	kfree(own);
}

/* A new one, whose number is never 0: that is how the core says that it has none. */
static struct rover_counter *make(struct rdma_counter *counter)
{
	struct rover_counter *own = kzalloc_obj(*own);

	if (!own)
		return NULL;
	own->stats = alloc_percpu(struct rover_stats);
	if (!own->stats ||
	    xa_alloc(&rover_dev(counter->device)->counters, &counter->id, own,
		     xa_limit_31b, GFP_KERNEL)) {
		destroy(own);
		return NULL;
	}
	return own;
}

/* The cores of 6.1 and 6.12 let it be bound while it is being destroyed. */
int rover_counter_bind(struct rdma_counter *counter, struct ib_qp *ib, u32 port)
{
	struct rover_qp *qp = rover_qp_get_ib(ib);
	struct rover_counter *own;

	if (!qp)
		return -EINVAL;
	own = counter->id ? find(counter) : make(counter);
	if (own) {
		ib->counter = counter;
		/* They begin at zero for whoever counts there first. */
		smp_store_release(&qp->stats, own->stats);
	}
	rover_qp_put(qp);
	return own ? 0 : -ENOMEM;
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
	struct rover_counter *own;

	own = xa_erase(&rover_dev(counter->device)->counters, counter->id);
	if (own)
		destroy(own);
	return 0;
}

struct rdma_hw_stats *rover_counter_alloc_stats(struct rdma_counter *counter)
{
	return alloc_values();
}

int rover_counter_update_stats(struct rdma_counter *counter)
{
	struct rover_counter *own = find(counter);

	if (own)
		get_values(counter->stats, own->stats);
	return 0;
}

void rover_counter_init(struct rdma_counter *counter)
{
}
