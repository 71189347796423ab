/* SPDX-License-Identifier: GPL-2.0 */
/*
 * psn - arithmetic on packet sequence numbers
 *
 * Half of the circle is ahead of a PSN, half behind (IBTA 9.7.2).
 */
#ifndef ROVER_PSN_H
#define ROVER_PSN_H

#include <linux/types.h>

#define ROVER_PSN_MASK	0xffffffU

/**
 * rover_psn_add() - add a number of packets to a PSN
 * @psn: PSN
 * @n: packets; may be negative
 */
static inline u32 rover_psn_add(u32 psn, s32 n)
{
	return (psn + n) & ROVER_PSN_MASK;
}

/**
 * rover_psn_diff() - return how far @a is ahead of @b
 * @a: PSN
 * @b: PSN
 * Return: negative if @a is behind @b.
 */
static inline s32 rover_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* ROVER_PSN_H */
