// SPDX-License-Identifier: GPL-2.0
/*
 * train - many packets in one trip through the stack
 *
 * A train is a head skb with the other packets on its frag_list and gso_type
 * FRAGLIST, so that routing, netfilter and the qdisc are passed once.  Every
 * member wears complete IP, UDP and transport headers of its own in its linear
 * part and is final when it is coupled on.  What the stack rewrites when it
 * takes the train apart (IP length and checksum) is not in the ICRC; FIXEDID
 * keeps each packet's own identification.  On a way that starts in memory the
 * ICRCs of payload by reference are left out, and made if it is taken apart
 * (gso_segment); there packets of a long message share an skb until then (gso_long).
 * On the loopback device, where nobody asks us, a block travels alone.
 *
 * RoCE v1 has none of this in the stack: each of its packets travels alone, with
 * a GRH where the others have IP and UDP, and its ICRC.
 *
 *	head    [ IP UDP BTH ext ] -> payload frags, tail frag
 *	member  ( IP UDP )[ BTH ext ] -> payload frags, tail frag
 *
 * ( ) is headroom: a member's data begins at its UDP payload.  Payload frags
 * are the program's pages, referenced and not copied, or a piece of ours with a
 * copy where payload may change (UD, UC) or an skb must not hold its memory; pad
 * and ICRC sit in a small frag of ours (trailer).  Packets of up to COPY_MAX bytes
 * are copied whole, as are all where the netdev gathers nothing; behind the first
 * of a train that starts in memory small ones share an skb (gso_small).  They are of
 * one queue pair, or where such a train may wait (plug) of several, on one way to
 * one peer.
 *
 * Runs under the queue pair's lock with softirqs off.
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "core/trace.h"
#include "qp/affinity.h"
#include "tx/gso_long.h"
#include "tx/gso_small.h"
#include "tx/nettx.h"
#include "tx/skb_alloc.h"
#include "tx/trailer.h"
#include "tx/train.h"
#include "wire/icrc.h"
#include "wire/psn.h"

/* Below this a copy is cheaper than references to pages. */
#define COPY_MAX	512

#define MAX_FRAGS	(MAX_SKB_FRAGS - 1)

/* What a packet may be longer than the first: by what their headers differ in. */
#define MORE		sizeof_field(struct rover_outgoing, ext)

/* MIDDLEs that a block has to take in where it costs a trip of its own. */
#define BLOCK_ALONE	6

/* On this path. */
static unsigned int most_packets(const struct rover_path *path,
				 unsigned int limit)
{
	return path->l3 == ROVER_L3_GRH ? 1 : limit;
}

void rover_train_begin(struct rover_train *train, struct rover_qp *qp,
		       u16 *ip_id, unsigned int max)
{
	*train = (struct rover_train) {
		.qp = qp,
		.path = &qp->path,
		.hdr_len = qp->path.hdr_len,
		.qpn = qp->remote_qpn,
		.ip_id = ip_id,
		.limit = min_t(unsigned int, max, ROVER_TRAIN_MAX),
	};
	train->max = most_packets(train->path, train->limit);
}

void rover_train_aim(struct rover_train *train, struct rover_path *path,
		     u32 qpn)
{
	train->qpn = qpn;
	if (path == train->path)
		return;
	rover_train_send(train);
	train->path = path;
	train->hdr_len = path->hdr_len;
	train->max = most_packets(path, train->limit);
}

/*
 * IP and UDP headers, or GRH, from the path's template; @len follows them.  Its
 * identification a packet keeps only if it gets into the train: they are in order.
 */
