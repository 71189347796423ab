/* SPDX-License-Identifier: GPL-2.0 */
/*
 * path - where a queue pair's packets go, and the headers they wear
 *
 * A path is the IP and UDP header of every packet to one peer, made once, and
 * the route to it, looked up when first needed and again when the stack says
 * it has changed.  RoCE v1 knows no routes: there it is the GRH and where in
 * this Ethernet the peer is.
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
 * Of so many one or the other was none, but late; all of them were not.  Not
 * if that many bytes were carried between two: several times what may be on its
 * way (cwnd), so of a path that loses all that is new there is a loss before.
 */
#define ROVER_LOSSES_MOST	8
#define ROVER_CARRIED_MUCH	(16ULL << 20)

/**
 * struct rover_path - headers and route to one peer
 * @l3: what its packets have in front of the BTH
 * @hdr_len: bytes of that
 * @ip4: header template; length, id and checksum are filled in per packet
 * @ip6: header template; payload length is filled in per packet; RoCE v1: GRH
 * @udp: header template; length is filled in per packet; RoCE v1: none
 * @ifindex: interface of the source GID
 * @prio: skb priority (service level), for VLAN PCP and ETS classes
 * @out: the route; not known until needed
 * @sgid_attr: reference on the source GID
 * @net: namespace of the device; it outlives the path
 * @losses: how often something was lost on it, as far as that matters; a hint
 * @carried: bytes of full packets since the last of them; a hint
 * @dmac: RoCE v1: the peer, or the group
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
 * rover_path_init() - make the headers of a path
 * @path: to be initialised
 * @net: namespace of the device
 * @attr: address handle attributes; attr->grh.sgid_attr is referenced
 * @sport: UDP source port, see rdma_get_udp_sport()
 *
 * Context: any.
 * Return: 0, or -EINVAL when the GID is no RoCE one, the service level none,
 * or the address neither one of a peer nor that of a multicast group.
 */
int rover_path_init(struct rover_path *path, struct net *net,
		    const struct rdma_ah_attr *attr, u16 sport);

/**
 * rover_path_ect() - let routers mark its packets instead of losing them
 * @path: initialised, of somebody who reacts to marks
 */
void rover_path_ect(struct rover_path *path);

/**
 * rover_path_destroy() - drop route and GID
 * @path: nobody sends along it any more; all zero is fine
 *
 * Context: any.
 */
void rover_path_destroy(struct rover_path *path);

/**
 * rover_path_put_gid() - drop the GID, keep the route
 * @path: packets may be on their way along it; all zero is fine
 *
 * Context: any.
 */
void rover_path_put_gid(struct rover_path *path);

/**
 * rover_path_lost() - something was lost
 * @path: initialised
 *
 * Counts once, until something new is carried: who goes back asks for, or sends,
 * many things again.
 *
 * Context: any; of two at once one may not be counted.
 */
static inline void rover_path_lost(struct rover_path *path)
{
	unsigned int losses = READ_ONCE(path->losses);

	if (!READ_ONCE(path->carried))
		return;
	WRITE_ONCE(path->carried, 0);
	if (losses < ROVER_LOSSES_MOST)
		WRITE_ONCE(path->losses, losses + 1);
}

/**
 * rover_path_reliable() - is that so rare that it may be by chance?
 * @path: initialised
 */
static inline bool rover_path_reliable(const struct rover_path *path)
{
	return READ_ONCE(path->losses) < ROVER_LOSSES_MOST;
}

/**
 * rover_path_carried() - there is progress
 * @path: initialised
 * @bytes: as if all packets were full
 *
 * A few losses far from each other are forgiven; too many near each other never.
 *
 * Context: any; as rover_path_lost().
 */
static inline void rover_path_carried(struct rover_path *path, u64 bytes)
{
	bytes += READ_ONCE(path->carried);
	WRITE_ONCE(path->carried, bytes);
	if (bytes >= ROVER_CARRIED_MUCH && READ_ONCE(path->losses) &&
	    rover_path_reliable(path))
		WRITE_ONCE(path->losses, 0);
}

/**
 * rover_path_dst() - the route, valid for now
 * @path: initialised; of RoCE v2
 *
 * Context: under rcu_read_lock(), softirqs off; does not sleep.
 * Return: a route without a reference, for skb_dst_set_noref(); or an
 * ERR_PTR: -ENETUNREACH, -EHOSTUNREACH, ...
 */
struct dst_entry *rover_path_dst(struct rover_path *path);

/**
 * rover_path_dgid() - the address a packet was sent to, as a GID
 * @gid: to be filled in
 * @l3: what it has in front of its BTH
 * @ip: IP header of the packet, or its GRH
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
 * rover_path_find_gid() - the GID of the device a packet was sent to
 * @ib: registered device
 * @l3: what it has in front of its BTH
 * @ip: IP header of the packet, or its GRH
 * @in: interface it came by, or NULL
 *
 * A link-local address is often that of an interface and of the VLANs above it:
 * then it is the GID of @in.  Other addresses may be another interface's.
 *
 * Context: any.
 * Return: referenced, for rdma_put_gid_attr(); an ERR_PTR when the address is
 * none of this device's.
 */
const struct ib_gid_attr *rover_path_find_gid(struct ib_device *ib,
					  enum rover_l3 l3, const void *ip,
					  struct net_device *in);

/**
 * rover_path_match() - did this packet come from the peer of this path?
 * @path: initialised
 * @net: namespace it came in
 * @l3: what it has in front of its BTH
 * @ip: its IP header, or its GRH
 *
 * Return: true when protocol, addresses and namespace are those of the path, the
 * addresses mirrored: a connection speaks RoCE v1 or v2, and not both (A17.4).
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
 * rover_path_headers_match() - are these the headers of this path's packets?
 * @path: initialised
 * @skb: data at the IP header of one; what each packet has for itself, and its UDP
 *	source port, may be anything
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
