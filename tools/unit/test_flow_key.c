// SPDX-License-Identifier: GPL-2.0
/*
 * test_flow_key - fields read from good and bad frames, and matching
 */
#include <stdlib.h>
#include <string.h>

#include "wire/flow_key.h"
#include "ktap.h"

#define FIRST	0x2000
#define LATER	0x0010

static const u8 eth[3][14] = {
	{ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00 },
	{ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd },
	{ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x89, 0x15 },
};

static u16 port(__be16 value)
{
	u8 bytes[2];

	memcpy(bytes, &value, sizeof(bytes));
	return bytes[0] << 8 | bytes[1];
}

static unsigned int make4(u8 *to, u8 words, u8 proto, u16 fragment)
{
	static const u8 ports[4] = { 0x03, 0xe8, 0x12, 0xb7 };

	memset(to, 0, words * 4);
	to[0] = 0x40 | words;
	to[1] = 0xb8;
	to[6] = fragment >> 8;
	to[7] = fragment;
	to[8] = 9;
	to[9] = proto;
	memcpy(to + words * 4, ports, sizeof(ports));
	return words * 4 + 4;
}

static void test_v4(void)
{
	union rover_flow_key f;
	u8 data[80];
	unsigned int len = make4(data, 5, 17, 0x4000), i;
	bool good = true;

	rover_flow_key_read(&f, eth[0], NULL, data, len);
	ktap_ok(f.layers == (ROVER_FLOW_KEY_IPV4 | ROVER_FLOW_KEY_UDP), "IPv4 and UDP");
	ktap_ok(f.ip4_tos == 0xb8 && f.ip4_ttl == 9 && f.ip4_proto == 17 &&
		f.ip4_flags == ROVER_FLOW_KEY_DF, "its fields");
	ktap_ok(port(f.sport) == 1000 && port(f.dport) == 4791 && rover_flow_key_is_roce(&f),
		"its ports, which are RoCE's");
	rover_flow_key_read(&f, eth[2], NULL, data, len);
	ktap_ok(!f.layers && rover_flow_key_is_roce(&f), "RoCE v1");
	rover_flow_key_read(&f, eth[0], &(__be16){ 5 }, data, len);
	ktap_ok(f.layers & ROVER_FLOW_KEY_VLAN && f.vlan == 5, "a VLAN");

	len = make4(data, 9, 6, FIRST);
	rover_flow_key_read(&f, eth[0], NULL, data, len);
	ktap_ok(f.layers == (ROVER_FLOW_KEY_IPV4 | ROVER_FLOW_KEY_TCP) && port(f.dport) == 4791 &&
		f.ip4_flags == ROVER_FLOW_KEY_MF && !rover_flow_key_is_roce(&f),
		"TCP behind options, in a first fragment");
	len = make4(data, 5, 17, LATER);
	rover_flow_key_read(&f, eth[0], NULL, data, len);
	ktap_ok(f.layers == ROVER_FLOW_KEY_IPV4 && !f.dport, "a later fragment has no ports");
	len = make4(data, 5, 17, 0);
	data[0] = 0x44;
	rover_flow_key_read(&f, eth[0], NULL, data, len);
	ktap_ok(!f.layers, "a header too short for itself is none");

	/* Truncated at any length, with nothing readable behind. */
	for (i = 0; i < 24; i++) {
		u8 *cut = malloc(i ?: 1);

		make4(data, 5, 17, 0);
		memcpy(cut, data, i);
		rover_flow_key_read(&f, eth[0], NULL, cut, i);
		good &= f.layers == (i < 20 ? 0 : ROVER_FLOW_KEY_IPV4);
		free(cut);
	}
	ktap_ok(good, "and so is one that is cut off");
}

static unsigned int make6(u8 *to, const u8 *next, unsigned int len, u8 first)
{
	static const u8 ports[4] = { 0, 7, 0, 9 };
	const u8 head[8] = { 0x63, 0xc5, 0x43, 0x21, 0, 0, first, 33 };

	memset(to, 0, 40);
	memcpy(to, head, sizeof(head));
	to[8] = 0xfd;
	to[39] = 7;
	if (len)
		memcpy(to + 40, next, len);
	memcpy(to + 40 + len, ports, sizeof(ports));
	return 44 + len;
}

