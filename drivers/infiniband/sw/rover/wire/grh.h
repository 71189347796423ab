/* SPDX-License-Identifier: GPL-2.0 */
/* grh - header in front of received datagrams */
#ifndef ROVER_GRH_H
#define ROVER_GRH_H

#include <linux/types.h>

#include "wire/wire.h"

#define ROVER_GRH_SIZE	40

/**
 * rover_grh_make() - build the header of a received datagram
 * @grh: filled in
 * @l3: kind of packet
 * @ip: IP header, without options or extensions, or GRH
 * @len: bytes from the BTH to the ICRC
 *
 * IBTA A17.4.5.2: an IPv6 header replaces the GRH, an IPv4 header its last 20
 * bytes.  The undefined first 20 are zero, unlike an IPv6 header.  Lengths and
 * IPv4 checksum are computed: @ip may have a train's.
 */
void rover_grh_make(u8 grh[ROVER_GRH_SIZE], enum rover_l3 l3, const void *ip,
		    u16 len);

#endif /* ROVER_GRH_H */
