// SPDX-License-Identifier: GPL-2.0
/*
 * netrx - deliver received packets and trains to queue pairs
 *
 * A packet passes all checks (packet_check, icrc_check and those here) before it
 * changes any state; the ICRC comes after the cheap ones. Responder or completer
 * receive it under their lock, kept while packets for the same queue pair and
 * side follow: one ACK and one requester run for all.
 *
 * Softirq or worker, under rcu_read_lock(). The skb may be cloned: read only.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <rdma/ib_cache.h>

#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/packet.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "rc/cnp.h"
#include "rc/completer.h"
#include "rc/responder.h"
#include "run/run.h"
#include "rx/icrc_check.h"
#include "rx/netrx.h"
#include "rx/packet_check.h"
#include "tx/gso_long.h"
#include "tx/gso_small.h"
#include "tx/plug.h"
#include "tx/shortcut.h"
#include "tx/trailer.h"
#include "ud/ud.h"

/* Consecutive packets for one queue pair and side. */
struct netrx_batch {
	struct rover_net *rnet;
	struct rover_dev *dev;		/* whose counters to use */
	struct sk_buff *head;		/* received packet or train */
	struct rover_qp *hint;		/* may be NULL or dead */
	struct rover_qp *found;		/* by netrx_expected() */
	struct rover_qp *qp;
	const void *peer;		/* header that matched @qp's path */
	bool tx_side;			/* tx_lock held, else rx_lock */
	bool ecn_marked;		/* a packet had ECN CE */
	unsigned int packets;
	unsigned int headerless;	/* packets without own BTH */
};

static void netrx_drop(struct netrx_batch *b, const struct rover_rx_pkt *a,
		       enum rover_stat why)
{
	rover_drop(b->dev ? b->dev->stats : NULL, why, rover_bth_qpn(&a->bth),
		   a->bth.opcode, rover_bth_psn(&a->bth));
}

static void netrx_batch_end(struct netrx_batch *b)
{
	struct rover_qp *qp = b->qp;

	if (!qp)
		return;
	b->qp = NULL;
	if (b->ecn_marked)
		rover_cnp_marked(qp, b->tx_side);
	b->ecn_marked = false;
	if (b->tx_side) {
		rover_completer_finish(qp);
		spin_unlock(&qp->tx_lock);
	} else {
		if (READ_ONCE(qp->rsp.long_tx) &&
		    rover_affinity_send(qp) != ROVER_CPU_ANY)
			rover_responder_leave(qp);
		else
			rover_responder_finish(qp);
		spin_unlock(&qp->rx_lock);
	}
	/* Send what the cwnd now allows; do work others have left. */
	rover_run(qp);
}

/* Queue pair 1 of @dev if a GID of @dev (and @in, if set) is addressed. */
static struct rover_qp *netrx_dev_gsi(struct rover_dev *dev,
				      const struct rover_rx_pkt *a,
				      struct net_device *in)
{
	struct rover_qp *qp = rcu_dereference(dev->gsi);
	const struct ib_gid_attr *gid;
	bool found;

	/* Set while @dev is registered and has a GID table. */
	if (!qp)
		return NULL;
	gid = rover_path_find_gid(&dev->ib, a->pkt.l3, a->pkt.ip, in);
	if (IS_ERR(gid))
		return NULL;
	found = !in || rcu_access_pointer(gid->ndev) == in;
	rdma_put_gid_attr(gid);
	return found ? qp : NULL;
}

static struct rover_qp *netrx_first_gsi(const struct netrx_batch *b,
					const struct rover_rx_pkt *a,
					struct net_device *in)
{
	struct rover_qp *qp = NULL;
	struct rover_dev *dev;

	list_for_each_entry_rcu(dev, &b->rnet->devs, net_node) {
		qp = netrx_dev_gsi(dev, a, in);
		if (qp)
			break;
	}
	return qp;
}

/*
 * Several devices have an upper interface's GID: the first one registered
 * receives, as rdma_cm binds addresses to it. For link-local addresses prefer
 * the receiving interface.
 */
static struct rover_qp *netrx_find_gsi(const struct netrx_batch *b,
				       const struct rover_rx_pkt *a)
{
	struct net_device *in = b->head->dev;
	struct rover_qp *qp = in ? netrx_first_gsi(b, a, in) : NULL;

	return qp ?: netrx_first_gsi(b, a, NULL);
}

static bool netrx_batch_lock(struct netrx_batch *b, struct rover_qp *qp,
			     bool tx_side)
{
	if (tx_side)
		spin_lock(&qp->tx_lock);
	else
		spin_lock(&qp->rx_lock);
	/* Maybe destroyed since it was found. */
	if (!qp->alive) {
		if (tx_side)
			spin_unlock(&qp->tx_lock);
		else
			spin_unlock(&qp->rx_lock);
		return false;
	}
	b->qp = qp;
	b->peer = NULL;
	b->tx_side = tx_side;
	return true;
}

