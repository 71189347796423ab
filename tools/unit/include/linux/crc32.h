/* SPDX-License-Identifier: GPL-2.0 */
/*
 * crc32 - the Ethernet CRC, least significant bit first; see crc32.c
 */
#ifndef UNIT_LINUX_CRC32_H
#define UNIT_LINUX_CRC32_H

#include <linux/types.h>
#include <asm/byteorder.h>

u32 crc32_le(u32 crc, const void *data, size_t len);

#endif /* UNIT_LINUX_CRC32_H */
