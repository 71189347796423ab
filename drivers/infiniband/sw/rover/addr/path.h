/* SPDX-License-Identifier: GPL-2.0 */
/*
 * path - route and packet headers to one peer
 *
 * Headers are built once; the route is looked up when first used or obsolete.
 * RoCE v1 has no route, but a GRH and the peer's Ethernet address.
 */
#ifndef ROVER_PATH_H
#define ROVER_PATH_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <linux/skbuff.h>
#include <net/dst.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>

#include "addr/dst.h"
#include "wire/wire.h"

/*
 * A few losses may be reordering; with more, a path is unreliable.  Losses are
 * forgiven after ROVER_PATH_FORGIVE_BYTES without one, several times a cwnd: a
 * path that loses all new packets never carries them (decision 0026).
 */
#define ROVER_PATH_MAX_LOSSES	8
#define ROVER_PATH_FORGIVE_BYTES	(16ULL << 20)

/**
 * struct rover_path - headers and route to one peer
 * @l3: headers in front of the BTH
 * @hdr_len: their length in bytes
 * @ip4: template; length, id and checksum are set per packet
 * @ip6: template; payload length is set per packet; RoCE v1: GRH
 * @udp: template; length is set per packet; unused by RoCE v1
 * @ifindex: interface of the source GID
 * @prio: skb priority (service level), for VLAN PCP and ETS classes
 * @out: cached route
 * @sgid_attr: referenced source GID
 * @net: namespace of the device; outlives the path
 * @losses: up to ROVER_PATH_MAX_LOSSES; a hint
 * @carried: bytes of full packets since the last loss; a hint
 * @dmac: RoCE v1: Ethernet address of peer or group
 */
struct rover_path {
	enum rover_l3 l3;
	u8 hdr_len;
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	};
	struct udphdr udp;
	int ifindex;
	u32 prio;
	struct rover_dst out;
	const struct ib_gid_attr *sgid_attr;
	struct net *net;
	unsigned int losses;
	u64 carried;
	u8 dmac[ETH_ALEN];
};

/**
 * rover_path_init() - build the headers of a path
 * @path: to be initialized
 * @net: namespace of the device
 * @attr: attributes; attr->grh.sgid_attr is referenced
 * @sport: UDP source port
 * Context: any.
 * Return: 0; -EAFNOSUPPORT without IPv6; -EINVAL for an invalid GID, service
 * level or destination.
 */
int rover_path_init(struct rover_path *path, struct net *net,
		    const struct rdma_ah_attr *attr, u16 sport);

/**
 * rover_path_ect() - set ECT(0): routers may mark packets
 * @path: initialized; its user reacts to marks
 */
void rover_path_ect(struct rover_path *path);

/**
 * rover_path_destroy() - release route and GID
 * @path: unused; may be all zero
 * Context: any.
 */
void rover_path_destroy(struct rover_path *path);

/**
 * rover_path_put_gid() - release the GID, keep the route
 * @path: packets may be in flight; may be all zero
 * Context: any.
 */
void rover_path_put_gid(struct rover_path *path);

/**
 * rover_path_lost() - count a loss
 * @path: initialized
 *
 * Counts once until there is progress: go-back-N repeats many packets for one
 * loss.
 * Context: any; concurrent calls may count once.
 */
static inline void rover_path_lost(struct rover_path *path)
{
	unsigned int losses = READ_ONCE(path->losses);

	if (!READ_ONCE(path->carried))
		return;
	WRITE_ONCE(path->carried, 0);
	if (losses < ROVER_PATH_MAX_LOSSES)
		WRITE_ONCE(path->losses, losses + 1);
}

/**
 * rover_path_reliable() - test whether losses are rare
 * @path: initialized
 */
static inline bool rover_path_reliable(const struct rover_path *path)
{
	return READ_ONCE(path->losses) < ROVER_PATH_MAX_LOSSES;
}

/**
 * rover_path_progress() - note progress
 * @path: initialized
 * @bytes: as if all packets were full
 *
 * Forgives a few losses far apart; an unreliable path stays so.
 * Context: any; races are harmless.
 */
