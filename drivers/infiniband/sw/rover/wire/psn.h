/* SPDX-License-Identifier: GPL-2.0 */
/*
 * psn - arithmetic on 24-bit packet sequence numbers
 *
 * Half of the circle lies ahead of a number and half behind (IBTA 9.7.2): a
 * packet ahead of the expected one is a gap, one behind it is a duplicate.
 * Pure: also compiled in user space.
 */
#ifndef ROVER_PSN_H
#define ROVER_PSN_H

#include <linux/types.h>

#define ROVER_PSN_MASK	0xffffffU

/**
 * rover_psn_add() - the number @n packets after @psn
 * @psn: a 24-bit sequence number
 * @n: packets; may be negative
 *
 * Return: a 24-bit sequence number.
 */
static inline u32 rover_psn_add(u32 psn, s32 n)
{
	return (psn + n) & ROVER_PSN_MASK;
}

/**
 * rover_psn_diff() - how far @a lies ahead of @b
 * @a: a 24-bit sequence number
 * @b: another
 *
 * Return: negative when @a lies behind @b.
 */
static inline s32 rover_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* ROVER_PSN_H */
