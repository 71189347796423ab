/* SPDX-License-Identifier: GPL-2.0 */
/* doorbell - ioctl to report posted requests */
#ifndef ROVER_DOORBELL_H
#define ROVER_DOORBELL_H

#include <rdma/uverbs_ioctl.h>

/* Runs the queue pair until it has no more work, or leaves it to the poller. */
extern const struct uapi_definition rover_doorbell_defs[];

#endif /* ROVER_DOORBELL_H */
