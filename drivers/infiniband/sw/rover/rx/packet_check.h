/* SPDX-License-Identifier: GPL-2.0 */
/* packet_check - checks of a received packet that need no lock */
#ifndef ROVER_PACKET_CHECK_H
#define ROVER_PACKET_CHECK_H

#include <linux/skbuff.h>
#include <linux/udp.h>

#include "core/dev.h"
#include "core/stats.h"
#include "qp/packet.h"
#include "qp/qp.h"
#include "wire/opcode.h"
#include "wire/wire.h"

/**
 * struct rover_rx_pkt - packet while it is received
 * @pkt: as the protocol sees it
 * @bth: BTH, in host memory
 * @udp: UDP header, unless @pkt has a GRH
 * @at: BTH offset in @pkt.skb
 * @icrc_checked: as part of a small GSO skb
 * @icrc_ok: result
 * @len: from BTH to ICRC, both included
 */
struct rover_rx_pkt {
	struct rover_packet pkt;
	struct rover_bth bth;
	const struct udphdr *udp;
	int at;
	bool icrc_checked;
	bool icrc_ok;
	unsigned int len;
};

static inline void rover_packet_check_copy(struct rover_packet *pkt,
					   const u8 *hdr)
{
	const struct rover_opcode *op = pkt->op;
	unsigned int skip = op->ext - sizeof(struct rover_bth);
	unsigned int ext = op->hdr_len - op->ext;
	struct rover_xrceth xrceth;

	if (op->flags & ROVER_OP_XRCETH) {
		memcpy(&xrceth, hdr, sizeof(xrceth));
		pkt->srqn = be32_to_cpu(xrceth.srqn) & ROVER_24BIT;
	}
	memcpy(&pkt->hdr, hdr + skip, min(ext, sizeof(pkt->hdr)));
	if (op->imm)
		memcpy(&pkt->imm, hdr + op->imm - sizeof(struct rover_bth),
		       sizeof(pkt->imm));
}

/**
 * rover_packet_check_headers() - check lengths and opcode, fill in the headers
 * @a: packet; @pkt.skb, @at and @len are set, @bth is zero
 * @why: set to the counter of a packet to be dropped
 *
 * Lengths are checked before any subtraction.
 *
 * Return: false if the packet is to be dropped.
 */
static inline bool rover_packet_check_headers(struct rover_rx_pkt *a,
					      enum rover_stat *why)
{
	struct rover_packet *pkt = &a->pkt;
	const struct rover_bth *bth;
	const struct rover_opcode *op;
	u8 buf[ROVER_MAX_HDR] __uninitialized;
	unsigned int ext;
	const u8 *hdr;

	if (a->len < sizeof(*bth) + ROVER_ICRC_SIZE) {
		*why = ROVER_STAT_DROP_SHORT;
		return false;
	}
	bth = skb_header_pointer(pkt->skb, a->at, sizeof(*bth), buf);
	if (!bth) {
		*why = ROVER_STAT_DROP_SHORT;
		return false;
	}
	a->bth = *bth;
	op = rover_opcode_get(a->bth.opcode);
	if (!op || a->bth.flags & ROVER_BTH_TVER) {
		*why = ROVER_STAT_DROP_OPCODE;
		return false;
	}
	pkt->op = op;
	pkt->opcode = a->bth.opcode;
	pkt->ackreq = rover_bth_ackreq(&a->bth);
	pkt->sack = rover_bth_sack(&a->bth);
	pkt->solicited = rover_bth_solicited(&a->bth);
	pkt->pad = rover_bth_pad(&a->bth);
	pkt->psn = rover_bth_psn(&a->bth);
	/* Headers and padded payload are multiples of four (IBTA 9.2.4). */
	if (a->len % 4 || a->len < op->hdr_len + pkt->pad + ROVER_ICRC_SIZE) {
		*why = ROVER_STAT_DROP_LENGTH;
		return false;
	}
	pkt->payload_at = a->at + op->hdr_len;
	pkt->payload = a->len - op->hdr_len - pkt->pad - ROVER_ICRC_SIZE;
	ext = op->hdr_len - sizeof(*bth);
	hdr = skb_header_pointer(pkt->skb, a->at + sizeof(*bth), ext, buf);
	if (!hdr) {
		*why = ROVER_STAT_DROP_SHORT;
		return false;
	}
	rover_packet_check_copy(pkt, hdr);
	return true;
}

/* P_Keys match in their low 15 bits; only the default one exists. */
static inline bool rover_packet_check_pkey(const struct rover_rx_pkt *a,
					   enum rover_stat *why)
{
	if ((be16_to_cpu(a->bth.pkey) & 0x7fff) == (ROVER_PKEY & 0x7fff))
		return true;
	*why = ROVER_STAT_DROP_PKEY;
	return false;
}

/* An XRC initiator receives only responses, a target only requests. */
static inline bool
rover_packet_check_transport(const struct rover_qp *qp,
			     const struct rover_packet *pkt)
{
	/* RoCE v1 has no ECN, hence no CNP. */
	if (pkt->op->class == ROVER_CLASS_CNP)
		return rover_transport_reliable(qp->transport) &&
		       pkt->l3 != ROVER_L3_GRH;
	return rover_opcode_transport(pkt->opcode) == qp->transport &&
	       (qp->transport != ROVER_TRANSPORT_XRC ||
		!(pkt->op->flags & ROVER_OP_REQUEST) == !qp->xrcd);
}

#endif /* ROVER_PACKET_CHECK_H */
