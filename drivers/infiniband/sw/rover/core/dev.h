/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev - the structures of a device, a context, a domain, a namespace
 *
 * Layout only; visible to all rooms.
 */
#ifndef ROVER_DEV_H
#define ROVER_DEV_H

#include <linux/capability.h>
#include <linux/netdevice.h>
#include <linux/sched/isolation.h>
#include <linux/xarray.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>

#include "addr/mcast.h"
#include "core/stats.h"
#include "core/table.h"
#include "rx/flow_input.h"

/* Instead of the number of a CPU: no preference. */
#define ROVER_CPU_ANY		(-1)

/**
 * rover_cpu_housekeeping() - may it be interrupted, or given work of others?
 * @cpu: any
 *
 * False for what isolcpus= and nohz_full= name on the kernel's command line, and for
 * isolated cpusets.
 */
static inline bool rover_cpu_housekeeping(int cpu)
{
	bool isolated;

	/* Cpusets replace the mask of the scheduler's domains. */
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
 * @devices: devices here; the sockets exist while there is one; as all below of a
 *	mutex in netns.c
 * @sk4: UDP port 4791 over IPv4
 * @sk6: and over IPv6; NULL where IPv6 is off
 * @nf_input_hooks: what the two do not see, as it is taken before (nf_input)
 * @nf_output_hooks: hooks that drop RoCE of others on its way out (nf_output)
 * @devs: RCU list of the devices here (rover_dev.net_node)
 */
struct rover_net {
	struct net *net;
	unsigned int devices;
	struct socket *sk4;
	struct socket *sk6;
	struct nf_hook_ops nf_input_hooks[4];
	struct nf_hook_ops nf_output_hooks[2];
	struct list_head devs;
};

/**
 * struct rover_speed - speed of a port
 * @lock: of all but @changed; taken before RTNL
 * @link: what the interface said last, of its own
 * @queried_at: when, in jiffies
 * @changed: there was an event since
 * @speed: enum ib_port_speed; 0 before it was asked for the first time
 * @width: enum ib_port_width that goes with it
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
 * @ib: the core's part
 * @ndev: interface it lives on; we hold a reference until unregistered
 * @rnet: namespace it is counted in
 * @net_node: in @rnet->devs, RCU
 * @gsi: queue pair 1, which the core makes; RCU
 * @mrs: memory keys
 * @ahs: address handles of programs
 * @srqs: shared receive queues that XRC names by number
 * @mcasts: multicast groups
 * @flow_input: flow rules, and whether frames are looked at for them
 * @stats: per-CPU counters
 * @counters: those that queue pairs are bound to instead, by number
 * @unregistering: unregistration has begun; posts fail and destroyed queues flush
 * @port_state: what programs were told last, under RTNL
 * @speed: of the interface's link
 * @qps: live queue pairs, for limits and for waiting
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
	bool unregistering;
	enum ib_port_state port_state;
	struct rover_speed speed;
	atomic_t qps;
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

/* The largest path MTU whose packets, with the longest headers, fit now. */
static inline enum ib_mtu rover_dev_mtu(const struct rover_dev *dev)
{
	return iboe_get_mtu(READ_ONCE(dev->ndev->mtu)) ?: IB_MTU_256;
}

/*
 * Is the interface registered, and where the device is counted?  It may be about
 * to go, or to be moved, until the notifier that follows it has run.
 */
static inline bool rover_dev_here(const struct rover_dev *dev)
{
	ASSERT_RTNL();
	return dev->ndev->reg_state == NETREG_REGISTERED &&
	       net_eq(dev_net(dev->ndev), dev->rnet->net);
}

/* May this process send and take frames of the device's interface? */
static inline bool rover_may_raw(const struct rover_dev *dev)
{
	return ns_capable(dev->rnet->net->user_ns, CAP_NET_RAW);
}

static inline void rover_count(struct rover_dev *dev, enum rover_stat id)
{
	rover_stat_inc(dev->stats, id);
}

#endif /* ROVER_DEV_H */