static bool netrx_batch_join(struct netrx_batch *b, const struct rover_rx_pkt *a)
{
	bool tx_side = a->pkt.op->flags & ROVER_OP_RESPONSE;
	u32 qpn = rover_bth_qpn(&a->bth);
	struct rover_qp *qp = b->qp;

	if (qp && qp->obj.key == qpn && b->tx_side == tx_side)
		return true;
	netrx_batch_end(b);
	qp = b->found;
	if (!qp || qp->obj.key != qpn)
		qp = qpn == ROVER_GSI_QPN ? netrx_find_gsi(b, a) :
					    rover_qp_find(qpn);
	if (!qp || !netrx_batch_lock(b, qp, tx_side))
		return false;
	if (!b->hint)
		b->dev = qp->dev;
	return true;
}

/* Packets of a small GSO skb share an IP header: verify it once. */
static bool netrx_peer_good(struct netrx_batch *b, const struct rover_rx_pkt *a)
{
	struct rover_qp *qp = b->qp;

	if (b->peer == a->pkt.ip)
		return true;
	if (qp->transport == ROVER_TRANSPORT_UD)
		return qp->dev->rnet == b->rnet;
	if (!rover_path_match(&qp->path, b->rnet->net, a->pkt.l3, a->pkt.ip))
		return false;
	b->peer = a->pkt.ip;
	rover_dst_note(&qp->rx_dst, b->head);
	rover_shortcut_note_arrival(qp, b->head);
	return true;
}

/*
 * Checks before the ICRC. Lockless: netrx_admit() checks again. Datagrams come
 * from anyone; finding queue pair 1 costs more than the ICRC.
 */
static inline bool netrx_expected(struct netrx_batch *b,
				  const struct rover_rx_pkt *a)
{
	u32 qpn = rover_bth_qpn(&a->bth);
	struct rover_qp *qp = b->qp;

	if (qpn == ROVER_GSI_QPN || qpn == ROVER_MCAST_QPN)
		return true;
	if (!qp || qp->obj.key != qpn) {
		qp = b->hint;
		if (!qp || qp->obj.key != qpn)
			qp = rover_qp_find(qpn);
		if (!qp || !READ_ONCE(qp->alive)) {
			netrx_drop(b, a, ROVER_STAT_DROP_QPN);
			return false;
		}
		b->found = qp;
	} else if (b->peer == a->pkt.ip) {
		return true;
	}
	if (!rover_packet_check_transport(qp, &a->pkt)) {
		netrx_drop(b, a, ROVER_STAT_DROP_OPCODE);
		return false;
	}
	if (qp->transport != ROVER_TRANSPORT_UD &&
	    !rover_path_match(&qp->path, b->rnet->net, a->pkt.l3, a->pkt.ip)) {
		netrx_drop(b, a, ROVER_STAT_DROP_PEER);
		return false;
	}
	return true;
}

static inline bool netrx_admit(struct netrx_batch *b, const struct rover_rx_pkt *a)
{
	struct rover_qp *qp = b->qp;

	if (!rover_packet_check_transport(qp, &a->pkt)) {
		netrx_drop(b, a, ROVER_STAT_DROP_OPCODE);
		return false;
	}
	if (!netrx_peer_good(b, a)) {
		netrx_drop(b, a, ROVER_STAT_DROP_PEER);
		return false;
	}
	if (!rover_qp_allows(qp, b->tx_side ? ROVER_MAY_COMPLETE :
						 ROVER_MAY_RECEIVE)) {
		/* A QP that cannot send has no rate to reduce. */
		netrx_drop(b, a, a->pkt.op->class == ROVER_CLASS_CNP ?
			   ROVER_STAT_CNP_IGNORED : ROVER_STAT_DROP_STATE);
		return false;
	}
	return true;
}

static bool netrx_mcast_reaches(const struct rover_dev *dev,
				struct net_device *ndev)
{
	return dev->ndev == ndev || netdev_has_upper_dev_all_rcu(dev->ndev, ndev);
}

/* The number of attached queue pairs is bounded. */
static void netrx_deliver_mcast(struct netrx_batch *b, struct rover_rx_pkt *a,
				const struct rover_mcast *group)
{
	u32 i, end = READ_ONCE(group->end);

	for (i = 0; i < end; i++) {
		struct rover_qp *qp = rcu_dereference(group->qps[i]);

		if (!qp || !netrx_batch_lock(b, qp, false))
			continue;
		if (netrx_admit(b, a))
			rover_ud_receive(qp, &a->pkt, b->head->dev);
		netrx_batch_end(b);
	}
}

