// SPDX-License-Identifier: GPL-2.0
/*
 * nettx - out to the netdev, and not more than it can take
 *
 * Each skb in the device is counted at its queue pair until its destructor
 * runs: when the peer's stack takes it on the same host, when it was received by
 * the shortcut, or when the driver has sent it; a train of several (plug) at the one
 * that was last to add to it.
 * A queue pair that reaches the limit stops and is kicked when half of it has
 * drained, so a slow device pushes back instead of filling up.
 *
 * RoCE v2 leaves by the IP layer.  RoCE v1 is not its business: frames go straight
 * to the interface of the GID, and what is for this host comes back from there, as
 * from a NIC: what is sent to the interface itself, or to a group with members
 * here.
 *
 * Runs under a queue pair's lock with softirqs off; the destructor anywhere, and what
 * has waited for its turn (shortcut) leaves without a lock.
 */
#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>

#include "addr/mcast.h"
#include "core/trace.h"
#include "qp/qp_table.h"
#include "tx/nettx.h"
#include "tx/shortcut.h"

/*
 * Where the shortcut's line is too long a queue pair may have one skb in it: that one
 * wakes it, and none is left out.
 */
bool rover_nettx_full(struct rover_qp *qp)
{
	bool line = rover_shortcut_full(qp);
	int most = line ? 1 : ROVER_TX_SKBS;

	if (atomic_read(&qp->tx_skbs) < most)
		return false;
	set_bit(ROVER_TX_BLOCKED, &qp->work);
	/* Pairs with the decrement in sent(): one of the two sees the other. */
	smp_mb__after_atomic();
	if (atomic_read(&qp->tx_skbs) > most / 2) {
		if (line)
			rover_count(qp->dev, ROVER_STAT_TX_SHORTCUT_FULL);
		return true;
	}
	clear_bit(ROVER_TX_BLOCKED, &qp->work);
	return false;
}

/* The device is done with a packet of ours. */
static void sent(struct sk_buff *skb)
{
	struct rover_qp *qp = skb_shinfo(skb)->destructor_arg;

	/* atomic_dec_return() is a full barrier: see rover_nettx_full(). */
	if (atomic_dec_return(&qp->tx_skbs) <= ROVER_TX_SKBS / 2 &&
	    test_bit(ROVER_TX_BLOCKED, &qp->work) &&
	    test_and_clear_bit(ROVER_TX_BLOCKED, &qp->work)) {
		set_bit(ROVER_WORK_TX, &qp->work);
		set_bit(ROVER_WORK_RX, &qp->work);
		rover_qp_kick(qp);
	}
	rover_qp_put(qp);
}

static void drop(struct rover_qp *qp, struct sk_buff *skb, enum rover_stat why)
{
	rover_drop(qp->dev->stats, why, qp->obj.key, 0, 0);
	kfree_skb(skb);
}

/* Ways ***********************************************************************/

/* Where it leaves, for now: by the route, or by the interface of the GID. */
static struct net_device *way_out(struct rover_path *path,
				  struct dst_entry **dst)
{
	*dst = NULL;
	if (path->l3 == ROVER_L3_GRH)
		return dev_get_by_index_rcu(path->net, path->ifindex);
	*dst = rover_path_dst(path);
	return IS_ERR(*dst) ? NULL : (*dst)->dev;
}

bool rover_nettx_gathers(struct rover_path *path)
{
	const struct net_device *ndev;
	struct dst_entry *dst;
	bool gathers;

	rcu_read_lock();
	ndev = way_out(path, &dst);
	gathers = !ndev || ndev->features & NETIF_F_SG;
	rcu_read_unlock();
	return gathers;
}

bool rover_nettx_aim(struct rover_path *path, struct sk_buff *skb)
{
	struct dst_entry *dst;
	struct net_device *ndev = way_out(path, &dst);

	if (!ndev)
		return false;
	if (dst)
		skb_dst_set_noref(skb, dst);
	skb->dev = ndev;
	skb->priority = path->prio;
	return true;
}

bool rover_nettx_goes(struct rover_path *path, const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb), *own;

	if (path->l3 == ROVER_L3_GRH || path->prio != skb->priority ||
	    !rover_path_wears(path, skb))
		return false;
	own = rover_path_dst(path);
	if (own == dst)
		return true;
	/* To this very host each look-up makes a route of its own. */
	return !IS_ERR(own) && own->dev == dst->dev &&
	       dst->dev->flags & IFF_LOOPBACK;
}

/* RoCE v1 ********************************************************************/

/* Back to its own interface; data is at its Ethernet header. */
static int loop_back(struct sk_buff *skb)
{
	skb_reset_mac_header(skb);
	__skb_pull(skb, ETH_HLEN);
	skb->pkt_type = PACKET_LOOPBACK;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	return netif_rx(skb);
}

