// SPDX-License-Identifier: GPL-2.0
/*
 * netrx - from packets and trains to the queue pair
 *
 * One call brings one packet or a whole train.  Each packet is proved before
 * anything changes because of it: lengths before any subtraction, a known
 * opcode, the queue pair, the peer's addresses and namespace, the ICRC, the
 * state.  The ICRC comes after what is cheap to look up, so that junk costs
 * little.  Then it goes to responder or completer under the lock of that side.
 * The lock is kept while packets for the same queue pair and side follow; when
 * it is let go, there is one acknowledge for all of them, and what the window
 * now allows is sent.  What a train makes several queue pairs send goes together
 * (plug).
 *
 * Softirq, under rcu_read_lock().  The skb is read only: it may be cloned.
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
#include "qp/qp_table.h"
#include "rc/cnp.h"
#include "rc/completer.h"
#include "rc/responder.h"
#include "run/run.h"
#include "rx/netrx.h"
#include "tx/gso_long.h"
#include "tx/gso_small.h"
#include "tx/plug.h"
#include "tx/shortcut.h"
#include "tx/trailer.h"
#include "ud/ud.h"
#include "wire/icrc.h"
#include "wire/packet.h"

/* Who receives: the queue pair and the side whose lock is held. */
struct batch {
	struct rover_net *rnet;
	struct rover_dev *dev;		/* to count at: the QP's if it is known */
	const struct sk_buff *head;	/* what has come */
	struct rover_qp *likely;	/* found already; NULL or maybe dead */
	struct rover_qp *found;		/* the same, by netrx_expected() */
	struct rover_qp *qp;
	const void *peer;		/* a header whose addresses are its peer's */
	bool sending;			/* tx_lock is held, else rx_lock */
	bool marked;			/* a router's queue is filling up */
	unsigned int packets;
	unsigned int bare;		/* packets without headers of their own */
};

/* A packet on its way through the checks. */
struct arrival {
	struct rover_packet pkt;
	struct rover_bth bth;
	const struct udphdr *udp;
	int at;				/* offset of the BTH in pkt.skb */
	bool proved;			/* with all that it came in: */
	bool good;			/* that it is what was sent */
	unsigned int len;		/* from BTH to ICRC, both included */
};

static void dropped(struct batch *b, const struct arrival *a,
		    enum rover_stat why)
{
	rover_drop(b->dev ? b->dev->stats : NULL, why, rover_bth_qpn(&a->bth),
		   a->bth.opcode, rover_bth_psn(&a->bth));
}

/* Batches ********************************************************************/