static void put_headers(struct rover_train *train, struct sk_buff *skb,
			unsigned int len)
{
	const struct rover_path *path = train->path;
	struct udphdr *udp;

	skb_reset_network_header(skb);
	if (path->l3 == ROVER_L3_IPV4) {
		struct iphdr *ip = skb_put(skb, sizeof(*ip));

		*ip = path->ip4;
		ip->tot_len = cpu_to_be16(path->hdr_len + len);
		ip->id = cpu_to_be16(*train->ip_id);
		ip_send_check(ip);
		skb->protocol = cpu_to_be16(ETH_P_IP);
	} else {
		struct ipv6hdr *ip = skb_put(skb, sizeof(*ip));

		*ip = path->ip6;
		ip->payload_len = cpu_to_be16(path->hdr_len - sizeof(*ip) + len);
		skb->protocol = cpu_to_be16(ETH_P_IPV6);
		if (path->l3 == ROVER_L3_GRH) {
			skb->protocol = cpu_to_be16(ETH_P_IBOE);
			/* The BTH follows: there is no UDP header to read. */
			skb_set_transport_header(skb, path->hdr_len);
			return;
		}
	}
	skb_set_transport_header(skb, path->hdr_len - sizeof(*udp));
	udp = skb_put(skb, sizeof(*udp));
	*udp = path->udp;
	udp->len = cpu_to_be16(sizeof(*udp) + len);
}

/* From its BTH to its ICRC. */
static unsigned int packet_len(const struct rover_outgoing *out)
{
	return sizeof(struct rover_bth) + out->ext_len + out->len +
	       rover_pad(out->len) + ROVER_ICRC_SIZE;
}

/*
 * BTH and what follows it, up to the payload: out->ext_len more.  Like put_copy(), of
 * each small packet: a call would cost about as much as what it does.
 */
static __always_inline void put_transport(const struct rover_train *train,
					  struct rover_bth *bth,
					  const struct rover_outgoing *out)
{
	bth->opcode = out->opcode;
	/* MigReq set: migrated is the state of a path that never migrates. */
	bth->flags = out->flags | ROVER_BTH_MIG |
		     FIELD_PREP(ROVER_BTH_PAD, rover_pad(out->len));
	bth->pkey = cpu_to_be16(ROVER_PKEY);
	bth->qpn = cpu_to_be32(train->qpn);
	bth->psn = cpu_to_be32(out->psn | (out->ackreq ? ROVER_BTH_ACKREQ : 0));
	memcpy(bth + 1, out->ext, out->ext_len);
}

/* Payload in frags, then a seal of ours. */
static struct rover_trailer *put_frags(struct sk_buff *skb,
				    const struct rover_outgoing *out,
				    const struct rover_frag *frags,
				    unsigned int n,
				    const struct rover_zcopy *zcopy, u32 crc)
{
	struct rover_trailer *seal = rover_trailer_get();
	unsigned int i;

	if (!seal)
		return NULL;
	seal->headers = crc;
	seal->zcopy = *zcopy;
	for (i = 0; i < n; i++)
		skb_fill_page_desc(skb, i, frags[i].page, frags[i].offset,
				   frags[i].len);
	rover_trailer_append(skb, seal, n, out->len, rover_pad(out->len));
	return seal;
}

/* Payload by copy, and its pad, to @p. */
static __always_inline enum rover_fault
put_copy(void *p, const struct rover_outgoing *out)
{
	enum rover_fault fault = ROVER_OK;

	if (out->data)
		memcpy(p, out->data, out->len);
	else if (out->len)
		fault = rover_sgl_read(out->sgl, p, out->len);
	memset(p + out->len, 0, rover_pad(out->len));
	return fault;
}

/* Of a packet that is complete but for its ICRC, from its IP header to its pad. */
static u32 sum(const struct sk_buff *skb, const struct rover_path *path,
	       const struct rover_bth *bth, unsigned int len)
{
	unsigned int own = (const void *)skb_tail_pointer(skb) -
			   (const void *)bth;

	return rover_icrc_begin(path->l3, skb_network_header(skb), udp_hdr(skb),
				bth, own, len);
}

static void put_frag_pages(const struct rover_frag *frags, unsigned int n)
{
	while (n--)
		put_page(frags[n].page);
}

/* In a train whose netdev takes no frags all are copied. */
static bool in_frags(const struct rover_train *train,
		     const struct rover_outgoing *out)
{
	return out->len > COPY_MAX && !out->data && !train->flat;
}

