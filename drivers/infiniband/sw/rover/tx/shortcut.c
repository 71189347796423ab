// SPDX-License-Identifier: GPL-2.0
/*
 * shortcut - hand packets to a receiver on this host past the stack
 *
 * While nothing (netfilter, tc, capture, qdisc, XDP) observes the path through
 * the loopback device or a veth, a sender hands packets to the receiver. The
 * receiver opens the shortcut for a second when a packet has come by the stack
 * (decision 0034).
 *
 * A tasklet receives, in order, what its CPU hands over. An skb that must go by
 * the stack waits in the same queue and ends the round; the next round waits
 * until the network's softirq has received it. (With thread_backlog_napi one
 * packet a second may be overtaken.) Softirqs are off: per-CPU state needs no
 * lock.
 */
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/percpu.h>
#include <net/gso.h>
#include <net/netdev_rx_queue.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>

#include "core/netdev.h"
#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "tx/nf_output.h"
#include "tx/shortcut.h"

/* Validity of an opened shortcut. */
#define VALID_JIFFIES	HZ

/* Most skbs in a round; then other softirqs run. */
#define ROUND_SKBS	64

/* Maximum of shortcut_queue.waited. */
#define MAX_WAIT_ROUNDS	8

/* Beyond this, a queue pair may have only one skb in the queue. */
#define QUEUE_MAX_BYTES	(16 * 1024 * 1024)

/**
 * struct shortcut_queue - skbs handed over on a CPU
 * @skbs: packets and trains; those with a route go by the stack
 * @bytes: truesize of @skbs
 * @tasklet: runs a round
 * @running: in a round
 * @stack_used: an skb went by the stack since the last round began
 * @waited: rounds that waited for the network's softirq
 */
struct shortcut_queue {
	struct sk_buff_head skbs;
	size_t bytes;
	struct tasklet_struct tasklet;
	bool running;
	bool stack_used;
	u8 waited;
};

/* In skb->cb: the receiver's namespace. */
struct shortcut_cb {
	const struct rover_net *rnet;
};

static DEFINE_PER_CPU(struct shortcut_queue, shortcut_queues);
static void (*shortcut_receive)(struct sk_buff *skb,
				const struct rover_net *rnet);
static void (*shortcut_send)(struct sk_buff *skb);

static struct shortcut_cb *shortcut_cb(struct sk_buff *skb)
{
	return (struct shortcut_cb *)skb->cb;
}

#ifdef CONFIG_NETFILTER
/* AppArmor's hook, in all namespaces, ignores skbs without mark or socket. */
static bool shortcut_is_apparmor(const struct nf_hook_ops *ops)
{
	return ops->hooknum == NF_INET_POST_ROUTING &&
	       ops->hook_ops_type == NF_HOOK_OP_UNDEFINED &&
	       ops->priority == NF_IP_PRI_SELINUX_FIRST;
}

/* Compares addresses only: @rnet may be gone. */
static bool shortcut_is_own_hook(const struct rover_net *rnet,
				 const struct nf_hook_ops *ops)
{
	return ops >= rnet->nf_input_hooks &&
	       ops < rnet->nf_input_hooks + ARRAY_SIZE(rnet->nf_input_hooks);
}

/* Test for hooks other than @rnet's nf_input and any nf_output. */
static bool shortcut_has_hooks(const struct net *net, __be16 protocol,
			       unsigned int at, const struct rover_net *rnet)
{
	const struct nf_hook_entries *hooks;
	struct nf_hook_ops **ops;
	unsigned int i;

	if (protocol == cpu_to_be16(ETH_P_IP))
		hooks = rcu_dereference(net->nf.hooks_ipv4[at]);
	else
		hooks = rcu_dereference(net->nf.hooks_ipv6[at]);
	if (!hooks)
		return false;
	ops = nf_hook_entries_get_hook_ops(hooks);
	for (i = 0; i < hooks->num_hook_entries; i++) {
		if (shortcut_is_own_hook(rnet, ops[i]) ||
		    hooks->hooks[i].hook == rover_nf_output)
			continue;
		/* With private data ops may be freed; AppArmor has none. */
		if (hooks->hooks[i].priv || !shortcut_is_apparmor(ops[i]))
			return true;
	}
	return false;
}
#else
static bool shortcut_has_hooks(const struct net *net, __be16 protocol,
			       unsigned int at, const struct rover_net *rnet)
{
	return false;
}
#endif

