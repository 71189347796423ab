/* SPDX-License-Identifier: GPL-2.0 */
/*
 * packet - crafted packets of RoCE v2
 *
 * What a network may do to a connection (duplicates, delay) and what an attacker
 * may: packets from the address of this end, at any time and with any PSN.
 */
#ifndef ROVER_SELFTEST_PACKET_H
#define ROVER_SELFTEST_PACKET_H

#include "conn.h"

/* With a sequence number: the packet asks for an acknowledge. */
#define PACKET_ACKREQ	(1U << 31)

/*
 * To the peer of a connection, over IPv4 and with a good ICRC: these bytes, extended
 * headers and payload, behind a BTH.
 */
void packet_send(struct conn *c, uint8_t opcode, uint32_t psn, const void *body, size_t len);

/* That of a packet over IPv4, which has @len bytes from its IP header to before the ICRC. */
uint32_t packet_icrc(const void *ip, size_t len);

/* That of Ethernet and of the ICRC. */
uint32_t packet_crc32(const uint8_t *at, size_t len);

#endif /* ROVER_SELFTEST_PACKET_H */