static inline void rover_path_progress(struct rover_path *path, u64 bytes)
{
	bytes += READ_ONCE(path->carried);
	WRITE_ONCE(path->carried, bytes);
	if (bytes >= ROVER_PATH_FORGIVE_BYTES && READ_ONCE(path->losses) &&
	    rover_path_reliable(path))
		WRITE_ONCE(path->losses, 0);
}

/**
 * rover_path_dst() - return the route
 * @path: initialized; RoCE v2
 * Context: rcu_read_lock(), softirqs off.
 * Return: a route without a reference, or an ERR_PTR: -ENETUNREACH, ...
 */
struct dst_entry *rover_path_dst(struct rover_path *path);

/**
 * rover_path_dgid() - return a packet's destination address as GID
 * @gid: to be filled in
 * @l3: headers in front of the BTH
 * @ip: IP header or GRH
 */
static inline void rover_path_dgid(union ib_gid *gid, enum rover_l3 l3,
				   const void *ip)
{
	if (l3 != ROVER_L3_IPV4)
		memcpy(gid->raw, &((const struct ipv6hdr *)ip)->daddr,
		       sizeof(gid->raw));
	else
		ipv6_addr_set_v4mapped(((const struct iphdr *)ip)->daddr,
				       (struct in6_addr *)gid->raw);
}

/**
 * rover_path_find_gid() - return the GID that a packet was sent to
 * @ib: registered device
 * @l3: headers in front of the BTH
 * @ip: IP header or GRH
 * @in: incoming interface, or NULL; its VLANs often share an address with it
 * Context: any.
 * Return: a reference, of @in if it has the GID; an ERR_PTR if there is none.
 */
const struct ib_gid_attr *rover_path_find_gid(struct ib_device *ib,
					      enum rover_l3 l3, const void *ip,
					      struct net_device *in);

/**
 * rover_path_match() - test whether a packet came from the peer
 * @path: initialized
 * @net: namespace that it came in
 * @l3: headers in front of the BTH
 * @ip: IP header or GRH
 *
 * A17.4: a connection speaks either RoCE v1 or v2.
 */
static inline bool rover_path_match(const struct rover_path *path,
				    const struct net *net, enum rover_l3 l3,
				    const void *ip)
{
	if (path->l3 != l3 || path->net != net)
		return false;
	if (l3 != ROVER_L3_IPV4) {
		const struct ipv6hdr *h = ip;

		return ipv6_addr_equal(&h->saddr, &path->ip6.daddr) &&
		       ipv6_addr_equal(&h->daddr, &path->ip6.saddr);
	} else {
		const struct iphdr *h = ip;

		return h->saddr == path->ip4.daddr &&
		       h->daddr == path->ip4.saddr;
	}
}

/**
 * rover_path_headers_match() - test whether a packet has the path's headers
 * @path: initialized
 * @skb: data at the IP header
 *
 * Ignores per-packet fields and the UDP source port.
 */
static inline bool rover_path_headers_match(const struct rover_path *path,
					    const struct sk_buff *skb)
{
	if (path->l3 == ROVER_L3_IPV4) {
		const struct iphdr *h = (const void *)skb->data;

		return skb->protocol == cpu_to_be16(ETH_P_IP) &&
		       h->saddr == path->ip4.saddr &&
		       h->daddr == path->ip4.daddr &&
		       h->tos == path->ip4.tos && h->ttl == path->ip4.ttl;
	} else {
		const struct ipv6hdr *h = (const void *)skb->data;

		return skb->protocol == cpu_to_be16(ETH_P_IPV6) &&
		       ipv6_addr_equal(&h->saddr, &path->ip6.saddr) &&
		       ipv6_addr_equal(&h->daddr, &path->ip6.daddr) &&
		       ip6_flowinfo(h) == ip6_flowinfo(&path->ip6) &&
		       h->hop_limit == path->ip6.hop_limit;
	}
}

#endif /* ROVER_PATH_H */
