/* SPDX-License-Identifier: GPL-2.0 */
/* cc_admin - choice of congestion control by administrators */
#ifndef ROVER_CC_ADMIN_H
#define ROVER_CC_ADMIN_H

#include "core/dev.h"

/* Files of a device, in the folder cc. */
extern const struct attribute_group rover_cc_admin_group;

/**
 * rover_cc_admin_init() - add the sysctls of a namespace
 * @rnet: its cc_ops are set
 * Return: 0 or -ENOMEM.
 */
int rover_cc_admin_init(struct rover_net *rnet);

/* Remove the sysctls of a namespace. */
void rover_cc_admin_exit(struct rover_net *rnet);

#endif /* ROVER_CC_ADMIN_H */
