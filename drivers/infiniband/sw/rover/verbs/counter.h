/* SPDX-License-Identifier: GPL-2.0 */
/*
 * counter - what has been counted, as administrators ask for it
 *
 * A queue pair counts in one place: with its device, or in a counter that it was
 * bound to (rdma statistic qp).  The port's sums are the core's affair: it adds
 * what counters have to what the device has, and keeps what they had when they
 * end.
 *
 * Process context; the core's lock of the counter is held.
 */
#ifndef ROVER_COUNTER_H
#define ROVER_COUNTER_H

#include <rdma/ib_verbs.h>

/* The counters of a port, in the order of enum rover_stat. */
struct rdma_hw_stats *rover_counter_alloc_port(struct ib_device *ib, u32 port);
int rover_counter_get_port(struct ib_device *ib, struct rdma_hw_stats *stats,
			   u32 port, int index);

/**
 * rover_counter_bind() - a queue pair counts here from now on
 * @counter: the core's part; the first one that is bound makes ours, and its @id
 * @ib: queue pair, bound to none
 * @port: 1
 *
 * Return: 0; -ENOMEM; -EINVAL for one that is destroyed already.
 */
int rover_counter_bind(struct rdma_counter *counter, struct ib_qp *ib, u32 port);

/**
 * rover_counter_unbind() - and with its device again
 * @ib: queue pair, bound
 * @port: 1
 *
 * Waits until nobody counts in the old place, so that nothing is lost.
 */
int rover_counter_unbind(struct ib_qp *ib, u32 port);

/* No queue pair is bound to it any more, and the core knows what it had. */
int rover_counter_dealloc(struct rdma_counter *counter);

struct rdma_hw_stats *rover_counter_alloc_stats(struct rdma_counter *counter);
int rover_counter_update_stats(struct rdma_counter *counter);

/* The core's part has nothing that is ours: that is found by its number. */
void rover_counter_init(struct rdma_counter *counter);

#endif /* ROVER_COUNTER_H */
