// SPDX-License-Identifier: GPL-2.0
/*
 * rocev1 - receive RoCE v1 packets, frames of their own EtherType
 *
 * Checks what IP and UDP check for RoCE v2: destination host, GRH, and length,
 * as Ethernet pads short frames. netrx and ud check destination addresses.
 *
 * Softirq, under rcu_read_lock().
 */
#include <linux/ipv6.h>
#include <linux/skbuff.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "rx/rocev1.h"
#include "rx/steer.h"
#include "wire/wire.h"

#define ROCEV1_OK	ROVER_STAT_COUNT

/* Trim the skb to the GRH's length. */
static enum rover_stat rocev1_check(struct sk_buff *skb)
{
	const struct ipv6hdr *grh;
	unsigned int len;

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
	return ROCEV1_OK;
}

static void rocev1_drop(struct rover_dev *dev, struct sk_buff *skb,
			enum rover_stat why)
{
	rover_drop(dev ? dev->stats : NULL, why, 0, 0, 0);
	kfree_skb(skb);
}

void rover_rocev1_receive(struct rover_net *rnet, struct sk_buff *skb)
{
	enum rover_stat why;

	/* Without a device, or for another host (promiscuous mode). */
	if (list_empty(&rnet->devs) || skb->pkt_type == PACKET_OTHERHOST) {
		kfree_skb(skb);
		return;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return;
	why = rocev1_check(skb);
	if (why != ROCEV1_OK) {
		rocev1_drop(rover_steer_device(rnet, skb), skb, why);
		return;
	}
	/* Let a sender on this host send the next frame. */
	skb_orphan(skb);
	skb_reset_network_header(skb);
	__skb_pull(skb, sizeof(struct ipv6hdr));
	skb_reset_transport_header(skb);
	rover_steer_packet(rnet, skb);
}
