// SPDX-License-Identifier: GPL-2.0
/*
 * shortcut - what would only come back to this kernel is handed over
 *
 * On the loopback device, or between two ends of a virtual Ethernet, the stack takes
 * a packet down to a netdev that does no more than to give it to the stack again.
 * For a small message that is a third of all the work.  It has to be done where
 * somebody stands on the way: a firewall, a capture, tc, a queue, XDP.  Where nobody
 * does, nothing but time is lost when the sender hands the packet to the receiver.
 *
 * That the way leads there is not concluded, it is seen: a packet has come by it,
 * with this route, this neighbour and these rules, to a queue pair whose peer is of
 * this machine.  So it is the receiver that lets its peer use the shortcut, for a
 * second; then one packet goes by the stack again.  Whether somebody stands on the
 * way is asked in each tick.
 *
 * Packets do not pass each other.  What was handed over on a processor is received
 * in a tasklet there, in order.  What is to go by the stack meanwhile waits in the
 * same line, and is sent when it is its turn.  What goes by the stack when nothing is
 * in line is received before what is put there later, since the network's softirq
 * comes before tasklets, and is waited for when it is not done; within the tasklet it
 * is the last of its round.  (Where that softirq is a thread, by thread_backlog_napi,
 * a packet in a second may be passed.)
 *
 * Netdevs count what was handed over, as far as the stack would have them do that.
 *
 * Softirqs are off wherever something is handed over: what is of a processor is
 * its own, without a lock.
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

#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "tx/nf_output.h"
#include "tx/shortcut.h"

/* Ticks for which it is known where the way leads. */
#define KNOWN		HZ

/* Done in one round; what is left gets another, after other softirqs. */
#define AT_ONCE		64

/* Rounds that wait for the network's softirq. */
#define WAIT_MOST	8

/* Bytes in a processor's line from which a queue pair adds one more skb at most. */
#define LINE_MOST	(16 * 1024 * 1024)

/**
 * struct desk - where a processor hands over
 * @line: packets and trains; those that still have a route go by the stack
 * @bytes: in @line, by their truesize
 * @tasklet: does it
 * @busy: it is at it
 * @stack: something has gone by the stack since its last round began, and must not
 *	be passed
 * @waited: for how many rounds, for that
 */
struct desk {
	struct sk_buff_head line;
	size_t bytes;
	struct tasklet_struct tasklet;
	bool busy;
	bool stack;
	u8 waited;
};

/* Whom it is for, in skb->cb. */
struct handed {
	const struct rover_net *rnet;
};

static DEFINE_PER_CPU(struct desk, desks);
static void (*shortcut_receive)(struct sk_buff *skb,
				const struct rover_net *rnet);
static void (*shortcut_send)(struct sk_buff *skb);

static struct handed *handed(struct sk_buff *skb)
{
	return (struct handed *)skb->cb;
}

/* Who stands on the way *****************************************************/

#ifdef CONFIG_NETFILTER
/*
 * AppArmor's is in every namespace of the distributions that have it.  It asks which
 * program's socket a marked packet comes from, and ours have neither mark nor socket.
 */
static bool is_apparmor(const struct nf_hook_ops *ops)
{
	return ops->hooknum == NF_INET_POST_ROUTING &&
	       ops->hook_ops_type == NF_HOOK_OP_UNDEFINED &&
	       ops->priority == NF_IP_PRI_SELINUX_FIRST;
}

/* @rnet may be of a namespace that has ended. */
static bool is_ours(const struct rover_net *rnet, const struct nf_hook_ops *ops)
{
	return ops >= rnet->claims && ops < rnet->claims + ARRAY_SIZE(rnet->claims);
}

/* By others than the receiver's own (nf_input), and nf_output of any namespace? */
static bool hooked(const struct net *net, __be16 protocol, unsigned int at,
		   const struct rover_net *rnet)
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
		if (is_ours(rnet, ops[i]) || hooks->hooks[i].hook == rover_nf_output)
			continue;
		/* What has private data may be freed with it; AppArmor's is constant. */
		if (hooks->hooks[i].priv || !is_apparmor(ops[i]))
			return true;
	}
	return false;
}
#else
static bool hooked(const struct net *net, __be16 protocol, unsigned int at,
		   const struct rover_net *rnet)
{
	return false;
}
#endif

static bool filtered_out(const struct net_device *out)
{
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(out->nf_hooks_egress))
		return true;
#endif
	return netdev_tc_egress(out);
}

static bool filtered_in(const struct net_device *in)
{
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(in->nf_hooks_ingress))
		return true;
