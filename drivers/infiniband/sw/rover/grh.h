/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grh - what stands in a receive in front of a datagram
 *
 * Pure: also compiled in user space.
 */
#ifndef ROVER_GRH_H
#define ROVER_GRH_H

#include <linux/types.h>

#define ROVER_GRH_SIZE	40

/**
 * rover_grh_make() - the 40 bytes that precede a datagram's data
 * @grh: ROVER_GRH_SIZE bytes, to be filled in
 * @v6: an IPv6 header, else IPv4
 * @ip: IP header of the packet, without options or extensions
 * @udp_len: UDP header and all that follows it, ICRC included
 *
 * IBTA annex A17.4.5.2: an IPv6 header takes the place of InfiniBand's global
 * route header; an IPv4 header takes its last 20 bytes.  The 20 before it are
 * undefined there; they are zero here, so that nobody takes them for an IPv6
 * header, and tells nothing of ours.
 *
 * Lengths, and the IPv4 header's checksum, are made anew: where a packet is
 * the head of a train, those it wears are the train's.
 */
void rover_grh_make(u8 grh[ROVER_GRH_SIZE], bool v6, const void *ip,
		    u16 udp_len);

#endif /* ROVER_GRH_H */
