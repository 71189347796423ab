/* SPDX-License-Identifier: GPL-2.0 */
/*
 * icrc_ref - the ICRC of a raw packet, done twice: by rover, and plainly
 */
#ifndef UNIT_ICRC_REF_H
#define UNIT_ICRC_REF_H

#include <linux/types.h>

/* Offset of the BTH in a raw packet; its UDP header is right before it. */
static inline size_t icrc_bth_at(const u8 *packet)
{
	return packet[0] >> 4 == 6 ? 48 : 28;
}

/**
 * icrc_rover() - what rover's rooms say
 * @packet: from the IP header on, BTH included
 * @len: bytes, without the ICRC
 * @udp_len: of the UDP header
 * @id: IPv4 identification
 */
__le32 icrc_rover(const u8 *packet, size_t len, u16 udp_len, __be16 id);

/**
 * icrc_plain() - masked by offsets into a copy, summed bit by bit
 * @packet: from the IP header on, BTH included
 * @len: bytes, without the ICRC; lengths and identification are the packet's
 */
__le32 icrc_plain(const u8 *packet, size_t len);

#endif /* UNIT_ICRC_REF_H */
