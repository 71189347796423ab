// SPDX-License-Identifier: GPL-2.0
/*
 * train - many packets in one trip through the stack
 *
 * A train is a head skb with members on its frag_list and gso_type FRAGLIST
 * (decision 0003). Members are final when appended: segmentation rewrites only
 * IP length and checksum, which the ICRC does not cover; FIXEDID keeps
 * identifications.
 *
 *	head    [ IP UDP BTH ext ] -> payload frags, trailer
 *	member  ( IP UDP )[ BTH ext ] -> payload frags, trailer
 *
 * ( ) is headroom. Payload frags are user pages, or a kernel copy if payload
 * may change (UD, UC) or the skb must not hold its memory. Small payload, or
 * any for a netdev without scatter-gather, is linear. In this kernel a train
 * has no ICRCs for payload frags (gso_segment), and packets share skbs
 * (gso_long, gso_small). RoCE v1 has no trains.
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "tx/gso_long.h"
#include "tx/gso_small.h"
#include "tx/nettx.h"
#include "tx/skb_alloc.h"
#include "tx/trailer.h"
#include "tx/train.h"
#include "wire/icrc.h"
#include "wire/psn.h"

/* Up to this size a copy is cheaper than references. */
#define COPY_MAX	512

#define MAX_FRAGS	(MAX_SKB_FRAGS - 1)

#define EXT_MAX		sizeof_field(struct rover_outgoing, ext)

/* On the loopback device fewer MIDDLEs are not worth a long GSO skb. */
#define LONE_LONG_MIDDLES	6

static unsigned int train_max_packets(const struct rover_path *path,
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
	train->max = train_max_packets(train->path, train->limit);
}

void rover_train_set_path(struct rover_train *train, struct rover_path *path,
			  u32 qpn)
{
	train->qpn = qpn;
	if (path == train->path)
		return;
	rover_train_send(train);
	train->path = path;
	train->hdr_len = path->hdr_len;
	train->max = train_max_packets(path, train->limit);
}

/* *@ip_id advances when the packet is added: IDs are consecutive. */
static void train_put_headers(struct rover_train *train, struct sk_buff *skb,
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
			skb_set_transport_header(skb, path->hdr_len);
			return;
		}
	}
	skb_set_transport_header(skb, path->hdr_len - sizeof(*udp));
	udp = skb_put(skb, sizeof(*udp));
	*udp = path->udp;
	udp->len = cpu_to_be16(sizeof(*udp) + len);
}

static unsigned int train_packet_len(const struct rover_outgoing *out)
{
	return sizeof(struct rover_bth) + out->ext_len + out->len +
	       rover_pad(out->len) + ROVER_ICRC_SIZE;
}

/* Inlined, like train_put_copy(): small packets would notice the call. */
static __always_inline void
train_put_transport(const struct rover_train *train, struct rover_bth *bth,
		    const struct rover_outgoing *out)
{
	bth->opcode = out->opcode;
	/* MigReq: the path is migrated, and never migrates again. */
	bth->flags = out->flags | ROVER_BTH_MIG |
		     FIELD_PREP(ROVER_BTH_PAD, rover_pad(out->len));
	bth->pkey = cpu_to_be16(ROVER_PKEY);
	bth->qpn = cpu_to_be32(train->qpn);
	bth->psn = cpu_to_be32(out->psn | (out->ackreq ? ROVER_BTH_ACKREQ : 0) |
			       (rover_transport_reliable(train->qp->transport) ?
				ROVER_BTH_SACK : 0));
	memcpy(bth + 1, out->ext, out->ext_len);
}

static struct rover_trailer *
train_put_frags(struct sk_buff *skb, const struct rover_outgoing *out,
		const struct rover_frag *frags, unsigned int n,
		const struct rover_zcopy *zcopy, u32 crc)
{
	struct rover_trailer *trailer = rover_trailer_get();
	unsigned int i;

	if (!trailer)
		return NULL;
	trailer->header_crc = crc;
	trailer->zcopy = *zcopy;
	for (i = 0; i < n; i++)
		skb_fill_page_desc(skb, i, frags[i].page, frags[i].offset,
				   frags[i].len);
	rover_trailer_append(skb, trailer, n, out->len, rover_pad(out->len));
	return trailer;
}