static bool shortcut_egress_filtered(const struct net_device *out)
{
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(out->nf_hooks_egress))
		return true;
#endif
	return rover_netdev_has_tc_egress(out);
}

static bool shortcut_ingress_filtered(const struct net_device *in)
{
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(in->nf_hooks_ingress))
		return true;
#endif
	return rover_netdev_has_tc_ingress(in);
}

static bool shortcut_has_qdisc(const struct net_device *out)
{
	const struct netdev_queue *queue = netdev_get_tx_queue(out, 0);

	return out->real_num_tx_queues > 1 ||
	       rcu_dereference(queue->qdisc)->enqueue;
}

/* A bridge, a macvlan, or a VRF. */
static bool shortcut_has_rx_handler(const struct net_device *in)
{
	return rcu_access_pointer(in->rx_handler) || netif_is_l3_slave(in);
}

/* Another CPU would receive. */
static bool shortcut_has_rps(const struct net_device *in)
{
#ifdef CONFIG_RPS
	unsigned int i;

	for (i = 0; i < in->real_num_rx_queues; i++)
		if (rcu_access_pointer(in->_rx[i].rps_map))
			return true;
#endif
	return false;
}

static bool shortcut_is_captured(struct net_device *out, struct net_device *in)
{
	return dev_nit_active(out) || dev_nit_active(in) ||
	       !list_empty(&in->ptype_specific) ||
	       rover_netdev_has_ptype(dev_net(in));
}

static bool shortcut_is_observed(struct net_device *out, struct net_device *in,
				 __be16 protocol, const struct rover_net *rnet)
{
	const struct net *from = dev_net(out), *to = dev_net(in);

	return shortcut_has_hooks(from, protocol, NF_INET_LOCAL_OUT, rnet) ||
	       shortcut_has_hooks(from, protocol, NF_INET_POST_ROUTING, rnet) ||
	       shortcut_has_hooks(to, protocol, NF_INET_PRE_ROUTING, rnet) ||
	       shortcut_has_hooks(to, protocol, NF_INET_LOCAL_IN, rnet) ||
	       shortcut_egress_filtered(out) || shortcut_ingress_filtered(in) ||
	       shortcut_is_captured(out, in) || shortcut_has_qdisc(out) ||
	       dev_xdp_prog_count(in) || shortcut_has_rps(in) ||
	       shortcut_has_rx_handler(in) || netif_is_l3_slave(out) ||
	       READ_ONCE(in->mtu) < READ_ONCE(out->mtu);
}

/*
 * Return the other end if it passes all packets to the stack and @ndev counts
 * as shortcut_count() does; else NULL.
 */
static struct net_device *shortcut_peer_dev(struct net_device *ndev)
{
	const struct rtnl_link_ops *link = ndev->rtnl_link_ops;

	if (ndev->flags & IFF_LOOPBACK)
		return ndev;
	if (!link || strcmp(link->kind, "veth") ||
	    !ndev->netdev_ops->ndo_get_peer_dev ||
	    !rover_netdev_has_tstats(ndev))
		return NULL;
	return ndev->netdev_ops->ndo_get_peer_dev(ndev);
}

