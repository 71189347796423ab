/* SPDX-License-Identifier: GPL-2.0 */
/*
 * packet - one received packet, as the protocol rooms see it
 */
#ifndef ROVER_PACKET_H
#define ROVER_PACKET_H

#include <linux/skbuff.h>

#include "qp/zcopy.h"
#include "wire/opcode.h"
#include "wire/wire.h"

/**
 * struct rover_packet - a packet, or a block of them, that has been proved
 *	well-formed
 * @op: its opcode's row
 * @opcode: BTH opcode
 * @ackreq: the sender wants an acknowledge
 * @solicited: BTH's SE bit
 * @pad: bytes of padding
 * @psn: its number, of a block that of the first
 * @packets: 1; of a block, so many: this one, a FIRST or MIDDLE, and MIDDLEs that
 *	follow it, all full and of one message
 * @hdr: extended headers, copied out; begins with what follows the BTH, or its
 *	XRCETH
 * @ip: its IP header, or its GRH, in @skb
 * @l3: which of these
 * @skb: holds the payload; its own frag_list is not part of it
 * @payload_at: offset of the payload in @skb
 * @payload: bytes, without pad and ICRC; of a block, of all its packets
 * @zcopy: whose memory the payload lies in; NULL when it is the packet's own
 * @imm: immediate data or key to invalidate, network order
 * @srqn: XRC: shared receive queue that a request is for
 * @group: to a multicast group: the skb it, or its train, came in, with the
 *	interface and the kind of packet; NULL: to one queue pair
 */
struct rover_packet {
	const struct rover_opcode *op;
	u8 opcode;
	bool ackreq;
	bool solicited;
	u8 pad;
	u32 psn;
	u32 packets;
	union {
		struct rover_reth reth;
		struct rover_atometh atometh;
		struct {
			struct rover_aeth aeth;
			struct rover_atomack atomack;
		} __packed;
		struct rover_deth deth;
		struct {
			struct rover_reth reth;
			struct rover_word word;
		} __packed awrite;
		struct {
			struct rover_feth feth;
			struct rover_reth reth;
		} __packed flush;
	} hdr;
	const void *ip;
	enum rover_l3 l3;
	__be32 imm;
	u32 srqn;
	const struct sk_buff *skb;
	int payload_at;
	u32 payload;
	const struct rover_zcopy *zcopy;
	const struct sk_buff *group;
};

#endif /* ROVER_PACKET_H */
