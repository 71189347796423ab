// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * flow.c: flow rules, which say what frames are for a raw packet queue pair. All
 * that is to be known of one is the kernel's.
 */
#include <errno.h>
#include <stdlib.h>

#include "rover.h"

/**
 * rover_create_flow() - ibv_create_flow()
 * @ibqp: queue pair that is to receive
 * @attr: the rule, with its specifications behind it
 */
struct ibv_flow *rover_create_flow(struct ibv_qp *ibqp,
				   struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = calloc(1, sizeof(*flow));
	int err;

	if (!flow)
		return NULL;
	err = ibv_cmd_create_flow(ibqp, flow, attr, NULL, 0);
	if (err) {
		free(flow);
		errno = err;
		return NULL;
	}
	return flow;
}

/**
 * rover_destroy_flow() - ibv_destroy_flow()
 * @flow: the rule
 */
int rover_destroy_flow(struct ibv_flow *flow)
{
	int err = ibv_cmd_destroy_flow(flow);

	if (!err)
		free(flow);
	return err;
}
