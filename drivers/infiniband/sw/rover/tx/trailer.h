/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trailer - the end of a packet whose payload travels by reference
 *
 * Such a packet ends in a fragment of our own, with pad and ICRC.  Next to them,
 * where no packet shows it, lies what the sum was before the payload.  A
 * receiver that finds it knows two things: memory, not a wire, has carried the
 * packet here, fragment by fragment; and what the sum of its headers has to be.
 * So it proves the headers, which may have been altered on the way (NAT, netem),
 * and need not sum the payload.  The seal of a packet may then be open, that is,
 * without the ICRC, as long as the packet has not left this kernel (gso_segment).
 *
 * Nothing is trusted for it that was not before: who can put a packet with our
 * page at its end into the stack can as well compute its ICRC.
 */
#ifndef ROVER_TRAILER_H
#define ROVER_TRAILER_H

#include <linux/skbuff.h>

#include "qp/zcopy.h"
#include "wire/wire.h"

/*
 * In front of the IP header of every packet: link layer, VLAN tags and the
 * headers of tunnels that members get pushed without a check when a train is
 * segmented below them.
 */
#define ROVER_HEADROOM	(128 + 64)

/**
 * struct rover_trailer - one of many in a page of ours
 * @tail: pad and ICRC: what the fragment shows
 * @headers: running CRC over the headers
 * @more: of a block: packets behind the first, each with as much payload (gso_long);
 *	and of a bundle
 * @next: of a block: their opcode
 * @l3: what headers they have: enum rover_l3
 * @first: of a bundle: length of its first packet (gso_small); else 0
 * @zcopy: whose memory the payload lies in; without a sender where it is a copy
 *
 * A seal begins where a multiple of its size does.
 */
struct rover_trailer {
	u8 tail[4 + ROVER_ICRC_SIZE];
	u32 headers;
	u8 more;
	u8 next;
	u8 l3;
	u8 first;
	struct rover_zcopy zcopy;
};

/**
 * rover_trailer_get() - a new one, all zeroes
 *
 * Context: softirqs off.
 * Return: with a reference to its page, for the skb; NULL without memory.
 */
struct rover_trailer *rover_trailer_get(void);

/* One that no skb has taken; may be NULL. */
void rover_trailer_drop(struct rover_trailer *seal);

/**
 * rover_trailer_append() - end a packet with it
 * @skb: @n fragments have been put there, and not been counted; takes the
 *	reference
 * @seal: new
 * @n: where it goes
 * @payload: bytes in those fragments
 * @pad: and that of what follows
 */
void rover_trailer_append(struct sk_buff *skb, struct rover_trailer *seal,
		       unsigned int n, u32 payload, unsigned int pad);

/* What ends this packet, or a block of them, if it is one of ours; else NULL. */
const struct rover_trailer *rover_trailer_last(const struct sk_buff *skb);

/**
 * rover_trailer_sum() - sum a part of a packet where it lies
 * @crc: running CRC
 * @skb: a packet, or the first one or a member of a train
 * @at: where in it
 * @len: how many bytes; not beyond its own fragments
 *
 * Context: any.
 * Return: the running CRC.
 */
u32 rover_trailer_sum(u32 crc, const struct sk_buff *skb, int at, int len);

/**
 * rover_trailer_close() - sum the payload, put the ICRC where it belongs
 * @skb: a packet, or the first one or a member of a train; without a seal of
 *	ours in its last fragment nothing is done
 *
 * It may be closed already, or by others at the same time.
 *
 * Context: any; the payload is the caller's to read.
 */
void rover_trailer_close(const struct sk_buff *skb);

/**
 * rover_trailer_close_late() - the same, when the payload may have been revoked
 * @skb: as above
 *
 * Then the ICRC is left out, and the packet is lost wherever it goes.
 *
 * Context: softirqs off.
 */
void rover_trailer_close_late(const struct sk_buff *skb);

/**
 * rover_trailer_find() - is this packet sealed?
 * @skb: a packet, or the first one of a train
 * @payload_at: where in it the payload begins
 * @payload: its length
 * @pad: and that of what follows
 *
 * Context: any.
 * Return: the seal; NULL when the packet is not as it was sent, byte for byte
 *	from @payload_at on.
 */
const struct rover_trailer *rover_trailer_find(const struct sk_buff *skb,
					 unsigned int payload_at,
					 unsigned int payload,
					 unsigned int pad);

/* At module load. */
void rover_trailer_init(void);

/**
 * rover_trailer_exit() - at module unload, after the last packet was sent
 */
void rover_trailer_exit(void);

#endif /* ROVER_TRAILER_H */