static __always_inline enum rover_fault
train_put_copy(void *p, const struct rover_outgoing *out)
{
	enum rover_fault fault = ROVER_OK;

	if (out->data)
		memcpy(p, out->data, out->len);
	else if (out->len)
		fault = rover_sgl_read(out->sgl, p, out->len);
	memset(p + out->len, 0, rover_pad(out->len));
	return fault;
}

/* Sum headers and the rest of the linear part. */
static u32 train_sum_headers(const struct sk_buff *skb,
			     const struct rover_path *path,
			     const struct rover_bth *bth, unsigned int len)
{
	unsigned int own = (const void *)skb_tail_pointer(skb) -
			   (const void *)bth;

	return rover_icrc_begin(path->l3, skb_network_header(skb), udp_hdr(skb),
				bth, own, len);
}

static void train_release_frags(const struct rover_frag *frags, unsigned int n)
{
	while (n--)
		put_page(frags[n].page);
}

static bool train_wants_frags(const struct rover_train *train,
			      const struct rover_outgoing *out)
{
	return out->len > COPY_MAX && !out->data && !train->linear;
}

/* Copies up to a page. @n stays 0 without memory. */
static enum rover_fault train_copy_to_frag(const struct rover_outgoing *out,
					   struct rover_frag *frag,
					   unsigned int *n)
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

/* @n stays 0 if payload has to be copied to the linear part. */
static enum rover_fault train_get_frags(const struct rover_train *train,
					const struct rover_outgoing *out,
					struct rover_frag *frags,
					unsigned int *n,
					struct rover_zcopy *zcopy)
{
	enum rover_fault fault = ROVER_OK;

	if (!train_wants_frags(train, out))
		return ROVER_OK;
	if (!train->must_copy)
		fault = rover_sgl_frags(out->sgl, out->len, frags, MAX_FRAGS, n,
					&zcopy->key);
	if (*n)
		rover_zcopy_set_owner(zcopy, train->qp, train->response);
	return fault || *n ? fault : train_copy_to_frag(out, frags, n);
}

static struct sk_buff *train_make_skb(struct rover_train *train,
				      struct rover_outgoing *out,
				      enum rover_fault *fault)
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

	*fault = train_get_frags(train, out, frags, &n, &zcopy);
	if (*fault)
		return NULL;
	skb = rover_skb_alloc(ROVER_HEADROOM + path->hdr_len + hdr + (n ? 0 : payload));
	if (!skb)
		goto err_frags;
	skb_reserve(skb, ROVER_HEADROOM);
	train_put_headers(train, skb, hdr + payload);
	bth = skb_put(skb, hdr);
	train_put_transport(train, bth, out);
	train->long_trailer = NULL;
	if (n) {
		train->long_trailer = train_put_frags(skb, out, frags, n, &zcopy,
						      train_sum_headers(skb, path, bth,
									hdr + payload));
		if (!train->long_trailer)
			goto err_skb;
		if (train->icrc_state == ROVER_ICRC_COMPLETE || out->retransmit)
			rover_trailer_write_icrc(skb);
	} else {
		*fault = train_put_copy(skb_put(skb, payload - ROVER_ICRC_SIZE),
					out);
		if (*fault)
			goto err_skb;
		icrc = rover_icrc_end(train_sum_headers(skb, path, bth,
							hdr + payload));
		skb_put_data(skb, &icrc, sizeof(icrc));
	}
	return skb;

err_skb:
	kfree_skb(skb);
err_frags:
	train_release_frags(frags, n);
	return NULL;
}

/*
 * Routers compare only the first packet with the MTU: others may be longer only
 * by extended headers.
 */
static bool train_has_room(const struct rover_train *train,
			   const struct rover_outgoing *out)
{
	unsigned int len = train_packet_len(out);

	return len <= train->size + EXT_MAX &&
	       train->hdr_len + train->len + len <= IP_MAX_MTU;
}

