// SPDX-License-Identifier: GPL-2.0
/*
 * steer - choose the context that receives a packet
 *
 * Packets come from the UDP socket, netfilter, Ethernet or the shortcut.  They
 * are received where they arrive, or queued to their queue pair's backlog.
 * Softirq.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "rx/backlog.h"
#include "rx/netrx.h"
#include "rx/steer.h"
#include "wire/opcode.h"
#include "wire/wire.h"

struct rover_dev *rover_steer_device(struct rover_net *rnet,
				     const struct sk_buff *skb)
{
	struct rover_dev *dev, *below = NULL, *any = NULL;

	list_for_each_entry_rcu(dev, &rnet->devs, net_node) {
		if (dev->ndev == skb->dev)
			return dev;
		if (!below &&
		    netdev_has_upper_dev_all_rcu(dev->ndev, skb->dev))
			below = dev;
		any = dev;
	}
	return below ?: any;
}

static const struct rover_bth *steer_first_bth(const struct sk_buff *skb,
					       struct rover_bth *buf)
{
	return skb_header_pointer(skb, rover_netrx_bth_at(skb), sizeof(*buf),
				  buf);
}

static bool steer_is_response(const struct rover_bth *bth)
{
	const struct rover_opcode *op = rover_opcode_get(bth->opcode);

	return op && op->flags & ROVER_OP_RESPONSE;
}

static void steer_receive_skb(struct rover_net *rnet, struct rover_dev *dev,
			      struct rover_qp *qp, struct sk_buff *skb,
			      const struct rover_bth *bth)
{
	if (!qp || !rover_backlog_queue(qp, skb, steer_is_response(bth)))
		rover_netrx(rnet, dev, qp, skb);
}

static struct rover_qp *steer_find_qp(const struct rover_net *rnet,
				      const struct rover_bth *bth)
{
	struct rover_qp *qp = rover_qp_find(rover_bth_qpn(bth));

	return qp && READ_ONCE(qp->alive) && qp->dev->rnet == rnet ?
	       qp : NULL;
}

void rover_steer_packet(struct rover_net *rnet, struct sk_buff *skb)
{
	const struct rover_bth *bth;
	struct rover_qp *qp = NULL;
	struct rover_dev *dev;
	struct rover_bth buf;

	bth = steer_first_bth(skb, &buf);
	if (bth)
		qp = steer_find_qp(rnet, bth);
	/* Count at the queue pair's device: VLANs have none, lo seldom. */
	dev = qp ? qp->dev : rover_steer_device(rnet, skb);
	if (dev)
		steer_receive_skb(rnet, dev, qp, skb, bth);
	else
		kfree_skb(skb);
}

int rover_steer_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct rover_net *rnet = rcu_dereference_sk_user_data(sk);

	if (rnet && pskb_may_pull(skb, sizeof(struct udphdr)))
		rover_steer_packet(rnet, skb);
	else
		consume_skb(skb);
	return 0;
}

/* In a train of several queue pairs the first may be gone. */
static struct rover_qp *steer_find_any_qp(const struct rover_net *rnet,
					  const struct sk_buff *skb,
					  const struct rover_bth *first)
{
	struct rover_qp *qp = steer_find_qp(rnet, first);
	const struct sk_buff *member;

	if (likely(qp))
		return qp;
	skb_walk_frags(skb, member) {
		qp = steer_find_qp(rnet, (const void *)member->data);
		if (qp)
			break;
	}
	return qp;
}

void rover_steer_shortcut(struct sk_buff *skb, const struct rover_net *rnet)
{
	const struct rover_bth *bth;
	struct rover_qp *qp;

	rcu_read_lock();
	/* Sent by rover: all headers are linear. */
	__skb_pull(skb, skb_transport_offset(skb));
	bth = (const void *)(udp_hdr(skb) + 1);
	qp = steer_find_any_qp(rnet, skb, bth);
	if (likely(qp)) {
		steer_receive_skb(qp->dev->rnet, qp->dev, qp, skb, bth);
	} else {
		rover_drop(NULL, ROVER_STAT_DROP_QPN, rover_bth_qpn(bth),
			   bth->opcode, rover_bth_psn(bth));
		kfree_skb(skb);
	}
	rcu_read_unlock();
}
