/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flow_key - what flow rules ask of an Ethernet frame
 *
 * The fields that a rule may name, all at places of their own in one small
 * structure.  A rule is two of these, a mask and what is to be under it, so that
 * matching is the same few words whatever the rule asks for.
 *
 * Pure: also compiled in user space.
 */
#ifndef ROVER_FLOW_KEY_H
#define ROVER_FLOW_KEY_H

#include <linux/types.h>

/* Bytes behind the Ethernet header that are looked at, at most. */
#define ROVER_FLOW_KEY_LOOK	128

#define ROVER_FLOW_KEY_WORDS	9

/* What a frame has: bits of @layers. */
#define ROVER_FLOW_KEY_VLAN	(1U << 0)
#define ROVER_FLOW_KEY_IPV4	(1U << 1)
#define ROVER_FLOW_KEY_IPV6	(1U << 2)
#define ROVER_FLOW_KEY_TCP		(1U << 3)	/* with its ports */
#define ROVER_FLOW_KEY_UDP		(1U << 4)	/* with its ports */

/* Bits of @ip4_flags, as verbs have them. */
#define ROVER_FLOW_KEY_DF		0x2
#define ROVER_FLOW_KEY_MF		0x4

/**
 * union rover_flow_key - fields of a frame, as they are on the wire
 * @dst: Ethernet address it goes to
 * @src: and comes from
 * @ether_type: of what the frame carries, behind a VLAN tag
 * @vlan: priority, CFI and number of the outermost VLAN tag
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
 * @ip6_label: IPv6: flow label, in its lower 20 bits
 * @ip6_next: IPv6: what the header itself says comes next
 * @ip6_class: IPv6: traffic class
 * @ip6_hops: IPv6: hop limit
 * @layers: ROVER_FLOW_KEY_*; fields of what the frame does not have are zero
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
 * rover_flow_key_read() - what a frame has
 * @frame: to be filled in
 * @eth: its Ethernet header, 14 bytes, from which a VLAN tag has been taken
 * @vlan: that tag; NULL without one
 * @data: what follows
 * @len: bytes of it that are there, at most ROVER_FLOW_KEY_LOOK of them are read
 *
 * Later fragments, and what is behind more headers than are looked at, have no
 * ports.
 */
void rover_flow_key_read(union rover_flow_key *frame, const u8 *eth,
		      const __be16 *vlan, const u8 *data, u32 len);

/**
 * rover_flow_key_match() - is it what is asked for?
 * @frame: as read
 * @mask: bits that are asked for
 * @want: what these have to be; all others are zero
 */
static inline bool rover_flow_key_match(const union rover_flow_key *frame,
				     const union rover_flow_key *mask,
				     const union rover_flow_key *want)
{
	unsigned int i;

	for (i = 0; i < ROVER_FLOW_KEY_WORDS; i++)
		if ((frame->words[i] & mask->words[i]) != want->words[i])
			return false;
	return true;
}

/* Is it a packet of RoCE's own, of either version, for whomever? */
bool rover_flow_key_is_roce(const union rover_flow_key *frame);

#endif /* ROVER_FLOW_KEY_H */
