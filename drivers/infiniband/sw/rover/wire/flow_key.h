/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flow_key - fields of an Ethernet frame for flow rules
 *
 * A rule is a mask and a value of union rover_flow_key.
 */
#ifndef ROVER_FLOW_KEY_H
#define ROVER_FLOW_KEY_H

#include <linux/types.h>

/* Limit of bytes read behind the Ethernet header. */
#define ROVER_FLOW_KEY_LOOK	128

#define ROVER_FLOW_KEY_WORDS	9

/* Bits of @layers: layers found in a frame. */
#define ROVER_FLOW_KEY_VLAN	(1U << 0)
#define ROVER_FLOW_KEY_IPV4	(1U << 1)
#define ROVER_FLOW_KEY_IPV6	(1U << 2)
#define ROVER_FLOW_KEY_TCP	(1U << 3)	/* and has ports */
#define ROVER_FLOW_KEY_UDP	(1U << 4)	/* and has ports */

/* Bits of @ip4_flags, as in verbs. */
#define ROVER_FLOW_KEY_DF	0x2
#define ROVER_FLOW_KEY_MF	0x4

/**
 * union rover_flow_key - fields of a frame, in network order
 * @dst: Ethernet destination
 * @src: Ethernet source
 * @ether_type: behind a VLAN tag
 * @vlan: TCI of the outermost tag
 * @ip4_src: IPv4
 * @ip4_dst: IPv4
 * @ip4_proto: IPv4
 * @ip4_tos: IPv4
 * @ip4_ttl: IPv4
 * @ip4_flags: ROVER_FLOW_KEY_DF and ROVER_FLOW_KEY_MF
 * @sport: TCP or UDP
 * @dport: TCP or UDP
 * @ip6_src: IPv6
 * @ip6_dst: IPv6
 * @ip6_label: flow label, lower 20 bits
 * @ip6_next: next header of the fixed header
 * @ip6_class: traffic class
 * @ip6_hops: hop limit
 * @layers: ROVER_FLOW_KEY_*; fields of absent layers are zero
 * @words: all of it
 */
union rover_flow_key {
	struct {
		u8 dst[6];
		u8 src[6];
		__be16 ether_type;
		__be16 vlan;
		__be32 ip4_src;
		__be32 ip4_dst;
		u8 ip4_proto;
		u8 ip4_tos;
		u8 ip4_ttl;
		u8 ip4_flags;
		__be16 sport;
		__be16 dport;
		u8 ip6_src[16];
		u8 ip6_dst[16];
		__be32 ip6_label;
		u8 ip6_next;
		u8 ip6_class;
		u8 ip6_hops;
		u8 layers;
	};
	u64 words[ROVER_FLOW_KEY_WORDS];
};

/**
 * rover_flow_key_read() - read the fields of a frame
 * @key: filled in
 * @eth: Ethernet header, 14 bytes, without VLAN tag
 * @vlan: stripped VLAN tag or NULL
 * @data: bytes behind the Ethernet header
 * @len: of @data
 *
 * Later fragments, and frames with too many extension headers, have no ports.
 */
void rover_flow_key_read(union rover_flow_key *key, const u8 *eth,
			 const __be16 *vlan, const u8 *data, u32 len);

/**
 * rover_flow_key_match() - test whether a frame matches a rule
 * @key: of the frame
 * @mask: bits to compare
 * @want: their values; other bits are zero
 */
static inline bool rover_flow_key_match(const union rover_flow_key *key,
					const union rover_flow_key *mask,
					const union rover_flow_key *want)
{
	unsigned int i;

	for (i = 0; i < ROVER_FLOW_KEY_WORDS; i++)
		if ((key->words[i] & mask->words[i]) != want->words[i])
			return false;
	return true;
}

/* Test whether a frame is RoCE v1 or v2. */
bool rover_flow_key_is_roce(const union rover_flow_key *key);

#endif /* ROVER_FLOW_KEY_H */
