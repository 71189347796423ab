// SPDX-License-Identifier: GPL-2.0
/*
 * nettx - hand skbs to the stack or the netdev
 *
 * A queue pair counts its skbs until they are freed; a shared train (plug)
 * counts at the last queue pair that added to it. At a limit a queue pair stops
 * until half are freed, so a slow device pushes back.
 *
 * RoCE v2 is sent by the IP layer, RoCE v1 to the GID's interface. Like a NIC,
 * nettx loops back frames to that interface or to group members here.
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
 * With the shortcut's queue full one skb is allowed. Its destructor kicks the
 * queue pair: none starves.
 */
bool rover_nettx_throttled(struct rover_qp *qp)
{
	bool queue_full = rover_shortcut_full(qp);
	int limit = queue_full ? 1 : ROVER_TX_SKBS;

	if (atomic_read(&qp->tx_skbs) < limit)
		return false;
	set_bit(ROVER_TX_BLOCKED, &qp->work);
	/*
	 * Pairs with atomic_dec_return() in nettx_skb_freed(): ROVER_TX_BLOCKED
	 * is visible there, or the new count here.
	 */
	smp_mb__after_atomic();
	if (atomic_read(&qp->tx_skbs) > limit / 2) {
		if (queue_full)
			rover_dev_count(qp->dev, ROVER_STAT_TX_SHORTCUT_FULL);
		return true;
	}
	clear_bit(ROVER_TX_BLOCKED, &qp->work);
	return false;
}

static void nettx_skb_freed(struct sk_buff *skb)
{
	struct rover_qp *qp = skb_shinfo(skb)->destructor_arg;

	/* Pairs with smp_mb__after_atomic() in rover_nettx_throttled(). */
	if (atomic_dec_return(&qp->tx_skbs) <= ROVER_TX_SKBS / 2 &&
	    test_bit(ROVER_TX_BLOCKED, &qp->work) &&
	    test_and_clear_bit(ROVER_TX_BLOCKED, &qp->work)) {
		rover_qp_set_work(qp, ROVER_WORK_TX);
		rover_qp_set_work(qp, ROVER_WORK_RX);
		rover_qp_kick(qp);
	}
	rover_qp_put(qp);
}

static void nettx_drop(struct rover_qp *qp, struct sk_buff *skb,
		       enum rover_stat why)
{
	rover_drop(qp->dev->stats, why, qp->obj.key, 0, 0);
	kfree_skb(skb);
}

static struct net_device *nettx_egress_dev(struct rover_path *path,
					   struct dst_entry **dst)
{
	*dst = NULL;
	if (path->l3 == ROVER_L3_GRH)
		return dev_get_by_index_rcu(path->net, path->ifindex);
	*dst = rover_path_dst(path);
	return IS_ERR(*dst) ? NULL : (*dst)->dev;
}

bool rover_nettx_has_sg(struct rover_path *path)
{
	const struct net_device *ndev;
	struct dst_entry *dst;
	bool has_sg;

	rcu_read_lock();
	ndev = nettx_egress_dev(path, &dst);
	has_sg = !ndev || ndev->features & NETIF_F_SG;
	rcu_read_unlock();
	return has_sg;
}

bool rover_nettx_route(struct rover_path *path, struct sk_buff *skb)
{
	struct dst_entry *dst;
	struct net_device *ndev = nettx_egress_dev(path, &dst);

	if (!ndev)
		return false;
	if (dst)
		skb_dst_set_noref(skb, dst);
	skb->dev = ndev;
	skb->priority = path->prio;
	return true;
}

bool rover_nettx_same_route(struct rover_path *path, const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb), *own_dst;

	if (path->l3 == ROVER_L3_GRH || path->prio != skb->priority ||
	    !rover_path_headers_match(path, skb))
		return false;
	own_dst = rover_path_dst(path);
	if (own_dst == dst)
		return true;
	/* Each lookup of a route to this host creates a dst. */
	return !IS_ERR(own_dst) && own_dst->dev == dst->dev &&
	       dst->dev->flags & IFF_LOOPBACK;
}

static int nettx_loop_back(struct sk_buff *skb)
{
	skb_reset_mac_header(skb);
	__skb_pull(skb, ETH_HLEN);
	skb->pkt_type = PACKET_LOOPBACK;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	return netif_rx(skb);
}