#endif
	return netdev_tc_ingress(in);
}

static bool queued(const struct net_device *out)
{
	const struct netdev_queue *queue = netdev_get_tx_queue(out, 0);

	return out->real_num_tx_queues > 1 ||
	       rcu_dereference(queue->qdisc)->enqueue;
}

/* Do others than IP get what comes here: a bridge, a macvlan, a VRF? */
static bool passed_on(const struct net_device *in)
{
	return rcu_access_pointer(in->rx_handler) || netif_is_l3_slave(in);
}

/* Is another processor to receive what comes here? */
static bool spread(const struct net_device *in)
{
#ifdef CONFIG_RPS
	unsigned int i;

	for (i = 0; i < in->real_num_rx_queues; i++)
		if (rcu_access_pointer(in->_rx[i].rps_map))
			return true;
#endif
	return false;
}

static bool captured(struct net_device *out, struct net_device *in)
{
	return dev_nit_active(out) || dev_nit_active(in) ||
	       !list_empty(&in->ptype_specific) ||
	       net_ptype_specific(dev_net(in));
}

static bool somebody_there(struct net_device *out, struct net_device *in,
			   __be16 protocol, const struct rover_net *rnet)
{
	const struct net *from = dev_net(out), *to = dev_net(in);

	return hooked(from, protocol, NF_INET_LOCAL_OUT, rnet) ||
	       hooked(from, protocol, NF_INET_POST_ROUTING, rnet) ||
	       hooked(to, protocol, NF_INET_PRE_ROUTING, rnet) ||
	       hooked(to, protocol, NF_INET_LOCAL_IN, rnet) ||
	       filtered_out(out) || filtered_in(in) || captured(out, in) ||
	       queued(out) || dev_xdp_prog_count(in) || spread(in) ||
	       passed_on(in) || netif_is_l3_slave(out) ||
	       READ_ONCE(in->mtu) < READ_ONCE(out->mtu);
}

/*
 * Where it was sent, or arrives, if netdevs give what they get straight to the stack,
 * and count as we do.
 */
static struct net_device *other_end(struct net_device *ndev)
{
	const struct rtnl_link_ops *link = ndev->rtnl_link_ops;

	if (ndev->flags & IFF_LOOPBACK)
		return ndev;
	if (!link || strcmp(link->kind, "veth") ||
	    !ndev->netdev_ops->ndo_get_peer_dev || !netdev_counts_tstats(ndev))
		return NULL;
	return ndev->netdev_ops->ndo_get_peer_dev(ndev);
}

void rover_shortcut_show(struct rover_qp *qp, const struct sk_buff *skb)
{
	const struct rover_net *rnet = qp->dev->rnet;
	struct net_device *in = skb->dev, *out;
	struct rover_qp *peer;

	WRITE_ONCE(qp->shortcut.shown, jiffies);
	out = other_end(in);
	if (!out || somebody_there(out, in, skb->protocol, rnet))
		return;
	peer = rover_affinity_peer(qp);
	if (!peer)
		return;
	WRITE_ONCE(peer->shortcut.rnet, rnet);
	WRITE_ONCE(peer->shortcut.net, dev_net(in));
	WRITE_ONCE(peer->shortcut.until, jiffies + KNOWN);
	/* Partner: the acquire in rover_shortcut_take(). */
	smp_store_release(&peer->shortcut.via, out);
	/* Partner: the barrier in rover_shortcut_close(). */
	smp_mb();
	if (READ_ONCE(peer->remote_qpn) != qp->obj.key)
		rover_shortcut_close(peer);
}

/* Is it as it was when the peer said so? */
static bool is_clear(const struct rover_shortcut *shortcut,
		     const struct sk_buff *skb)
{
	struct net_device *out = skb->dev, *in = other_end(out);

	return in && in->flags & IFF_UP && out->flags & IFF_UP &&
	       dev_net(in) == READ_ONCE(shortcut->net) &&
	       !somebody_there(out, in, skb->protocol,
			       READ_ONCE(shortcut->rnet));
}

static bool is_open(struct rover_shortcut *shortcut, const struct sk_buff *skb)
{
	unsigned long now = jiffies;

	if (time_after(now, READ_ONCE(shortcut->until)))
		return false;
	if (READ_ONCE(shortcut->asked) == (u32)now)
		return true;
	WRITE_ONCE(shortcut->asked, now);
	if (is_clear(shortcut, skb))
		return true;
	/* Until the peer says so again. */
	WRITE_ONCE(shortcut->until, now - 1);
	return false;
}