/* No lock is held. */
static void netrx_receive_mcast(struct netrx_batch *b, struct rover_rx_pkt *a)
{
	const struct rover_mcast *group;
	struct rover_dev *dev;
	bool known = false;

	/* A backlogged skb has lost its interface; it was unicast. */
	if (!b->head->dev) {
		netrx_drop(b, a, ROVER_STAT_DROP_NO_GROUP);
		return;
	}
	a->pkt.multicast = true;
	list_for_each_entry_rcu(dev, &b->rnet->devs, net_node) {
		group = rover_mcast_find(dev, a->pkt.l3, a->pkt.ip);
		if (!group || !netrx_mcast_reaches(dev, b->head->dev))
			continue;
		known = true;
		rover_dev_count(dev, ROVER_STAT_RX_MCAST);
		netrx_deliver_mcast(b, a, group);
	}
	if (known)
		b->packets++;
	else
		netrx_drop(b, a, ROVER_STAT_DROP_NO_GROUP);
}

/* True for ECN CE on data: the peer's cwnd covers nothing else. */
static bool netrx_ecn_marked(const struct rover_qp *qp,
			     const struct rover_packet *pkt)
{
	u8 tos = pkt->l3 == ROVER_L3_IPV4 ?
		 ((const struct iphdr *)pkt->ip)->tos :
		 ipv6_get_dsfield(pkt->ip);

	return INET_ECN_is_ce(tos) && pkt->l3 != ROVER_L3_GRH &&
	       rover_transport_reliable(qp->transport) &&
	       pkt->payload && pkt->op->class != ROVER_CLASS_CNP &&
	       pkt->op->class != ROVER_CLASS_ACK;
}

static void netrx_deliver(const struct netrx_batch *b,
			  const struct rover_packet *pkt)
{
	struct rover_qp *qp = b->qp;

	if (pkt->op->class == ROVER_CLASS_CNP)
		rover_cnp_receive(qp);
	else if (pkt->op->flags & ROVER_OP_RESPONSE)
		rover_completer_receive(qp, pkt);
	else if (qp->transport == ROVER_TRANSPORT_UD)
		rover_ud_receive(qp, pkt, b->head->dev);
	else
		rover_responder_receive(qp, pkt);
}

static void netrx_receive_pkt(struct netrx_batch *b, struct rover_rx_pkt *a)
{
	enum rover_stat why;

	if (!rover_packet_check_headers(a, &why) ||
	    !rover_packet_check_pkey(a, &why)) {
		netrx_drop(b, a, why);
		return;
	}
	if (!netrx_expected(b, a))
		return;
	if (!a->icrc_checked)
		a->icrc_ok = rover_icrc_check(a, b->dev->stats, &b->headerless);
	if (!a->icrc_ok) {
		netrx_drop(b, a, ROVER_STAT_DROP_ICRC);
		return;
	}
	if (!netrx_batch_join(b, a)) {
		if (rover_bth_qpn(&a->bth) == ROVER_MCAST_QPN)
			netrx_receive_mcast(b, a);
		else
			netrx_drop(b, a, ROVER_STAT_DROP_QPN);
		return;
	}
	if (!netrx_admit(b, a))
		return;
	b->packets += a->pkt.packets;
	if (unlikely(netrx_ecn_marked(b->qp, &a->pkt))) {
		rover_dev_count(b->dev, ROVER_STAT_ECN_MARKED);
		b->ecn_marked = true;
	}
	netrx_deliver(b, &a->pkt);
}

/* No RoCE packet has IP options or extension headers. */
static bool netrx_headers_plain(const struct sk_buff *skb, enum rover_l3 l3,
				int at)
{
	int len = skb_transport_offset(skb) - skb_network_offset(skb);

	return len + at == rover_l3_len(l3);
}

/*
 * rover_packet_check_headers() sets the other fields: clearing them would cost
 * more.
 */
static void netrx_init_pkt(const struct netrx_batch *b, struct rover_rx_pkt *a,
			   const struct sk_buff *skb, int at, unsigned int len,
			   int first_bth, enum rover_l3 l3)
{
	const void *bth = skb->data + first_bth;

	a->pkt.head = b->head;
	a->pkt.skb = skb;
	a->pkt.packets = 1;
	a->pkt.l3 = l3;
	a->pkt.ip = bth - rover_l3_len(l3);
	a->pkt.multicast = false;
	a->pkt.zcopy = NULL;
	a->bth = (struct rover_bth) {};
	a->at = at;
	a->len = len;
	a->udp = bth - sizeof(struct udphdr);
	a->icrc_checked = false;
}

