/* SPDX-License-Identifier: GPL-2.0 */
/*
 * segment - the ICRC of a train that leaves this kernel after all
 */
#ifndef ROVER_SEGMENT_H
#define ROVER_SEGMENT_H

#include <linux/skbuff.h>

#include "addr/route.h"

/* Most packets in a train, whatever their size. */
#define ROVER_TRAIN_MAX		64

/**
 * enum rover_icrcs - who makes the ICRCs of a train's payload
 * @ROVER_ICRCS_MADE: who makes the packets, at once
 * @ROVER_ICRCS_WAIT: segment, if the stack takes the train apart: it is marked
 * @ROVER_ICRCS_NONE: nobody
 */
enum rover_icrcs {
	ROVER_ICRCS_MADE,
	ROVER_ICRCS_WAIT,
	ROVER_ICRCS_NONE,
};

/**
 * rover_segment_icrcs() - who makes those of a train on this path
 * @path: where it goes; of RoCE v2
 * @again: what is lost will be sent again, with its ICRC
 *
 * Context: softirqs off.
 */
enum rover_icrcs rover_segment_icrcs(struct rover_path *path, bool again);

/**
 * rover_segment_mark() - have the stack come to us before it takes this apart
 * @head: of a train, data at its IP header, gso_type with FRAGLIST; that of the
 *	others is where their UDP payload begins
 * @hdr_len: IP and UDP header, in bytes
 *
 * The packets' IPv4 identifications must follow each other: the stack numbers
 * them anew, beginning with that of @head.
 */
void rover_segment_mark(struct sk_buff *head, unsigned int hdr_len);

/**
 * rover_segment_prepare() - it is about to be taken apart, and perhaps not marked
 * @skb: any with GSO; its headers and shared info are nobody else's
 *
 * The loopback device carries trains without a mark.
 *
 * Context: softirqs off.
 */
void rover_segment_prepare(struct sk_buff *skb);

/**
 * rover_segment_init() - at module load
 *
 * Where others have taken the protocol number no train waits.
 *
 * Context: may sleep.
 */
void rover_segment_init(void);

/**
 * rover_segment_exit() - at module unload, when no train is under way any more
 *
 * Context: may sleep.
 */
void rover_segment_exit(void);

#endif /* ROVER_SEGMENT_H */
