/* SPDX-License-Identifier: GPL-2.0 */
/* rnr - RNR NAK timers (IBTA table 46), local ACK timeouts (9.9.2.1.1) */
#ifndef ROVER_RNR_H
#define ROVER_RNR_H

#include <linux/types.h>

#define ROVER_RNR_SHORTEST	1
/* 0.96 ms; two codes more are twice the time. */
#define ROVER_RNR_1MS		13
/* 30.72 ms */
#define ROVER_RNR_31MS		23

/**
 * rover_rnr_ns() - convert an RNR NAK timer code
 * @code: of an RNR NAK or min_rnr_timer
 * Return: nanoseconds, 10 us to 655.36 ms.
 */
static inline u64 rover_rnr_ns(u8 code)
{
	/* Units of 10 us; code 0 is the longest. */
	static const u16 tens[32] = {
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128,
		192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
		8192, 12288, 16384, 24576, 32768, 49152,
	};

	code &= 31;
	return code ? tens[code] * 10000ULL : 655360000ULL;
}

/**
 * rover_timeout_ns() - convert a local ACK timeout code
 * @code: timeout attribute of a QP
 * Return: 4.096 us * 2^@code in nanoseconds; 0 for no timeout.
 */
static inline u64 rover_timeout_ns(u8 code)
{
	code &= 31;
	return code ? 4096ULL << code : 0;
}

#endif /* ROVER_RNR_H */
