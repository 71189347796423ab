// SPDX-License-Identifier: GPL-2.0
/*
 * flow_key - what flow rules ask of an Ethernet frame
 *
 * Frames come from anybody: each length is looked at before what it is the
 * length of, and the work is bounded.
 */
#include <linux/build_bug.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "wire/flow_key.h"
#include "wire/wire.h"

static_assert(sizeof(union rover_flow_key) ==
	      sizeof(((union rover_flow_key *)NULL)->words));

#define ETH_TYPE_AT	12
#define TYPE_IPV4	0x0800
#define TYPE_IPV6	0x86dd
#define TYPE_ROCE	0x8915

#define IPV4_LEN	20
#define IPV4_RF_DF_MF	5	/* by which the flags are shifted in their byte */
#define IPV4_DF		0x2
#define IPV4_MF		0x1
#define IPV6_LEN	40
#define PORTS_LEN	4

/* IP protocols, and the headers of IPv6 that may precede them. */
#define PROTO_HOPS	0
#define PROTO_TCP	6
#define PROTO_UDP	17
#define PROTO_ROUTING	43
#define PROTO_FRAGMENT	44
#define PROTO_DEST	60

/* Nobody has more, and nobody may make us look for more. */
#define MAX_EXTENSIONS	8

static u16 be16_at(const u8 *at)
{
	return at[0] << 8 | at[1];
}

static void read_ports(union rover_flow_key *frame, u8 proto, const u8 *data,
		       u32 len)
{
	if (len < PORTS_LEN)
		return;
	if (proto == PROTO_TCP)
		frame->layers |= ROVER_FLOW_KEY_TCP;
	else if (proto == PROTO_UDP)
		frame->layers |= ROVER_FLOW_KEY_UDP;
	else
		return;
	memcpy(&frame->sport, data, sizeof(frame->sport));
	memcpy(&frame->dport, data + 2, sizeof(frame->dport));
}

static void read_ipv4(union rover_flow_key *frame, const u8 *data, u32 len)
{
	u32 head;
	u8 flags;

	if (len < IPV4_LEN || data[0] >> 4 != 4)
		return;
	head = (data[0] & 0xf) * 4;
	if (head < IPV4_LEN)
		return;
	frame->layers |= ROVER_FLOW_KEY_IPV4;
	frame->ip4_tos = data[1];
	frame->ip4_ttl = data[8];
	frame->ip4_proto = data[9];
	memcpy(&frame->ip4_src, data + 12, sizeof(frame->ip4_src));
	memcpy(&frame->ip4_dst, data + 16, sizeof(frame->ip4_dst));
	flags = data[6] >> IPV4_RF_DF_MF;
	frame->ip4_flags = (flags & IPV4_DF ? ROVER_FLOW_KEY_DF : 0) |
			   (flags & IPV4_MF ? ROVER_FLOW_KEY_MF : 0);
	/* Only the first fragment has ports. */
	if (!(be16_at(data + 6) & 0x1fff) && head <= len)
		read_ports(frame, data[9], data + head, len - head);
}

/* Bytes of a header that stands before the transport's; 0 if it is none. */
static u32 extension(u8 next, const u8 *data, u32 len)
{
	switch (next) {
	case PROTO_HOPS:
	case PROTO_ROUTING:
	case PROTO_DEST:
		return len < 2 ? 0 : (data[1] + 1) * 8;
	case PROTO_FRAGMENT:
		/* As above. */
		return len < 8 || be16_at(data + 2) & 0xfff8 ? 0 : 8;
	default:
		return 0;
	}
}

static void read_ipv6(union rover_flow_key *frame, const u8 *data, u32 len)
{
	u8 next, label[4] = {};
	unsigned int i;
	u32 at, more;

	if (len < IPV6_LEN || data[0] >> 4 != 6)
		return;
	frame->layers |= ROVER_FLOW_KEY_IPV6;
	frame->ip6_class = (data[0] & 0xf) << 4 | data[1] >> 4;
	label[1] = data[1] & 0xf;
	memcpy(label + 2, data + 2, 2);
	memcpy(&frame->ip6_label, label, sizeof(label));
	frame->ip6_next = data[6];
	frame->ip6_hops = data[7];
	memcpy(frame->ip6_src, data + 8, sizeof(frame->ip6_src));
	memcpy(frame->ip6_dst, data + 24, sizeof(frame->ip6_dst));

	next = data[6];
	at = IPV6_LEN;
	for (i = 0; i < MAX_EXTENSIONS; i++) {
		more = extension(next, data + at, len - at);
		if (!more || more > len - at)
			break;
		next = data[at];
		at += more;
	}
	read_ports(frame, next, data + at, len - at);
}

void rover_flow_key_read(union rover_flow_key *frame, const u8 *eth,
		      const __be16 *vlan, const u8 *data, u32 len)
{
	memset(frame, 0, sizeof(*frame));
	memcpy(frame->dst, eth, sizeof(frame->dst));
	memcpy(frame->src, eth + 6, sizeof(frame->src));
	memcpy(&frame->ether_type, eth + ETH_TYPE_AT, 2);
	if (vlan) {
		frame->layers |= ROVER_FLOW_KEY_VLAN;
		frame->vlan = *vlan;
	}
	if (len > ROVER_FLOW_KEY_LOOK)
		len = ROVER_FLOW_KEY_LOOK;
	if (be16_at(eth + ETH_TYPE_AT) == TYPE_IPV4)
		read_ipv4(frame, data, len);
	else if (be16_at(eth + ETH_TYPE_AT) == TYPE_IPV6)
		read_ipv6(frame, data, len);
}

bool rover_flow_key_is_roce(const union rover_flow_key *frame)
{
	if (frame->layers & ROVER_FLOW_KEY_UDP)
		return frame->dport == cpu_to_be16(ROVER_UDP_PORT);
	return frame->ether_type == cpu_to_be16(TYPE_ROCE);
}
