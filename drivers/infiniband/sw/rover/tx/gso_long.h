/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gso_long - several packets of a message in one skb
 *
 * A long message is a FIRST packet, many MIDDLEs and a LAST one.  MIDDLEs have no
 * headers but those that each packet has, and what stands in these can be told
 * from the packet before.  So as long as memory carries a train there need not be
 * an skb for each: a block is an skb with the headers of one packet, and with the
 * payload of that and of so many that follow.  Its seal tells how many they are.
 *
 *	[ IP UDP BTH ext ] -> payload of the first, of the next, ..., seal
 *
 * Only what memory carries may be a block.  The stack asks us about it before it
 * takes it apart (gso_segment): then each packet gets an skb, headers and an ICRC of
 * its own.  On the loopback device nobody asks, so there a block has no others
 * with it, and what may be made of it is lost.
 */
#ifndef ROVER_GSO_LONG_H
#define ROVER_GSO_LONG_H

#include <linux/skbuff.h>

#include "mem/sgl.h"
#include "tx/trailer.h"

/**
 * rover_gso_long_add() - one more packet
 * @skb: a sealed packet or block, nobody else's yet; its payload is pieces
 * @seal: its seal
 * @sgl: where the payload of the packet comes from; moves on
 * @len: its length: that of each packet in @skb; a multiple of four
 * @fault: ROVER_OK, or what is wrong with the memory
 *
 * Context: the queue pair's lock held, softirqs off.
 * Return: true when it is there; else there is no room for it, or a @fault.
 */
bool rover_gso_long_add(struct sk_buff *skb, struct rover_trailer *seal,
		     struct rover_sgl *sgl, u32 len, enum rover_fault *fault);

/* Is it one, not a packet? */
static inline bool rover_gso_long_is(const struct sk_buff *skb)
{
	const struct rover_trailer *seal = rover_trailer_last(skb);

	return seal && seal->more && !seal->first;
}

/**
 * rover_gso_long_first() - the first packet of a block
 * @seal: of a packet or a block
 * @payload: bytes of payload in all; then those of the first packet
 *
 * Return: false when it cannot be shared out evenly: it is none of ours.
 */
static inline bool rover_gso_long_first(const struct rover_trailer *seal, u32 *payload)
{
	u32 packets = seal->more + 1, all = *payload;

	*payload = all / packets;
	return *payload * packets == all;
}

/**
 * rover_gso_long_spread() - a train of packets out of one with blocks and bundles
 * @head: of the train; the data of the others, and its own where it is a block, is
 *	at the BTH, and so are the network headers of the others afterwards
 *
 * What others see of it, who have a clone of it, stays what it was.
 *
 * Context: softirqs off.
 * Return: 0; -ENOMEM: of @head nothing is left but to free it.
 */
int rover_gso_long_spread(struct sk_buff *head);

#endif /* ROVER_GSO_LONG_H */
