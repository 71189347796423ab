/* SPDX-License-Identifier: GPL-2.0 */
/*
 * aeth - the code of the wire for a number of receives
 *
 * IBTA table 46 (end-to-end credits): powers of two and, from two on, one and a
 * half of them.  Pure: also compiled in user space.
 */
#ifndef ROVER_AETH_H
#define ROVER_AETH_H

#include <linux/log2.h>
#include <linux/types.h>

/* The last code that is a number; the one above it says "no limit". */
#define ROVER_AETH_CREDITS_MOST	30

/**
 * rover_aeth_credits() - receives that a code stands for
 * @code: 0 to ROVER_AETH_CREDITS_MOST
 */
static inline u32 rover_aeth_credits(u8 code)
{
	return code < 2 ? code : (2U | (code & 1)) << (code / 2 - 1);
}

/**
 * rover_aeth_code() - the largest code for no more than these
 * @n: receives
 */
static inline u8 rover_aeth_code(u32 n)
{
	u8 log;

	if (n < 2)
		return n;
	if (n >= 1U << ROVER_AETH_CREDITS_MOST / 2)
		return ROVER_AETH_CREDITS_MOST;
	log = ilog2(n);
	return 2 * log + (n >> (log - 1) & 1);
}

#endif /* ROVER_AETH_H */
