/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the distribution's sparse does not know yet and the headers of kernel
 * 7.2 use.  Only sparse sees this file (tools/check); compilers do not.
 */
#define __typeof_unqual__	__typeof__
/* For constants only: MODULE_INFO() asserts that a string has no NUL in it. */
#define __builtin_strlen(s)	(sizeof(s) - 1)
