/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netdev - what a network interface or namespace has attached to it
 */
#ifndef ROVER_NETDEV_H
#define ROVER_NETDEV_H

#include <linux/netdevice.h>
#include <net/net_namespace.h>

/* Test for tc and BPF programs on an interface. */
static inline bool rover_netdev_has_tc_ingress(const struct net_device *ndev)
{
#ifdef CONFIG_NET_XGRESS
	return rcu_access_pointer(ndev->tcx_ingress);
#else
	return false;
#endif
}

static inline bool rover_netdev_has_tc_egress(const struct net_device *ndev)
{
#ifdef CONFIG_NET_XGRESS
	return rcu_access_pointer(ndev->tcx_egress);
#else
	return false;
#endif
}

/*
 * Test for packet sockets of all interfaces for one protocol.  Under
 * rcu_read_lock().
 */
static inline bool rover_netdev_has_ptype(const struct net *net)
{
	return !list_empty(&net->ptype_specific);
}

/* Test for tstats counters. */
static inline bool rover_netdev_has_tstats(const struct net_device *ndev)
{
	return ndev->pcpu_stat_type == NETDEV_PCPU_STAT_TSTATS;
}

#endif /* ROVER_NETDEV_H */
