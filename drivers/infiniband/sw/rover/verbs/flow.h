/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flow - which frames are for which raw packet queue pair
 */
#ifndef ROVER_FLOW_H
#define ROVER_FLOW_H

#include <rdma/ib_verbs.h>

/**
 * rover_flow_create() - ib_device_ops.create_flow
 * @ib: queue pair that is to receive
 * @attr: the rule; the core has checked the size of each specification
 * @udata: nothing is passed in it
 *
 * Context: may sleep.
 * Return: the rule; -EOPNOTSUPP for what rover does not have, -EINVAL for what
 * makes no sense, -EPERM, -ENODEV when the interface is going, -ENOMEM, also for
 * too many rules.
 */
struct ib_flow *rover_flow_create(struct ib_qp *ib, struct ib_flow_attr *attr,
				  struct ib_udata *udata);

/**
 * rover_flow_destroy() - ib_device_ops.destroy_flow
 * @ib: the rule
 *
 * Frames that are under way may still be received by it.
 *
 * Context: may sleep.
 * Return: 0.
 */
int rover_flow_destroy(struct ib_flow *ib);

#endif /* ROVER_FLOW_H */
