// SPDX-License-Identifier: GPL-2.0
/*
 * nf_output - drop RoCE packets that are not rover's
 *
 * A connection authenticates its peer by address (decision 0041). So while a
 * namespace has a device, a hook at the end of POST_ROUTING, where addresses
 * and ports are final, drops packets to UDP port 4791 from a socket (rover's
 * have none) or forwarded with a local source address. Raw sockets may send:
 * CAP_NET_RAW permits packet sockets, too.
 *
 * Softirq or process context, under rcu_read_lock().
 */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/sock.h>

#include "core/trace.h"
#include "tx/nf_output.h"
#include "wire/wire.h"

#if IS_ENABLED(CONFIG_NETFILTER)

static int nf_output_udp_offset_v4(const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (ip->protocol != IPPROTO_UDP || ip->frag_off & htons(IP_OFFSET))
		return 0;
	return ip_hdrlen(skb);
}

static int nf_output_udp_offset_v6(const struct sk_buff *skb)
{
	u8 next = ipv6_hdr(skb)->nexthdr;
	int at = sizeof(struct ipv6hdr);
	__be16 frag_off = 0;

	if (ipv6_ext_hdr(next))
		at = ipv6_skip_exthdr(skb, at, &next, &frag_off);
	if (at < 0 || next != IPPROTO_UDP || frag_off & htons(IP6_OFFSET))
		return 0;
	return at;
}

static bool nf_output_is_local_source(struct net *net,
				      const struct sk_buff *skb, u8 family)
{
	if (family == NFPROTO_IPV4)
		return inet_addr_type(net, ip_hdr(skb)->saddr) == RTN_LOCAL;
	return ipv6_chk_addr(net, &ipv6_hdr(skb)->saddr, NULL, 0);
}

static struct rover_dev *nf_output_find_dev(const struct rover_net *rnet,
					    const struct net_device *out)
{
	struct rover_dev *dev, *first = NULL;

	list_for_each_entry_rcu(dev, &rnet->devs, net_node) {
		if (dev->ndev == out)
			return dev;
		first = first ?: dev;
	}
	return first;
}

static void nf_output_count_drop(const struct rover_net *rnet,
				 const struct sk_buff *skb,
				 const struct net_device *out, int bth_at)
{
	struct rover_dev *dev = nf_output_find_dev(rnet, out);
	const struct rover_bth *bth;
	struct rover_bth buf = {};

	bth = skb_header_pointer(skb, bth_at, sizeof(buf), &buf) ?: &buf;
	rover_drop(dev ? dev->stats : NULL, ROVER_STAT_TX_DROP_FOREIGN,
		   rover_bth_qpn(bth), bth->opcode, rover_bth_psn(bth));
}

unsigned int rover_nf_output(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct sock *sk = state->sk;
	const struct rover_net *rnet = priv;
	const struct udphdr *udp;
	struct udphdr buf;
	int at;

	/* Neither from a socket nor received: sent by rover or the kernel. */
	if (!sk && !skb->skb_iif)
		return NF_ACCEPT;
	at = state->pf == NFPROTO_IPV4 ? nf_output_udp_offset_v4(skb) :
					 nf_output_udp_offset_v6(skb);
	if (!at)
		return NF_ACCEPT;
	udp = skb_header_pointer(skb, at, sizeof(buf), &buf);
	if (!udp || udp->dest != htons(ROCE_V2_UDP_DPORT))
		return NF_ACCEPT;
	if (sk ? sk->sk_type == SOCK_RAW :
		 !nf_output_is_local_source(state->net, skb, state->pf))
		return NF_ACCEPT;
	nf_output_count_drop(rnet, skb, state->out, at + sizeof(*udp));
	return NF_DROP;
}

static const struct nf_hook_ops nf_output_hooks[] = {
	{ .pf = NFPROTO_IPV4 },
	{ .pf = NFPROTO_IPV6 },
};

int rover_nf_output_register(struct rover_net *rnet)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(nf_output_hooks) != ARRAY_SIZE(rnet->nf_output_hooks));
	for (i = 0; i < ARRAY_SIZE(nf_output_hooks); i++) {
		rnet->nf_output_hooks[i] = nf_output_hooks[i];
		rnet->nf_output_hooks[i].hook = rover_nf_output;
		rnet->nf_output_hooks[i].hooknum = NF_INET_POST_ROUTING;
		rnet->nf_output_hooks[i].priv = rnet;
		rnet->nf_output_hooks[i].priority = NF_IP_PRI_LAST;
	}
	return nf_register_net_hooks(rnet->net, rnet->nf_output_hooks,
				     ARRAY_SIZE(rnet->nf_output_hooks));
}

void rover_nf_output_unregister(struct rover_net *rnet)
{
	nf_unregister_net_hooks(rnet->net, rnet->nf_output_hooks,
				ARRAY_SIZE(rnet->nf_output_hooks));
}

#else

int rover_nf_output_register(struct rover_net *rnet)
{
	return 0;
}

void rover_nf_output_unregister(struct rover_net *rnet)
{
}

#endif