static bool train_is_full(const struct rover_train *train)
{
	return train->packets >= train->max ||
	       train->hdr_len + train->len + train->size > IP_MAX_MTU;
}

static void train_grow(struct sk_buff *head, unsigned int len)
{
	head->len += len;
	head->data_len += len;
}

static void train_append(struct rover_train *train, struct sk_buff *skb)
{
	struct sk_buff *head = train->head;

	skb_pull(skb, train->hdr_len);
	if (train->icrc_state == ROVER_ICRC_PARTIAL)
		skb_reset_network_header(skb);
	if (train->last == head)
		skb_shinfo(head)->frag_list = skb;
	else
		train->last->next = skb;
	train_grow(head, skb->len);
	head->truesize += skb->truesize;
	train->last = skb;
}

/* Only without ICRCs; on the loopback device only as the head. */
static bool train_may_open_long(const struct rover_train *train)
{
	return train->icrc_state == ROVER_ICRC_PARTIAL ||
	       (train->icrc_state == ROVER_ICRC_UNNECESSARY &&
		train->last == train->head);
}

static void train_open_long(struct rover_train *train,
			    const struct rover_outgoing *out)
{
	u16 flags = rover_opcodes[out->opcode].flags;
	struct rover_trailer *trailer = train->long_trailer;

	if (!trailer)
		return;
	if (!train_may_open_long(train) || !trailer->zcopy.qpn || out->retransmit ||
	    flags & ROVER_OP_END || rover_pad(out->len)) {
		train->long_trailer = NULL;
		return;
	}
	trailer->l3 = train->path->l3;
	/* In the standard a MIDDLE's opcode follows its FIRST's. */
	trailer->next_opcode = flags & ROVER_OP_START ? out->opcode + 1 :
							out->opcode;
	train->long_payload = out->len;
	train->long_next_psn = rover_psn_add(out->psn, 1);
}

static bool train_add_to_long(struct rover_train *train,
			      struct rover_outgoing *out,
			      enum rover_fault *fault)
{
	struct rover_trailer *trailer = train->long_trailer;

	if (!trailer || out->opcode != trailer->next_opcode ||
	    out->psn != train->long_next_psn ||
	    out->len != train->long_payload || out->ext_len || out->flags ||
	    out->ackreq || out->retransmit || out->data)
		return false;
	if (!rover_gso_long_add(train->last, trailer, out->sgl, out->len,
				fault))
		return false;
	if (train->last != train->head) {
		train_grow(train->head, out->len);
		train->head->truesize += out->len;
	}
	train->long_next_psn = rover_psn_add(train->long_next_psn, 1);
	return true;
}

/* Test for a long GSO skb on the loopback device. */
static bool train_is_lone_long(const struct rover_train *train)
{
	return train->icrc_state == ROVER_ICRC_UNNECESSARY &&
	       train->long_trailer && train->long_trailer->extra;
}

static void train_close_small(struct rover_train *train)
{
	if (!train->small_trailer)
		return;
	rover_trailer_append(train->last, train->small_trailer, 0, 0, 0);
	train_grow(train->head, ROVER_ICRC_SIZE);
	train->small_trailer = NULL;
}

/* Test whether the train stays in this kernel at first. */
static bool train_defers_icrcs(struct rover_train *train)
{
	/* Not known yet: the first packet was linear. */
	if (train->packets == 1 && train->icrc_state == ROVER_ICRC_COMPLETE)
		train->icrc_state =
			rover_gso_segment_icrc_state(train->path, !train->must_copy);
	return train->icrc_state != ROVER_ICRC_COMPLETE;
}

/*
 * Not the first packet, which may stay the only one. No retransmissions: a
 * small GSO skb is lost where it is taken for a packet.
 */
static bool train_may_use_small(struct rover_train *train,
				const struct rover_outgoing *out)
{
	u16 single = ROVER_OP_START | ROVER_OP_END;

	if (!train->head || train->max == 1 || out->retransmit ||
	    train_wants_frags(train, out) || train_is_lone_long(train) ||
	    (rover_opcodes[out->opcode].flags & single) != single)
		return false;
	return train_defers_icrcs(train);
}