static void batch_end(struct batch *b)
{
	struct rover_qp *qp = b->qp;

	if (!qp)
		return;
	b->qp = NULL;
	if (b->marked)
		rover_cnp_marked(qp, b->sending);
	b->marked = false;
	if (b->sending) {
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
	/* What the window now allows, or another context has left to us. */
	rover_run(qp);
}

/*
 * Queue pair 1 of @dev if the packet was sent to a GID of @dev; with @in, to one
 * that is on this interface.
 */
static struct rover_qp *gsi_of(struct rover_dev *dev, const struct arrival *a,
			       struct net_device *in)
{
	struct rover_qp *qp = rcu_dereference(dev->gsi);
	const struct ib_gid_attr *gid;
	bool found;

	/* Only a registered device has one, and a table of GIDs. */
	if (!qp)
		return NULL;
	gid = rover_path_find_gid(&dev->ib, a->pkt.l3, a->pkt.ip, in);
	if (IS_ERR(gid))
		return NULL;
	found = !in || rcu_access_pointer(gid->ndev) == in;
	rdma_put_gid_attr(gid);
	return found ? qp : NULL;
}

static struct rover_qp *first_gsi(const struct batch *b,
				  const struct arrival *a,
				  struct net_device *in)
{
	struct rover_qp *qp = NULL;
	struct rover_dev *dev;

	list_for_each_entry_rcu(dev, &b->rnet->devs, net_node) {
		qp = gsi_of(dev, a, in);
		if (qp)
			break;
	}
	return qp;
}

/*
 * Each device has a queue pair 1: the address tells whose is meant.  Several
 * devices have the GID of an upper interface, its own and those below.  The first
 * one that was registered gets the packet: rdma_cm takes that one when it binds to
 * an address, and no other device knows of the listener.  A link-local address may
 * be on several interfaces: then it is the one the packet came by.
 */
static struct rover_qp *find_gsi(const struct batch *b, const struct arrival *a)
{
	struct net_device *in = b->head->dev;
	struct rover_qp *qp = in ? first_gsi(b, a, in) : NULL;

	return qp ?: first_gsi(b, a, NULL);
}

/* Hold the lock of one side; nothing else is held. */
static bool batch_hold(struct batch *b, struct rover_qp *qp, bool sending)
{
	if (sending)
		spin_lock(&qp->tx_lock);
	else
		spin_lock(&qp->rx_lock);
	/* It may have died since it was found. */
	if (!qp->alive) {
		if (sending)
			spin_unlock(&qp->tx_lock);
		else
			spin_unlock(&qp->rx_lock);
		return false;
	}
	b->qp = qp;
	b->peer = NULL;
	b->sending = sending;
	return true;
}

/* Hold the right lock of the queue pair this packet is for. */
static bool batch_join(struct batch *b, const struct arrival *a)
{
	bool sending = a->pkt.op->flags & ROVER_OP_RESPONSE;
	u32 qpn = rover_bth_qpn(&a->bth);
	struct rover_qp *qp = b->qp;

	if (qp && qp->obj.key == qpn && b->sending == sending)
		return true;
	batch_end(b);
	qp = b->found;
	if (!qp || qp->obj.key != qpn)
		qp = qpn == ROVER_GSI_QPN ? find_gsi(b, a) : rover_qp_find(qpn);
	if (!qp || !batch_hold(b, qp, sending))
		return false;
	if (!b->likely)
		b->dev = qp->dev;
	return true;
}

/* Proving ********************************************************************/

/* What stands between the BTH and the payload, all of it at @hdr. */
static void parse_exts(struct rover_packet *pkt, const u8 *hdr)
{
	const struct rover_opcode *op = pkt->op;
	unsigned int skip = op->ext - sizeof(struct rover_bth);
	unsigned int ext = op->hdr_len - op->ext;
	struct rover_xrceth xrceth;

	if (op->flags & ROVER_OP_XRCETH) {
		memcpy(&xrceth, hdr, sizeof(xrceth));
		pkt->srqn = be32_to_cpu(xrceth.srqn) & ROVER_24BIT;
	}
	memcpy(&pkt->hdr, hdr + skip, min(ext, sizeof(pkt->hdr)));
	if (op->imm)
		memcpy(&pkt->imm, hdr + op->imm - sizeof(struct rover_bth),
		       sizeof(pkt->imm));
}

static inline bool parse(struct batch *b, struct arrival *a)
{
	struct rover_packet *pkt = &a->pkt;
	const struct rover_bth *bth;
	const struct rover_opcode *op;
	u8 buf[ROVER_MAX_HDR] __uninitialized;
	unsigned int ext;
	const u8 *hdr;

	if (a->len < sizeof(*bth) + ROVER_ICRC_SIZE) {
		dropped(b, a, ROVER_STAT_DROP_SHORT);
		return false;
	}
	bth = skb_header_pointer(pkt->skb, a->at, sizeof(*bth), buf);
	if (!bth) {
		dropped(b, a, ROVER_STAT_DROP_SHORT);
		return false;
	}
	a->bth = *bth;
	op = rover_opcode_get(a->bth.opcode);
	if (!op || a->bth.flags & ROVER_BTH_TVER) {
		dropped(b, a, ROVER_STAT_DROP_OPCODE);
		return false;
	}
	pkt->op = op;
	pkt->opcode = a->bth.opcode;
	pkt->ackreq = rover_bth_ackreq(&a->bth);
	pkt->solicited = rover_bth_solicited(&a->bth);
	pkt->pad = rover_bth_pad(&a->bth);
	pkt->psn = rover_bth_psn(&a->bth);
	/* With its pad a payload is of whole words (IBTA 9.2.4), as are headers. */
	if (a->len % 4 || a->len < op->hdr_len + pkt->pad + ROVER_ICRC_SIZE) {
		dropped(b, a, ROVER_STAT_DROP_LENGTH);
		return false;
	}
	pkt->payload_at = a->at + op->hdr_len;
	pkt->payload = a->len - op->hdr_len - pkt->pad - ROVER_ICRC_SIZE;
	ext = op->hdr_len - sizeof(*bth);
	hdr = skb_header_pointer(pkt->skb, a->at + sizeof(*bth), ext, buf);
	if (!hdr) {
		dropped(b, a, ROVER_STAT_DROP_SHORT);
		return false;
	}
	parse_exts(pkt, hdr);
	return true;
}

/*
 * The sum of a packet that is @len bytes long from BTH to ICRC, over all headers and
 * @own bytes from its BTH on.
 */
static u32 sum(const struct arrival *a, unsigned int own, unsigned int len)
{
	int head = skb_headlen(a->pkt.skb) - a->at;
	const struct rover_bth *bth = &a->bth;
	unsigned int here = sizeof(*bth);
	u32 crc;

	if (head >= (int)here) {
		bth = (const void *)a->pkt.skb->data + a->at;
		here = min_t(unsigned int, head, own);
	}
	crc = rover_icrc_begin(a->pkt.l3, a->pkt.ip, a->udp, bth, here, len);
	return rover_trailer_sum(crc, a->pkt.skb, a->at + here, own - here);
}

/* The headers of a packet that memory has carried; of a block, of the first. */
static bool seal_good(struct batch *b, struct arrival *a,
		      const struct rover_trailer *seal)
{
	struct rover_packet *pkt = &a->pkt;
	unsigned int bare = seal->more;
	u32 payload = pkt->payload;

	if (bare && (pkt->pad || !rover_gso_long_first(seal, &payload)))
		return false;
	if (sum(a, pkt->op->hdr_len, pkt->op->hdr_len + payload + pkt->pad +
				     ROVER_ICRC_SIZE) != seal->headers)
		return false;
	pkt->packets += bare;
	b->bare += bare;
	rover_stat_add(b->dev->stats, ROVER_STAT_RX_ICRC_UNNECESSARY, 1 + bare);
	return true;
}

static bool icrc_good(struct batch *b, struct arrival *a)
{
	const struct sk_buff *skb = a->pkt.skb;
	const struct rover_trailer *seal;
	__le32 icrc;

	/* Whatever became of its headers, it may point to its sender's memory. */
	seal = rover_trailer_last(skb);
	if (seal && seal->zcopy.qpn)
		a->pkt.zcopy = &seal->zcopy;
	seal = rover_trailer_find(skb, a->pkt.payload_at, a->pkt.payload,
			       a->pkt.pad);
	if (seal)
		return seal_good(b, a, seal);
	if (skb_copy_bits(skb, a->at + a->len - ROVER_ICRC_SIZE, &icrc,
			  sizeof(icrc)))
		return false;
	return rover_icrc_end(sum(a, a->len - ROVER_ICRC_SIZE, a->len)) == icrc;
}

/* Partition keys match in their low fifteen bits; ours is the default one. */
static bool pkey_good(const struct arrival *a)
{
	return (be16_to_cpu(a->bth.pkey) & 0x7fff) == (ROVER_PKEY & 0x7fff);
}

/*
 * A connection has one peer; a datagram may come from anybody.  Packets of a bundle
 * share the header that tells.
 */
static bool peer_good(struct batch *b, const struct arrival *a)
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
	rover_shortcut_came(qp, b->head);
	return true;
}

