// SPDX-License-Identifier: GPL-2.0
/*
 * icrc - ICRC over the headers of a packet
 *
 * Headers are copied with variant fields set to ones.  One CRC call covers the
 * copy and a short payload: each call acquires vector registers.
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "wire/icrc.h"

/*
 * crc32_le(~0, eight bytes of ones): these replace InfiniBand's local route
 * header.
 */
#define ICRC_SEED	0xdebb20e3U

/* Extended headers and short payload copied behind the BTH. */
#define ICRC_COPY_MAX	64

struct icrc_pseudo4 {
	struct iphdr ip;
	struct udphdr udp;
	struct rover_bth bth;
	u8 more[ICRC_COPY_MAX];
};

struct icrc_pseudo6 {
	struct ipv6hdr ip;
	struct udphdr udp;
	struct rover_bth bth;
	u8 more[ICRC_COPY_MAX];
};

struct icrc_pseudo_grh {
	struct ipv6hdr grh;
	struct rover_bth bth;
	u8 more[ICRC_COPY_MAX];
};

/* Summed as bytes: no padding allowed. */
static_assert(sizeof(struct icrc_pseudo4) == 20 + 8 + 12 + ICRC_COPY_MAX);
static_assert(sizeof(struct icrc_pseudo6) == 40 + 8 + 12 + ICRC_COPY_MAX);
static_assert(sizeof(struct icrc_pseudo_grh) == 40 + 12 + ICRC_COPY_MAX);

/* Traffic class and flow label are all of the first word but the version. */
static void icrc_mask_ip6(struct ipv6hdr *ip, u16 len)
{
	ip->priority = 0xf;
	ip->flow_lbl[0] = 0xff;
	ip->flow_lbl[1] = 0xff;
	ip->flow_lbl[2] = 0xff;
	ip->payload_len = cpu_to_be16(len);
	ip->hop_limit = 0xff;
}

static void icrc_mask_udp(struct udphdr *udp, u16 len)
{
	udp->len = cpu_to_be16(len);
	udp->check = (__force __sum16)0xffff;
}

static void icrc_mask_bth(struct rover_bth *bth)
{
	bth->qpn |= cpu_to_be32(ROVER_BTH_RESV8A);
}

/*
 * Append the bytes behind @bth to the headers copied to @from; @to is their
 * end.
 */
static u32 icrc_sum_headers(const void *from, void *to,
			    const struct rover_bth *bth, unsigned int bth_len)
{
	unsigned int rest = bth_len - sizeof(*bth),
		     more = min(rest, ICRC_COPY_MAX);
	const u8 *next = (const u8 *)(bth + 1);
	u32 crc;

	memcpy(to, next, more);
	crc = rover_icrc_add(ICRC_SEED, from, to + more - from);
	return rest > more ? rover_icrc_add(crc, next + more, rest - more) : crc;
}

u32 rover_icrc_begin4(const struct iphdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, unsigned int bth_len,
		      u16 udp_len, __be16 id)
{
	struct icrc_pseudo4 pseudo __uninitialized;

	pseudo.ip = *ip;
	pseudo.ip.tos = 0xff;
	pseudo.ip.tot_len = cpu_to_be16(sizeof(*ip) + udp_len);
	pseudo.ip.id = id;
	pseudo.ip.ttl = 0xff;
	pseudo.ip.check = (__force __sum16)0xffff;
	pseudo.udp = *udp;
	icrc_mask_udp(&pseudo.udp, udp_len);
	pseudo.bth = *bth;
	icrc_mask_bth(&pseudo.bth);
	return icrc_sum_headers(&pseudo, pseudo.more, bth, bth_len);
}

u32 rover_icrc_begin6(const struct ipv6hdr *ip, const struct udphdr *udp,
		      const struct rover_bth *bth, unsigned int bth_len,
		      u16 udp_len)
{
	struct icrc_pseudo6 pseudo __uninitialized;

	pseudo.ip = *ip;
	icrc_mask_ip6(&pseudo.ip, udp_len);
	pseudo.udp = *udp;
	icrc_mask_udp(&pseudo.udp, udp_len);
	pseudo.bth = *bth;
	icrc_mask_bth(&pseudo.bth);
	return icrc_sum_headers(&pseudo, pseudo.more, bth, bth_len);
}

u32 rover_icrc_begin_grh(const struct ipv6hdr *grh, const struct rover_bth *bth,
			 unsigned int bth_len, u16 len)
{
	struct icrc_pseudo_grh pseudo __uninitialized;

	pseudo.grh = *grh;
	icrc_mask_ip6(&pseudo.grh, len);
	pseudo.bth = *bth;
	icrc_mask_bth(&pseudo.bth);
	return icrc_sum_headers(&pseudo, pseudo.more, bth, bth_len);
}

u32 rover_icrc_begin(enum rover_l3 l3, const void *ip, const struct udphdr *udp,
		     const struct rover_bth *bth, unsigned int bth_len,
		     unsigned int len)
{
	unsigned int udp_len = sizeof(*udp) + len;

	switch (l3) {
	case ROVER_L3_IPV4:
		return rover_icrc_begin4(ip, udp, bth, bth_len, udp_len,
					 ((const struct iphdr *)ip)->id);
	case ROVER_L3_IPV6:
		return rover_icrc_begin6(ip, udp, bth, bth_len, udp_len);
	default:
		return rover_icrc_begin_grh(ip, bth, bth_len, len);
	}
}
