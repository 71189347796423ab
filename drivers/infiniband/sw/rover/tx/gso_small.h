/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gso_small - several small packets in one skb
 *
 * What a small packet costs is its skb, its headers and two sums, and hardly its
 * bytes.  As long as memory carries a train, the small packets behind the first
 * need none of these: a bundle is one skb with the headers from IP to UDP of one
 * packet, and what is behind them of many, one after the other.  Where the ICRC
 * of a packet would be stands the length of the next, and for that of the last
 * one the seal, which tells how many they are.  Next to the length is the UDP
 * source port, in which alone the headers of several queue pairs differ (plug).
 *
 *	( IP UDP )[ BTH ext payload pad | gap | BTH ext payload pad | ... ] -> seal
 *
 * ( ) is headroom.  A bundle is never the first of its train.  Where the stack takes
 * the train apart it asks us (gso_segment), and each packet gets an skb, headers and
 * an ICRC of its own; their IPv4 identifications follow each other.
 *
 * All of it is memory of ours, which no program can write to.
 */
#ifndef ROVER_GSO_SMALL_H
#define ROVER_GSO_SMALL_H

#include <linux/skbuff.h>

#include "tx/trailer.h"

/**
 * struct rover_record - a packet in a bundle
 * @at: where its BTH is, from the data on
 * @len: from there to its pad, both included
 * @number: packets before it
 * @sport: its UDP source port, unless it is the first
 */
struct rover_record {
	unsigned int at;
	unsigned int len;
	unsigned int number;
	__be16 sport;
};

/**
 * struct rover_gap - in front of each packet but the first
 * @len: of the packet, from BTH to pad
 * @sport: its UDP source port
 */
struct rover_gap {
	u16 len;
	__be16 sport;
};

/* What the ICRC that a packet lacks would take. */
static_assert(sizeof(struct rover_gap) == ROVER_ICRC_SIZE);

/* The seal of a bundle; NULL for what is none. */
static inline const struct rover_trailer *
rover_gso_small_seal(const struct sk_buff *skb)
{
	const struct rover_trailer *seal = rover_trailer_last(skb);

	return seal && seal->first ? seal : NULL;
}

/**
 * rover_gso_small_begin() - fill in the seal of one with one packet
 * @seal: new; to be appended when all packets are there
 * @skb: linear, with that packet, data at its BTH
 * @l3: what headers are in front of that: enum rover_l3
 *
 * Who adds a packet, with a gap before it, adds one to @seal->more.
 */
void rover_gso_small_begin(struct rover_trailer *seal, const struct sk_buff *skb,
			u8 l3);

/**
 * rover_gso_small_good() - are the headers what they were?
 * @skb: a bundle
 * @seal: its seal
 */
bool rover_gso_small_good(const struct sk_buff *skb, const struct rover_trailer *seal);

/**
 * rover_gso_small_next() - go to the next packet
 * @skb: a bundle
 * @seal: its seal
 * @record: all zero, or the packet before
 *
 * Return: false behind the last one.
 */
bool rover_gso_small_next(const struct sk_buff *skb, const struct rover_trailer *seal,
		       struct rover_record *record);

/**
 * rover_gso_small_cut() - a packet as an skb of its own
 * @skb: a bundle
 * @seal: its seal
 * @record: which
 *
 * Context: any.
 * Return: data at its BTH, with all headers in front of it, and as network
 *	header; NULL without memory.
 */
struct sk_buff *rover_gso_small_cut(const struct sk_buff *skb,
				 const struct rover_trailer *seal,
				 const struct rover_record *record);

#endif /* ROVER_GSO_SMALL_H */
