// SPDX-License-Identifier: GPL-2.0
/*
 * crc32 - crc32_le() for user space, a byte at a time
 */
#include <linux/crc32.h>

#define POLYNOMIAL	0xedb88320U

static u32 table[256];

static void __attribute__((constructor)) fill_table(void)
{
	for (u32 byte = 0; byte < 256; byte++) {
		u32 crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[byte] = crc;
	}
}

u32 crc32_le(u32 crc, const void *data, size_t len)
{
	const u8 *byte = data;

	while (len--)
		crc = crc >> 8 ^ table[(u8)crc ^ *byte++];
	return crc;
}
