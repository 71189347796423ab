// SPDX-License-Identifier: GPL-2.0
/*
 * icrc - the headers of a packet, as the invariant CRC sees them
 *
 * A packet's headers are copied to the stack, what routers and hosts may
 * change on the way is set to ones, and the copy is summed.
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "icrc.h"

/*
 * What the sum is before the IP header: crc32_le(~0, eight bytes of ones).
 * Those bytes stand for the local route header that InfiniBand has there.
 */
#define SEED	0xdebb20e3U

struct pseudo4 {
	struct iphdr ip;
	struct udphdr udp;
	struct rover_bth bth;
};

struct pseudo6 {
	struct ipv6hdr ip;
	struct udphdr udp;
	struct rover_bth bth;
};

struct pseudo_grh {
	struct ipv6hdr grh;
	struct rover_bth bth;
};

/* Summed as bytes: there must be no holes. */
static_assert(sizeof(struct pseudo4) == 20 + 8 + 12);
static_assert(sizeof(struct pseudo6) == 40 + 8 + 12);
static_assert(sizeof(struct pseudo_grh) == 40 + 12);

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

u32 rover_icrc_begin4(const struct iphdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, u16 udp_len, __be16 id)
{
	struct pseudo4 pseudo = { .ip = *ip, .udp = *udp, .bth = *bth };

	pseudo.ip.tos = 0xff;
	pseudo.ip.tot_len = cpu_to_be16(sizeof(*ip) + udp_len);
	pseudo.ip.id = id;
	pseudo.ip.ttl = 0xff;
	pseudo.ip.check = (__force __sum16)0xffff;
	mask_udp(&pseudo.udp, udp_len);
	mask_bth(&pseudo.bth);
	return rover_icrc_add(SEED, &pseudo, sizeof(pseudo));
}

u32 rover_icrc_begin6(const struct ipv6hdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, u16 udp_len)
{
	struct pseudo6 pseudo = { .ip = *ip, .udp = *udp, .bth = *bth };

	mask_ip6(&pseudo.ip, udp_len);
	mask_udp(&pseudo.udp, udp_len);
	mask_bth(&pseudo.bth);
	return rover_icrc_add(SEED, &pseudo, sizeof(pseudo));
}

u32 rover_icrc_begin_grh(const struct ipv6hdr *grh, const struct rover_bth *bth,
			 u16 len)
{
	struct pseudo_grh pseudo = { .grh = *grh, .bth = *bth };

	mask_ip6(&pseudo.grh, len);
	mask_bth(&pseudo.bth);
	return rover_icrc_add(SEED, &pseudo, sizeof(pseudo));
}

u32 rover_icrc_begin(enum rover_l3 l3, const void *ip, const struct udphdr *udp,
		     const struct rover_bth *bth, unsigned int len)
{
	unsigned int udp_len = sizeof(*udp) + len;

	switch (l3) {
	case ROVER_L3_IPV4:
		return rover_icrc_begin4(ip, udp, bth, udp_len,
					 ((const struct iphdr *)ip)->id);
	case ROVER_L3_IPV6:
		return rover_icrc_begin6(ip, udp, bth, udp_len);
	default:
		return rover_icrc_begin_grh(ip, bth, len);
	}
}
