// SPDX-License-Identifier: GPL-2.0
/*
 * path - route and packet headers to one peer
 *
 * A route leaves by the interface of the source GID, as from a NIC; to an
 * address of this namespace, by the loopback device.
 *
 * ECN: connections that react to marks (cwnd) send ECT(0), all others zero,
 * whatever the user's traffic class says.
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/dsfield.h>
#include <net/flow.h>
#include <net/inet_ecn.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "addr/path.h"

/* For GRH hop limit 0: many users set it and expect routing. */
#define PATH_DEFAULT_TTL		64

/* Four bits in IBTA, eight in struct rdma_ah_attr. */
#define PATH_MAX_SL			15

static int path_init_v4(struct rover_path *path,
			const struct ib_global_route *grh)
{
	const struct in6_addr *from = (const void *)grh->sgid_attr->gid.raw;
	const struct in6_addr *to = (const void *)grh->dgid.raw;
	__be32 daddr = to->s6_addr32[3];

	if (!ipv6_addr_v4mapped(to) || ipv4_is_lbcast(daddr) ||
	    ipv4_is_zeronet(daddr))
		return -EINVAL;

	path->l3 = ROVER_L3_IPV4;
	path->hdr_len = rover_l3_len(path->l3);
	path->ip4 = (struct iphdr) {
		.version = IPVERSION,
		.ihl = sizeof(struct iphdr) / 4,
		.tos = grh->traffic_class & ~INET_ECN_MASK,
		.frag_off = htons(IP_DF),
		.ttl = grh->hop_limit ?: PATH_DEFAULT_TTL,
		.protocol = IPPROTO_UDP,
		.saddr = from->s6_addr32[3],
		.daddr = daddr,
	};
	return 0;
}

static int path_init_v6(struct rover_path *path,
			const struct ib_global_route *grh)
{
	const struct in6_addr *to = (const void *)grh->dgid.raw;

	/* The GID made from the MAC exists even without IPv6. */
	if (!ipv6_mod_enabled())
		return -EAFNOSUPPORT;
	if (ipv6_addr_v4mapped(to) || ipv6_addr_any(to))
		return -EINVAL;

	path->l3 = ROVER_L3_IPV6;
	path->hdr_len = rover_l3_len(path->l3);
	ip6_flow_hdr(&path->ip6, grh->traffic_class & ~INET_ECN_MASK,
		     htonl(grh->flow_label & IB_GRH_FLOWLABEL_MASK));
	path->ip6.nexthdr = IPPROTO_UDP;
	path->ip6.hop_limit = grh->hop_limit ?: PATH_DEFAULT_TTL;
	memcpy(&path->ip6.saddr, grh->sgid_attr->gid.raw,
	       sizeof(path->ip6.saddr));
	path->ip6.daddr = *to;
	return 0;
}

static int path_init_grh(struct rover_path *path,
			 const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct in6_addr *to = (const void *)grh->dgid.raw;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || ipv6_addr_any(to))
		return -EINVAL;

	path->l3 = ROVER_L3_GRH;
	path->hdr_len = rover_l3_len(path->l3);
	ip6_flow_hdr(&path->ip6, grh->traffic_class,
		     htonl(grh->flow_label & IB_GRH_FLOWLABEL_MASK));
	path->ip6.nexthdr = ROVER_GRH_NEXT;
	path->ip6.hop_limit = grh->hop_limit ?: PATH_DEFAULT_TTL;
	memcpy(&path->ip6.saddr, grh->sgid_attr->gid.raw,
	       sizeof(path->ip6.saddr));
	path->ip6.daddr = *to;
	ether_addr_copy(path->dmac, attr->roce.dmac);
	return 0;
}

static int path_init_headers(struct rover_path *path,
			     const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	switch (rdma_gid_attr_network_type(grh->sgid_attr)) {
	case RDMA_NETWORK_ROCE_V1:
		return path_init_grh(path, attr);
	case RDMA_NETWORK_IPV4:
		return path_init_v4(path, grh);
	case RDMA_NETWORK_IPV6:
		return path_init_v6(path, grh);
	default:
		return -EINVAL;
	}
}

