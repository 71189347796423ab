// SPDX-License-Identifier: GPL-2.0
/*
 * claim - a train for our port is for our socket, as a whole
 *
 * UDP gives a train to a socket such as ours whole only when it is marked as one
 * of a tunnel: else it might be anybody's, who expects single packets.  But there
 * are netdevs that take trains whole and none of a tunnel, the loopback device
 * before all.  So a train need not be marked to travel, and is marked here, when
 * it has arrived and its port says whose it is.
 *
 * Softirq, from netfilter under rcu_read_lock(), once firewalls have had their say.
 */
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <rdma/ib_verbs.h>

#include "block.h"
#include "claim.h"

#if ROVER_CLAIMS

/* What else says it is several packets may be any program's. */
static bool is_train(const struct sk_buff *skb)
{
	unsigned int type = skb_shinfo(skb)->gso_type;

	return type & SKB_GSO_UDP_L4 && !(type & SKB_GSO_UDP_TUNNEL) &&
	       (type & SKB_GSO_FRAGLIST || rover_block_is(skb));
}

static bool for_us(const struct sk_buff *skb)
{
	const struct udphdr *udp;
	struct udphdr buf;

	/* No IPv6 packet of several has headers between IP and UDP. */
	udp = skb_header_pointer(skb, skb_transport_offset(skb), sizeof(buf),
				 &buf);
	return udp && udp->dest == htons(ROCE_V2_UDP_DPORT);
}

static unsigned int claim(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	if (likely(!skb_is_gso(skb)))
		return NF_ACCEPT;
	if (!is_train(skb) || !for_us(skb))
		return NF_ACCEPT;
	/* A capture may have the other half.  Else: packet by packet, then. */
	if (!skb_unclone(skb, GFP_ATOMIC))
		skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL;
	return NF_ACCEPT;
}

static const struct nf_hook_ops hooks[] = {
	{
		.hook = claim,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	}, {
		.hook = claim,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
};

int rover_claim_begin(struct net *net)
{
	return nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

void rover_claim_end(struct net *net)
{
	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

#else

int rover_claim_begin(struct net *net)
{
	return 0;
}

void rover_claim_end(struct net *net)
{
}

#endif