/* @at, the offset of the BTH, is 0 in train members and behind a GRH. */
static void netrx_receive_skb(struct netrx_batch *b, const struct sk_buff *skb,
			      int at, unsigned int len, enum rover_l3 l3)
{
	struct rover_rx_pkt a __uninitialized;

	netrx_init_pkt(b, &a, skb, at, len, at, l3);
	netrx_receive_pkt(b, &a);
}

static void netrx_receive_gso_small(struct netrx_batch *b,
				    const struct sk_buff *skb,
				    const struct rover_trailer *trailer,
				    enum rover_l3 l3)
{
	bool icrc_ok = rover_gso_small_verify(skb, trailer);
	struct rover_small_packet small = {};
	struct rover_rx_pkt a __uninitialized;

	while (rover_gso_small_next(skb, trailer, &small)) {
		netrx_init_pkt(b, &a, skb, small.at,
			       small.len + ROVER_ICRC_SIZE, 0, l3);
		a.icrc_checked = true;
		a.icrc_ok = icrc_ok;
		netrx_receive_pkt(b, &a);
	}
	if (icrc_ok)
		rover_stat_add(b->dev->stats, ROVER_STAT_RX_ICRC_UNNECESSARY,
			       small.index + 1);
}

/* Members are as untrusted as any packet. */
static void netrx_receive_members(struct netrx_batch *b, struct sk_buff *head,
				  enum rover_l3 l3)
{
	unsigned int hdr = rover_l3_len(l3);
	const struct rover_trailer *trailer;
	struct sk_buff *skb;

	skb_walk_frags(head, skb) {
		if (skb_has_frag_list(skb) || skb_headroom(skb) < hdr) {
			rover_drop(b->dev->stats, ROVER_STAT_DROP_GSO, 0, 0, 0);
			continue;
		}
		trailer = rover_gso_small_trailer(skb);
		if (trailer)
			netrx_receive_gso_small(b, skb, trailer, l3);
		else
			netrx_receive_skb(b, skb, 0, skb->len, l3);
	}
}

static void netrx_receive_train(struct netrx_batch *b, struct sk_buff *skb)
{
	enum rover_l3 l3 = rover_netrx_l3(skb);
	int at = rover_netrx_bth_at(skb);

	if (!netrx_headers_plain(skb, l3, at)) {
		rover_drop(b->dev->stats, ROVER_STAT_DROP_SHORT, 0, 0, 0);
		return;
	}
	if (!skb_is_gso(skb)) {
		if (skb_has_frag_list(skb) && skb_linearize(skb)) {
			rover_drop(b->dev->stats, ROVER_STAT_DROP_SHORT, 0, 0, 0);
			return;
		}
		netrx_receive_skb(b, skb, at, skb->len - at, l3);
		return;
	}
	if (!rover_netrx_is_train(skb) || skb_pagelen(skb) < at) {
		rover_drop(b->dev->stats, ROVER_STAT_DROP_GSO, 0, 0, 0);
		return;
	}
	rover_dev_count(b->dev, ROVER_STAT_RX_TRAINS);
	netrx_receive_skb(b, skb, at, skb_pagelen(skb) - at, l3);
	netrx_receive_members(b, skb, l3);
}

/* Count headers from IP on for each packet, like nettx. */
static unsigned int netrx_count_bytes(const struct sk_buff *skb,
				      unsigned int headerless)
{
	unsigned int hdr = rover_netrx_bth_at(skb) - skb_network_offset(skb);
	unsigned int more = rover_netrx_packets(skb) - 1;

	return skb->len - skb_network_offset(skb) + more * hdr +
	       headerless * (sizeof(struct rover_bth) + ROVER_ICRC_SIZE);
}

void rover_netrx(struct rover_net *rnet, struct rover_dev *dev,
		 struct rover_qp *hint, struct sk_buff *skb)
{
	struct netrx_batch b = {
		.rnet = rnet, .dev = dev, .hint = hint, .head = skb,
	};
	bool train = skb_is_gso(skb);

	if (train)
		rover_plug_start();
	netrx_receive_train(&b, skb);
	if (b.qp)
		trace_rover_rx_train(b.qp->obj.key, 0, b.packets);
	rover_stat_add(b.dev->stats, ROVER_STAT_RX_PACKETS, b.packets);
	rover_stat_add(b.dev->stats, ROVER_STAT_RX_BYTES,
		       netrx_count_bytes(skb, b.headerless));
	netrx_batch_end(&b);
	if (train)
		rover_plug_finish();
	/* Some packets are held (early). */
	if (unlikely(skb_shared(skb)))
		rover_netrx_detach(skb);
	consume_skb(skb);
}
