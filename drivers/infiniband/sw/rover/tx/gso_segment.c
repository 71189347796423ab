// SPDX-License-Identifier: GPL-2.0
/*
 * gso_segment - the ICRC of a train that leaves this kernel after all
 *
 * A train that memory carries all the way to its receiver needs no ICRC: seals
 * prove its headers (decision 0013).  Whether one does is known on the way only,
 * so it starts open, as TCP starts without its checksum, and its ICRCs are made
 * where the stack takes it apart: before a netdev that would not take it whole,
 * and wherever single packets are wanted (netem, IPsec, a queue to programs).
 *
 * The stack calls us there because a train is dressed as that of a tunnel: what
 * is behind its UDP header is of a protocol that is ours.  The number is one of
 * those for experiments (RFC 3692) and on no wire.
 *
 * The loopback device takes no tunnel's trains whole, so of one that goes there
 * nobody tells us.  But what it is given comes back to this host, unless somebody
 * sends it elsewhere (tc): for a peer there such a packet is a wrong one, like one
 * that the wire has altered, and lost.  So what goes to that device has none the
 * first time, where there is a second one, and unless too much is lost.  Whole
 * trains it takes, and they stay so (nf_input).
 *
 * Softirqs off, under rcu_read_lock(); what comes to segment() was perhaps not
 * made by us.
 */
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/protocol.h>

#include "rx/nf_input.h"
#include "tx/gso_long.h"
#include "tx/gso_segment.h"
#include "tx/trailer.h"

#define PROTOCOL	253

/* What a netdev must do itself for a train to pass it whole, marked or not. */
#define BARE	(NETIF_F_GSO_FRAGLIST | NETIF_F_GSO_UDP_L4)
#define WHOLE	(BARE | NETIF_F_GSO_UDP_TUNNEL)

/* Written at load and unload only. */
static bool for_v4, for_v6;

static enum rover_icrc_state icrcs_on(const struct net_device *dev,
				 const struct rover_path *path, bool again)
{
	bool called = path->l3 == ROVER_L3_IPV6 ? for_v6 : for_v4;

	/* It takes no train whole, whatever else it says. */
	if (!(dev->features & NETIF_F_SG))
		return ROVER_ICRC_COMPLETE;
	if (called && (dev->features & dev->hw_enc_features & WHOLE) == WHOLE)
		return ROVER_ICRC_PARTIAL;
	if (dev->flags & IFF_LOOPBACK && again && rover_path_reliable(path) &&
	    (dev->features & BARE) == BARE && ROVER_NF_INPUT)
		return ROVER_ICRC_UNNECESSARY;
	return ROVER_ICRC_COMPLETE;
}

enum rover_icrc_state rover_gso_segment_icrc_state(struct rover_path *path, bool again)
{
	enum rover_icrc_state icrcs = ROVER_ICRC_COMPLETE;
	const struct dst_entry *dst;

	rcu_read_lock();
	dst = rover_path_dst(path);
	if (!IS_ERR(dst))
		icrcs = icrcs_on(dst->dev, path, again);
	rcu_read_unlock();
	return icrcs;
}

void rover_gso_segment_mark(struct sk_buff *head, unsigned int hdr_len)
{
	skb_shinfo(head)->gso_type |= SKB_GSO_UDP_TUNNEL;
	head->encapsulation = 1;
	skb_set_inner_ipproto(head, PROTOCOL);
	skb_set_inner_mac_header(head, hdr_len);
	skb_set_inner_network_header(head, hdr_len);
	skb_set_inner_transport_header(head, hdr_len);
}

/* Is this a train of ours, with something in it that is not a whole packet? */
static bool has_seal(const struct sk_buff *head)
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

	if (info->gso_type & SKB_GSO_UDP_TUNNEL || !has_seal(skb))
		return;
	info->gso_type |= SKB_GSO_FRAGLIST;
	info->gso_type &= ~SKB_GSO_TCP_FIXEDID;
	rover_gso_segment_mark(skb, skb_transport_offset(skb) +
			   sizeof(struct udphdr));
}

/* Data is behind the UDP header. */
static __be16 *sport_of(struct sk_buff *skb)
{
	return &((struct udphdr *)skb->data - 1)->source;
}

/*
 * Data is behind the UDP header, here and in the members.  They get the headers
 * in front of it from the head; lengths and identifications are the stack's, and
 * the ports of other queue pairs (plug) are put back.
 */
static struct sk_buff *segment(struct sk_buff *skb, netdev_features_t features)
{
	__be16 sports[ROVER_TRAIN_MAX];
	struct sk_buff *member;
	unsigned int n = 0, i;

	if (!(skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST))
		return ERR_PTR(-EINVAL);
	if (rover_gso_long_spread(skb))
		return ERR_PTR(-ENOMEM);
	rover_trailer_close_late(skb);
	skb_walk_frags(skb, member) {
		rover_trailer_close_late(member);
		if (n < ARRAY_SIZE(sports))
			sports[n++] = *sport_of(member);
	}
	skb = skb_segment_list(skb, features, 0);
	if (IS_ERR_OR_NULL(skb))
		return skb;
	for (member = skb->next, i = 0; member && i < n; member = member->next)
		*sport_of(member) = sports[i++];
	return skb;
}

static const struct net_offload offload = {
	.callbacks = { .gso_segment = segment },
};

void rover_gso_segment_init(void)
{
	for_v4 = !inet_add_offload(&offload, PROTOCOL);
	for_v6 = !inet6_add_offload(&offload, PROTOCOL);
}

void rover_gso_segment_exit(void)
{
	if (for_v4)
		inet_del_offload(&offload, PROTOCOL);
	if (for_v6)
		inet6_del_offload(&offload, PROTOCOL);
}
