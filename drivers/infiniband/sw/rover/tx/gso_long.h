/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gso_long - several packets of a long message in one skb
 *
 * In a train that stays in this kernel, a long GSO skb holds one packet and the
 * payload of MIDDLEs that follow it: their headers can be derived. Its trailer
 * counts them (decision 0027).
 *
 *	[ IP UDP BTH ext ] -> payload, next payload, ..., trailer
 *
 * Segmentation gives each packet an skb, headers and an ICRC. On the loopback
 * device the stack segments without calling us: there a long GSO skb travels
 * alone, and is lost if segmented.
 */
#ifndef ROVER_GSO_LONG_H
#define ROVER_GSO_LONG_H

#include <linux/skbuff.h>

#include "mem/sgl.h"
#include "tx/trailer.h"

/**
 * rover_gso_long_add() - add a packet
 * @skb: packet or long GSO skb with payload frags, not shared
 * @trailer: its trailer
 * @sgl: source of the payload; moves on
 * @len: payload, as in its other packets; a multiple of four
 * @fault: ROVER_OK, or the fault of the source
 * Context: queue pair's lock held.
 * Return: false without room or on a @fault.
 */
bool rover_gso_long_add(struct sk_buff *skb, struct rover_trailer *trailer,
			struct rover_sgl *sgl, u32 len,
			enum rover_fault *fault);

static inline bool rover_gso_long_is(const struct sk_buff *skb)
{
	const struct rover_trailer *trailer = rover_trailer_last(skb);

	return trailer && trailer->extra && !trailer->first_words;
}

/**
 * rover_gso_long_first_payload() - compute the first packet's payload
 * @trailer: of a packet or long GSO skb
 * @payload: bytes of all packets; set to those of the first
 * Return: false if lengths differ: not made by us.
 */
static inline bool
rover_gso_long_first_payload(const struct rover_trailer *trailer, u32 *payload)
{
	u32 packets = trailer->extra + 1, all = *payload;

	*payload = all / packets;
	return *payload * packets == all;
}

/**
 * rover_gso_long_split() - split a train's long and small GSO skbs
 * @head: data of members, and of a long @head, is at the BTH, where members get
 *	their network header; clones do not change
 * Context: softirqs off.
 * Return: 0; -ENOMEM: @head can only be freed.
 */
int rover_gso_long_split(struct sk_buff *head);

#endif /* ROVER_GSO_LONG_H */
