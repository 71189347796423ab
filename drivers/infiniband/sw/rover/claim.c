// SPDX-License-Identifier: GPL-2.0
/*
 * claim - what is for our port is ours, before UDP looks whose it is
 *
 * In a namespace with a device UDP port 4791 is our socket's, and nobody else can
 * be bound to it, at any address.  So there is nothing to look up: once firewalls
 * have had their say a packet is received right here, and so is a train.  UDP would
 * take that apart, unless it is marked as one of a tunnel, which netdevs like the
 * loopback device do not carry.
 *
 * What UDP does more with than hand it over is left to it, and then comes from the
 * socket (arrive): checksums, groups, VRFs, IPsec, and what is broken.
 *
 * Softirq, from netfilter under rcu_read_lock().
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/inet_hashtables.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/route.h>
#include <net/xfrm.h>
#include <rdma/ib_verbs.h>

#include "arrive.h"
#include "block.h"
#include "claim.h"

#if ROVER_CLAIMS

/* What else says it is several packets may be any program's. */
static bool is_train(const struct sk_buff *skb)
{
	unsigned int type = skb_shinfo(skb)->gso_type;

	return type & SKB_GSO_UDP_L4 &&
	       (type & SKB_GSO_FRAGLIST || rover_block_is(skb));
}

/* UDP without a checksum, as RoCE has it, in one piece and with nothing behind it. */
static bool for_us(struct sk_buff *skb)
{
	int at = skb_transport_offset(skb);
	const struct udphdr *udp;

	if (!pskb_may_pull(skb, at + sizeof(*udp)))
		return false;
	udp = udp_hdr(skb);
	return udp->dest == htons(ROCE_V2_UDP_DPORT) && !udp->check &&
	       be16_to_cpu(udp->len) == skb->len - at;
}

static bool plain_v4(struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	return ip->protocol == IPPROTO_UDP &&
	       skb_transport_offset(skb) == sizeof(*ip) && for_us(skb) &&
	       !(skb_rtable(skb)->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) &&
	       !inet_sdif(skb) && xfrm4_policy_check(NULL, XFRM_POLICY_IN, skb);
}

static bool plain_v6(struct sk_buff *skb)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);

	return ip->nexthdr == IPPROTO_UDP &&
	       skb_transport_offset(skb) == sizeof(*ip) && for_us(skb) &&
	       !ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr) &&
	       !inet6_sdif(skb) && xfrm6_policy_check(NULL, XFRM_POLICY_IN, skb);
}

/* Connection tracking confirms what has arrived at the end of this hook: perhaps behind us. */
static unsigned int confirm(struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	const struct nf_ct_hook *hook;
	enum ip_conntrack_info info;
	const struct nf_conn *ct = nf_ct_get(skb, &info);

	if (ct && !nf_ct_is_confirmed(ct)) {
		hook = rcu_dereference(nf_ct_hook);
		if (hook)
			return hook->confirm(skb);
	}
#endif
	return NF_ACCEPT;
}

static unsigned int claim(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	struct rover_net *rnet = priv;
	struct rover_dev *dev;
	unsigned int verdict;

	if (!(state->pf == NFPROTO_IPV4 ? plain_v4(skb) : plain_v6(skb)) ||
	    skb->sk || (skb_is_gso(skb) && !is_train(skb)))
		return NF_ACCEPT;
	dev = rover_arrive_device(rnet, skb);
	if (!dev)
		return NF_ACCEPT;
	verdict = confirm(skb);
	if (verdict != NF_ACCEPT)
		return verdict;
	__skb_pull(skb, skb_transport_offset(skb));
	rover_arrive_packet(rnet, dev, skb);
	return NF_STOLEN;
}

static const u8 families[] = { NFPROTO_IPV4, NFPROTO_IPV6 };

int rover_claim_begin(struct rover_net *rnet)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(families) != ARRAY_SIZE(rnet->claims));
	for (i = 0; i < ARRAY_SIZE(families); i++)
		rnet->claims[i] = (struct nf_hook_ops) {
			.hook = claim,
			.priv = rnet,
			.pf = families[i],
			.hooknum = NF_INET_LOCAL_IN,
			.priority = NF_IP_PRI_LAST,
		};
	return nf_register_net_hooks(rnet->net, rnet->claims,
				     ARRAY_SIZE(rnet->claims));
}

void rover_claim_end(struct rover_net *rnet)
{
	nf_unregister_net_hooks(rnet->net, rnet->claims,
				ARRAY_SIZE(rnet->claims));
}

#else

int rover_claim_begin(struct rover_net *rnet)
{
	return 0;
}

void rover_claim_end(struct rover_net *rnet)
{
}

#endif
