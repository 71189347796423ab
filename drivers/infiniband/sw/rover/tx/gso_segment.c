// SPDX-License-Identifier: GPL-2.0
/*
 * gso_segment - ICRCs of trains that the stack segments
 *
 * In this kernel trailers validate the headers, so trains start without ICRCs.
 * These are written when the stack segments a train, e.g. for a hardware
 * netdev. It calls us, as the train is marked as a tunnel's with our inner
 * protocol: an experimental number (RFC 3692), never on the wire (decision
 * 0013).
 *
 * The loopback device cannot carry marked trains. As its packets return to this
 * host unless tc redirects them, first transmissions have no ICRC there, if
 * losses are retransmitted and few (decision 0026).
 *
 * Softirqs off, under rcu_read_lock(). The skb may be made by others.
 */
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/protocol.h>

#include "rx/nf_input.h"
#include "tx/gso_long.h"
#include "tx/gso_segment.h"
#include "tx/trailer.h"

#define INNER_PROTOCOL	253

/* Features of netdevs that carry trains whole: unmarked, and marked. */
#define TRAIN_FEATURES		(NETIF_F_GSO_FRAGLIST | NETIF_F_GSO_UDP_L4)
#define TUNNEL_TRAIN_FEATURES	(TRAIN_FEATURES | NETIF_F_GSO_UDP_TUNNEL)

static bool gso_segment_v4, gso_segment_v6;

static enum rover_icrc_state
gso_segment_dev_icrc_state(const struct net_device *dev,
			   const struct rover_path *path, bool retransmits)
{
	bool segmentable = path->l3 == ROVER_L3_IPV6 ? gso_segment_v6 :
						       gso_segment_v4;

	/* Without SG a netdev carries no train whole. */
	if (!(dev->features & NETIF_F_SG))
		return ROVER_ICRC_COMPLETE;
	if (segmentable && (dev->features & dev->hw_enc_features &
			    TUNNEL_TRAIN_FEATURES) == TUNNEL_TRAIN_FEATURES)
		return ROVER_ICRC_PARTIAL;
	if (dev->flags & IFF_LOOPBACK && retransmits &&
	    rover_path_reliable(path) &&
	    (dev->features & TRAIN_FEATURES) == TRAIN_FEATURES &&
	    ROVER_NF_INPUT)
		return ROVER_ICRC_UNNECESSARY;
	return ROVER_ICRC_COMPLETE;
}

enum rover_icrc_state rover_gso_segment_icrc_state(struct rover_path *path,
						   bool retransmits)
{
	enum rover_icrc_state icrc_state = ROVER_ICRC_COMPLETE;
	const struct dst_entry *dst;

	rcu_read_lock();
	dst = rover_path_dst(path);
	if (!IS_ERR(dst))
		icrc_state = gso_segment_dev_icrc_state(dst->dev, path,
							retransmits);
	rcu_read_unlock();
	return icrc_state;
}

void rover_gso_segment_mark(struct sk_buff *head, unsigned int hdr_len)
{
	skb_shinfo(head)->gso_type |= SKB_GSO_UDP_TUNNEL;
	head->encapsulation = 1;
	skb_set_inner_ipproto(head, INNER_PROTOCOL);
	skb_set_inner_mac_header(head, hdr_len);
	skb_set_inner_network_header(head, hdr_len);
	skb_set_inner_transport_header(head, hdr_len);
}

/* A packet with a trailer may lack its ICRC. */
static bool gso_segment_has_trailer(const struct sk_buff *head)
{
	const struct sk_buff *member;

	if (rover_trailer_last(head))
		return true;
	skb_walk_frags(head, member)
		if (rover_trailer_last(member))
			return true;
	return false;
}

void rover_gso_segment_prepare(struct sk_buff *skb)
{
	struct skb_shared_info *info = skb_shinfo(skb);

	if (info->gso_type & SKB_GSO_UDP_TUNNEL ||
	    !gso_segment_has_trailer(skb))
		return;
	info->gso_type |= SKB_GSO_FRAGLIST;
	info->gso_type &= ~SKB_GSO_TCP_FIXEDID;
	rover_gso_segment_mark(skb, skb_transport_offset(skb) +
			       sizeof(struct udphdr));
}

static __be16 *gso_segment_sport(struct sk_buff *skb)
{
	return &((struct udphdr *)skb->data - 1)->source;
}

/*
 * Data is behind the UDP header, in members, too. The stack copies the head's
 * headers to members: restore their UDP source ports (plug).
 */
static struct sk_buff *gso_segment_train(struct sk_buff *skb,
					 netdev_features_t features)
{
	__be16 sports[ROVER_TRAIN_MAX];
	struct sk_buff *member;
	unsigned int n = 0, i;

	if (!(skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST))
		return ERR_PTR(-EINVAL);
	if (rover_gso_long_split(skb))
		return ERR_PTR(-ENOMEM);
	rover_trailer_write_icrc_late(skb);
	skb_walk_frags(skb, member) {
		rover_trailer_write_icrc_late(member);
		if (n < ARRAY_SIZE(sports))
			sports[n++] = *gso_segment_sport(member);
	}
	skb = skb_segment_list(skb, features, 0);
	if (IS_ERR_OR_NULL(skb))
		return skb;
	for (member = skb->next, i = 0; member && i < n; member = member->next)
		*gso_segment_sport(member) = sports[i++];
	return skb;
}

static const struct net_offload gso_segment_offload = {
	.callbacks = { .gso_segment = gso_segment_train },
};

void rover_gso_segment_init(void)
{
	gso_segment_v4 =
		!inet_add_offload(&gso_segment_offload, INNER_PROTOCOL);
	gso_segment_v6 =
		!inet6_add_offload(&gso_segment_offload, INNER_PROTOCOL);
}

void rover_gso_segment_exit(void)
{
	if (gso_segment_v4)
		inet_del_offload(&gso_segment_offload, INNER_PROTOCOL);
	if (gso_segment_v6)
		inet6_del_offload(&gso_segment_offload, INNER_PROTOCOL);
}
