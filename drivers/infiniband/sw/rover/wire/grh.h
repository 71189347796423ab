/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grh - the header in front of a received datagram
 *
 * Pure: also compiled in userspace.
 */
#ifndef ROVER_GRH_H
#define ROVER_GRH_H

#include <linux/types.h>

#include "wire/wire.h"

#define ROVER_GRH_SIZE	40

/**
 * rover_grh_make() - build the 40 bytes in front of a datagram's data
 * @grh: ROVER_GRH_SIZE bytes, to be filled in
 * @l3: kind of headers in front of the BTH
 * @ip: IP header, without options or extensions, or GRH
 * @len: bytes from the BTH to the ICRC
 *
 * IBTA A17.4.5.2: an IPv6 header takes the place of the GRH, an IPv4 header its
 * last 20 bytes.  The undefined first 20 are zero: not an IPv6 header, and no
 * kernel data.
 *
 * Lengths and IPv4 checksum are computed: the head of a train has the train's.
 */
void rover_grh_make(u8 grh[ROVER_GRH_SIZE], enum rover_l3 l3, const void *ip,
		    u16 len);

#endif /* ROVER_GRH_H */
