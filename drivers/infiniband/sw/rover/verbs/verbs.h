/* SPDX-License-Identifier: GPL-2.0 */
/*
 * verbs - the table of what a device can do, and what it says of itself
 */
#ifndef ROVER_VERBS_H
#define ROVER_VERBS_H

#include <rdma/ib_verbs.h>

#define ROVER_VERSION		"0.1.0"

/* All verbs.  Owner, driver id and life cycle are device's to add. */
extern const struct ib_device_ops rover_verbs;

#endif /* ROVER_VERBS_H */
