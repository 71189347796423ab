/* SPDX-License-Identifier: GPL-2.0 */
/*
 * aeth - end-to-end credit codes (IBTA table 46)
 *
 * Credits are powers of two and, from two on, 1.5 times these.
 */
#ifndef ROVER_AETH_H
#define ROVER_AETH_H

#include <linux/log2.h>
#include <linux/types.h>

/* Largest code for a number; the next one means "no limit". */
#define ROVER_AETH_CREDITS_MAX	30

/**
 * rover_aeth_credits() - return the receives of a code
 * @code: 0 to ROVER_AETH_CREDITS_MAX
 */
static inline u32 rover_aeth_credits(u8 code)
{
	return code < 2 ? code : (2U | (code & 1)) << (code / 2 - 1);
}

/**
 * rover_aeth_code() - return the code for @n receives
 * @n: receives; rounded down
 */
static inline u8 rover_aeth_code(u32 n)
{
	u8 log;

	if (n < 2)
		return n;
	if (n >= 1U << ROVER_AETH_CREDITS_MAX / 2)
		return ROVER_AETH_CREDITS_MAX;
	log = ilog2(n);
	return 2 * log + (n >> (log - 1) & 1);
}

#endif /* ROVER_AETH_H */
