/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rnr - RNR NAK timers and local ACK timeouts in nanoseconds
 *
 * IBTA table 46 (RNR NAK timer) and 9.9.2.1.1 (local ACK timeout).  Pure: also
 * compiled in userspace.
 */
#ifndef ROVER_RNR_H
#define ROVER_RNR_H

#include <linux/types.h>

/* Code of the shortest RNR NAK timer. */
#define ROVER_RNR_SHORTEST	1

/**
 * rover_rnr_ns() - return the time of an RNR NAK timer code
 * @code: five bits of an RNR NAK, or a queue pair's min_rnr_timer
 *
 * Return: nanoseconds, from 10 us to 655.36 ms.
 */
static inline u64 rover_rnr_ns(u8 code)
{
	/* In units of 10 us; code 0 is the longest. */
	static const u16 tens[32] = {
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128,
		192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
		8192, 12288, 16384, 24576, 32768, 49152,
	};

	code &= 31;
	return code ? tens[code] * 10000ULL : 655360000ULL;
}

/**
 * rover_timeout_ns() - return the time of a local ACK timeout code
 * @code: five bits of a queue pair's timeout attribute
 *
 * Return: 4.096 us * 2^@code in nanoseconds; 0 for no timeout.
 */
static inline u64 rover_timeout_ns(u8 code)
{
	code &= 31;
	return code ? 4096ULL << code : 0;
}

#endif /* ROVER_RNR_H */
