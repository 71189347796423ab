/* SPDX-License-Identifier: GPL-2.0 */
/* verbs - table of verbs, device and port attributes */
#ifndef ROVER_VERBS_H
#define ROVER_VERBS_H

#include <rdma/ib_verbs.h>

#define ROVER_VERSION		"0.1.0"

/* device.c adds owner, driver id and lifecycle. */
extern const struct ib_device_ops rover_verbs;

#endif /* ROVER_VERBS_H */
