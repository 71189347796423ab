/* SPDX-License-Identifier: GPL-2.0 */
/*
 * device - the life of an RDMA device on its network interface
 */
#ifndef ROVER_DEVICE_H
#define ROVER_DEVICE_H

struct net_device;

/**
 * rover_device_add() - give an interface an RDMA device
 * @name: of the RDMA device
 * @ndev: the interface
 *
 * When this returns, the device is there with all GIDs of the interface.  It
 * goes by `rdma link delete', with the interface, or with the module.
 *
 * Context: may sleep, without RTNL.
 * Return: 0; -EOPNOTSUPP for VLANs and for what is no Ethernet, -EEXIST when
 * it has one already or the name is taken, -EADDRINUSE when another driver has
 * the UDP port, -ENODEV when the interface is going, -ENOMEM.
 */
int rover_device_add(const char *name, struct net_device *ndev);

/**
 * rover_device_init() - at module load: watch interfaces and devices
 *
 * Return: 0 or an error.
 */
int rover_device_init(void);

/**
 * rover_device_exit() - at module unload: remove all devices
 *
 * Nobody adds one any more.  Waits for those that are going already.
 */
void rover_device_exit(void);

#endif /* ROVER_DEVICE_H */
