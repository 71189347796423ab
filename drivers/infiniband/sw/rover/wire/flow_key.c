// SPDX-License-Identifier: GPL-2.0
/*
 * flow_key - fields of an Ethernet frame for flow rules
 *
 * Frames are untrusted: check lengths before use, and bound the work.
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
#define IPV4_RF_DF_MF	5	/* shift of the flags in their byte */
#define IPV4_DF		0x2
#define IPV4_MF		0x1
#define IPV6_LEN	40
#define PORTS_LEN	4

#define PROTO_HOPS	0
#define PROTO_TCP	6
#define PROTO_UDP	17
#define PROTO_ROUTING	43
#define PROTO_FRAGMENT	44
#define PROTO_DEST	60

/* More than valid frames have. */
#define MAX_EXTENSIONS	8

static u16 flow_key_be16(const u8 *at)
{
	return at[0] << 8 | at[1];
}

static void flow_key_read_ports(union rover_flow_key *key, u8 proto,
				const u8 *data, u32 len)
{
	if (len < PORTS_LEN)
		return;
	if (proto == PROTO_TCP)
		key->layers |= ROVER_FLOW_KEY_TCP;
	else if (proto == PROTO_UDP)
		key->layers |= ROVER_FLOW_KEY_UDP;
	else
		return;
	memcpy(&key->sport, data, sizeof(key->sport));
	memcpy(&key->dport, data + 2, sizeof(key->dport));
}

static void flow_key_read_ipv4(union rover_flow_key *key, const u8 *data,
			       u32 len)
{
	u32 head;
	u8 flags;

	if (len < IPV4_LEN || data[0] >> 4 != 4)
		return;
	head = (data[0] & 0xf) * 4;
	if (head < IPV4_LEN)
		return;
	key->layers |= ROVER_FLOW_KEY_IPV4;
	key->ip4_tos = data[1];
	key->ip4_ttl = data[8];
	key->ip4_proto = data[9];
	memcpy(&key->ip4_src, data + 12, sizeof(key->ip4_src));
	memcpy(&key->ip4_dst, data + 16, sizeof(key->ip4_dst));
	flags = data[6] >> IPV4_RF_DF_MF;
	key->ip4_flags = (flags & IPV4_DF ? ROVER_FLOW_KEY_DF : 0) |
			   (flags & IPV4_MF ? ROVER_FLOW_KEY_MF : 0);
	/* Only the first fragment has ports. */
	if (!(flow_key_be16(data + 6) & 0x1fff) && head <= len)
		flow_key_read_ports(key, data[9], data + head, len - head);
}

/* Return the length of an IPv6 extension header; 0 if @next is none. */
static u32 flow_key_extension_len(u8 next, const u8 *data, u32 len)
{
	switch (next) {
	case PROTO_HOPS:
	case PROTO_ROUTING:
	case PROTO_DEST:
		return len < 2 ? 0 : (data[1] + 1) * 8;
	case PROTO_FRAGMENT:
		/* Only the first fragment has ports. */
		return len < 8 || flow_key_be16(data + 2) & 0xfff8 ? 0 : 8;
	default:
		return 0;
	}
}

static void flow_key_read_ipv6(union rover_flow_key *key, const u8 *data,
			       u32 len)
{
	u8 next, label[4] = {};
	unsigned int i;
	u32 at, more;

	if (len < IPV6_LEN || data[0] >> 4 != 6)
		return;
	key->layers |= ROVER_FLOW_KEY_IPV6;
	key->ip6_class = (data[0] & 0xf) << 4 | data[1] >> 4;
	label[1] = data[1] & 0xf;
	memcpy(label + 2, data + 2, 2);
	memcpy(&key->ip6_label, label, sizeof(label));
	key->ip6_next = data[6];
	key->ip6_hops = data[7];
	memcpy(key->ip6_src, data + 8, sizeof(key->ip6_src));
	memcpy(key->ip6_dst, data + 24, sizeof(key->ip6_dst));

	next = data[6];
	at = IPV6_LEN;
	for (i = 0; i < MAX_EXTENSIONS; i++) {
		more = flow_key_extension_len(next, data + at, len - at);
		if (!more || more > len - at)
			break;
		next = data[at];
		at += more;
	}
	flow_key_read_ports(key, next, data + at, len - at);
}

void rover_flow_key_read(union rover_flow_key *key, const u8 *eth,
			 const __be16 *vlan, const u8 *data, u32 len)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->dst, eth, sizeof(key->dst));
	memcpy(key->src, eth + 6, sizeof(key->src));
	memcpy(&key->ether_type, eth + ETH_TYPE_AT, 2);
	if (vlan) {
		key->layers |= ROVER_FLOW_KEY_VLAN;
		key->vlan = *vlan;
	}
	if (len > ROVER_FLOW_KEY_LOOK)
		len = ROVER_FLOW_KEY_LOOK;
	if (flow_key_be16(eth + ETH_TYPE_AT) == TYPE_IPV4)
		flow_key_read_ipv4(key, data, len);
	else if (flow_key_be16(eth + ETH_TYPE_AT) == TYPE_IPV6)
		flow_key_read_ipv6(key, data, len);
}

bool rover_flow_key_is_roce(const union rover_flow_key *key)
{
	if (key->layers & ROVER_FLOW_KEY_UDP)
		return key->dport == cpu_to_be16(ROVER_UDP_PORT);
	return key->ether_type == cpu_to_be16(TYPE_ROCE);
}
