/* SPDX-License-Identifier: GPL-2.0 */
/*
 * packet - a received packet, for the protocol
 */
#ifndef ROVER_PACKET_H
#define ROVER_PACKET_H

#include <linux/skbuff.h>

#include "qp/zcopy.h"
#include "wire/opcode.h"
#include "wire/wire.h"

/**
 * struct rover_packet - a well-formed packet, or a long GSO packet
 * @op: row of its opcode
 * @opcode: BTH opcode
 * @ackreq: BTH's AckReq bit
 * @solicited: BTH's SE bit
 * @pad: bytes of padding
 * @psn: sequence number; of a long GSO packet, that of the first packet
 * @packets: 1; of a long GSO packet, their number: a FIRST or MIDDLE, and
 *	MIDDLEs of its message behind it, all full
 * @hdr: copy of the extended headers behind the BTH and XRCETH
 * @ip: IP header or GRH, in @skb
 * @l3: kind of @ip
 * @skb: holds the payload; without its frag_list
 * @payload_at: offset of the payload in @skb
 * @payload: bytes of payload, without pad and ICRC, of all @packets
 * @zcopy: owner of the memory that the payload lies in; NULL for a copy
 * @imm: immediate data or key to invalidate, network order
 * @srqn: XRC: number of the shared receive queue
 * @group: multicast: the skb as it arrived, with interface and packet type;
 *	NULL for unicast
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