static inline enum rover_fault train_put_small(const struct rover_train *train,
					       struct rover_bth *bth,
					       const struct rover_outgoing *out)
{
	train_put_transport(train, bth, out);
	return train_put_copy((void *)(bth + 1) + out->ext_len, out);
}

static bool train_append_small(struct rover_train *train,
			       struct rover_outgoing *out,
			       enum rover_fault *fault)
{
	unsigned int len = train_packet_len(out);
	struct sk_buff *skb = train->last;
	struct rover_small_gap *gap;

	if (!train->small_trailer || skb_tailroom(skb) < len)
		return false;
	gap = skb_put(skb, len);
	gap->len = len - sizeof(*gap);
	gap->sport = train->path->udp.source;
	*fault = train_put_small(train, (void *)(gap + 1), out);
	if (*fault) {
		skb_trim(skb, skb->len - len);
		return false;
	}
	train_grow(train->head, len);
	train->small_trailer->extra++;
	return true;
}

/*
 * A page, but on the loopback device no longer than a packet: the skb may be
 * taken for one.
 */
static unsigned int train_small_size(const struct rover_train *train)
{
	unsigned int page = SKB_WITH_OVERHEAD(PAGE_SIZE);

	if (train->icrc_state != ROVER_ICRC_UNNECESSARY)
		return page;
	return min(page, ROVER_HEADROOM + train->hdr_len + ROVER_MAX_HDR +
			 train->qp->mtu);
}

static bool train_open_small(struct rover_train *train,
			     struct rover_outgoing *out,
			     enum rover_fault *fault)
{
	struct rover_trailer *trailer;
	struct sk_buff *skb;

	skb = rover_skb_alloc(train_small_size(train));
	if (!skb)
		return false;
	trailer = rover_trailer_get();
	if (!trailer)
		goto err_skb;
	skb_reserve(skb, ROVER_HEADROOM);
	train_put_headers(train, skb, train_packet_len(out));
	*fault = train_put_small(train, skb_put(skb, train_packet_len(out) -
						     ROVER_ICRC_SIZE), out);
	if (*fault)
		goto err_trailer;
	train_close_small(train);
	train_append(train, skb);
	rover_gso_small_begin(trailer, skb, train->path->l3);
	train->small_trailer = trailer;
	train->long_trailer = NULL;
	return true;

err_trailer:
	rover_trailer_drop(trailer);
err_skb:
	kfree_skb(skb);
	return false;
}

static bool train_add_to_small(struct rover_train *train,
			       struct rover_outgoing *out,
			       enum rover_fault *fault)
{
	if (!train_may_use_small(train, out))
		return false;
	return train_append_small(train, out, fault) ||
	       (!*fault && train_open_small(train, out, fault));
}

/*
 * On the loopback device the stack may segment a train without calling us: it
 * must lack nothing but ICRCs, or be one long GSO skb, whose segments are lost.
 */
static bool train_must_send_first(const struct rover_train *train,
				  const struct rover_outgoing *out)
{
	return train_is_lone_long(train) ||
	       (train->icrc_state == ROVER_ICRC_UNNECESSARY && !out->retransmit &&
		out->middles >= LONE_LONG_MIDDLES);
}

/* The first packet decides: others are hardly longer. */
static void train_choose_mode(struct rover_train *train,
			      const struct rover_outgoing *out)
{
	train->icrc_state = ROVER_ICRC_COMPLETE;
	train->linear = false;
	if (!train_wants_frags(train, out))
		return;
	if (train->max > 1)
		train->icrc_state =
			rover_gso_segment_icrc_state(train->path, !train->must_copy);
	if (train->icrc_state == ROVER_ICRC_COMPLETE)
		train->linear = !rover_nettx_has_sg(train->path);
}

static bool train_add_skb(struct rover_train *train, struct rover_outgoing *out,
			  enum rover_fault *fault)
{
	struct sk_buff *skb;

