// SPDX-License-Identifier: GPL-2.0
/*
 * test_aeth - credit codes, as printed in IBTA table 46
 */
#include "wire/aeth.h"
#include "ktap.h"

static const u32 credits[] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

/* The largest code that is not above the number of receives. */
static bool rounds_down(void)
{
	for (u32 n = 0; n < 70000; n++) {
		u8 code = rover_aeth_code(n);

		if (code > ROVER_AETH_CREDITS_MAX || rover_aeth_credits(code) > n ||
		    (code < ROVER_AETH_CREDITS_MAX && rover_aeth_credits(code + 1) <= n))
			return ktap_note("%u receives have code %u", n, code);
	}
	return rover_aeth_code(~0U) == ROVER_AETH_CREDITS_MAX;
}

int main(void)
{
	for (u8 code = 0; code <= ROVER_AETH_CREDITS_MAX; code++)
		ktap_eq(rover_aeth_credits(code), credits[code], "credit code %u: %u receives",
			code, credits[code]);
	ktap_ok(rounds_down(), "a number of receives is rounded down");
	return ktap_done();
}
