// SPDX-License-Identifier: GPL-2.0
/*
 * gso_long - several packets of a message in one skb
 *
 * Adding: under the queue pair's lock with softirqs off.  Spreading: wherever the
 * stack takes a train apart, softirqs off.  There the train may have clones, whose
 * members and seals are the same: of those nothing is written to.
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "tx/gso_long.h"
#include "tx/gso_small.h"
#include "wire/icrc.h"
#include "wire/psn.h"

/* Adding *********************************************************************/

bool rover_gso_long_add(struct sk_buff *skb, struct rover_trailer *seal,
		     struct rover_sgl *sgl, u32 len, enum rover_fault *fault)
{
	struct rover_frag frags[MAX_SKB_FRAGS] __uninitialized;
	struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int last = info->nr_frags - 2, n = 1, i;
	skb_frag_t end = info->frags[last + 1];

	/* The last piece of payload may grow; the seal needs room, too. */
	frags[0] = (struct rover_frag) {
		.page = skb_frag_page(&info->frags[last]),
		.offset = skb_frag_off(&info->frags[last]),
		.len = skb_frag_size(&info->frags[last]),
	};
	*fault = rover_sgl_frags(sgl, len, frags, MAX_SKB_FRAGS - 1 - last, &n,
				 &seal->zcopy.key);
	if (*fault || !n)
		return false;
	for (i = 0; i < n; i++)
		skb_fill_page_desc(skb, last + i, frags[i].page,
				   frags[i].offset, frags[i].len);
	info->frags[last + n] = end;
	info->nr_frags = last + n + 1;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
	seal->more++;
	return true;
}

/* Spreading ******************************************************************/

/* The packets behind the head, as far as there are any yet. */
struct chain {
	struct sk_buff *first;
	struct sk_buff **tail;
	unsigned int len;
	unsigned int truesize;
};

static void append(struct chain *chain, struct sk_buff *skb)
{
	*chain->tail = skb;
	chain->tail = &skb->next;
	chain->len += skb->len;
	chain->truesize += skb->truesize;
}

/* NULL for what is no block, and needs nothing done to it. */
static const struct rover_trailer *seal_of(const struct sk_buff *skb)
{
	return rover_gso_long_is(skb) ? rover_trailer_last(skb) : NULL;
}

static u32 payload_of(const struct sk_buff *block, const struct rover_trailer *seal)
{
	u32 len = skb_pagelen(block) - skb_headlen(block) - ROVER_ICRC_SIZE;

	rover_gso_long_first(seal, &len);
	return len;
}

/* References to @len bytes of payload, @from the first on.  Return the pieces. */
static unsigned int refer(struct sk_buff *skb, const struct sk_buff *block,
			  u32 from, u32 len)
{
	const struct skb_shared_info *info = skb_shinfo(block);
	unsigned int i, n = 0;

	for (i = 0; len && i < info->nr_frags; i++) {
		const skb_frag_t *frag = &info->frags[i];
		u32 size = skb_frag_size(frag), here;

		if (from >= size) {
			from -= size;
			continue;
		}
		here = min(len, size - from);
		skb_fill_page_desc(skb, n, skb_frag_page(frag),
				   skb_frag_off(frag) + from, here);
		get_page(skb_frag_page(frag));
		n++;
		len -= here;
		from = 0;
	}
	return n;
}

/* What the sum is before the payload: @ip and UDP, then @own bytes from the BTH on. */
static u32 sum_headers(const void *ip, unsigned int own,
		       const struct rover_trailer *seal, u32 payload)
{
	const struct rover_bth *bth = ip + rover_l3_len(seal->l3);

	return rover_icrc_begin(seal->l3, ip, (const void *)bth -
				sizeof(struct udphdr), bth, own,
				own + payload + ROVER_ICRC_SIZE);
}

/* How the sum of the block's headers differs from that of those which were sent. */
static u32 wrong_in(const struct sk_buff *block, const struct rover_trailer *seal)
{
	return seal->headers ^ sum_headers(block->data - rover_l3_len(seal->l3),
					   skb_headlen(block), seal,
					   payload_of(block, seal));
}

/* Number @i behind the first: data at the IP header, that of the first. */
static void dress(struct sk_buff *skb, const struct rover_trailer *seal,
		  unsigned int i)
{
	struct rover_bth *bth = (void *)skb->data + rover_l3_len(seal->l3);
	u32 psn = rover_psn_add(rover_bth_psn(bth), i);
	struct iphdr *ip = (void *)skb->data;

	bth->opcode = seal->next;
	bth->flags &= ~ROVER_BTH_SE;
	bth->psn = cpu_to_be32(psn);
	if (seal->l3 == ROVER_L3_IPV4)
		ip->id = cpu_to_be16(be16_to_cpu(ip->id) + i);
}

/*
 * Number @i, as an skb.  Where headers were altered since they were sealed, each
 * packet's ICRC is wrong then, as that of the first is.
 */
