/* SPDX-License-Identifier: GPL-2.0 */
/*
 * doorbell - how a program enters the kernel after posting
 */
#ifndef ROVER_DOORBELL_H
#define ROVER_DOORBELL_H

#include <rdma/uverbs_ioctl.h>

/*
 * ib_device_ops.driver_def: one method of rover's own, ROVER_OBJECT_DOORBELL
 * of rover-abi.h.  It runs the queue pair in the caller's context and returns
 * when that has nothing more to do for now; one that posts a stream it leaves to
 * poller.
 */
extern const struct uapi_definition rover_doorbell_defs[];

#endif /* ROVER_DOORBELL_H */
