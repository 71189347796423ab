// SPDX-License-Identifier: GPL-2.0
/* grh - header in front of received datagrams */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "wire/grh.h"

static_assert(sizeof(struct ipv6hdr) == ROVER_GRH_SIZE);
static_assert(sizeof(struct iphdr) == ROVER_GRH_SIZE / 2);

/* RFC 791; @ip->check must be zero.  Readers tell header kinds by it. */
static u16 grh_checksum(const struct iphdr *ip)
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

void rover_grh_make(u8 grh[ROVER_GRH_SIZE], enum rover_l3 l3, const void *ip,
		    u16 len)
{
	struct ipv6hdr ip6;
	struct iphdr ip4;

	len += rover_l3_len(l3);
	if (l3 != ROVER_L3_IPV4) {
		memcpy(&ip6, ip, sizeof(ip6));
		ip6.payload_len = cpu_to_be16(len - sizeof(ip6));
		memcpy(grh, &ip6, sizeof(ip6));
		return;
	}
	memcpy(&ip4, ip, sizeof(ip4));
	ip4.tot_len = cpu_to_be16(len);
	ip4.check = 0;
	ip4.check = (__force __sum16)grh_checksum(&ip4);
	memset(grh, 0, ROVER_GRH_SIZE - sizeof(ip4));
	memcpy(grh + ROVER_GRH_SIZE - sizeof(ip4), &ip4, sizeof(ip4));
}
