/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gso_segment - the ICRC of a train that leaves this kernel after all
 */
#ifndef ROVER_GSO_SEGMENT_H
#define ROVER_GSO_SEGMENT_H

#include <linux/skbuff.h>

#include "addr/path.h"

/* Most packets in a train, whatever their size. */
#define ROVER_TRAIN_MAX		64

/**
 * enum rover_icrc_state - who makes the ICRCs of a train's payload
 * @ROVER_ICRC_COMPLETE: who makes the packets, at once
 * @ROVER_ICRC_PARTIAL: segment, if the stack takes the train apart: it is marked
 * @ROVER_ICRC_UNNECESSARY: nobody
 */
enum rover_icrc_state {
	ROVER_ICRC_COMPLETE,
	ROVER_ICRC_PARTIAL,
	ROVER_ICRC_UNNECESSARY,
};

/**
 * rover_gso_segment_icrc_state() - who makes those of a train on this path
 * @path: where it goes; of RoCE v2
 * @again: what is lost will be sent again, with its ICRC
 *
 * Context: softirqs off.
 */
enum rover_icrc_state rover_gso_segment_icrc_state(struct rover_path *path, bool again);

/**
 * rover_gso_segment_mark() - have the stack come to us before it takes this apart
 * @head: of a train, data at its IP header, gso_type with FRAGLIST; that of the
 *	others is where their UDP payload begins
 * @hdr_len: IP and UDP header, in bytes
 *
 * The packets' IPv4 identifications must follow each other: the stack numbers
 * them anew, beginning with that of @head.
 */
void rover_gso_segment_mark(struct sk_buff *head, unsigned int hdr_len);

/**
 * rover_gso_segment_prepare() - it is about to be taken apart, and perhaps not marked
 * @skb: any with GSO; its headers and shared info are nobody else's
 *
 * The loopback device carries trains without a mark.
 *
 * Context: softirqs off.
 */
void rover_gso_segment_prepare(struct sk_buff *skb);

/**
 * rover_gso_segment_init() - at module load
 *
 * Where others have taken the protocol number no train waits.
 *
 * Context: may sleep.
 */
void rover_gso_segment_init(void);

/**
 * rover_gso_segment_exit() - at module unload, when no train is under way any more
 *
 * Context: may sleep.
 */
void rover_gso_segment_exit(void);

#endif /* ROVER_GSO_SEGMENT_H */
