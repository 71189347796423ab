/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sack - payload of a selective acknowledgment
 *
 * An ACK has none in the standard.  Only a peer that has set ROVER_BTH_SACK in
 * a packet gets one, when packets after the acknowledged ones have arrived:
 *
 *	duplicates			how many packets arrived twice
 *	psn, end			those from psn to before end arrived
 *	...				more of these, in PSN order
 *
 * Documentation/interop.rst describes the protocol.
 */
#ifndef ROVER_SACK_H
#define ROVER_SACK_H

#include <linux/build_bug.h>
#include <linux/types.h>

/**
 * struct rover_sack - head of the payload
 * @duplicates: request packets that have arrived twice, free-running
 */
struct rover_sack {
	__be32 duplicates;
};

/**
 * struct rover_sack_range - packets that have arrived
 * @psn: first one
 * @end: PSN after the last one
 */
struct rover_sack_range {
	__be32 psn;
	__be32 end;
};

static_assert(sizeof(struct rover_sack) == 4);
static_assert(sizeof(struct rover_sack_range) == 8);

/* Ranges that an ACK may have; the smallest path MTU has room for 31. */
#define ROVER_SACK_RANGES	120

static inline u32 rover_sack_max(u32 mtu)
{
	u32 room = (mtu - sizeof(struct rover_sack)) /
		   sizeof(struct rover_sack_range);

	return room < ROVER_SACK_RANGES ? room : ROVER_SACK_RANGES;
}

#endif /* ROVER_SACK_H */
