/* SPDX-License-Identifier: GPL-2.0 */
/* netns - sockets, hooks and devices of a namespace */
#ifndef ROVER_NETNS_H
#define ROVER_NETNS_H

#include "core/dev.h"

/**
 * rover_netns_join() - add a device to a namespace
 * @dev: @dev->ndev is set; sets @dev->rnet
 * @net: referenced by the caller
 * Context: may sleep.
 * Return: 0; -EADDRINUSE if the port is taken; another error.
 */
int rover_netns_join(struct rover_dev *dev, struct net *net);

/**
 * rover_netns_leave() - remove a device from its namespace
 * @dev: joined
 *
 * Afterwards no packet finds @dev.
 * Context: may sleep.
 */
void rover_netns_leave(struct rover_dev *dev);

/**
 * rover_netns_init() - module load
 * Return: 0 or -ENOMEM.
 */
int rover_netns_init(void);

/**
 * rover_netns_exit() - module unload
 */
void rover_netns_exit(void);

#endif /* ROVER_NETNS_H */