/* Of XRC, an initiator asks and a target answers, and never the other way. */
static bool transport_good(const struct rover_qp *qp,
			   const struct rover_packet *pkt)
{
	/* RoCE v1 has no marks, and so none to answer to. */
	if (pkt->op->class == ROVER_CLASS_CNP)
		return rover_transport_reliable(qp->transport) &&
		       pkt->l3 != ROVER_L3_GRH;
	return rover_opcode_transport(pkt->opcode) == qp->transport &&
	       (qp->transport != ROVER_TRANSPORT_XRC ||
		!(pkt->op->flags & ROVER_OP_REQUEST) == !qp->xrcd);
}

/*
 * Before the ICRC is summed: is there such a connection, and is this from its peer?
 * Asked without the lock, while modify may change the path; admit() asks again
 * under it.  Datagrams may come from anybody, and whose queue pair 1 is meant takes
 * longer to look up than those are long.
 */
static inline bool netrx_expected(struct batch *b, const struct arrival *a)
{
	u32 qpn = rover_bth_qpn(&a->bth);
	struct rover_qp *qp = b->qp;

	if (qpn == ROVER_GSI_QPN || qpn == ROVER_MCAST_QPN)
		return true;
	if (!qp || qp->obj.key != qpn) {
		qp = b->likely;
		if (!qp || qp->obj.key != qpn)
			qp = rover_qp_find(qpn);
		if (!qp || !READ_ONCE(qp->alive)) {
			dropped(b, a, ROVER_STAT_DROP_QPN);
			return false;
		}
		b->found = qp;
	} else if (b->peer == a->pkt.ip) {
		return true;
	}
	if (!transport_good(qp, &a->pkt)) {
		dropped(b, a, ROVER_STAT_DROP_OPCODE);
		return false;
	}
	if (qp->transport != ROVER_TRANSPORT_UD &&
	    !rover_path_match(&qp->path, b->rnet->net, a->pkt.l3, a->pkt.ip)) {
		dropped(b, a, ROVER_STAT_DROP_PEER);
		return false;
	}
	return true;
}

