/* SPDX-License-Identifier: GPL-2.0 */
/*
 * packet - packets by hand, such as no queue pair would send
 */
#ifndef ROVER_SELFTEST_PACKET_H
#define ROVER_SELFTEST_PACKET_H

#include "conn.h"

/*
 * To the peer of a connection, over IPv4 and with a good ICRC: these bytes, extended
 * headers and payload, behind a BTH.  Their length is a multiple of four.
 */
void packet_send(struct conn *c, uint8_t opcode, uint32_t psn, const void *body, size_t len);

#endif /* ROVER_SELFTEST_PACKET_H */
