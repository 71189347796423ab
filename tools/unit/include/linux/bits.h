/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bits - single bits and runs of them
 */
#ifndef UNIT_LINUX_BITS_H
#define UNIT_LINUX_BITS_H

#define BIT(nr)		(1UL << (nr))
#define BIT_ULL(nr)	(1ULL << (nr))
#define GENMASK(h, l)	((~0UL << (l)) & (~0UL >> (8 * sizeof(long) - 1 - (h))))

#endif /* UNIT_LINUX_BITS_H */
