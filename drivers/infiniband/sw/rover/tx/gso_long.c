// SPDX-License-Identifier: GPL-2.0
/*
 * gso_long - several packets of a long message in one skb
 *
 * Clones of a train share members and trailers: splitting only reads them.
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "tx/gso_long.h"
#include "tx/gso_small.h"
#include "wire/icrc.h"
#include "wire/psn.h"

bool rover_gso_long_add(struct sk_buff *skb, struct rover_trailer *trailer,
			struct rover_sgl *sgl, u32 len, enum rover_fault *fault)
{
	struct rover_frag frags[MAX_SKB_FRAGS] __uninitialized;
	struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int last = info->nr_frags - 2, n = 1, i;
	skb_frag_t trailer_frag = info->frags[last + 1];

	/* The last payload fragment may grow; the trailer needs one, too. */
	frags[0] = (struct rover_frag) {
		.page = skb_frag_page(&info->frags[last]),
		.offset = skb_frag_off(&info->frags[last]),
		.len = skb_frag_size(&info->frags[last]),
	};
	*fault = rover_sgl_frags(sgl, len, frags, MAX_SKB_FRAGS - 1 - last, &n,
				 &trailer->zcopy.key);
	if (*fault || !n)
		return false;
	for (i = 0; i < n; i++)
		skb_fill_page_desc(skb, last + i, frags[i].page,
				   frags[i].offset, frags[i].len);
	info->frags[last + n] = trailer_frag;
	info->nr_frags = last + n + 1;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
	trailer->extra++;
	return true;
}

struct gso_long_list {
	struct sk_buff *first;
	struct sk_buff **tail;
	unsigned int len;
	unsigned int truesize;
};

static void gso_long_append(struct gso_long_list *list, struct sk_buff *skb)
{
	*list->tail = skb;
	list->tail = &skb->next;
	list->len += skb->len;
	list->truesize += skb->truesize;
}

static const struct rover_trailer *gso_long_trailer(const struct sk_buff *skb)
{
	return rover_gso_long_is(skb) ? rover_trailer_last(skb) : NULL;
}

static u32 gso_long_payload(const struct sk_buff *long_skb,
			    const struct rover_trailer *trailer)
{
	u32 len = skb_pagelen(long_skb) - skb_headlen(long_skb) -
		  ROVER_ICRC_SIZE;

	rover_gso_long_first_payload(trailer, &len);
	return len;
}

static unsigned int gso_long_ref_frags(struct sk_buff *skb,
				       const struct sk_buff *long_skb, u32 from,
				       u32 len)
{
	const struct skb_shared_info *info = skb_shinfo(long_skb);
	unsigned int i, n = 0;

	for (i = 0; len && i < info->nr_frags; i++) {
		const skb_frag_t *frag = &info->frags[i];
		u32 size = skb_frag_size(frag), chunk;

		if (from >= size) {
			from -= size;
			continue;
		}
		chunk = min(len, size - from);
		skb_fill_page_desc(skb, n, skb_frag_page(frag),
				   skb_frag_off(frag) + from, chunk);
		get_page(skb_frag_page(frag));
		n++;
		len -= chunk;
		from = 0;
	}
	return n;
}

static u32 gso_long_sum_headers(const void *ip, unsigned int own,
				const struct rover_trailer *trailer,
				u32 payload)
{
	const struct rover_bth *bth = ip + rover_l3_len(trailer->l3);

	return rover_icrc_begin(trailer->l3, ip,
				(const void *)bth - sizeof(struct udphdr), bth,
				own, own + payload + ROVER_ICRC_SIZE);
}

/* Nonzero if headers were changed since they were summed. */
static u32 gso_long_headers_diff(const struct sk_buff *long_skb,
				 const struct rover_trailer *trailer)
{
	return trailer->header_crc ^
	       gso_long_sum_headers(long_skb->data - rover_l3_len(trailer->l3),
				    skb_headlen(long_skb), trailer,
				    gso_long_payload(long_skb, trailer));
}

/* Make the first packet's headers, at IP, those of packet @i. */
static void gso_long_set_headers(struct sk_buff *skb,
				 const struct rover_trailer *trailer,
				 unsigned int i)
{
	struct rover_bth *bth = (void *)skb->data + rover_l3_len(trailer->l3);
	u32 psn = rover_psn_add(rover_bth_psn(bth), i);
	struct iphdr *ip = (void *)skb->data;

	bth->opcode = trailer->next_opcode;
	bth->flags &= ~ROVER_BTH_SE;
	bth->psn = cpu_to_be32(psn);
	if (trailer->l3 == ROVER_L3_IPV4)
		ip->id = cpu_to_be16(be16_to_cpu(ip->id) + i);
}

