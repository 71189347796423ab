/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gso_small - several small packets in one skb
 *
 * In a train that stays in this kernel, small packets behind the first share a
 * small GSO skb: one IP and UDP header, then each packet from BTH to pad. A gap
 * in place of each ICRC holds the next packet's length and UDP source port, in
 * which queue pairs differ (plug). The trailer counts the packets (decision
 * 0028).
 *
 *	( IP UDP )[ BTH ext payload pad | gap | BTH ... pad ] -> trailer
 *
 * ( ) is headroom. Segmentation gives each packet an skb, headers, the next
 * IPv4 identification and an ICRC. Userspace cannot write to it.
 */
#ifndef ROVER_GSO_SMALL_H
#define ROVER_GSO_SMALL_H

#include <linux/skbuff.h>

#include "tx/trailer.h"

/**
 * struct rover_small_packet - a packet in a small GSO skb
 * @at: offset of its BTH
 * @len: bytes from BTH to pad
 * @index: packets before it
 * @sport: UDP source port; not of the first
 */
struct rover_small_packet {
	unsigned int at;
	unsigned int len;
	unsigned int index;
	__be16 sport;
};

/**
 * struct rover_small_gap - precedes each packet but the first
 * @len: bytes of the packet from BTH to pad
 * @sport: UDP source port
 */
struct rover_small_gap {
	u16 len;
	__be16 sport;
};

static_assert(sizeof(struct rover_small_gap) == ROVER_ICRC_SIZE);

static inline const struct rover_trailer *
rover_gso_small_trailer(const struct sk_buff *skb)
{
	const struct rover_trailer *trailer = rover_trailer_last(skb);

	return trailer && trailer->first_words ? trailer : NULL;
}

/**
 * rover_gso_small_begin() - initialise a trailer for one packet
 * @trailer: new; append it after the last packet
 * @skb: linear, holds the packet, data at its BTH
 * @l3: enum rover_l3
 *
 * Increment @trailer->extra for each packet added behind a gap.
 */
void rover_gso_small_begin(struct rover_trailer *trailer,
			   const struct sk_buff *skb, u8 l3);

/**
 * rover_gso_small_verify() - verify the shared headers
 * @skb: small GSO skb
 * @trailer: its trailer
 */
bool rover_gso_small_verify(const struct sk_buff *skb,
			    const struct rover_trailer *trailer);

/**
 * rover_gso_small_next() - find the next packet
 * @skb: small GSO skb
 * @trailer: its trailer
 * @small: zeroed, or the previous packet
 * Return: false if there is none.
 */
bool rover_gso_small_next(const struct sk_buff *skb,
			  const struct rover_trailer *trailer,
			  struct rover_small_packet *small);

/**
 * rover_gso_small_cut() - copy a packet to a new skb
 * @skb: small GSO skb
 * @trailer: its trailer
 * @small: the packet
 * Context: any.
 * Return: skb, data and network header at the BTH, behind all headers; NULL
 *	without memory.
 */
struct sk_buff *rover_gso_small_cut(const struct sk_buff *skb,
				    const struct rover_trailer *trailer,
				    const struct rover_small_packet *small);

#endif /* ROVER_GSO_SMALL_H */