void rover_shortcut_check(struct rover_qp *qp, const struct sk_buff *skb)
{
	const struct rover_net *rnet = qp->dev->rnet;
	struct net_device *in, *out;
	struct rover_qp *peer;

	WRITE_ONCE(qp->shortcut.rx_checked, jiffies);
	/* RoCE v1 has no route, which the shortcut needs. */
	if (skb->protocol == cpu_to_be16(ETH_P_IBOE))
		return;
	/* skb->dev is unset if @skb has waited in the backlog. */
	in = dev_get_by_index_rcu(rnet->net, skb->skb_iif);
	out = in ? shortcut_peer_dev(in) : NULL;
	if (!out || shortcut_is_observed(out, in, skb->protocol, rnet))
		return;
	peer = rover_affinity_peer(qp);
	if (!peer)
		return;
	WRITE_ONCE(peer->shortcut.rnet, rnet);
	WRITE_ONCE(peer->shortcut.net, dev_net(in));
	WRITE_ONCE(peer->shortcut.valid_until, jiffies + VALID_JIFFIES);
	/*
	 * Pairs with smp_load_acquire() in shortcut_enqueue(): the fields above
	 * are visible with ->out_dev.
	 */
	smp_store_release(&peer->shortcut.out_dev, out);
	/*
	 * Pairs with smp_mb() in rover_shortcut_close(): a new remote_qpn is
	 * visible here, or ->out_dev is cleared after this store.
	 */
	smp_mb();
	if (READ_ONCE(peer->remote_qpn) != qp->obj.key)
		rover_shortcut_close(peer);
}

static bool shortcut_recheck(const struct rover_shortcut *shortcut,
			     const struct sk_buff *skb)
{
	struct net_device *out = skb->dev, *in = shortcut_peer_dev(out);

	return in && in->flags & IFF_UP && out->flags & IFF_UP &&
	       dev_net(in) == READ_ONCE(shortcut->net) &&
	       !shortcut_is_observed(out, in, skb->protocol,
				     READ_ONCE(shortcut->rnet));
}

static bool shortcut_is_open(struct rover_shortcut *shortcut,
			     const struct sk_buff *skb)
{
	unsigned long now = jiffies;

	if (time_after(now, READ_ONCE(shortcut->valid_until)))
		return false;
	if (READ_ONCE(shortcut->tx_checked) == (u32)now)
		return true;
	WRITE_ONCE(shortcut->tx_checked, now);
	if (shortcut_recheck(shortcut, skb))
		return true;
	/* Until the peer opens it again. */
	WRITE_ONCE(shortcut->valid_until, now - 1);
	return false;
}

/* No IPsec, no tunnel, and a length that route and netdev accept. */
static bool shortcut_fits_route(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);
	unsigned int mtu;

	if (dst->lwtstate || dst_xfrm(dst))
		return false;
	mtu = min(dst_mtu(dst), READ_ONCE(skb->dev->mtu));
	return skb_is_gso(skb) ? skb_gso_validate_network_len(skb, mtu) :
				 skb->len <= mtu;
}

static void shortcut_count(struct net_device *out, const struct sk_buff *skb)
{
	if (out->flags & IFF_LOOPBACK)
		dev_lstats_add(out, skb->len);
	else
		dev_sw_netstats_tx_add(out, 1, ETH_HLEN + skb->len);
}

bool rover_shortcut_full(const struct rover_qp *qp)
{
	return READ_ONCE(qp->shortcut.out_dev) &&
	       this_cpu_read(shortcut_queues.bytes) >= QUEUE_MAX_BYTES;
}

bool rover_shortcut_pending(void)
{
	return !skb_queue_empty(&this_cpu_ptr(&shortcut_queues)->skbs);
}

static void shortcut_hand_over(struct rover_qp *qp, struct sk_buff *skb)
{
	shortcut_count(skb->dev, skb);
	rover_dev_count(qp->dev, ROVER_STAT_TX_SHORTCUT);
	skb_dst_drop(skb);
	skb->dev = NULL;
	shortcut_cb(skb)->rnet = READ_ONCE(qp->shortcut.rnet);
}