	if (train_must_send_first(train, out))
		rover_train_send(train);
	if (!train->head)
		train_choose_mode(train, out);
	skb = train_make_skb(train, out, fault);
	if (!skb)
		return false;
	if (train->head) {
		train_close_small(train);
		train_append(train, skb);
	} else {
		train->head = skb;
		train->last = skb;
		train->size = skb->len - train->hdr_len;
	}
	train_open_long(train, out);
	return true;
}

int rover_train_add(struct rover_train *train, struct rover_outgoing *out,
		    enum rover_fault *fault)
{
	unsigned int len = train_packet_len(out);
	bool added;

	*fault = ROVER_OK;
	if (!train_has_room(train, out))
		rover_train_send(train);
	added = train_add_to_long(train, out, fault) ||
		(!*fault && train_add_to_small(train, out, fault)) ||
		(!*fault && train_add_skb(train, out, fault));
	if (*fault)
		return -EFAULT;
	if (!added) {
		rover_qp_drop(train->qp, ROVER_STAT_TX_DROP_NOMEM, out->opcode,
			      out->psn);
		return -ENOMEM;
	}
	(*train->ip_id)++;
	if (train->packets == train->shared_packets)
		train->psn = out->psn;
	train->len += len;
	train->packets++;
	/* Send now: callers check their limits between trains. */
	if (train_is_full(train))
		rover_train_send(train);
	return 0;
}

static void train_make_gso(struct rover_train *train)
{
	struct sk_buff *head = train->head;
	struct skb_shared_info *info = skb_shinfo(head);

	/* The length in this kernel: packets in an skb share headers. */
	udp_hdr(head)->len = cpu_to_be16(head->len - skb_transport_offset(head));
	info->gso_size = train->size;
	info->gso_segs = train->packets;
	info->gso_type = SKB_GSO_UDP_L4;
	if (!train_is_lone_long(train))
		info->gso_type |= SKB_GSO_FRAGLIST;
	if (train->icrc_state == ROVER_ICRC_PARTIAL)
		rover_gso_segment_mark(head, train->hdr_len);
	else if (!train_is_lone_long(train))
		info->gso_type |= SKB_GSO_TCP_FIXEDID;
	/* RoCE v2 has no UDP checksum: none must be filled in. */
	head->ip_summed = CHECKSUM_UNNECESSARY;
	rover_dev_count(train->qp->dev, ROVER_STAT_TX_TRAINS);
}

bool rover_train_may_share(struct rover_train *train)
{
	return train->head && train->hdr_len + train->size + EXT_MAX <=
			      ROVER_LONG_BYTES / ROVER_TRAIN_MAX &&
	       train_defers_icrcs(train);
}

void rover_train_take_over(struct rover_train *train, struct rover_train *waiting)
{
	train->icrc_state = waiting->icrc_state;
	train->head = waiting->head;
	train->last = waiting->last;
	train->small_trailer = waiting->small_trailer;
	train->packets = waiting->packets;
	train->shared_packets = waiting->packets;
	train->size = waiting->size;
	train->len = waiting->len;
	waiting->head = NULL;
}

void rover_train_trace(const struct rover_train *train)
{
	if (train->packets != train->shared_packets)
		trace_rover_tx_train(train->qp->obj.key, train->psn,
				     train->packets - train->shared_packets);
}

void rover_train_send(struct rover_train *train)
{
	struct sk_buff *skb = train->head;
	unsigned int packets = train->packets, len = train->len;

	if (!skb)
		return;
	train_close_small(train);
	if (packets > 1)
		train_make_gso(train);
	else if (train->icrc_state == ROVER_ICRC_PARTIAL)
		rover_trailer_write_icrc_late(skb);
	rover_train_trace(train);
	train->head = NULL;
	train->last = NULL;
	train->long_trailer = NULL;
	train->packets = 0;
	train->shared_packets = 0;
	train->len = 0;
	rover_nettx_send(train->qp, train->path, skb, packets,
			 len + packets * train->hdr_len);
}