static inline bool admit(struct batch *b, const struct arrival *a)
{
	struct rover_qp *qp = b->qp;

	if (!transport_good(qp, &a->pkt)) {
		dropped(b, a, ROVER_STAT_DROP_OPCODE);
		return false;
	}
	if (!peer_good(b, a)) {
		dropped(b, a, ROVER_STAT_DROP_PEER);
		return false;
	}
	if (!rover_qp_allows(qp, b->sending ? ROVER_MAY_COMPLETE :
					      ROVER_MAY_RECEIVE)) {
		/* Who is not ready to send has nothing to send less of. */
		dropped(b, a, a->pkt.op->class == ROVER_CLASS_CNP ?
			ROVER_STAT_CNP_IGNORED : ROVER_STAT_DROP_STATE);
		return false;
	}
	return true;
}

/* Multicast ******************************************************************/

/* Is it for this device: did it come to its interface, or to one above it? */
static bool heard_by(const struct rover_dev *dev, struct net_device *ndev)
{
	return dev->ndev == ndev || netdev_has_upper_dev_all_rcu(dev->ndev, ndev);
}

/* To all who are attached, one after the other: how many is bounded. */
static void receive_by(struct batch *b, struct arrival *a,
		       const struct rover_mcast *group)
{
	u32 i, end = READ_ONCE(group->end);

	for (i = 0; i < end; i++) {
		struct rover_qp *qp = rcu_dereference(group->qps[i]);

		if (!qp || !batch_hold(b, qp, false))
			continue;
		if (admit(b, a))
			rover_ud_receive(qp, &a->pkt, b->head->dev);
		batch_end(b);
	}
}

