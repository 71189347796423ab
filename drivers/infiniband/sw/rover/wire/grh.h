/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grh - what stands in a receive in front of a datagram
 *
 * Pure: also compiled in user space.
 */
#ifndef ROVER_GRH_H
#define ROVER_GRH_H

#include <linux/types.h>

#include "wire/wire.h"

#define ROVER_GRH_SIZE	40

/**
 * rover_grh_make() - the 40 bytes that precede a datagram's data
 * @grh: ROVER_GRH_SIZE bytes, to be filled in
 * @l3: what the packet has in front of its BTH
 * @ip: IP header of the packet, without options or extensions, or its GRH
 * @len: BTH and all that follows it, ICRC included
 *
 * RoCE v1 has InfiniBand's global route header itself.  IBTA annex A17.4.5.2: an
 * IPv6 header takes its place; an IPv4 header takes its last 20 bytes.  The 20 before it are
 * undefined there; they are zero here, so that nobody takes them for an IPv6
 * header, and tells nothing of ours.
 *
 * Lengths, and the IPv4 header's checksum, are made anew: where a packet is
 * the head of a train, those it wears are the train's.
 */
void rover_grh_make(u8 grh[ROVER_GRH_SIZE], enum rover_l3 l3, const void *ip,
		    u16 len);

#endif /* ROVER_GRH_H */