/* A copy in a piece of ours, of up to a page; without memory there is none. */
static enum rover_fault copy_frag(const struct rover_outgoing *out,
				  struct rover_frag *frag, unsigned int *n)
{
	void *data = napi_alloc_frag(SKB_DATA_ALIGN(out->len));
	enum rover_fault fault;

	if (!data)
		return ROVER_OK;
	frag->page = virt_to_head_page(data);
	frag->offset = data - page_address(frag->page);
	frag->len = out->len;
	fault = rover_sgl_read(out->sgl, data, out->len);
	if (fault)
		put_page(frag->page);
	else
		*n = 1;
	return fault;
}

/* None where a copy in the linear part has to do. */
static enum rover_fault get_frags(const struct rover_train *train,
				  const struct rover_outgoing *out,
				  struct rover_frag *frags, unsigned int *n,
				  struct rover_zcopy *zcopy)
{
	enum rover_fault fault = ROVER_OK;

	if (!in_frags(train, out))
		return ROVER_OK;
	if (!train->copy)
		fault = rover_sgl_frags(out->sgl, out->len, frags, MAX_FRAGS, n,
					&zcopy->key);
	if (*n)
		rover_zcopy_lend(zcopy, train->qp, train->response);
	return fault || *n ? fault : copy_frag(out, frags, n);
}

/* One complete packet, data at its IP header. */
static struct sk_buff *make(struct rover_train *train,
			    struct rover_outgoing *out, enum rover_fault *fault)
{
	const struct rover_path *path = train->path;
	unsigned int payload = out->len + rover_pad(out->len) + ROVER_ICRC_SIZE;
	unsigned int hdr = sizeof(struct rover_bth) + out->ext_len;
	struct rover_frag frags[MAX_FRAGS] __uninitialized;
	struct rover_zcopy zcopy = {};
	struct rover_bth *bth;
	struct sk_buff *skb;
	unsigned int n = 0;
	__le32 icrc;

	*fault = get_frags(train, out, frags, &n, &zcopy);
	if (*fault)
		return NULL;
	skb = rover_skb_alloc(ROVER_HEADROOM + path->hdr_len + hdr + (n ? 0 : payload));
	if (!skb)
		goto err_frags;
	skb_reserve(skb, ROVER_HEADROOM);
	put_headers(train, skb, hdr + payload);
	bth = skb_put(skb, hdr);
	put_transport(train, bth, out);
	train->seal = NULL;
	if (n) {
		train->seal = put_frags(skb, out, frags, n, &zcopy,
					sum(skb, path, bth, hdr + payload));
		if (!train->seal)
			goto err_skb;
		if (train->icrcs == ROVER_ICRC_COMPLETE || out->again)
			rover_trailer_close(skb);
	} else {
		*fault = put_copy(skb_put(skb, payload - ROVER_ICRC_SIZE), out);
		if (*fault)
			goto err_skb;
		icrc = rover_icrc_end(sum(skb, path, bth, hdr + payload));
		skb_put_data(skb, &icrc, sizeof(icrc));
	}
	return skb;

err_skb:
	kfree_skb(skb);
err_frags:
	put_frag_pages(frags, n);
	return NULL;
}

/*
 * A router looks at the first packet to see whether all of them fit: the others
 * may be longer by what their headers differ in, the FIRST of a message behind
 * the LAST of another, but not by more.
 */
static bool has_room(const struct rover_train *train,
		     const struct rover_outgoing *out)
{
	unsigned int len = packet_len(out);

	return len <= train->size + MORE &&
	       train->hdr_len + train->len + len <= IP_MAX_MTU;
}

/* Is there no room for another as long as the first? */
static bool is_full(const struct rover_train *train)
{
	return train->packets >= train->max ||
	       train->hdr_len + train->len + train->size > IP_MAX_MTU;
}

/* By so much what is behind its first packet, somewhere, has become longer. */
static void grow(struct sk_buff *head, unsigned int len)
{
	head->len += len;
	head->data_len += len;
}

