/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All of the driver's header of this name, for kernels before 6.16, where no
 * list showed packet sockets of all interfaces: ask each packet socket.
 */
#ifndef ROVER_COMPAT_NETDEV_H
#define ROVER_COMPAT_NETDEV_H

#include <linux/netdevice.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include_next "core/netdev.h"
#else

/* 6.6 unified the place of tc and BPF programs. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#ifdef CONFIG_NET_XGRESS
#define rover_compat_tc(ndev, dir)	rcu_access_pointer((ndev)->tcx_##dir)
#endif
#elif defined(CONFIG_NET_CLS_ACT)
#define rover_compat_tc(ndev, dir)	rcu_access_pointer((ndev)->miniq_##dir)
#endif

#ifndef rover_compat_tc
#define rover_compat_tc(ndev, dir)	false
#endif

static inline bool rover_netdev_has_tc_ingress(const struct net_device *ndev)
{
	return rover_compat_tc(ndev, ingress);
}

static inline bool rover_netdev_has_tc_egress(const struct net_device *ndev)
{
	return rover_compat_tc(ndev, egress);
}

#if IS_ENABLED(CONFIG_PACKET)
#define ROVER_COMPAT_PTYPE
bool rover_compat_has_ptype(const struct net *net);
#define rover_netdev_has_ptype	rover_compat_has_ptype
#else
static inline bool rover_netdev_has_ptype(const struct net *net)
{
	return false;
}
#endif

/*
 * Before 6.6.6 and 6.1.120 drivers did not tell their counters, and veth had
 * smaller ones.
 */
static inline bool rover_netdev_has_tstats(const struct net_device *ndev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 6) ||                           \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 120) &&                    \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))
	return ndev->pcpu_stat_type == NETDEV_PCPU_STAT_TSTATS;
#else
	return false;
#endif
}

#endif

#endif /* ROVER_COMPAT_NETDEV_H */
