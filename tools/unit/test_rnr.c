// SPDX-License-Identifier: GPL-2.0
/*
 * test_rnr - timer codes, as printed in IBTA
 */
#include "ktap.h"
#include "wire/rnr.h"

/* RNR NAK timer field, in units of 10 microseconds. */
static const u32 rnr[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072,
	4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static bool grows(void)
{
	for (u8 code = 2; code < 32; code++)
		if (rover_rnr_ns(code) <= rover_rnr_ns(code - 1))
			return ktap_note("not from code %u on", code);
	return rover_rnr_ns(0) > rover_rnr_ns(31);
}

static bool five_bits(void)
{
	for (unsigned int code = 0; code < 256; code++)
		if (rover_rnr_ns(code) != rover_rnr_ns(code & 31) ||
		    rover_timeout_ns(code) != rover_timeout_ns(code & 31))
			return ktap_note("code %#x differs", code);
	return true;
}

int main(void)
{
	for (u8 code = 0; code < 32; code++)
		ktap_eq(rover_rnr_ns(code), rnr[code] * 10000LL, "RNR timer %u: %u.%02u ms",
			code, rnr[code] / 100, rnr[code] % 100);
	ktap_ok(grows(), "RNR timers grow with their code; code 0 is the longest");
	ktap_eq(rover_timeout_ns(0), 0, "ACK timeout 0: for ever");
	ktap_eq(rover_timeout_ns(1), 8192, "ACK timeout 1: 8.192 us");
	ktap_eq(rover_timeout_ns(14), 67108864, "ACK timeout 14: 67.1 ms");
	ktap_eq(rover_timeout_ns(20), 4294967296, "ACK timeout 20: more than 32 bits");
	ktap_eq(rover_timeout_ns(31), 8796093022208, "ACK timeout 31: 8796 s");
	ktap_ok(five_bits(), "more than five bits are not looked at");
	return ktap_done();
}