static void couple(struct rover_train *train, struct sk_buff *skb)
{
	struct sk_buff *head = train->head;

	skb_pull(skb, train->hdr_len);
	if (train->icrcs == ROVER_ICRC_PARTIAL)
		skb_reset_network_header(skb);
	if (train->last == head)
		skb_shinfo(head)->frag_list = skb;
	else
		train->last->next = skb;
	grow(head, skb->len);
	head->truesize += skb->truesize;
	train->last = skb;
}

/* Blocks are for memory only: a train that has all its ICRCs is of packets. */
static bool may_block(const struct rover_train *train)
{
	return train->icrcs == ROVER_ICRC_PARTIAL ||
	       (train->icrcs == ROVER_ICRC_UNNECESSARY && train->last == train->head);
}

/*
 * May packets that follow go into the skb of this one?  Their headers then differ
 * from its own in their numbers, and in an opcode that says "more of the same".
 */
static void open_block(struct rover_train *train,
		       const struct rover_outgoing *out)
{
	u16 flags = rover_opcodes[out->opcode].flags;
	struct rover_trailer *seal = train->seal;

	if (!seal)
		return;
	if (!may_block(train) || !seal->zcopy.qpn || out->again ||
	    flags & ROVER_OP_END || rover_pad(out->len)) {
		train->seal = NULL;
		return;
	}
	seal->l3 = train->path->l3;
	/* In the order of the standard a MIDDLE follows its FIRST. */
	seal->next = flags & ROVER_OP_START ? out->opcode + 1 : out->opcode;
	train->piece = out->len;
	train->next = rover_psn_add(out->psn, 1);
}

/* Return false when it has to have an skb of its own. */
static bool into_block(struct rover_train *train, struct rover_outgoing *out,
		       enum rover_fault *fault)
{
	struct rover_trailer *seal = train->seal;

	if (!seal || out->opcode != seal->next || out->psn != train->next ||
	    out->len != train->piece || out->ext_len || out->flags ||
	    out->ackreq || out->again || out->data)
		return false;
	if (!rover_gso_long_add(train->last, seal, out->sgl, out->len, fault))
		return false;
	if (train->last != train->head) {
		grow(train->head, out->len);
		train->head->truesize += out->len;
	}
	train->next = rover_psn_add(train->next, 1);
	return true;
}

/* A block on the loopback device. */
static bool is_alone(const struct rover_train *train)
{
	return train->icrcs == ROVER_ICRC_UNNECESSARY && train->seal &&
	       train->seal->more;
}

/* No packet is added to it any more; it may be sent. */
static void close_bundle(struct rover_train *train)
{
	if (!train->bundle)
		return;
	rover_trailer_append(train->last, train->bundle, 0, 0, 0);
	grow(train->head, ROVER_ICRC_SIZE);
	train->bundle = NULL;
}

/* Does memory carry it, at least at first? */
static bool in_memory(struct rover_train *train)
{
	/* The first was whole, and not worth the question. */
	if (train->packets == 1 && train->icrcs == ROVER_ICRC_COMPLETE)
		train->icrcs = rover_gso_segment_icrc_state(train->path, !train->copy);
	return train->icrcs != ROVER_ICRC_COMPLETE;
}

/*
 * May this one, small and a message of its own, share an skb with others?  Not the
 * first, which may be the only one; nor what is sent again, since it is lost where
 * somebody unforeseen takes a bundle for a packet.
 */
static bool may_bundle(struct rover_train *train,
		       const struct rover_outgoing *out)
{
	u16 whole = ROVER_OP_START | ROVER_OP_END;

	if (!train->head || train->max == 1 || out->again ||
	    in_frags(train, out) || is_alone(train) ||
	    (rover_opcodes[out->opcode].flags & whole) != whole)
		return false;
	return in_memory(train);
}

