/* SPDX-License-Identifier: GPL-2.0 */
/* gso_segment - ICRCs of trains that the stack segments */
#ifndef ROVER_GSO_SEGMENT_H
#define ROVER_GSO_SEGMENT_H

#include <linux/skbuff.h>

#include "addr/path.h"

/* Most packets in a train. */
#define ROVER_TRAIN_MAX		64

/**
 * enum rover_icrc_state - ICRCs of payload by reference
 * @ROVER_ICRC_COMPLETE: written with the packet
 * @ROVER_ICRC_PARTIAL: written when the stack segments the train
 * @ROVER_ICRC_UNNECESSARY: never written
 */
enum rover_icrc_state {
	ROVER_ICRC_COMPLETE,
	ROVER_ICRC_PARTIAL,
	ROVER_ICRC_UNNECESSARY,
};

/**
 * rover_gso_segment_icrc_state() - return the ICRC state of trains
 * @path: destination, RoCE v2
 * @retransmits: lost packets are retransmitted, with ICRCs
 * Context: softirqs off.
 */
enum rover_icrc_state rover_gso_segment_icrc_state(struct rover_path *path,
						   bool retransmits);

/**
 * rover_gso_segment_mark() - mark a train for our segmentation
 * @head: data at the IP header, gso_type has FRAGLIST; data of members is at
 *	their UDP payload
 * @hdr_len: bytes of IP and UDP header
 *
 * IPv4 identifications must be consecutive: the stack renumbers them.
 */
void rover_gso_segment_mark(struct sk_buff *head, unsigned int hdr_len);

/**
 * rover_gso_segment_prepare() - mark a train of the loopback device
 * @skb: any GSO skb; headers and shared info not shared
 * Context: softirqs off.
 */
void rover_gso_segment_prepare(struct sk_buff *skb);

/**
 * rover_gso_segment_init() - set up at module load
 *
 * If the protocol number is taken, no train is ROVER_ICRC_PARTIAL.
 */
void rover_gso_segment_init(void);

/**
 * rover_gso_segment_exit() - at module unload, without trains
 */
void rover_gso_segment_exit(void);

#endif /* ROVER_GSO_SEGMENT_H */
