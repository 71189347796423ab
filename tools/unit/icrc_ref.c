// SPDX-License-Identifier: GPL-2.0
/*
 * icrc_ref - the ICRC of a raw packet, done twice: by rover, and plainly
 */
#include <stdlib.h>
#include <string.h>

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "wire/icrc.h"
#include "icrc_ref.h"
#include "wire/wire.h"

__le32 icrc_rover(const u8 *packet, size_t len, u16 field, __be16 id)
{
	size_t at = icrc_bth_at(packet);
	const struct rover_bth *bth = (const void *)(packet + at);
	/* By the headers' side of it, or by ours: all of what follows, or nothing. */
	size_t own = len & 4 ? len - at : sizeof(*bth);
	struct ipv6hdr ip6;
	struct udphdr udp;
	struct iphdr ip4;
	u32 crc;

	memcpy(&udp, packet + at - sizeof(udp), sizeof(udp));
	if (icrc_is_grh(packet)) {
		memcpy(&ip6, packet, sizeof(ip6));
		crc = rover_icrc_begin_grh(&ip6, bth, own, field);
	} else if (packet[0] >> 4 == 6) {
		memcpy(&ip6, packet, sizeof(ip6));
		crc = rover_icrc_begin6(&ip6, &udp, bth, own, field);
	} else {
		memcpy(&ip4, packet, sizeof(ip4));
		crc = rover_icrc_begin4(&ip4, &udp, bth, own, field, id);
	}
	at += own;
	return rover_icrc_end(rover_icrc_add(crc, packet + at, len - at));
}

static u32 add_bits(u32 crc, const u8 *bytes, size_t len)
{
	while (len--) {
		crc ^= *bytes++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return crc;
}

__le32 icrc_plain(const u8 *packet, size_t len)
{
	static const u8 ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	size_t at = icrc_bth_at(packet);
	u8 *copy = malloc(len);
	u32 crc;

	memcpy(copy, packet, len);
	if (packet[0] >> 4 == 6) {
		copy[0] |= 0x0f;
		memset(copy + 1, 0xff, 3);
		copy[7] = 0xff;
	} else {
		copy[1] = 0xff;
		copy[8] = 0xff;
		memset(copy + 10, 0xff, 2);
	}
	if (!icrc_is_grh(packet))
		memset(copy + at - 2, 0xff, 2);
	copy[at + 4] = 0xff;
	crc = add_bits(~0U, ones, sizeof(ones));
	crc = add_bits(crc, copy, len);
	free(copy);
	return cpu_to_le32(~crc);
}
