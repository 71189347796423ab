/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netdev - the interface below this end's device
 */
#ifndef ROVER_SELFTEST_NETDEV_H
#define ROVER_SELFTEST_NETDEV_H

#include "pair.h"

/* Name of the interface in this process's namespace */
const char *netdev_name(struct pair *p);

/* MTU of the interface, in bytes */
unsigned int netdev_mtu(struct pair *p);

/* Exchange the Ethernet addresses of the interfaces: both ends call it. */
void netdev_meet(struct pair *p, uint8_t own[6], uint8_t peer[6]);

#endif /* ROVER_SELFTEST_NETDEV_H */
