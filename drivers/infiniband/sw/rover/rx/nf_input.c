// SPDX-License-Identifier: GPL-2.0
/*
 * nf_input - receive RoCE packets in netfilter, before UDP
 *
 * While a namespace has a device, only rover's sockets can be bound to UDP port
 * 4791. So the LOCAL_IN hook, behind the firewall, receives packets and trains
 * without a socket lookup; UDP would segment trains without the tunnel flag,
 * which the loopback device cannot carry. The PRE_ROUTING hook sets the
 * connection's cached dst. The rest (checksums, groups, VRFs, IPsec, broken
 * packets) comes from the UDP socket (steer).
 *
 * Softirq, under rcu_read_lock().
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

#include "qp/qp_table.h"
#include "rx/netrx.h"
#include "rx/nf_input.h"
#include "rx/steer.h"

#if ROVER_NF_INPUT

/* Other GSO skbs may come from any program. */
static bool nf_input_is_train(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4 &&
	       rover_netrx_is_train(skb);
}

/* UDP without checksum or trailing bytes, unfragmented. */
static bool nf_input_is_roce(struct sk_buff *skb)
{
	int at = skb_transport_offset(skb);
	const struct udphdr *udp;

	if (!pskb_may_pull(skb, at + sizeof(*udp)))
		return false;
	udp = udp_hdr(skb);
	return udp->dest == htons(ROCE_V2_UDP_DPORT) && !udp->check &&
	       be16_to_cpu(udp->len) == skb->len - at;
}

static bool nf_input_is_roce_v4(struct sk_buff *skb)
{
	return ip_hdr(skb)->protocol == IPPROTO_UDP &&
	       skb_transport_offset(skb) == sizeof(struct iphdr) &&
	       nf_input_is_roce(skb);
}

static bool nf_input_is_roce_v6(struct sk_buff *skb)
{
	return ipv6_hdr(skb)->nexthdr == IPPROTO_UDP &&
	       skb_transport_offset(skb) == sizeof(struct ipv6hdr) &&
	       nf_input_is_roce(skb);
}

static bool nf_input_takes_v4(struct sk_buff *skb)
{
	return nf_input_is_roce_v4(skb) &&
	       !(skb_rtable(skb)->rt_flags &
		 (RTCF_BROADCAST | RTCF_MULTICAST)) &&
	       !inet_sdif(skb) && xfrm4_policy_check(NULL, XFRM_POLICY_IN, skb);
}

static bool nf_input_takes_v6(struct sk_buff *skb)
{
	return nf_input_is_roce_v6(skb) &&
	       !ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr) &&
	       !inet6_sdif(skb) &&
	       xfrm6_policy_check(NULL, XFRM_POLICY_IN, skb);
}

/* conntrack may confirm behind this hook (decision 0032): do it here. */
static unsigned int nf_input_confirm(struct sk_buff *skb)
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

static unsigned int nf_input_receive(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	struct rover_net *rnet = priv;
	unsigned int verdict;

	if (!(state->pf == NFPROTO_IPV4 ? nf_input_takes_v4(skb) :
					  nf_input_takes_v6(skb)) ||
	    skb->sk || (skb_is_gso(skb) && !nf_input_is_train(skb)))
		return NF_ACCEPT;
	verdict = nf_input_confirm(skb);
	if (verdict != NF_ACCEPT)
		return verdict;
	__skb_pull(skb, skb_transport_offset(skb));
	rover_steer_packet(rnet, skb);
	return NF_STOLEN;
}

/* Lockless: a hint while modify runs. */
static struct rover_qp *nf_input_find_qp(const struct rover_net *rnet,
					 const struct sk_buff *skb, u8 family)
{
	enum rover_l3 l3 = family == NFPROTO_IPV4 ? ROVER_L3_IPV4 :
						    ROVER_L3_IPV6;
	const struct rover_bth *bth;
	struct rover_qp *qp;
	struct rover_bth buf;

	bth = skb_header_pointer(skb, rover_l3_len(l3), sizeof(*bth), &buf);
	qp = bth ? rover_qp_find(rover_bth_qpn(bth)) : NULL;
	return qp && rover_path_match(&qp->path, rnet->net, l3, skb->data) ?
	       qp : NULL;
}

/* Like TCP's early demux, and by the same sysctl. */
static unsigned int nf_input_set_dst(void *priv, struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	struct rover_net *rnet = priv;
	struct dst_entry *dst;
	struct rover_qp *qp;

	if (skb_dst(skb) || skb->sk || skb->pkt_type != PACKET_HOST ||
	    !READ_ONCE(rnet->net->ipv4.sysctl_ip_early_demux) ||
	    !(state->pf == NFPROTO_IPV4 ? nf_input_is_roce_v4(skb) :
					  nf_input_is_roce_v6(skb)))
		return NF_ACCEPT;
	qp = nf_input_find_qp(rnet, skb, state->pf);
	dst = qp ? rover_dst_entry(&qp->rx_dst, skb->skb_iif) : NULL;
	if (dst)
		skb_dst_set_noref(skb, dst);
	return NF_ACCEPT;
}

static const struct nf_hook_ops nf_input_hooks[] = {
	{ .hook = nf_input_set_dst, .pf = NFPROTO_IPV4,
	  .hooknum = NF_INET_PRE_ROUTING },
	{ .hook = nf_input_set_dst, .pf = NFPROTO_IPV6,
	  .hooknum = NF_INET_PRE_ROUTING },
	{ .hook = nf_input_receive, .pf = NFPROTO_IPV4,
	  .hooknum = NF_INET_LOCAL_IN },
	{ .hook = nf_input_receive, .pf = NFPROTO_IPV6,
	  .hooknum = NF_INET_LOCAL_IN },
};

int rover_nf_input_register(struct rover_net *rnet)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(nf_input_hooks) != ARRAY_SIZE(rnet->nf_input_hooks));
	for (i = 0; i < ARRAY_SIZE(nf_input_hooks); i++) {
		rnet->nf_input_hooks[i] = nf_input_hooks[i];
		rnet->nf_input_hooks[i].priv = rnet;
		rnet->nf_input_hooks[i].priority = NF_IP_PRI_LAST;
	}
	return nf_register_net_hooks(rnet->net, rnet->nf_input_hooks,
				     ARRAY_SIZE(rnet->nf_input_hooks));
}

void rover_nf_input_unregister(struct rover_net *rnet)
{
	nf_unregister_net_hooks(rnet->net, rnet->nf_input_hooks,
				ARRAY_SIZE(rnet->nf_input_hooks));
}

#else

int rover_nf_input_register(struct rover_net *rnet)
{
	return 0;
}

void rover_nf_input_unregister(struct rover_net *rnet)
{
}

#endif
