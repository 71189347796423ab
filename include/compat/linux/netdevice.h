/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_LINUX_NETDEVICE_H
#define ROVER_COMPAT_LINUX_NETDEVICE_H

#include <linux/version.h>
#include_next <linux/netdevice.h>

/* Test for tc and BPF programs on an interface; 6.6 unified the place. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#ifdef CONFIG_NET_XGRESS
#define rover_tc(ndev, dir)	rcu_access_pointer((ndev)->tcx_##dir)
#endif
#elif defined(CONFIG_NET_CLS_ACT)
#define rover_tc(ndev, dir)	rcu_access_pointer((ndev)->miniq_##dir)
#endif

#ifndef rover_tc
#define rover_tc(ndev, dir)	false
#endif

static inline bool netdev_tc_ingress(const struct net_device *ndev)
{
	return rover_tc(ndev, ingress);
}

static inline bool netdev_tc_egress(const struct net_device *ndev)
{
	return rover_tc(ndev, egress);
}

/*
 * Test for packet sockets of all interfaces for one protocol.  Before 6.16 no
 * list showed them: ask each packet socket.  Under rcu_read_lock().
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
static inline bool net_ptype_specific(const struct net *net)
{
	return !list_empty(&net->ptype_specific);
}
#elif IS_ENABLED(CONFIG_PACKET)
#define ROVER_COMPAT_PTYPE
bool rover_compat_ptype_specific(const struct net *net);
#define net_ptype_specific	rover_compat_ptype_specific
#else
static inline bool net_ptype_specific(const struct net *net)
{
	return false;
}
#endif

/*
 * Test for tstats counters.  Before 6.6.6 and 6.1.120 drivers did not say, and
 * veth had smaller ones.
 */
static inline bool netdev_counts_tstats(const struct net_device *ndev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 6) ||                           \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 120) &&                    \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))
	return ndev->pcpu_stat_type == NETDEV_PCPU_STAT_TSTATS;
#else
	return false;
#endif
}

#endif /* ROVER_COMPAT_LINUX_NETDEVICE_H */
