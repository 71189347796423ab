/* SPDX-License-Identifier: GPL-2.0 */
/*
 * log2 - the kernel's ilog2(), of 32 bits
 */
#ifndef UNIT_LINUX_LOG2_H
#define UNIT_LINUX_LOG2_H

#define ilog2(n)	(31 - __builtin_clz(n))

#endif /* UNIT_LINUX_LOG2_H */