/*
 * Does its route do no more than lead there?  And is it no longer than the route and
 * the interface take?
 */
static bool is_plain(const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);
	unsigned int mtu;

	if (dst->lwtstate || dst_xfrm(dst))
		return false;
	mtu = min(dst_mtu(dst), READ_ONCE(skb->dev->mtu));
	return skb_is_gso(skb) ? skb_gso_validate_network_len(skb, mtu) :
				 skb->len <= mtu;
}

/* Handing over **************************************************************/

/* As the drivers count. */
static void count(struct net_device *out, const struct sk_buff *skb)
{
	if (out->flags & IFF_LOOPBACK)
		dev_lstats_add(out, skb->len);
	else
		dev_sw_netstats_tx_add(out, 1, ETH_HLEN + skb->len);
}

bool rover_shortcut_full(const struct rover_qp *qp)
{
	return READ_ONCE(qp->shortcut.via) &&
	       this_cpu_read(desks.bytes) >= LINE_MOST;
}

bool rover_shortcut_waiting(void)
{
	return !skb_queue_empty(&this_cpu_ptr(&desks)->line);
}

static void hand_over(struct rover_qp *qp, struct sk_buff *skb)
{
	count(skb->dev, skb);
	rover_count(qp->dev, ROVER_STAT_TX_SHORTCUT);
	skb_dst_drop(skb);
	skb->dev = NULL;
	handed(skb)->rnet = READ_ONCE(qp->shortcut.rnet);
}

/* Return false when it is to go by the stack now. */
static bool queue_up(struct desk *desk, struct rover_qp *qp, struct sk_buff *skb)
{
	bool first = skb_queue_empty(&desk->line);

	/* Partner: the release in rover_shortcut_show().  Frames of RoCE v1 have no route. */
	if (smp_load_acquire(&qp->shortcut.via) != skb->dev || !skb_dst(skb))
		return false;
	if (is_plain(skb) && is_open(&qp->shortcut, skb)) {
		hand_over(qp, skb);
	} else if (first) {
		return false;
	} else if (!skb_dst_force(skb)) {
		rover_drop(qp->dev->stats, ROVER_STAT_TX_DROP_ROUTE,
			   qp->obj.key, 0, 0);
		kfree_skb(skb);
		return true;
	}
	__skb_queue_tail(&desk->line, skb);
	desk->bytes += skb->truesize;
	if (first && !desk->busy)
		tasklet_schedule(&desk->tasklet);
	return true;
}

bool rover_shortcut_take(struct rover_qp *qp, struct sk_buff *skb)
{
	struct desk *desk = this_cpu_ptr(&desks);
	bool taken = queue_up(desk, qp, skb);

	if (!taken)
		desk->stack = true;
	return taken;
}

static void serve(struct desk *desk, struct sk_buff *skb)
{
	if (skb_dst(skb)) {
		desk->stack = true;
		shortcut_send(skb);
	} else {
		shortcut_receive(skb, handed(skb)->rnet);
	}
}

/* The network's softirq may have left some for its next turn, to be received first. */
static bool is_behind(struct desk *desk)
{
	if (!desk->stack || !(local_softirq_pending() & BIT(NET_RX_SOFTIRQ)) ||
	    desk->waited == WAIT_MOST) {
		desk->waited = 0;
		return false;
	}
	desk->waited++;
	return true;
}

static void serve_round(struct desk *desk)
{
	unsigned int left = AT_ONCE;
	struct sk_buff *skb;

	desk->stack = false;
	desk->busy = true;
	while (left-- && !desk->stack) {
		skb = __skb_dequeue(&desk->line);
		if (!skb)
			break;
		desk->bytes -= skb->truesize;
		serve(desk, skb);
	}
	desk->busy = false;
}

/*
 * Runs on the processor that hands over, or on another after hotplug took that one
 * away: hence the desk is found by the tasklet, not by the processor.
 */
static void serve_all(struct tasklet_struct *tasklet)
{
	struct desk *desk = container_of(tasklet, struct desk, tasklet);

	if (!is_behind(desk))
		serve_round(desk);
	if (!skb_queue_empty(&desk->line))
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
		struct desk *desk = per_cpu_ptr(&desks, cpu);

		__skb_queue_head_init(&desk->line);
		tasklet_setup(&desk->tasklet, serve_all);
	}
}

void rover_shortcut_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct desk *desk = per_cpu_ptr(&desks, cpu);

		/* What it leaves schedules it again, so it ends with nothing left. */
		tasklet_kill(&desk->tasklet);
		WARN_ON(!skb_queue_empty(&desk->line));
	}
}