static bool shortcut_enqueue(struct shortcut_queue *queue, struct rover_qp *qp,
			     struct sk_buff *skb)
{
	bool first = skb_queue_empty(&queue->skbs);

	/*
	 * Pairs with smp_store_release() in rover_shortcut_check(): ->rnet,
	 * ->net and ->valid_until are visible. RoCE v1 has no route.
	 */
	if (smp_load_acquire(&qp->shortcut.out_dev) != skb->dev || !skb_dst(skb))
		return false;
	if (shortcut_fits_route(skb) && shortcut_is_open(&qp->shortcut, skb)) {
		shortcut_hand_over(qp, skb);
	} else if (first) {
		return false;
	} else if (!skb_dst_force(skb)) {
		rover_drop(qp->dev->stats, ROVER_STAT_TX_DROP_ROUTE,
			   qp->obj.key, 0, 0);
		kfree_skb(skb);
		return true;
	}
	__skb_queue_tail(&queue->skbs, skb);
	queue->bytes += skb->truesize;
	if (first && !queue->running)
		tasklet_schedule(&queue->tasklet);
	return true;
}

bool rover_shortcut_take(struct rover_qp *qp, struct sk_buff *skb)
{
	struct shortcut_queue *queue = this_cpu_ptr(&shortcut_queues);
	bool taken = shortcut_enqueue(queue, qp, skb);

	if (!taken)
		queue->stack_used = true;
	return taken;
}

static void shortcut_deliver(struct shortcut_queue *queue, struct sk_buff *skb)
{
	if (skb_dst(skb)) {
		queue->stack_used = true;
		shortcut_send(skb);
	} else {
		shortcut_receive(skb, shortcut_cb(skb)->rnet);
	}
}

/* The network's softirq may still have earlier skbs to receive. */
static bool shortcut_must_wait(struct shortcut_queue *queue)
{
	if (!queue->stack_used ||
	    !(local_softirq_pending() & BIT(NET_RX_SOFTIRQ)) ||
	    queue->waited == MAX_WAIT_ROUNDS) {
		queue->waited = 0;
		return false;
	}
	queue->waited++;
	return true;
}

static void shortcut_run_round(struct shortcut_queue *queue)
{
	unsigned int left = ROUND_SKBS;
	struct sk_buff *skb;

	queue->stack_used = false;
	queue->running = true;
	while (left-- && !queue->stack_used) {
		skb = __skb_dequeue(&queue->skbs);
		if (!skb)
			break;
		queue->bytes -= skb->truesize;
		shortcut_deliver(queue, skb);
	}
	queue->running = false;
}

/* After CPU hotplug this may be another CPU's queue. */
static void shortcut_run(struct tasklet_struct *tasklet)
{
	struct shortcut_queue *queue =
		container_of(tasklet, struct shortcut_queue, tasklet);

	if (!shortcut_must_wait(queue))
		shortcut_run_round(queue);
	if (!skb_queue_empty(&queue->skbs))
		tasklet_schedule(tasklet);
}

void rover_shortcut_init(void (*receive)(struct sk_buff *skb,
					 const struct rover_net *rnet),
			 void (*send)(struct sk_buff *skb))
{
	int cpu;

	shortcut_receive = receive;
	shortcut_send = send;
	for_each_possible_cpu(cpu) {
		struct shortcut_queue *queue =
			per_cpu_ptr(&shortcut_queues, cpu);

		__skb_queue_head_init(&queue->skbs);
		tasklet_setup(&queue->tasklet, shortcut_run);
	}
}

void rover_shortcut_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct shortcut_queue *queue =
			per_cpu_ptr(&shortcut_queues, cpu);

		/* The tasklet reschedules itself until its queue is empty. */
		tasklet_kill(&queue->tasklet);
		WARN_ON(!skb_queue_empty(&queue->skbs));
	}
}
