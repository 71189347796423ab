/* SPDX-License-Identifier: GPL-2.0 */
/*
 * string - what the kernel has under this name
 */
#ifndef UNIT_LINUX_STRING_H
#define UNIT_LINUX_STRING_H

#include <string.h>

/* As in the kernel: zero @obj from @member on. */
#define memset_startat(obj, v, member)					\
	memset((char *)(obj) + offsetof(__typeof__(*(obj)), member), v,	\
	       sizeof(*(obj)) - offsetof(__typeof__(*(obj)), member))

#endif /* UNIT_LINUX_STRING_H */
