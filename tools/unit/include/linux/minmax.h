/* SPDX-License-Identifier: GPL-2.0 */
/*
 * minmax - the lesser and the greater of numbers that have no side effects
 */
#ifndef UNIT_LINUX_MINMAX_H
#define UNIT_LINUX_MINMAX_H

#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define min3(a, b, c)		min(min(a, b), c)
#define max3(a, b, c)		max(max(a, b), c)
#define clamp(n, low, high)	min(max(n, low), high)
#define clamp_t(type, n, low, high)	min_t(type, max_t(type, n, low), high)

#endif /* UNIT_LINUX_MINMAX_H */
