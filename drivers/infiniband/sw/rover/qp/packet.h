/* SPDX-License-Identifier: GPL-2.0 */
/* packet - a received packet */
#ifndef ROVER_PACKET_H
#define ROVER_PACKET_H

#include <linux/skbuff.h>

#include "qp/qp_table.h"
#include "qp/zcopy.h"
#include "wire/opcode.h"
#include "wire/wire.h"

/**
 * struct rover_packet - a well-formed packet, or a long GSO packet
 * @op: row of @opcode
 * @opcode: BTH opcode
 * @ackreq: AckReq bit
 * @sack: the sender understands selective acknowledgments
 * @solicited: SE bit
 * @pad: bytes of padding
 * @psn: first sequence number
 * @packets: 1, or those of a long GSO packet: FIRST or MIDDLE, then MIDDLEs,
 *	all full
 * @hdr: copy of the extended headers behind BTH and XRCETH
 * @ip: IP header or GRH, in @skb
 * @l3: kind of @ip
 * @head: the skb as it arrived
 * @skb: holds the payload; frag_list excluded; @head or a member of it
 * @payload_at: offset of the payload in @skb
 * @payload: bytes of payload of all @packets, without pad and ICRC
 * @zcopy: owner of the payload's memory; NULL for a copy
 * @imm: immediate data or key to invalidate
 * @srqn: XRC: number of the SRQ
 * @multicast: not for one queue pair alone
 */
struct rover_packet {
	const struct rover_opcode *op;
	u8 opcode;
	bool ackreq;
	bool sack;
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
	struct sk_buff *head;
	const struct sk_buff *skb;
	int payload_at;
	u32 payload;
	const struct rover_zcopy *zcopy;
	bool multicast;
};

/* Count and trace a packet that @qp drops. */
static inline void rover_packet_drop(const struct rover_qp *qp,
				     const struct rover_packet *pkt,
				     enum rover_stat why)
{
	rover_qp_drop(qp, why, pkt->opcode, pkt->psn);
}

/* Learn what the sender of a verified packet understands. */
static inline void rover_packet_note_sack(struct rover_qp *qp,
					  const struct rover_packet *pkt)
{
	if (unlikely(pkt->sack && !READ_ONCE(qp->peer_sack)))
		WRITE_ONCE(qp->peer_sack, true);
}

#endif /* ROVER_PACKET_H */
