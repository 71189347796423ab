/* SPDX-License-Identifier: GPL-2.0 */
/*
 * packet - crafted packets of RoCE v2
 *
 * Packets from the address of this end, at any time and with any PSN: as a network
 * may duplicate or delay them, or as an attacker may send them.
 */
#ifndef ROVER_SELFTEST_PACKET_H
#define ROVER_SELFTEST_PACKET_H

#include "conn.h"

/* AckReq, in the word of the PSN */
#define PACKET_ACKREQ	(1U << 31)

/*
 * Send a packet to the peer of a connection, over IPv4 and with a valid ICRC: a BTH and
 * @bytes, extended headers and payload.
 */
void packet_send(struct conn *c, uint8_t opcode, uint32_t psn, const void *body, size_t len);

/*
 * Send @n such packets with consecutive PSNs, otherwise equal.  A CRC is linear: each bit of the
 * PSN changes it in the same way in all of them, so it is computed once, and once for each bit.
 */
void packet_send_many(struct conn *c, uint8_t opcode, uint32_t psn, const void *body, size_t len,
		      uint32_t n);

/* ICRC of an IPv4 packet with @len bytes from its IP header to the ICRC */
uint32_t packet_icrc(const void *ip, size_t len);

/* The CRC of Ethernet and of the ICRC */
uint32_t packet_crc32(const uint8_t *at, size_t len);

#endif /* ROVER_SELFTEST_PACKET_H */
