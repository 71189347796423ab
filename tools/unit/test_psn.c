// SPDX-License-Identifier: GPL-2.0
/*
 * test_psn - 24-bit arithmetic against vectors, and against 64 bits
 */
#include <stdlib.h>

#include "ktap.h"
#include "wire/psn.h"

static const struct {
	u32 psn;
	s32 n;
	u32 sum;
} adds[] = {
	{ 0x000000, 0, 0x000000 },
	{ 0x000000, 1, 0x000001 },
	{ 0x000000, -1, 0xffffff },
	{ 0xffffff, 1, 0x000000 },
	{ 0xffffff, 2, 0x000001 },
	{ 0xfffff0, 0x20, 0x000010 },
	{ 0x000010, -0x20, 0xfffff0 },
	{ 0x7fffff, 1, 0x800000 },
	{ 0x800000, -1, 0x7fffff },
	{ 0x123456, 0x7fffff, 0x923455 },
	{ 0x123456, -0x800000, 0x923456 },
	{ 0x123456, 0x1000000, 0x123456 },
};

static const struct {
	u32 a, b;
	s32 diff;
} diffs[] = {
	{ 0x000000, 0x000000, 0 },
	{ 0x000001, 0x000000, 1 },
	{ 0x000000, 0x000001, -1 },
	{ 0x000000, 0xffffff, 1 },
	{ 0xffffff, 0x000000, -1 },
	{ 0x000010, 0xfffff0, 0x20 },
	{ 0xfffff0, 0x000010, -0x20 },
	/* The last PSN ahead, and the opposite one, which is behind. */
	{ 0x7fffff, 0x000000, 0x7fffff },
	{ 0x800000, 0x000000, -0x800000 },
	{ 0x000000, 0x800000, -0x800000 },
	{ 0x800001, 0x000000, -0x7fffff },
	{ 0x923455, 0x123456, 0x7fffff },
	{ 0x923456, 0x123456, -0x800000 },
};

static u64 random_64(void)
{
	return (u64)random() << 42 ^ (u64)random() << 21 ^ random();
}

/* PSNs are the low bits of 64-bit numbers that do not wrap. */
static bool follows_model(void)
{
	for (int i = 0; i < 1000000; i++) {
		u64 b = random_64() >> 2;
		s32 ahead = (s32)(random_64() & ROVER_PSN_MASK) - 0x800000;
		u64 a = b + ahead;
		u32 a24 = a & ROVER_PSN_MASK;
		u32 b24 = b & ROVER_PSN_MASK;

		if (rover_psn_diff(a24, b24) != ahead)
			return ktap_note("diff %#x %#x is not %d", a24, b24, ahead);
		if (rover_psn_add(b24, ahead) != a24)
			return ktap_note("add %#x %d is not %#x", b24, ahead, a24);
	}
	return true;
}

static bool halves_the_circle(void)
{
	u32 ahead = 0, behind = 0;

	for (u32 psn = 0; psn <= ROVER_PSN_MASK; psn++) {
		s32 diff = rover_psn_diff(psn, 0xabcdef);

		ahead += diff > 0;
		behind += diff < 0;
	}
	return (ahead == 0x7fffff && behind == 0x800000) ||
	       ktap_note("%#x ahead, %#x behind", ahead, behind);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(adds) / sizeof(*adds); i++)
		ktap_eq(rover_psn_add(adds[i].psn, adds[i].n), adds[i].sum,
			"add %#08x %d", adds[i].psn, adds[i].n);
	for (size_t i = 0; i < sizeof(diffs) / sizeof(*diffs); i++)
		ktap_eq(rover_psn_diff(diffs[i].a, diffs[i].b), diffs[i].diff,
			"diff %#08x %#08x", diffs[i].a, diffs[i].b);
	srandom(24);
	ktap_ok(follows_model(), "a million random pairs follow 64-bit numbers");
	ktap_ok(halves_the_circle(), "half of the circle is behind");
	return ktap_done();
}
