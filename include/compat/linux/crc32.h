/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_LINUX_CRC32_H
#define ROVER_COMPAT_LINUX_CRC32_H

#include <linux/version.h>
#include_next <linux/crc32.h>

/*
 * Before 6.14 crc32_le() used tables; carry-less multiplication needed a
 * transform of the crypto API, see compat.c.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define ROVER_COMPAT_CRC32

u32 rover_compat_crc32_le(u32 crc, const void *data, size_t len);
void rover_compat_crc32_init(void);
void rover_compat_crc32_exit(void);

#undef crc32_le
#define crc32_le	rover_compat_crc32_le
#else
static inline void rover_compat_crc32_init(void)
{
}

static inline void rover_compat_crc32_exit(void)
{
}
#endif

#endif /* ROVER_COMPAT_LINUX_CRC32_H */