/* Members here get a copy: the interface gives back nothing that it has sent. */
static void copy_to_group(struct rover_dev *dev, struct sk_buff *skb,
			  const void *grh)
{
	struct sk_buff *copy;

	if (!rover_mcast_find(dev, ROVER_L3_GRH, grh))
		return;
	copy = skb_clone(skb, GFP_ATOMIC);
	if (copy)
		loop_back(copy);
}

static int frame_out(struct rover_dev *dev, const struct rover_path *path,
		     struct sk_buff *skb)
{
	struct net_device *ndev = skb->dev;

	/* Nobody between us and the driver looks at its length. */
	if (skb->len > READ_ONCE(ndev->mtu) ||
	    skb_cow_head(skb, LL_RESERVED_SPACE(ndev))) {
		kfree_skb(skb);
		return -EMSGSIZE;
	}
	/* What else belongs in front of it, as VLANs do, the netdev knows. */
	eth_header(skb, ndev, ETH_P_IBOE, path->dmac, NULL, skb->len);
	if (is_multicast_ether_addr(path->dmac))
		copy_to_group(dev, skb, skb_network_header(skb));
	else if (ether_addr_equal(path->dmac, ndev->dev_addr))
		return loop_back(skb);
	return dev_queue_xmit(skb);
}

/* Sending ********************************************************************/

/*
 * The path may have changed while a packet waited.  skb->dev stays the interface
 * it leaves by, though POST_ROUTING takes that for the one it came in by: IPsec
 * segments a train before ip_output() sets skb->dev, and needs it.
 */
static int leave(struct rover_dev *dev, const struct rover_path *path,
		 struct sk_buff *skb)
{
	switch (be16_to_cpu(skb->protocol)) {
	case ETH_P_IP:
		return ip_local_out(dev->rnet->net, NULL, skb);
	case ETH_P_IPV6:
		return ip6_local_out(dev->rnet->net, NULL, skb);
	default:
		return frame_out(dev, path, skb);
	}
}

/*
 * It is in the device from now on.  The pointer travels in the shared info:
 * skb->cb is the stack's, and skb->sk would have to be a socket.  Segmentation
 * leaves destructor and shared info with the first segment.
 */
static void own(struct rover_qp *qp, struct sk_buff *skb)
{
	rover_qp_get(qp);
	atomic_inc(&qp->tx_skbs);
	skb_shinfo(skb)->destructor_arg = qp;
	skb->destructor = sent;
}

/* What became of it, as the stack says. */
static void judge(struct rover_qp *qp, int err)
{
	if (likely(!net_xmit_eval(err)))
		return;
	rover_drop(qp->dev->stats, ROVER_STAT_TX_DROP_LOCAL, qp->obj.key, 0, 0);
}

void rover_nettx_send(struct rover_qp *qp, struct rover_path *path,
		      struct sk_buff *skb, unsigned int packets,
		      unsigned int bytes)
{
	struct rover_dev *dev = qp->dev;

	rover_stat_add(dev->stats, ROVER_STAT_TX_PACKETS, packets);
	rover_stat_add(dev->stats, ROVER_STAT_TX_BYTES, bytes);

	rcu_read_lock();
	if (!skb->dev && !rover_nettx_aim(path, skb)) {
		drop(qp, skb, ROVER_STAT_TX_DROP_ROUTE);
		goto out;
	}
	own(qp, skb);
	if (!rover_shortcut_take(qp, skb))
		judge(qp, leave(dev, path, skb));
out:
	rcu_read_unlock();
}

void rover_nettx_resume(struct sk_buff *skb)
{
	struct rover_qp *qp = skb_shinfo(skb)->destructor_arg;

	rcu_read_lock();
	if (READ_ONCE(qp->alive)) {
		/* It has kept the route, and only the route its interface. */
		skb->dev = skb_dst(skb)->dev;
		judge(qp, leave(qp->dev, &qp->path, skb));
	} else {
		/* Its device may be gone, and the namespace. */
		rover_drop(NULL, ROVER_STAT_TX_DROP_LOCAL, qp->obj.key, 0, 0);
		kfree_skb(skb);
	}
	rcu_read_unlock();
}

/* Is it up, and still where the device is? */
static bool usable(const struct rover_dev *dev)
{
	return READ_ONCE(dev->ndev->flags) & IFF_UP &&
	       net_eq(dev_net(dev->ndev), dev->rnet->net);
}

void rover_nettx_frame(struct rover_qp *qp, struct sk_buff *skb)
{
	rover_count(qp->dev, ROVER_STAT_TX_RAW);
	rover_stat_add(qp->dev->stats, ROVER_STAT_TX_BYTES, skb->len);
	if (!usable(qp->dev)) {
		drop(qp, skb, ROVER_STAT_TX_DROP_LOCAL);
		return;
	}
	own(qp, skb);
	judge(qp, dev_queue_xmit(skb));
}
