/* SPDX-License-Identifier: GPL-2.0 */
/* flow - flow rules of raw packet queue pairs */
#ifndef ROVER_FLOW_H
#define ROVER_FLOW_H

#include <rdma/ib_verbs.h>

/**
 * rover_flow_create() - ib_device_ops.create_flow
 * @ib: receives matching frames
 * @attr: rule
 * @udata: must be empty
 * Context: may sleep.
 * Return: the rule; -EOPNOTSUPP, -EINVAL, -EPERM; -ENODEV if the interface is
 * going; -ENOMEM, also for too many rules.
 */
struct ib_flow *rover_flow_create(struct ib_qp *ib, struct ib_flow_attr *attr,
				  struct ib_udata *udata);

/**
 * rover_flow_destroy() - ib_device_ops.destroy_flow
 * @ib: rule; frames already in the hook may still match it
 * Context: may sleep.
 * Return: 0.
 */
int rover_flow_destroy(struct ib_flow *ib);

#endif /* ROVER_FLOW_H */
