/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trailer - last fragment of a packet with payload by reference
 *
 * The fragment shows pad and ICRC, which may be missing until the packet leaves
 * this kernel; beside it lies the CRC of the headers. A packet with a trailer
 * never left this kernel: a receiver only sums its headers, which NAT or netem
 * may have changed (decision 0012). A sender who can forge a trailer can
 * compute an ICRC.
 */
#ifndef ROVER_TRAILER_H
#define ROVER_TRAILER_H

#include <linux/skbuff.h>

#include "qp/zcopy.h"
#include "wire/wire.h"

/*
 * Before the IP header: link layer, VLAN tags, and tunnel headers, which the
 * stack pushes to members unchecked.
 */
#define ROVER_HEADROOM	(128 + 64)

/**
 * struct rover_trailer - trailer; a page holds many, aligned to their size
 * @tail: pad and ICRC, shown by the fragment
 * @header_crc: running CRC of the headers
 * @extra: packets behind the first (gso_long, gso_small)
 * @next_opcode: their opcode (gso_long)
 * @l3: enum rover_l3
 * @first_words: 4-byte words of the first packet (gso_small); else 0
 * @zcopy: owner of the payload; qpn 0 for a copy
 */
struct rover_trailer {
	u8 tail[4 + ROVER_ICRC_SIZE];
	u32 header_crc;
	u8 extra;
	u8 next_opcode;
	u8 l3;
	u8 first_words;
	struct rover_zcopy zcopy;
};

/**
 * rover_trailer_get() - allocate a zeroed trailer
 * Context: softirqs off.
 * Return: with a page reference for the skb; NULL without memory.
 */
struct rover_trailer *rover_trailer_get(void);

/* Free a trailer that was not appended; may be NULL. */
void rover_trailer_drop(struct rover_trailer *trailer);

/**
 * rover_trailer_append() - append a trailer and count all fragments
 * @skb: packet with @n fragments not counted yet
 * @trailer: consumed
 * @n: index of its fragment
 * @payload: bytes in the fragments
 * @pad: bytes of pad
 */
void rover_trailer_append(struct sk_buff *skb, struct rover_trailer *trailer,
			  unsigned int n, u32 payload, unsigned int pad);

/* Return the trailer of a packet or GSO skb, or NULL. */
const struct rover_trailer *rover_trailer_last(const struct sk_buff *skb);

/**
 * rover_trailer_sum() - sum part of a packet
 * @crc: running CRC
 * @skb: packet, head or member
 * @at: offset
 * @len: bytes, not beyond its own fragments
 * Context: any.
 * Return: running CRC.
 */
u32 rover_trailer_sum(u32 crc, const struct sk_buff *skb, int at, int len);

/**
 * rover_trailer_write_icrc() - sum the payload and write the ICRC
 * @skb: packet, head or member; ignored without a trailer
 * Context: any, also concurrently; the payload must be readable.
 */
void rover_trailer_write_icrc(const struct sk_buff *skb);

/**
 * rover_trailer_write_icrc_late() - write the ICRC unless payload is revoked
 * @skb: as for rover_trailer_write_icrc()
 *
 * Without its ICRC a packet is dropped (decision 0036).
 *
 * Context: softirqs off.
 */
void rover_trailer_write_icrc_late(const struct sk_buff *skb);

/**
 * rover_trailer_fits() - test whether a packet with a trailer is unchanged
 * @skb: packet, or head of a train, that has a trailer
 * @payload_at: offset of the payload
 * @payload: bytes of payload
 * @pad: bytes of pad
 * Context: any.
 * Return: true if the packet is as sent from @payload_at on: headers are
 * linear, payload and trailer are fragments.
 */
bool rover_trailer_fits(const struct sk_buff *skb, unsigned int payload_at,
			unsigned int payload, unsigned int pad);

/* Called at module load. */
void rover_trailer_init(void);

/**
 * rover_trailer_exit() - at module unload, after the last send
 */
void rover_trailer_exit(void);

#endif /* ROVER_TRAILER_H */