/* To the number that multicast has.  No lock is held. */
static void receive_mcast(struct batch *b, struct arrival *a)
{
	const struct rover_mcast *group;
	struct rover_dev *dev;
	bool known = false;

	/* What was set aside has no interface any more, and was for one. */
	if (!b->head->dev) {
		dropped(b, a, ROVER_STAT_DROP_NO_GROUP);
		return;
	}
	a->pkt.group = b->head;
	list_for_each_entry_rcu(dev, &b->rnet->devs, net_node) {
		group = rover_mcast_find(dev, a->pkt.l3, a->pkt.ip);
		if (!group || !heard_by(dev, b->head->dev))
			continue;
		known = true;
		rover_count(dev, ROVER_STAT_RX_MCAST);
		receive_by(b, a, group);
	}
	if (known)
		b->packets++;
	else
		dropped(b, a, ROVER_STAT_DROP_NO_GROUP);
}

/* Handing over ***************************************************************/

/* Has a router marked it?  Of what carries no data the sender has no window. */
static bool marked(const struct rover_qp *qp, const struct rover_packet *pkt)
{
	u8 tos = pkt->l3 == ROVER_L3_IPV4 ?
		 ((const struct iphdr *)pkt->ip)->tos :
		 ipv6_get_dsfield(pkt->ip);

	return INET_ECN_is_ce(tos) && pkt->l3 != ROVER_L3_GRH &&
	       rover_transport_reliable(qp->transport) &&
	       pkt->payload && pkt->op->class != ROVER_CLASS_CNP;
}

static void deliver(const struct batch *b, const struct rover_packet *pkt)
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

static void receive(struct batch *b, struct arrival *a)
{
	if (!parse(b, a))
		return;
	if (!pkey_good(a)) {
		dropped(b, a, ROVER_STAT_DROP_PKEY);
		return;
	}
	if (!netrx_expected(b, a))
		return;
	if (a->proved ? !a->good : !icrc_good(b, a)) {
		dropped(b, a, ROVER_STAT_DROP_ICRC);
		return;
	}
	if (!batch_join(b, a)) {
		if (rover_bth_qpn(&a->bth) == ROVER_MCAST_QPN)
			receive_mcast(b, a);
		else
			dropped(b, a, ROVER_STAT_DROP_QPN);
		return;
	}
	if (!admit(b, a))
		return;
	b->packets += a->pkt.packets;
	if (unlikely(marked(b->qp, &a->pkt))) {
		rover_count(b->dev, ROVER_STAT_ECN_MARKED);
		b->marked = true;
	}
	deliver(b, &a->pkt);
}

/* Taking trains apart ********************************************************/

/* IP options or extension headers: no RoCE packet has them. */
static bool headers_plain(const struct sk_buff *skb, enum rover_l3 l3, int at)
{
	int len = skb_transport_offset(skb) - skb_network_offset(skb);

	return len + at == rover_l3_len(l3);
}

/*
 * A packet with its BTH at @at, @len bytes from there to the ICRC; the first one in
 * @skb is behind its headers from IP to UDP, or its GRH.  What is not set here
 * parse() sets, as far as the packet has it: to clear it first would cost more.
 */
static void begin(struct arrival *a, const struct sk_buff *skb, int at,
		  unsigned int len, int first, enum rover_l3 l3)
{
	const void *bth = skb->data + first;

	a->pkt.skb = skb;
	a->pkt.packets = 1;
	a->pkt.l3 = l3;
	a->pkt.ip = bth - rover_l3_len(l3);
	a->pkt.group = NULL;
	a->pkt.zcopy = NULL;
	a->bth = (struct rover_bth) {};
	a->at = at;
	a->len = len;
	a->udp = bth - sizeof(struct udphdr);
	a->proved = false;
}

/*
 * @skb's data is at its UDP header (@at is then past it) or, for members of a
 * train and behind a GRH, at its BTH, with the headers in front of it.
 */
