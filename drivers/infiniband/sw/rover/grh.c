// SPDX-License-Identifier: GPL-2.0
/*
 * grh - what stands in a receive in front of a datagram
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "grh.h"

static_assert(sizeof(struct ipv6hdr) == ROVER_GRH_SIZE);
static_assert(sizeof(struct iphdr) == ROVER_GRH_SIZE / 2);

/*
 * Readers find out by the checksum which kind of header it is, so it must be
 * right (RFC 791; of a header whose checksum is zero as yet).
 */
static u16 checksum(const struct iphdr *ip)
{
	u16 words[ROVER_GRH_SIZE / 4];
	u32 sum = 0;
	int i;

	memcpy(words, ip, sizeof(words));
	for (i = 0; i < ROVER_GRH_SIZE / 4; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

void rover_grh_make(u8 grh[ROVER_GRH_SIZE], bool v6, const void *ip,
		    u16 udp_len)
{
	struct ipv6hdr ip6;
	struct iphdr ip4;

	if (v6) {
		memcpy(&ip6, ip, sizeof(ip6));
		ip6.payload_len = cpu_to_be16(udp_len);
		memcpy(grh, &ip6, sizeof(ip6));
		return;
	}
	memcpy(&ip4, ip, sizeof(ip4));
	ip4.tot_len = cpu_to_be16(sizeof(ip4) + udp_len);
	ip4.check = 0;
	ip4.check = (__force __sum16)checksum(&ip4);
	memset(grh, 0, ROVER_GRH_SIZE - sizeof(ip4));
	memcpy(grh + ROVER_GRH_SIZE - sizeof(ip4), &ip4, sizeof(ip4));
}
