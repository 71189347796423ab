// SPDX-License-Identifier: GPL-2.0
/*
 * rocev1 - RoCE v1: packets that are frames of an EtherType of their own
 *
 * What IP and UDP look after for RoCE v2 is looked after here: that the frame is
 * for this host, that its GRH is one, and where the packet ends, for Ethernet
 * fills short frames up.  Whom it is for is not asked here: a connection knows
 * its peer's address and its own, a datagram is for an address of its device or
 * for a group, and each of them looks at that (netrx, datagram).
 *
 * Softirq, under rcu_read_lock().
 */
#include <linux/ipv6.h>
#include <linux/skbuff.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "rx/ingress.h"
#include "rx/rocev1.h"
#include "wire/wire.h"

/* No drop. */
#define GOOD	ROVER_STAT_COUNT

/* Return what is wrong with it, or GOOD: then it ends where its GRH says. */
static enum rover_stat prove(struct sk_buff *skb)
{
	const struct ipv6hdr *grh;
	unsigned int len;

	/* Nobody makes trains of these. */
	if (skb_is_gso(skb))
		return ROVER_STAT_DROP_GSO;
	if (!pskb_may_pull(skb, sizeof(*grh)))
		return ROVER_STAT_DROP_SHORT;
	grh = (const void *)skb->data;
	if (grh->version != 6 || grh->nexthdr != ROVER_GRH_NEXT)
		return ROVER_STAT_DROP_GRH;
	len = sizeof(*grh) + be16_to_cpu(grh->payload_len);
	if (len > skb->len || pskb_trim_rcsum(skb, len))
		return ROVER_STAT_DROP_LENGTH;
	return GOOD;
}

static void drop(struct rover_dev *dev, struct sk_buff *skb, enum rover_stat why)
{
	rover_drop(dev ? dev->stats : NULL, why, 0, 0, 0);
	kfree_skb(skb);
}

void rover_rocev1_receive(struct rover_net *rnet, struct sk_buff *skb)
{
	enum rover_stat why;

	/* Another host's, on a promiscuous interface; or no device here. */
	if (list_empty(&rnet->devs) || skb->pkt_type == PACKET_OTHERHOST) {
		kfree_skb(skb);
		return;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return;
	why = prove(skb);
	if (why != GOOD) {
		drop(rover_ingress_device(rnet, skb), skb, why);
		return;
	}
	/* The sender, if it is on this host, may send the next one. */
	skb_orphan(skb);
	skb_reset_network_header(skb);
	__skb_pull(skb, sizeof(struct ipv6hdr));
	skb_reset_transport_header(skb);
	rover_ingress_packet(rnet, skb);
}
