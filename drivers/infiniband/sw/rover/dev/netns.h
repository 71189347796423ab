/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netns - rover in each network namespace: UDP port 4791 while a link exists
 */
#ifndef ROVER_NETNS_H
#define ROVER_NETNS_H

#include "core/dev.h"

/**
 * rover_netns_join() - a device begins to live in its interface's namespace
 * @dev: @dev->ndev is set; sets @dev->rnet
 * @net: where that was when it was looked at, referenced by the caller
 *
 * The first device of a namespace opens UDP port 4791 there.
 *
 * Context: may sleep.
 * Return: 0; -EADDRINUSE when somebody else has the port, or whatever the
 * sockets said.
 */
int rover_netns_join(struct rover_dev *dev, struct net *net);

/**
 * rover_netns_leave() - a device is no more
 * @dev: joined
 *
 * Afterwards no packet finds the device.  The last one closes the port.
 *
 * Context: may sleep.
 */
void rover_netns_leave(struct rover_dev *dev);

/**
 * rover_netns_init() - at module load
 *
 * Return: 0 or -ENOMEM.
 */
int rover_netns_init(void);

/**
 * rover_netns_exit() - at module unload: no device is left
 */
void rover_netns_exit(void);

#endif /* ROVER_NETNS_H */
