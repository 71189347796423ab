// SPDX-License-Identifier: GPL-2.0
/*
 * nettx - out to the netdev, and not more than it can take
 *
 * Each skb in the device is counted at its queue pair until its destructor
 * runs: when the peer's stack takes it on the same host, or when the driver
 * has sent it.  A queue pair that reaches the limit stops and is kicked when
 * half of it has drained, so a slow device pushes back instead of filling up.
 *
 * Runs under a queue pair's lock with softirqs off; the destructor anywhere.
 */
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>

#include "nettx.h"
#include "qps.h"
#include "trace.h"

bool rover_nettx_full(struct rover_qp *qp)
{
	if (atomic_read(&qp->tx_skbs) < ROVER_TX_SKBS)
		return false;
	set_bit(ROVER_TX_BLOCKED, &qp->work);
	/* Partner: the decrement in sent().  One of us sees the other. */
	smp_mb__after_atomic();
	if (atomic_read(&qp->tx_skbs) > ROVER_TX_SKBS / 2)
		return true;
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
	rover_count(qp->dev, why);
	trace_rover_drop(rover_stat_names[why], qp->obj.key, 0, 0);
	kfree_skb(skb);
}

void rover_nettx_send(struct rover_qp *qp, struct rover_path *path,
		      struct sk_buff *skb, unsigned int packets)
{
	struct rover_dev *dev = qp->dev;
	struct dst_entry *dst;
	int err;

	rover_stat_add(dev->stats, ROVER_STAT_TX_PACKETS, packets);
	/* Members of a train wear their IP and UDP headers in the headroom. */
	rover_stat_add(dev->stats, ROVER_STAT_TX_BYTES,
		       skb->len + (packets - 1) * path->hdr_len);

	rcu_read_lock();
	dst = rover_path_dst(path);
	if (IS_ERR(dst)) {
		drop(qp, skb, ROVER_STAT_TX_DROP_ROUTE);
		goto out;
	}
	skb_dst_set_noref(skb, dst);
	skb->dev = dst->dev;
	skb->priority = path->prio;

	/*
	 * The pointer travels in the shared info: skb->cb is the stack's, and
	 * skb->sk would have to be a socket.  Segmentation leaves destructor
	 * and shared info with the first segment.
	 */
	rover_qp_get(qp);
	atomic_inc(&qp->tx_skbs);
	skb_shinfo(skb)->destructor_arg = qp;
	skb->destructor = sent;

	if (path->v6)
		err = ip6_local_out(path->net, NULL, skb);
	else
		err = ip_local_out(path->net, NULL, skb);
	if (unlikely(net_xmit_eval(err))) {
		rover_count(dev, ROVER_STAT_TX_DROP_LOCAL);
		trace_rover_drop(rover_stat_names[ROVER_STAT_TX_DROP_LOCAL],
				 qp->obj.key, 0, 0);
	}
out:
	rcu_read_unlock();
}
