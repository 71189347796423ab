/* SPDX-License-Identifier: GPL-2.0 */
/*
 * frame - crafted frames of RoCE v1
 *
 * The counterpart of packet for RoCE v1; a test may change a frame before it is
 * sent.
 */
#ifndef ROVER_SELFTEST_FRAME_H
#define ROVER_SELFTEST_FRAME_H

#include <netinet/ip6.h>

#include "conn.h"

#define FRAME_ROOM 1300

struct frame_bth {
	uint8_t opcode, flags;
	uint16_t pkey;
	uint32_t qpn, psn;
};

/**
 * struct frame - a frame without its Ethernet header
 * @grh: GRH, with the layout of an IPv6 header
 * @bth: BTH and all bytes behind it, ICRC included
 * @len: length of all that
 */
struct frame {
	struct ip6_hdr grh;
	struct frame_bth bth;
	uint8_t body[FRAME_ROOM];
	size_t len;
};

/* Make a valid frame to the peer of a connection between two GIDs, with @bytes behind the BTH. */
void frame_make(struct conn *c, struct frame *f, uint8_t opcode, uint32_t psn, const void *body,
		size_t len);

/* Compute the ICRC again after a change. */
void frame_sum(struct frame *f);

/* Send @len bytes of the frame, which may be more or fewer than it has. */
void frame_send(struct conn *c, const struct frame *f, size_t len);

/* Exchange the Ethernet addresses of the interfaces: both ends call it, once in a case. */
void frame_meet(struct pair *p);

#endif /* ROVER_SELFTEST_FRAME_H */
