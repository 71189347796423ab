/* SPDX-License-Identifier: GPL-2.0 */
/*
 * counter - hardware counters of ports and queue pairs
 *
 * A queue pair counts at its device or in a bound counter (`rdma statistic
 * qp').  For the port the core adds up both and destroyed counters.  Process
 * context, under the core's counter lock.
 */
#ifndef ROVER_COUNTER_H
#define ROVER_COUNTER_H

#include <rdma/ib_verbs.h>

/* Port counters, in the order of enum rover_stat. */
struct rdma_hw_stats *rover_counter_alloc_port(struct ib_device *ib, u32 port);
int rover_counter_get_port(struct ib_device *ib, struct rdma_hw_stats *stats,
			   u32 port, int index);

/**
 * rover_counter_bind() - count in @counter
 * @counter: the first bind allocates rover's part and sets @id
 * @ib: queue pair
 * @port: 1
 * Return: 0; -ENOMEM; -EINVAL if @ib is being destroyed.
 */
int rover_counter_bind(struct rdma_counter *counter, struct ib_qp *ib, u32 port);

/**
 * rover_counter_unbind() - count at the device again
 * @ib: queue pair
 * @port: 1
 *
 * Waits for users of the old counters, so no count is lost.
 */
int rover_counter_unbind(struct ib_qp *ib, u32 port);

/* Free rover's part; the core has saved the values. */
int rover_counter_dealloc(struct rdma_counter *counter);

struct rdma_hw_stats *rover_counter_alloc_stats(struct rdma_counter *counter);
int rover_counter_update_stats(struct rdma_counter *counter);

/* Does nothing. */
void rover_counter_init(struct rdma_counter *counter);

/**
 * rover_counter_total() - return a count of a whole device
 * @dev: device
 * @id: counter
 *
 * Its own count, and those of its queue pairs' counters, also of counters that
 * are gone.  The core adds these to what rover_counter_get_port() says.
 *
 * Context: process; takes the xa_lock of counters, which leaves softirqs on.
 */
u64 rover_counter_total(struct rover_dev *dev, enum rover_stat id);

#endif /* ROVER_COUNTER_H */