static void receive_skb(struct batch *b, const struct sk_buff *skb, int at,
			unsigned int len, enum rover_l3 l3)
{
	struct arrival a __uninitialized;

	begin(&a, skb, at, len, at, l3);
	receive(b, &a);
}

/* What has one header is proved once. */
static void receive_bundle(struct batch *b, const struct sk_buff *skb,
			   const struct rover_trailer *seal, enum rover_l3 l3)
{
	bool good = rover_gso_small_good(skb, seal);
	struct rover_record record = {};
	struct arrival a __uninitialized;

	while (rover_gso_small_next(skb, seal, &record)) {
		begin(&a, skb, record.at, record.len + ROVER_ICRC_SIZE, 0, l3);
		a.proved = true;
		a.good = good;
		receive(b, &a);
	}
	if (good)
		rover_stat_add(b->dev->stats, ROVER_STAT_RX_ICRC_UNNECESSARY,
			       record.number + 1);
}

/* A train's members are as hostile as any packet. */
static void receive_members(struct batch *b, struct sk_buff *head,
			    enum rover_l3 l3)
{
	unsigned int hdr = rover_l3_len(l3);
	const struct rover_trailer *seal;
	struct sk_buff *skb;

	skb_walk_frags(head, skb) {
		if (skb_has_frag_list(skb) || skb_headroom(skb) < hdr) {
			rover_count(b->dev, ROVER_STAT_DROP_GSO);
			continue;
		}
		seal = rover_gso_small_seal(skb);
		if (seal)
			receive_bundle(b, skb, seal, l3);
		else
			receive_skb(b, skb, 0, skb->len, l3);
	}
}

static void receive_whole(struct batch *b, struct sk_buff *skb)
{
	enum rover_l3 l3 = rover_netrx_l3(skb);
	int at = rover_netrx_bth_at(skb);

	if (!headers_plain(skb, l3, at)) {
		rover_count(b->dev, ROVER_STAT_DROP_SHORT);
		return;
	}
	if (!skb_is_gso(skb)) {
		if (skb_has_frag_list(skb) && skb_linearize(skb)) {
			rover_count(b->dev, ROVER_STAT_DROP_SHORT);
			return;
		}
		receive_skb(b, skb, at, skb->len - at, l3);
		return;
	}
	if (!rover_netrx_is_train(skb) || skb_pagelen(skb) < at) {
		rover_count(b->dev, ROVER_STAT_DROP_GSO);
		return;
	}
	rover_count(b->dev, ROVER_STAT_RX_TRAINS);
	receive_skb(b, skb, at, skb_pagelen(skb) - at, l3);
	receive_members(b, skb, l3);
}

/* As nettx counts: each packet with its own headers from IP on. */
static unsigned int bytes_of(const struct sk_buff *skb, unsigned int bare)
{
	unsigned int hdr = rover_netrx_bth_at(skb) - skb_network_offset(skb);
	unsigned int more = rover_netrx_packets(skb) - 1;

	return skb->len - skb_network_offset(skb) + more * hdr +
	       bare * (sizeof(struct rover_bth) + ROVER_ICRC_SIZE);
}

void rover_netrx(struct rover_net *rnet, struct rover_dev *dev,
		 struct rover_qp *likely, struct sk_buff *skb)
{
	struct batch b = {
		.rnet = rnet, .dev = dev, .likely = likely, .head = skb,
	};
	bool train = skb_is_gso(skb);

	if (train)
		rover_plug_start();
	receive_whole(&b, skb);
	if (b.qp)
		trace_rover_rx_train(b.qp->obj.key, 0, b.packets);
	rover_stat_add(b.dev->stats, ROVER_STAT_RX_PACKETS, b.packets);
	rover_stat_add(b.dev->stats, ROVER_STAT_RX_BYTES, bytes_of(skb, b.bare));
	batch_end(&b);
	if (train)
		rover_plug_finish();
	consume_skb(skb);
}