static struct sk_buff *cut(const struct sk_buff *block,
			   const struct rover_trailer *seal, unsigned int i)
{
	unsigned int own = i ? sizeof(struct rover_bth) : skb_headlen(block);
	unsigned int hdr = rover_l3_len(seal->l3), n;
	u32 payload = payload_of(block, seal);
	struct rover_trailer *end = rover_trailer_get();
	struct sk_buff *skb;

	skb = alloc_skb(ROVER_HEADROOM + hdr + own, GFP_ATOMIC);
	if (!skb || !end)
		goto err;
	skb_reserve(skb, ROVER_HEADROOM);
	skb_put_data(skb, block->data - hdr, hdr + own);
	skb_set_transport_header(skb, hdr - (int)sizeof(struct udphdr));
	if (i)
		dress(skb, seal, i);
	end->l3 = seal->l3;
	end->zcopy = seal->zcopy;
	end->headers = sum_headers(skb->data, own, seal, payload) ^
		       wrong_in(block, seal);
	n = refer(skb, block, i * payload, payload);
	rover_trailer_append(skb, end, n, payload, 0);
	skb_pull(skb, hdr);
	skb_reset_network_header(skb);
	return skb;
err:
	rover_trailer_drop(end);
	kfree_skb(skb);
	return NULL;
}

/* Packets @i and on. */
static bool cut_all(struct chain *chain, const struct sk_buff *block,
		    const struct rover_trailer *seal, unsigned int i)
{
	for (; i <= seal->more; i++) {
		struct sk_buff *skb = cut(block, seal, i);

		if (!skb)
			return false;
		append(chain, skb);
	}
	return true;
}

/* Leave the first packet, with a seal of its own: clones have the old one. */
static bool trim(struct sk_buff *head, const struct rover_trailer *seal)
{
	u32 len = payload_of(head, seal), left = len, gone = 0;
	struct skb_shared_info *info = skb_shinfo(head);
	struct rover_trailer *end = rover_trailer_get();
	unsigned int i, n = 0;

	if (!end)
		return false;
	end->l3 = seal->l3;
	end->zcopy = seal->zcopy;
	end->headers = seal->headers;
	for (i = 0; i < info->nr_frags; i++) {
		u32 size = skb_frag_size(&info->frags[i]), stays = min(size, left);

		gone += size;
		left -= stays;
		if (stays)
			skb_frag_size_set(&info->frags[n++], stays);
		else
			put_page(skb_frag_page(&info->frags[i]));
	}
	head->len -= gone;
	head->data_len -= gone;
	head->truesize -= gone;
	rover_trailer_append(head, end, n, len, 0);
	return true;
}

/* All packets of a bundle. */
static bool cut_bundle(struct chain *chain, const struct sk_buff *bundle,
		       const struct rover_trailer *seal)
{
	struct rover_record record = {};

	while (rover_gso_small_next(bundle, seal, &record)) {
		struct sk_buff *skb = rover_gso_small_cut(bundle, seal, &record);

		if (!skb)
			return false;
		append(chain, skb);
	}
	return true;
}

/* A member as it is, or where clones of the head have it, too, one like it. */
static struct sk_buff *unshared(struct sk_buff *skb)
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

static bool move_on(struct chain *chain, struct sk_buff *skb)
{
	const struct rover_trailer *bundle = rover_gso_small_seal(skb);
	const struct rover_trailer *block = seal_of(skb);

	if (!bundle && !block) {
		skb = unshared(skb);
		if (!skb)
			return false;
		skb_reset_network_header(skb);
		append(chain, skb);
		return true;
	}
	if (bundle ? !cut_bundle(chain, skb, bundle) :
		     !cut_all(chain, skb, block, 0))
		return false;
	consume_skb(skb);
	return true;
}

/* Is it a train of packets, with their network headers where they should be? */
static bool is_spread(const struct sk_buff *head)
{
	const struct sk_buff *skb;

	if (seal_of(head))
		return false;
	skb_walk_frags(head, skb)
		if (skb_network_offset(skb) || seal_of(skb) ||
		    rover_gso_small_seal(skb))
			return false;
	return true;
}

int rover_gso_long_spread(struct sk_buff *head)
{
	struct chain chain = { .tail = &chain.first };
	const struct rover_trailer *seal;
	struct sk_buff *skb, *next;
	unsigned int len = 0, truesize = 0;
	bool good = true;

	if (is_spread(head))
		return 0;
	/* A copy of what it refers to; the members are both's then. */
	if (skb_unclone(head, GFP_ATOMIC))
		return -ENOMEM;
	seal = seal_of(head);
	if (seal)
		good = cut_all(&chain, head, seal, 1) && trim(head, seal);
	for (skb = skb_shinfo(head)->frag_list; skb && good; skb = next) {
		next = skb->next;
		len += skb->len;
		truesize += skb->truesize;
		good = move_on(&chain, skb);
		if (!good)
			next = skb;
	}
	/* Whatever happened, each is in the list once. */
	*chain.tail = skb;
	skb_shinfo(head)->frag_list = chain.first;
	head->len += chain.len - len;
	head->data_len += chain.len - len;
	head->truesize += chain.truesize - truesize;
	return good ? 0 : -ENOMEM;
}