int rover_path_init(struct rover_path *path, struct net *net,
		    const struct rdma_ah_attr *attr, u16 sport)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;
	struct net_device *ndev;
	int err;

	memset(path, 0, sizeof(*path));
	rover_dst_init(&path->out);

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid ||
	    rdma_ah_get_sl(attr) > PATH_MAX_SL)
		return -EINVAL;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	/* A VLAN or macvlan may be in another namespace. */
	if (!IS_ERR(ndev) && net_eq(dev_net(ndev), net))
		path->ifindex = ndev->ifindex;
	rcu_read_unlock();
	if (!path->ifindex)
		return -EINVAL;

	err = path_init_headers(path, attr);
	if (err)
		return err;

	path->udp.source = htons(sport);
	path->udp.dest = htons(ROCE_V2_UDP_DPORT);
	path->prio = rdma_ah_get_sl(attr);
	path->net = net;
	rdma_hold_gid_attr(sgid);
	path->sgid_attr = sgid;
	return 0;
}

void rover_path_ect(struct rover_path *path)
{
	if (path->l3 == ROVER_L3_IPV4)
		path->ip4.tos |= INET_ECN_ECT_0;
	else if (path->l3 == ROVER_L3_IPV6)
		ipv6_change_dsfield(&path->ip6, (u8)~INET_ECN_MASK,
				    INET_ECN_ECT_0);
}

void rover_path_put_gid(struct rover_path *path)
{
	if (!path->sgid_attr)
		return;
	rdma_put_gid_attr(path->sgid_attr);
	path->sgid_attr = NULL;
}

void rover_path_destroy(struct rover_path *path)
{
	if (path->sgid_attr)
		rover_dst_clear(&path->out);
	rover_path_put_gid(path);
}

static struct dst_entry *path_lookup_v4(const struct rover_path *path)
{
	struct flowi4 fl = {
		.flowi4_oif = path->ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = path->ip4.saddr,
		.daddr = path->ip4.daddr,
		.fl4_sport = path->udp.source,
		.fl4_dport = path->udp.dest,
	};
	struct rtable *rt;

	rover_flowi4_set_tos(&fl, path->ip4.tos);
	if (inet_addr_type(path->net, fl.daddr) == RTN_LOCAL)
		fl.flowi4_oif = 0;
	rt = ip_route_output_key(path->net, &fl);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & RTCF_BROADCAST) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	return &rt->dst;
}

static struct dst_entry *path_lookup_v6(const struct rover_path *path)
{
	struct flowi6 fl = {
		.flowi6_oif = path->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.saddr = path->ip6.saddr,
		.daddr = path->ip6.daddr,
		.flowlabel = ip6_flowinfo(&path->ip6),
		.fl6_sport = path->udp.source,
		.fl6_dport = path->udp.dest,
	};

	if (!IS_ENABLED(CONFIG_IPV6))
		return ERR_PTR(-EAFNOSUPPORT);
	/* Link-local addresses need their interface. */
	if (!(ipv6_addr_type(&fl.daddr) & IPV6_ADDR_LINKLOCAL) &&
	    ipv6_chk_addr(path->net, &fl.daddr, NULL, 0))
		fl.flowi6_oif = 0;
	return ip6_dst_lookup_flow(path->net, NULL, &fl, NULL);
}

struct dst_entry *rover_path_dst(struct rover_path *path)
{
	struct dst_entry *dst = rover_dst_entry(&path->out, 0);

	if (likely(dst))
		return dst;
	dst = path->l3 == ROVER_L3_IPV6 ? path_lookup_v6(path) :
					  path_lookup_v4(path);
	rover_dst_set(&path->out, IS_ERR(dst) ? NULL : dst, 0);
	return dst;
}

const struct ib_gid_attr *rover_path_find_gid(struct ib_device *ib,
					      enum rover_l3 l3, const void *ip,
					      struct net_device *in)
{
	enum ib_gid_type type = l3 == ROVER_L3_GRH ? IB_GID_TYPE_ROCE :
				IB_GID_TYPE_ROCE_UDP_ENCAP;
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	rover_path_dgid(&gid, l3, ip);
	if (in) {
		attr = rdma_find_gid_by_port(ib, &gid, type, 1, in);
		if (!IS_ERR(attr))
			return attr;
	}
	return rdma_find_gid_by_port(ib, &gid, type, 1, NULL);
}