/* From BTH to pad. */
static inline enum rover_fault put_record(const struct rover_train *train,
					  struct rover_bth *bth,
					  const struct rover_outgoing *out)
{
	put_transport(train, bth, out);
	return put_copy((void *)(bth + 1) + out->ext_len, out);
}

/* Return false when there is no room, or with a fault. */
static bool add_record(struct rover_train *train, struct rover_outgoing *out,
		       enum rover_fault *fault)
{
	unsigned int len = packet_len(out);
	struct sk_buff *skb = train->last;
	struct rover_gap *gap;

	if (!train->bundle || skb_tailroom(skb) < len)
		return false;
	/* The gap takes the place that the ICRC of the packet before it would have. */
	gap = skb_put(skb, len);
	gap->len = len - sizeof(*gap);
	gap->sport = train->path->udp.source;
	*fault = put_record(train, (void *)(gap + 1), out);
	if (*fault) {
		skb_trim(skb, skb->len - len);
		return false;
	}
	grow(train->head, len);
	train->bundle->more++;
	return true;
}

/*
 * A page has room for most trains.  On the loopback device it is no longer than a
 * packet may be: somebody there may take it for one.
 */
static unsigned int bundle_size(const struct rover_train *train)
{
	unsigned int page = SKB_WITH_OVERHEAD(PAGE_SIZE);

	if (train->icrcs != ROVER_ICRC_UNNECESSARY)
		return page;
	return min(page, ROVER_HEADROOM + train->hdr_len + ROVER_MAX_HDR +
			 train->qp->mtu);
}

/* Return false without memory, or with a fault. */
static bool open_bundle(struct rover_train *train, struct rover_outgoing *out,
			enum rover_fault *fault)
{
	struct rover_trailer *seal;
	struct sk_buff *skb;

	skb = rover_skb_alloc(bundle_size(train));
	if (!skb)
		return false;
	seal = rover_trailer_get();
	if (!seal)
		goto err_skb;
	skb_reserve(skb, ROVER_HEADROOM);
	put_headers(train, skb, packet_len(out));
	*fault = put_record(train, skb_put(skb, packet_len(out) - ROVER_ICRC_SIZE),
			    out);
	if (*fault)
		goto err_seal;
	close_bundle(train);
	couple(train, skb);
	rover_gso_small_begin(seal, skb, train->path->l3);
	train->bundle = seal;
	train->seal = NULL;
	return true;

err_seal:
	rover_trailer_drop(seal);
err_skb:
	kfree_skb(skb);
	return false;
}

/* Return false when it has to have an skb of its own. */
static bool into_bundle(struct rover_train *train, struct rover_outgoing *out,
			enum rover_fault *fault)
{
	if (!may_bundle(train, out))
		return false;
	return add_record(train, out, fault) ||
	       (!*fault && open_bundle(train, out, fault));
}

/*
 * Must this packet, which is in no block, be in another train?  A stack that takes
 * apart what is on the loopback device does not ask us.  So what it is given there
 * is either packets that are complete but for their ICRC, or one block: of that it
 * makes pieces no longer than our packets, none of which is one.
 */
static bool must_part(const struct rover_train *train,
		      const struct rover_outgoing *out)
{
	return is_alone(train) ||
	       (train->icrcs == ROVER_ICRC_UNNECESSARY && !out->again &&
		out->middles >= BLOCK_ALONE);
}

/*
 * What the way of this packet, the first, wants of it and of those behind it.  None
 * is much longer than the first: behind a short one all are copied whole.
 */
static void look_ahead(struct rover_train *train,
		       const struct rover_outgoing *out)
{
	train->icrcs = ROVER_ICRC_COMPLETE;
	train->flat = false;
	if (!in_frags(train, out))
		return;
	if (train->max > 1)
		train->icrcs = rover_gso_segment_icrc_state(train->path, !train->copy);
	if (train->icrcs == ROVER_ICRC_COMPLETE)
		train->flat = !rover_nettx_gathers(train->path);
}

/* Return false without memory, or with a fault. */
static bool couple_new(struct rover_train *train, struct rover_outgoing *out,
		       enum rover_fault *fault)
{
	struct sk_buff *skb;