/* If headers were changed, the ICRC is made wrong. */
static struct sk_buff *gso_long_cut(const struct sk_buff *long_skb,
				    const struct rover_trailer *trailer,
				    unsigned int i)
{
	unsigned int own = i ? sizeof(struct rover_bth) : skb_headlen(long_skb);
	unsigned int hdr = rover_l3_len(trailer->l3), n;
	u32 payload = gso_long_payload(long_skb, trailer);
	struct rover_trailer *new_trailer = rover_trailer_get();
	struct sk_buff *skb;

	skb = alloc_skb(ROVER_HEADROOM + hdr + own, GFP_ATOMIC);
	if (!skb || !new_trailer)
		goto err;
	skb_reserve(skb, ROVER_HEADROOM);
	skb_put_data(skb, long_skb->data - hdr, hdr + own);
	skb_set_transport_header(skb, hdr - (int)sizeof(struct udphdr));
	if (i)
		gso_long_set_headers(skb, trailer, i);
	new_trailer->l3 = trailer->l3;
	new_trailer->zcopy = trailer->zcopy;
	new_trailer->header_crc =
		gso_long_sum_headers(skb->data, own, trailer, payload) ^
		gso_long_headers_diff(long_skb, trailer);
	n = gso_long_ref_frags(skb, long_skb, i * payload, payload);
	rover_trailer_append(skb, new_trailer, n, payload, 0);
	skb_pull(skb, hdr);
	skb_reset_network_header(skb);
	return skb;
err:
	rover_trailer_drop(new_trailer);
	kfree_skb(skb);
	return NULL;
}

static bool gso_long_cut_all(struct gso_long_list *list,
			     const struct sk_buff *long_skb,
			     const struct rover_trailer *trailer,
			     unsigned int i)
{
	for (; i <= trailer->extra; i++) {
		struct sk_buff *skb = gso_long_cut(long_skb, trailer, i);

		if (!skb)
			return false;
		gso_long_append(list, skb);
	}
	return true;
}

/* Keep the first packet, with a new trailer: clones share the old one. */
static bool gso_long_trim(struct sk_buff *head,
			  const struct rover_trailer *trailer)
{
	u32 len = gso_long_payload(head, trailer), left = len, removed = 0;
	struct skb_shared_info *info = skb_shinfo(head);
	struct rover_trailer *new_trailer = rover_trailer_get();
	unsigned int i, n = 0;

	if (!new_trailer)
		return false;
	new_trailer->l3 = trailer->l3;
	new_trailer->zcopy = trailer->zcopy;
	new_trailer->header_crc = trailer->header_crc;
	for (i = 0; i < info->nr_frags; i++) {
		u32 size = skb_frag_size(&info->frags[i]), keep = min(size, left);

		removed += size;
		left -= keep;
		if (keep)
			skb_frag_size_set(&info->frags[n++], keep);
		else
			put_page(skb_frag_page(&info->frags[i]));
	}
	head->len -= removed;
	head->data_len -= removed;
	head->truesize -= removed;
	rover_trailer_append(head, new_trailer, n, len, 0);
	return true;
}

static bool gso_long_cut_small(struct gso_long_list *list,
			       const struct sk_buff *small_skb,
			       const struct rover_trailer *trailer)
{
	struct rover_small_packet small = {};

	while (rover_gso_small_next(small_skb, trailer, &small)) {
		struct sk_buff *skb =
			rover_gso_small_cut(small_skb, trailer, &small);

		if (!skb)
			return false;
		gso_long_append(list, skb);
	}
	return true;
}

/* Return a clone if clones of the head share the member. */
static struct sk_buff *gso_long_unshare(struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (!skb_shared(skb))
		return skb;
	copy = skb_clone(skb, GFP_ATOMIC);
	/* The stack will write its headers. */
	if (!copy || skb_unclone(copy, GFP_ATOMIC)) {
		kfree_skb(copy);
		return NULL;
	}
	consume_skb(skb);
	return copy;
}

static bool gso_long_move(struct gso_long_list *list, struct sk_buff *skb)
{
	const struct rover_trailer *small_trailer = rover_gso_small_trailer(skb);
	const struct rover_trailer *long_trailer = gso_long_trailer(skb);

	if (!small_trailer && !long_trailer) {
		skb = gso_long_unshare(skb);
		if (!skb)
			return false;
		skb_reset_network_header(skb);
		gso_long_append(list, skb);
		return true;
	}
	if (small_trailer ? !gso_long_cut_small(list, skb, small_trailer) :
			    !gso_long_cut_all(list, skb, long_trailer, 0))
		return false;
	consume_skb(skb);
	return true;
}

static bool gso_long_is_split(const struct sk_buff *head)
{
	const struct sk_buff *skb;

	if (gso_long_trailer(head))
		return false;
	skb_walk_frags(head, skb)
		if (skb_network_offset(skb) || gso_long_trailer(skb) ||
		    rover_gso_small_trailer(skb))
			return false;
	return true;
}

int rover_gso_long_split(struct sk_buff *head)
{
	struct gso_long_list list = { .tail = &list.first };
	const struct rover_trailer *trailer;
	struct sk_buff *skb, *next;
	unsigned int len = 0, truesize = 0;
	bool good = true;

	if (gso_long_is_split(head))
		return 0;
	/* After this, clones of the head share its members only. */
	if (skb_unclone(head, GFP_ATOMIC))
		return -ENOMEM;
	trailer = gso_long_trailer(head);
	if (trailer)
		good = gso_long_cut_all(&list, head, trailer, 1) &&
		       gso_long_trim(head, trailer);
	for (skb = skb_shinfo(head)->frag_list; skb && good; skb = next) {
		next = skb->next;
		len += skb->len;
		truesize += skb->truesize;
		good = gso_long_move(&list, skb);
		if (!good)
			next = skb;
	}
	/* Each skb must be in the list once, even on failure. */
	*list.tail = skb;
	skb_shinfo(head)->frag_list = list.first;
	head->len += list.len - len;
	head->data_len += list.len - len;
	head->truesize += list.truesize - truesize;
	return good ? 0 : -ENOMEM;
}
