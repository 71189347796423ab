/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_RDMA_IB_VERBS_H
#define ROVER_COMPAT_RDMA_IB_VERBS_H

#include <linux/version.h>
#include_next <rdma/ib_verbs.h>

/* Before 7.1 devices could only be created in the initial namespace. */
#ifndef ib_alloc_device_with_net
#define ib_alloc_device_with_net(drv_struct, member, net)		\
	ib_alloc_device(drv_struct, member)
#endif

/* Access rights of userspace, whatever the kernel. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define IB_ACCESS_FLUSH_GLOBAL		(1 << 8)
#define IB_ACCESS_FLUSH_PERSISTENT	(1 << 9)
/* Device capabilities that an older core cannot report. */
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_ATOMIC_WRITE		0
/* Operations that a kernel user cannot post. */
#define ROVER_COMPAT_NO_WORDS
#define IB_WR_FLUSH			14
#define IB_WR_ATOMIC_WRITE		15
#define IB_WC_FLUSH			IB_WC_SEND
#define IB_WC_ATOMIC_WRITE		IB_WC_SEND
#endif

/* Nothing requests these together with ODP. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define IB_ODP_SUPPORT_FLUSH		0
#define IB_ODP_SUPPORT_ATOMIC_WRITE	0
#endif

/* The newer core watches netdevs itself, and drops unchanged states. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline enum ib_port_state ib_get_curr_port_state(struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ?
		IB_PORT_ACTIVE : IB_PORT_DOWN;
}

static inline void ib_dispatch_port_state_event(struct ib_device *ibdev,
						struct net_device *ndev)
{
	struct ib_event event = {
		.device = ibdev,
		.element.port_num = 1,
		.event = ib_get_curr_port_state(ndev) == IB_PORT_DOWN ?
			IB_EVENT_PORT_ERR : IB_EVENT_PORT_ACTIVE,
	};

	ib_dispatch_event(&event);
}
#endif

#endif /* ROVER_COMPAT_RDMA_IB_VERBS_H */
