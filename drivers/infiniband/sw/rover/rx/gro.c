// SPDX-License-Identifier: GPL-2.0
/*
 * gro - build trains from packets that a NIC received one by one
 *
 * Packets of a flow that arrive together pass routing, netfilter and UDP as one
 * train. AckReq ends it: waiting would add to the round trip.
 *
 * NAPI softirq, under rcu_read_lock().
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <net/gro.h>

#include "rx/gro.h"
#include "tx/train.h"
#include "wire/wire.h"

/* Couple @skb to @p, as skb_gro_receive_list() does. */
static bool gro_couple_packet(struct sk_buff *p, struct sk_buff *skb)
{
	/* @flush marks packets not to merge, e.g. trains. */
	if (unlikely(p->len + skb->len >= 65536) || NAPI_GRO_CB(skb)->flush ||
	    NAPI_GRO_CB(p)->count >= ROVER_TRAIN_MAX)
		return false;
	if (!pskb_may_pull(skb, skb_gro_offset(skb)))
		return false;

	if (NAPI_GRO_CB(p)->last == p)
		skb_shinfo(p)->frag_list = skb;
	else
		NAPI_GRO_CB(p)->last->next = skb;
	skb_pull(skb, skb_gro_offset(skb));
	NAPI_GRO_CB(p)->last = skb;
	NAPI_GRO_CB(p)->count++;
	p->data_len += skb->len;
	p->truesize += skb->truesize;
	p->len += skb->len;
	NAPI_GRO_CB(skb)->same_flow = 1;
	return true;
}

static const struct rover_bth *gro_get_bth(struct sk_buff *skb)
{
	unsigned int off = skb_gro_offset(skb);

	return skb_gro_header(skb, off + sizeof(struct rover_bth), off);
}

/* IPv4: DF only, as segments of a forwarded train keep their own IDs. */
static bool gro_may_merge(const struct sk_buff *skb,
			  const struct rover_bth *bth)
{
	const struct iphdr *ip = (const void *)bth - sizeof(struct udphdr) -
				 sizeof(*ip);

	if (skb->protocol != cpu_to_be16(ETH_P_IP))
		return true;
	return ip->frag_off == cpu_to_be16(IP_DF);
}

static struct sk_buff *gro_find_flow(struct list_head *head)
{
	struct sk_buff *p;

	list_for_each_entry(p, head, list)
		if (NAPI_GRO_CB(p)->same_flow)
			return p;
	return NULL;
}

struct sk_buff *rover_gro_receive(struct sock *sk, struct list_head *head,
				  struct sk_buff *skb)
{
	const struct rover_bth *bth = gro_get_bth(skb);
	int off = skb_gro_offset(skb);
	struct sk_buff *p;
	bool last;

	if (!bth || !gro_may_merge(skb, bth)) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	last = rover_bth_ackreq(bth);
	p = gro_find_flow(head);
	if (!p) {
		NAPI_GRO_CB(skb)->flush |= last;
		return NULL;
	}
	/* gso_size is the first packet's size: no other may be larger. */
	if (skb->len - off >
	    be16_to_cpu(udp_hdr(p)->len) - sizeof(struct udphdr) ||
	    !gro_couple_packet(p, skb)) {
		NAPI_GRO_CB(skb)->flush |= last;
		NAPI_GRO_CB(p)->same_flow = 0;
		return p;
	}
	return last ? p : NULL;
}

int rover_gro_complete(struct sock *sk, struct sk_buff *skb, int nhoff)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	/* The core assumes a tunnel; there is no inner packet. */
	skb->encapsulation = 0;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	info->gso_size = skb_pagelen(skb) - nhoff;
	info->gso_segs = NAPI_GRO_CB(skb)->count;
	info->gso_type = SKB_GSO_FRAGLIST | SKB_GSO_UDP_L4 |
			 SKB_GSO_UDP_TUNNEL | SKB_GSO_TCP_FIXEDID;
	return 0;
}