	if (must_part(train, out))
		rover_train_send(train);
	if (!train->head)
		look_ahead(train, out);
	skb = make(train, out, fault);
	if (!skb)
		return false;
	if (train->head) {
		close_bundle(train);
		couple(train, skb);
	} else {
		train->head = skb;
		train->last = skb;
		train->size = skb->len - train->hdr_len;
	}
	open_block(train, out);
	return true;
}

int rover_train_add(struct rover_train *train, struct rover_outgoing *out,
		    enum rover_fault *fault)
{
	unsigned int len = packet_len(out);
	bool added;

	*fault = ROVER_OK;
	if (!has_room(train, out))
		rover_train_send(train);
	added = into_block(train, out, fault) ||
		(!*fault && into_bundle(train, out, fault)) ||
		(!*fault && couple_new(train, out, fault));
	if (*fault)
		return -EFAULT;
	if (!added) {
		rover_count(train->qp->dev, ROVER_STAT_TX_DROP_NOMEM);
		return -ENOMEM;
	}
	(*train->ip_id)++;
	if (train->packets == train->others)
		train->psn = out->psn;
	train->len += len;
	train->packets++;
	/* Now: between trains is where callers see whether they may go on. */
	if (is_full(train))
		rover_train_send(train);
	return 0;
}

/* Tell the stack that this skb is a train. */
static void make_gso(struct rover_train *train)
{
	struct sk_buff *head = train->head;
	struct skb_shared_info *info = skb_shinfo(head);

	/* As long as it is here, where blocks have fewer headers than packets. */
	udp_hdr(head)->len = cpu_to_be16(head->len - skb_transport_offset(head));
	info->gso_size = train->size;
	info->gso_segs = train->packets;
	info->gso_type = SKB_GSO_UDP_L4;
	if (!is_alone(train))
		info->gso_type |= SKB_GSO_FRAGLIST;
	if (train->icrcs == ROVER_ICRC_PARTIAL)
		rover_gso_segment_mark(head, train->hdr_len);
	else if (!is_alone(train))
		info->gso_type |= SKB_GSO_TCP_FIXEDID;
	/*
	 * "Unnecessary" because RoCEv2 sends no checksums: to ask hardware for
	 * one would break the ICRC's assumption of a constant header.
	 */
	head->ip_summed = CHECKSUM_UNNECESSARY;
	rover_count(train->qp->dev, ROVER_STAT_TX_TRAINS);
}

/* Waiting ********************************************************************/

bool rover_train_may_wait(struct rover_train *train)
{
	return train->head && train->hdr_len + train->size + MORE <=
			      ROVER_BULK / ROVER_TRAIN_MAX && in_memory(train);
}

void rover_train_resume(struct rover_train *train, struct rover_train *waiting)
{
	train->icrcs = waiting->icrcs;
	train->head = waiting->head;
	train->last = waiting->last;
	train->bundle = waiting->bundle;
	train->packets = waiting->packets;
	train->others = waiting->packets;
	train->size = waiting->size;
	train->len = waiting->len;
	waiting->head = NULL;
}

void rover_train_trace(const struct rover_train *train)
{
	if (train->packets != train->others)
		trace_rover_tx_train(train->qp->obj.key, train->psn,
				     train->packets - train->others);
}

void rover_train_send(struct rover_train *train)
{
	struct sk_buff *skb = train->head;
	unsigned int packets = train->packets, len = train->len;

	if (!skb)
		return;
	close_bundle(train);
	if (packets > 1)
		make_gso(train);
	else if (train->icrcs == ROVER_ICRC_PARTIAL)
		rover_trailer_close_late(skb);
	rover_train_trace(train);
	train->head = NULL;
	train->last = NULL;
	train->seal = NULL;
	train->packets = 0;
	train->others = 0;
	train->len = 0;
	rover_nettx_send(train->qp, train->path, skb, packets,
			 len + packets * train->hdr_len);
}