static void nettx_loop_back_copy(struct rover_dev *dev, struct sk_buff *skb,
				 const void *grh)
{
	struct sk_buff *copy;

	if (!rover_mcast_find(dev, ROVER_L3_GRH, grh))
		return;
	copy = skb_clone(skb, GFP_ATOMIC);
	if (copy)
		nettx_loop_back(copy);
}

static int nettx_xmit_frame(struct rover_dev *dev,
			    const struct rover_path *path, struct sk_buff *skb)
{
	struct net_device *ndev = skb->dev;

	/* Nothing below checks the length. */
	if (skb->len > READ_ONCE(ndev->mtu) ||
	    skb_cow_head(skb, LL_RESERVED_SPACE(ndev))) {
		kfree_skb(skb);
		return -EMSGSIZE;
	}
	/* Lower netdevs add the rest, e.g. VLAN tags. */
	eth_header(skb, ndev, ETH_P_IBOE, path->dmac, NULL, skb->len);
	if (is_multicast_ether_addr(path->dmac))
		nettx_loop_back_copy(dev, skb, skb_network_header(skb));
	else if (ether_addr_equal(path->dmac, ndev->dev_addr))
		return nettx_loop_back(skb);
	return dev_queue_xmit(skb);
}

/*
 * @path may have changed while @skb waited. skb->dev stays set, although
 * POST_ROUTING takes it for the ingress interface: IPsec may segment before
 * ip_output() sets it (decision 0055).
 */
static int nettx_xmit(struct rover_dev *dev, const struct rover_path *path,
		      struct sk_buff *skb)
{
	switch (be16_to_cpu(skb->protocol)) {
	case ETH_P_IP:
		return ip_local_out(dev->rnet->net, NULL, skb);
	case ETH_P_IPV6:
		return ip6_local_out(dev->rnet->net, NULL, skb);
	default:
		return nettx_xmit_frame(dev, path, skb);
	}
}

/*
 * The shared info holds @qp: skb->cb is the stack's, skb->sk is for sockets.
 * Segmentation leaves both to the first segment.
 */
static void nettx_own_skb(struct rover_qp *qp, struct sk_buff *skb)
{
	rover_qp_get(qp);
	atomic_inc(&qp->tx_skbs);
	skb_shinfo(skb)->destructor_arg = qp;
	skb->destructor = nettx_skb_freed;
}

static void nettx_check_xmit(struct rover_qp *qp, int err)
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
	if (!skb->dev && !rover_nettx_route(path, skb)) {
		nettx_drop(qp, skb, ROVER_STAT_TX_DROP_ROUTE);
		goto out;
	}
	nettx_own_skb(qp, skb);
	if (!rover_shortcut_take(qp, skb))
		nettx_check_xmit(qp, nettx_xmit(dev, path, skb));
out:
	rcu_read_unlock();
}

void rover_nettx_send_queued(struct sk_buff *skb)
{
	struct rover_qp *qp = skb_shinfo(skb)->destructor_arg;

	rcu_read_lock();
	if (READ_ONCE(qp->alive)) {
		/* The queue held only the route. */
		skb->dev = skb_dst(skb)->dev;
		nettx_check_xmit(qp, nettx_xmit(qp->dev, &qp->path, skb));
	} else {
		/* Device and namespace may be gone. */
		rover_drop(NULL, ROVER_STAT_TX_DROP_LOCAL, qp->obj.key, 0, 0);
		kfree_skb(skb);
	}
	rcu_read_unlock();
}

static bool nettx_dev_usable(const struct rover_dev *dev)
{
	return READ_ONCE(dev->ndev->flags) & IFF_UP &&
	       net_eq(dev_net(dev->ndev), dev->rnet->net);
}

void rover_nettx_send_frame(struct rover_qp *qp, struct sk_buff *skb)
{
	rover_dev_count(qp->dev, ROVER_STAT_TX_RAW);
	rover_stat_add(qp->dev->stats, ROVER_STAT_TX_BYTES, skb->len);
	if (!nettx_dev_usable(qp->dev)) {
		nettx_drop(qp, skb, ROVER_STAT_TX_DROP_LOCAL);
		return;
	}
	nettx_own_skb(qp, skb);
	nettx_check_xmit(qp, dev_queue_xmit(skb));
}
