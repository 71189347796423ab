// SPDX-License-Identifier: GPL-2.0
/*
 * gro - trains out of packets that a NIC received one by one
 *
 * Packets of one flow that arrive together are coupled into the same kind of
 * train that train.c builds, so that routing, netfilter and UDP are passed
 * once.  A packet that asks for an answer ends its train: waiting would only
 * add to the round trip.
 *
 * NAPI softirq, under rcu_read_lock().
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <net/gro.h>

#include "rx/gro.h"
#include "tx/train.h"
#include "wire/wire.h"

/* Couple @skb to @p, as the core does for lists (skb_gro_receive_list). */
static bool couple(struct sk_buff *p, struct sk_buff *skb)
{
	/* Trains, for one, are to be left as they are. */
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

/* The BTH of the packet GRO is looking at; NULL when it is not all there. */
static const struct rover_bth *bth_of(struct sk_buff *skb)
{
	unsigned int off = skb_gro_offset(skb);

	return skb_gro_header(skb, off + sizeof(struct rover_bth), off);
}

/* A forwarded train is taken apart again with each packet's own id: DF only. */
static bool may_merge(const struct sk_buff *skb, const struct rover_bth *bth)
{
	const struct iphdr *ip = (const void *)bth - sizeof(struct udphdr) -
				 sizeof(*ip);

	if (skb->protocol != cpu_to_be16(ETH_P_IP))
		return true;
	return ip->frag_off == cpu_to_be16(IP_DF);
}

static struct sk_buff *same_flow(struct list_head *head)
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
	const struct rover_bth *bth = bth_of(skb);
	int off = skb_gro_offset(skb);
	struct sk_buff *p;
	bool last;

	if (!bth || !may_merge(skb, bth)) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	last = rover_bth_ackreq(bth);
	p = same_flow(head);
	if (!p) {
		NAPI_GRO_CB(skb)->flush |= last;
		return NULL;
	}
	/* None may be larger than the first: its size is the train's gso_size. */
	if (skb->len - off >
	    be16_to_cpu(udp_hdr(p)->len) - sizeof(struct udphdr) ||
	    !couple(p, skb)) {
		NAPI_GRO_CB(skb)->flush |= last;
		NAPI_GRO_CB(p)->same_flow = 0;
		return p;
	}
	return last ? p : NULL;
}

int rover_gro_complete(struct sock *sk, struct sk_buff *skb, int nhoff)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	/* The core took us for a tunnel; there is no inner packet. */
	skb->encapsulation = 0;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	info->gso_size = skb_pagelen(skb) - nhoff;
	info->gso_segs = NAPI_GRO_CB(skb)->count;
	info->gso_type = SKB_GSO_FRAGLIST | SKB_GSO_UDP_L4 |
			 SKB_GSO_UDP_TUNNEL | SKB_GSO_TCP_FIXEDID;
	return 0;
}
