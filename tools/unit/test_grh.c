// SPDX-License-Identifier: GPL-2.0
/*
 * test_grh - the header in front of a datagram, against handwritten bytes
 */
#include <string.h>

#include "wire/grh.h"
#include "ktap.h"

/*
 * 10.77.0.1 to 10.77.0.2, DF, TTL 64, TOS 0x68, UDP of 40 bytes; checksum
 * computed independently.
 */
static const u8 ip4[20] = {
	0x45, 0x68, 0x00, 0x3c, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x13, 0x79,
	10, 77, 0, 1, 10, 77, 0, 2,
};

static const u8 ip6[40] = {
	0x66, 0x81, 0x23, 0x45, 0x00, 0x28, 0x11, 0x40,
	0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
};

static u16 sum(const u8 *bytes, unsigned int len)
{
	u32 all = 0;

	for (unsigned int i = 0; i < len; i += 2)
		all += bytes[i] << 8 | bytes[i + 1];
	while (all >> 16)
		all = (all & 0xffff) + (all >> 16);
	return all;
}

static void test_v4(void)
{
	static const u8 zero[20];
	u8 grh[ROVER_GRH_SIZE], head[20];

	memset(grh, 0xa5, sizeof(grh));
	rover_grh_make(grh, ROVER_L3_IPV4, ip4, 32);
	ktap_ok(!memcmp(grh, zero, 20), "IPv4: the first 20 bytes are zero");
	ktap_ok(!memcmp(grh + 20, ip4, 20), "IPv4: the header is in the last 20");

	/* The head of a train has the train's length and checksum. */
	memcpy(head, ip4, sizeof(head));
	head[2] = 0xff;
	head[3] = 0xff;
	head[10] ^= 0x5a;
	rover_grh_make(grh, ROVER_L3_IPV4, head, 32);
	ktap_ok(!memcmp(grh + 20, ip4, 20), "IPv4: length and checksum are the packet's own");
}

/* The checksum is valid for any header contents. */
static void test_sums(void)
{
	u8 grh[ROVER_GRH_SIZE], head[20];
	u32 random = 1;
	bool good = true;

	for (unsigned int n = 0; n < 20000; n++) {
		for (unsigned int i = 0; i < sizeof(head); i++) {
			random = random * 1664525 + 1013904223;
			head[i] = n < 2 ? -n : random >> 24;
		}
		rover_grh_make(grh, ROVER_L3_IPV4, head, n);
		if (sum(grh + 20, 20) != 0xffff || (grh[22] << 8 | grh[23]) != (int)n + 28)
			good = ktap_note("header %u sums to %#x", n, sum(grh + 20, 20));
	}
	ktap_ok(good, "IPv4: the checksum of any header is right");
}

static void test_v6(void)
{
	u8 grh[ROVER_GRH_SIZE], head[40];

	memcpy(head, ip6, sizeof(head));
	head[4] = 0xff;
	rover_grh_make(grh, ROVER_L3_IPV6, head, 32);
	ktap_ok(!memcmp(grh, ip6, 40), "IPv6: the header, with the packet's own length");
}

static void test_v1(void)
{
	u8 grh[ROVER_GRH_SIZE], head[40];

	memcpy(head, ip6, sizeof(head));
	head[6] = 0x1b;
	rover_grh_make(grh, ROVER_L3_GRH, head, 40);
	ktap_ok(!memcmp(grh, head, 40), "RoCE v1: the header itself");
	rover_grh_make(grh, ROVER_L3_GRH, head, 0x1234);
	ktap_ok(grh[4] == 0x12 && grh[5] == 0x34, "RoCE v1: the length is all that follows it");
}

int main(void)
{
	ktap_eq(sum(ip4, 20), 0xffff, "the example is a good header");
	test_v4();
	test_sums();
	test_v6();
	test_v1();
	return ktap_done();
}
