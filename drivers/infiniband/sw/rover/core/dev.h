/* SPDX-License-Identifier: GPL-2.0 */
/* dev - structures of devices and namespaces */
#ifndef ROVER_DEV_H
#define ROVER_DEV_H

#include <linux/capability.h>
#include <linux/netdevice.h>
#include <linux/sched/isolation.h>
#include <linux/xarray.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>

#include "addr/mcast.h"
#include "core/cc_config.h"
#include "core/stats.h"
#include "core/table.h"
#include "rx/flow_input.h"

/* No particular CPU */
#define ROVER_CPU_ANY		(-1)

/**
 * rover_cpu_housekeeping() - test whether a CPU may be disturbed
 * @cpu: CPU number
 * Return: false if in isolcpus=, nohz_full= or an isolated cpuset.
 */
static inline bool rover_cpu_housekeeping(int cpu)
{
	bool isolated;

	/* Changing cpusets replaces the mask. */
	rcu_read_lock();
	isolated = cpu_is_isolated(cpu);
	rcu_read_unlock();
	return !isolated && housekeeping_cpu(cpu, HK_TYPE_TICK) &&
	       housekeeping_cpu(cpu, HK_TYPE_MANAGED_IRQ);
}

#define ROVER_MAX_CQE		(1U << 22)
#define ROVER_MAX_QP_WR		(1U << 15)
#define ROVER_MAX_RD_ATOMIC	64
#define ROVER_PKEY		0xffff
#define ROVER_GSI_QPN		1

struct rover_qp;

/**
 * struct rover_net - rover in a network namespace
 * @net: the namespace
 * @devices: number of devices; sockets exist while there are any.  A mutex in
 *	netns.c protects this and all below.
 * @sk4: UDP port 4791 over IPv4
 * @sk6: over IPv6; NULL if IPv6 is off
 * @nf_input_hooks: take packets before the sockets
 * @nf_output_hooks: drop foreign outgoing RoCE
 * @devs: RCU list by rover_dev.net_node
 * @cc_ops: congestion control of its devices; a hint
 * @sysctls: registered; NULL if there are none
 * @sysctl_table: their table
 */
struct rover_net {
	struct net *net;
	unsigned int devices;
	struct socket *sk4;
	struct socket *sk6;
	struct nf_hook_ops nf_input_hooks[4];
	struct nf_hook_ops nf_output_hooks[2];
	struct list_head devs;
	const struct rover_cc_ops *cc_ops;
	struct ctl_table_header *sysctls;
	void *sysctl_table;
};

/**
 * struct rover_speed - speed of a port
 * @lock: protects all but @changed; taken before RTNL
 * @link: link speed of the interface when last queried
 * @queried_at: in jiffies
 * @changed: an event has occurred since
 * @speed: enum ib_port_speed; 0 before the first query
 * @width: enum ib_port_width
 */
struct rover_speed {
	struct mutex lock;
	u64 link;
	unsigned long queried_at;
	bool changed;
	u16 speed;
	u8 width;
};

/**
 * struct rover_dev - one RDMA device
 * @ib: core object
 * @ndev: its interface; referenced until unregistration
 * @rnet: its namespace
 * @net_node: in @rnet->devs, RCU
 * @gsi: queue pair 1 of the core; RCU
 * @mrs: memory keys
 * @ahs: address handles of userspace
 * @srqs: XRC SRQs
 * @mcasts: multicast groups
 * @flow_input: flow rules
 * @stats: per-CPU counters
 * @counters: counters that queue pairs may be bound to
 * @counted: counts of counters that are gone; lock of @counters
 * @unregistering: destroy of a user QP flushes its rings
 * @port_state: last reported to userspace; RTNL
 * @speed: of the interface
 * @qps: live queue pairs
 * @early_bytes: memory of packets held before their turn
 * @cc: congestion control
 */
struct rover_dev {
	struct ib_device ib;
	struct net_device *ndev;
	struct rover_net *rnet;
	struct list_head net_node;
	struct rover_qp __rcu *gsi;
	struct rover_table mrs;
	struct rover_table ahs;
	struct rover_table srqs;
	struct rover_mcasts mcasts;
	struct rover_flow_input flow_input;
	struct rover_stats __percpu *stats;
	struct xarray counters;
	struct rover_stats counted;
	bool unregistering;
	enum ib_port_state port_state;
	struct rover_speed speed;
	atomic_t qps;
	atomic_long_t early_bytes;
	struct rover_cc_config cc;
};

struct rover_ucontext {
	struct ib_ucontext ib;
};

struct rover_pd {
	struct ib_pd ib;
};

struct rover_xrcd {
	struct ib_xrcd ib;
};

static inline struct rover_dev *rover_dev(struct ib_device *ib)
{
	return container_of(ib, struct rover_dev, ib);
}

/* Largest path MTU that fits the interface with the longest headers */
static inline enum ib_mtu rover_dev_mtu(const struct rover_dev *dev)
{
	return iboe_get_mtu(READ_ONCE(dev->ndev->mtu)) ?: IB_MTU_256;
}

/* False while the interface is unregistered or moved to another namespace. */
static inline bool rover_dev_registered(const struct rover_dev *dev)
{
	ASSERT_RTNL();
	return dev->ndev->reg_state == NETREG_REGISTERED &&
	       net_eq(dev_net(dev->ndev), dev->rnet->net);
}

static inline bool rover_dev_may_raw(const struct rover_dev *dev)
{
	return ns_capable(dev->rnet->net->user_ns, CAP_NET_RAW);
}

static inline void rover_dev_count(struct rover_dev *dev, enum rover_stat id)
{
	rover_stat_inc(dev->stats, id);
}

#endif /* ROVER_DEV_H */
