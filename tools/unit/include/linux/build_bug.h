/* SPDX-License-Identifier: GPL-2.0 */
/*
 * build_bug - assertions of the compiler, with or without a text
 */
#ifndef UNIT_LINUX_BUILD_BUG_H
#define UNIT_LINUX_BUILD_BUG_H

/* Between functions only, which is where the pure rooms have them. */
#define static_assert(expr, ...)	extern char asserted[(expr) ? 1 : -1]

#endif /* UNIT_LINUX_BUILD_BUG_H */
