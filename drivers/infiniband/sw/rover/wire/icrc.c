// SPDX-License-Identifier: GPL-2.0
/*
 * icrc - the headers of a packet, as the invariant CRC sees them
 *
 * A packet's headers are copied to the stack, what routers and hosts may
 * change on the way is set to ones, and the copy is summed; with what follows
 * them, if that is little: each sum has to get the vector registers first.
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "wire/icrc.h"

/*
 * What the sum is before the IP header: crc32_le(~0, eight bytes of ones).
 * Those bytes stand for the local route header that InfiniBand has there.
 */
#define SEED	0xdebb20e3U

/* What follows the BTH: extended headers, and payload of a few bytes. */
#define MORE	64

struct pseudo4 {
	struct iphdr ip;
	struct udphdr udp;
	struct rover_bth bth;
	u8 more[MORE];
};

struct pseudo6 {
	struct ipv6hdr ip;
	struct udphdr udp;
	struct rover_bth bth;
	u8 more[MORE];
};

struct pseudo_grh {
	struct ipv6hdr grh;
	struct rover_bth bth;
	u8 more[MORE];
};

/* Summed as bytes: there must be no holes. */
static_assert(sizeof(struct pseudo4) == 20 + 8 + 12 + MORE);
static_assert(sizeof(struct pseudo6) == 40 + 8 + 12 + MORE);
static_assert(sizeof(struct pseudo_grh) == 40 + 12 + MORE);

/* Traffic class and flow label are all of the first word but the version. */
static void mask_ip6(struct ipv6hdr *ip, u16 len)
{
	ip->priority = 0xf;
	ip->flow_lbl[0] = 0xff;
	ip->flow_lbl[1] = 0xff;
	ip->flow_lbl[2] = 0xff;
	ip->payload_len = cpu_to_be16(len);
	ip->hop_limit = 0xff;
}

static void mask_udp(struct udphdr *udp, u16 len)
{
	udp->len = cpu_to_be16(len);
	udp->check = (__force __sum16)0xffff;
}

static void mask_bth(struct rover_bth *bth)
{
	bth->qpn |= cpu_to_be32(ROVER_BTH_RESV8A);
}

/* @to is where a copy of the headers from @from on ends, and has room for more. */
static u32 sum(const void *from, void *to, const struct rover_bth *bth,
	       unsigned int own)
{
	unsigned int rest = own - sizeof(*bth), more = min(rest, MORE);
	const u8 *next = (const u8 *)(bth + 1);
	u32 crc;

	memcpy(to, next, more);
	crc = rover_icrc_add(SEED, from, to + more - from);
	return rest > more ? rover_icrc_add(crc, next + more, rest - more) : crc;
}

u32 rover_icrc_begin4(const struct iphdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, unsigned int own, u16 udp_len,
		      __be16 id)
{
	struct pseudo4 pseudo __uninitialized;

	pseudo.ip = *ip;
	pseudo.ip.tos = 0xff;
	pseudo.ip.tot_len = cpu_to_be16(sizeof(*ip) + udp_len);
	pseudo.ip.id = id;
	pseudo.ip.ttl = 0xff;
	pseudo.ip.check = (__force __sum16)0xffff;
	pseudo.udp = *udp;
	mask_udp(&pseudo.udp, udp_len);
	pseudo.bth = *bth;
	mask_bth(&pseudo.bth);
	return sum(&pseudo, pseudo.more, bth, own);
}

u32 rover_icrc_begin6(const struct ipv6hdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, unsigned int own, u16 udp_len)
{
	struct pseudo6 pseudo __uninitialized;

	pseudo.ip = *ip;
	mask_ip6(&pseudo.ip, udp_len);
	pseudo.udp = *udp;
	mask_udp(&pseudo.udp, udp_len);
	pseudo.bth = *bth;
	mask_bth(&pseudo.bth);
	return sum(&pseudo, pseudo.more, bth, own);
}

u32 rover_icrc_begin_grh(const struct ipv6hdr *grh, const struct rover_bth *bth,
			 unsigned int own, u16 len)
{
	struct pseudo_grh pseudo __uninitialized;

	pseudo.grh = *grh;
	mask_ip6(&pseudo.grh, len);
	pseudo.bth = *bth;
	mask_bth(&pseudo.bth);
	return sum(&pseudo, pseudo.more, bth, own);
}

u32 rover_icrc_begin(enum rover_l3 l3, const void *ip, const struct udphdr *udp,
		     const struct rover_bth *bth, unsigned int own,
		     unsigned int len)
{
	unsigned int udp_len = sizeof(*udp) + len;

	switch (l3) {
	case ROVER_L3_IPV4:
		return rover_icrc_begin4(ip, udp, bth, own, udp_len,
					 ((const struct iphdr *)ip)->id);
	case ROVER_L3_IPV6:
		return rover_icrc_begin6(ip, udp, bth, own, udp_len);
	default:
		return rover_icrc_begin_grh(ip, bth, own, len);
	}
}
