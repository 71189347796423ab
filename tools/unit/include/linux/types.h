/* SPDX-License-Identifier: GPL-2.0 */
/*
 * types - the kernel's names of integers, on top of what uapi already has
 */
#ifndef UNIT_LINUX_TYPES_H
#define UNIT_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#define __force
#define __packed	__attribute__((packed))
#define __uninitialized

#endif /* UNIT_LINUX_TYPES_H */
