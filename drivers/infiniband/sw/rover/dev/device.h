/* SPDX-License-Identifier: GPL-2.0 */
/* device - RDMA device of a network interface */
#ifndef ROVER_DEVICE_H
#define ROVER_DEVICE_H

struct net_device;
struct rover_dev;

/**
 * rover_device_add() - register an RDMA device
 * @name: of the device
 * @ndev: its interface
 *
 * On return the device has all GIDs of @ndev.
 * Context: may sleep, without RTNL.
 * Return: 0; -EOPNOTSUPP for VLANs and non-Ethernet; -EEXIST if @name or @ndev
 * is taken; -EADDRINUSE; -ENODEV if @ndev is going; -ENOMEM.
 */
int rover_device_add(const char *name, struct net_device *ndev);

/**
 * rover_device_get_by_netdev() - find the device of an interface
 * @ndev: interface
 *
 * Context: any.
 * Return: device, to be released with ib_device_put(); NULL without one.
 */
struct rover_dev *rover_device_get_by_netdev(struct net_device *ndev);

/**
 * rover_device_init() - watch devices
 * Return: 0 or an error.
 */
int rover_device_init(void);

/**
 * rover_device_exit() - remove all devices
 *
 * After rover_newlink_exit().  Waits for removals in progress.
 */
void rover_device_exit(void);

#endif /* ROVER_DEVICE_H */
