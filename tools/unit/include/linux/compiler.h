/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compiler - the kernel's accesses that happen once; here is one thread
 */
#ifndef UNIT_LINUX_COMPILER_H
#define UNIT_LINUX_COMPILER_H

#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))

#endif /* UNIT_LINUX_COMPILER_H */
