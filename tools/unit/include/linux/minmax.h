/* SPDX-License-Identifier: GPL-2.0 */
/*
 * minmax - the lesser of two that have no side effects
 */
#ifndef UNIT_LINUX_MINMAX_H
#define UNIT_LINUX_MINMAX_H

#define min(a, b)	((a) < (b) ? (a) : (b))

#endif /* UNIT_LINUX_MINMAX_H */