static void test_v6(void)
{
	static const u8 some[24] = { 60, [8] = 44, [16] = 17, 0, 0, 1 };
	static const u8 label[4] = { 0, 5, 0x43, 0x21 };
	static const u8 later[] = { 17, 0, 1, 0, 0, 0, 0, 0 };
	static const u8 endless[] = { 0, 255 };
	u8 data[160], loop[88] = { 0 };
	union rover_flow_key f;
	unsigned int len;

	len = make6(data, NULL, 0, 6);
	rover_flow_key_read(&f, eth[1], NULL, data, len);
	ktap_ok(f.layers == (ROVER_FLOW_KEY_IPV6 | ROVER_FLOW_KEY_TCP) && port(f.sport) == 7 &&
		port(f.dport) == 9, "IPv6 and TCP");
	ktap_ok(f.ip6_class == 0x3c && f.ip6_hops == 33 && f.ip6_next == 6 &&
		f.ip6_src[0] == 0xfd && f.ip6_dst[15] == 7 &&
		!memcmp(&f.ip6_label, label, 4), "its fields");
	len = make6(data, some, sizeof(some), 0);
	rover_flow_key_read(&f, eth[1], NULL, data, len);
	ktap_ok(f.layers == (ROVER_FLOW_KEY_IPV6 | ROVER_FLOW_KEY_UDP) && port(f.dport) == 9 &&
		!f.ip6_next, "UDP behind three headers");
	len = make6(data, later, sizeof(later), 44);
	rover_flow_key_read(&f, eth[1], NULL, data, len);
	ktap_ok(f.layers == ROVER_FLOW_KEY_IPV6, "a later fragment has no ports");
	len = make6(data, endless, sizeof(endless), 0);
	rover_flow_key_read(&f, eth[1], NULL, data, len);
	ktap_ok(f.layers == ROVER_FLOW_KEY_IPV6, "nor has a header that goes beyond the frame");
	/* Each extension header announces another one. */
	len = make6(data, loop, sizeof(loop), 0);
	data[40 + 80] = 17;
	rover_flow_key_read(&f, eth[1], NULL, data, len);
	ktap_ok(f.layers == ROVER_FLOW_KEY_IPV6, "nor what is behind too many headers");
	rover_flow_key_read(&f, eth[0], NULL, data, len);
	ktap_ok(!f.layers, "IPv6 under the name of IPv4 is neither");
}

/* Random bytes: no read out of bounds, and a frame matches itself. */
static void test_noise(void)
{
	static const u8 protos[] = { 0, 6, 17, 43, 44, 60 };
	union rover_flow_key f, all, mask, other;
	bool good = true;
	u32 random = 1;

	memset(&all, 0xff, sizeof(all));
	for (unsigned int n = 0; n < 50000; n++) {
		unsigned int len = n % 140;
		u8 *data = malloc(len ?: 1);

		for (unsigned int i = 0; i < len; i++) {
			random = random * 1664525 + 1013904223;
			data[i] = random >> 24;
		}
		if (len)
			data[0] = n & 1 ? 0x60 : 0x45;
		if (len > 9)
			data[n & 1 ? 6 : 9] = protos[n % 6];
		rover_flow_key_read(&f, eth[n & 1], NULL, data, len);
		good &= rover_flow_key_match(&f, &all, &f);
		/* A different bit counts unless the mask excludes it. */
		other = f;
		other.words[n % 9] ^= 1ULL << n % 64;
		good &= !rover_flow_key_match(&other, &all, &f);
		mask = all;
		mask.words[n % 9] ^= 1ULL << n % 64;
		f.words[n % 9] &= mask.words[n % 9];
		good &= rover_flow_key_match(&other, &mask, &f);
		free(data);
	}
	ktap_ok(good, "noise matches itself, and a bit that differs counts if it is asked for");
}

int main(void)
{
	test_v4();
	test_v6();
	test_noise();
	return ktap_done();
}
