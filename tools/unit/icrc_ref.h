/* SPDX-License-Identifier: GPL-2.0 */
/*
 * icrc_ref - the ICRC of a raw packet, done twice: by rover, and plainly
 */
#ifndef UNIT_ICRC_REF_H
#define UNIT_ICRC_REF_H

#include <linux/types.h>

/* A header with this next one is a GRH: RoCE v1. */
static inline bool icrc_is_grh(const u8 *packet)
{
	return packet[0] >> 4 == 6 && packet[6] == 0x1b;
}

/* Offset of the BTH in a raw packet; its UDP header, if it has one, is right before it. */
static inline size_t icrc_bth_at(const u8 *packet)
{
	if (packet[0] >> 4 != 6)
		return 28;
	return icrc_is_grh(packet) ? 40 : 48;
}

/* And of the length that counts: UDP's, or that in the GRH. */
static inline size_t icrc_len_at(const u8 *packet)
{
	return icrc_is_grh(packet) ? 4 : icrc_bth_at(packet) - 4;
}

/**
 * icrc_rover() - what rover's rooms say
 * @packet: from the IP header or GRH on, BTH included
 * @len: bytes, without the ICRC
 * @field: the length that counts
 * @id: IPv4 identification
 */
__le32 icrc_rover(const u8 *packet, size_t len, u16 field, __be16 id);

/**
 * icrc_plain() - masked by offsets into a copy, summed bit by bit
 * @packet: from the IP header or GRH on, BTH included
 * @len: bytes, without the ICRC; lengths and identification are the packet's
 */
__le32 icrc_plain(const u8 *packet, size_t len);

#endif /* UNIT_ICRC_REF_H */
