// SPDX-License-Identifier: GPL-2.0
/*
 * icrc_check - verify the ICRC of a received packet
 *
 * All of the packet is summed (wire/icrc.h), or only its headers if a trailer
 * shows that the payload has never left this host's memory.
 */
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "rx/icrc_check.h"
#include "tx/gso_long.h"
#include "tx/trailer.h"
#include "wire/icrc.h"

/* Sum the headers and @own bytes from the BTH of a packet of @len. */
static u32 icrc_check_sum(const struct rover_rx_pkt *a, unsigned int own,
			  unsigned int len)
{
	int head = skb_headlen(a->pkt.skb) - a->at;
	const struct rover_bth *bth = &a->bth;
	unsigned int here = sizeof(*bth);
	u32 crc;

	if (head >= (int)here) {
		bth = (const void *)a->pkt.skb->data + a->at;
		here = min_t(unsigned int, head, own);
	}
	crc = rover_icrc_begin(a->pkt.l3, a->pkt.ip, a->udp, bth, here, len);
	return rover_trailer_sum(crc, a->pkt.skb, a->at + here, own - here);
}

/* Verify headers only: payload never left memory. */
static bool icrc_check_headers(struct rover_rx_pkt *a,
			       const struct rover_trailer *trailer)
{
	struct rover_packet *pkt = &a->pkt;
	unsigned int headerless = trailer->extra;
	u32 payload = pkt->payload;

	if (headerless &&
	    (pkt->pad || !rover_gso_long_first_payload(trailer, &payload)))
		return false;
	if (icrc_check_sum(a, pkt->op->hdr_len,
			   pkt->op->hdr_len + payload + pkt->pad +
			   ROVER_ICRC_SIZE) != trailer->header_crc)
		return false;
	pkt->packets += headerless;
	return true;
}

bool rover_icrc_check(struct rover_rx_pkt *a,
		      struct rover_stats __percpu *stats,
		      unsigned int *headerless)
{
	const struct sk_buff *skb = a->pkt.skb;
	const struct rover_trailer *trailer;
	__le32 icrc;
	u32 crc;

	/* Payload may be zero-copy even if the packet was changed. */
	trailer = rover_trailer_last(skb);
	if (trailer && trailer->zcopy.qpn)
		a->pkt.zcopy = &trailer->zcopy;
	if (trailer && rover_trailer_fits(skb, a->pkt.payload_at,
					  a->pkt.payload, a->pkt.pad)) {
		if (!icrc_check_headers(a, trailer))
			return false;
		*headerless += trailer->extra;
		rover_stat_add(stats, ROVER_STAT_RX_ICRC_UNNECESSARY,
			       1 + trailer->extra);
		return true;
	}
	if (skb_copy_bits(skb, a->at + a->len - ROVER_ICRC_SIZE, &icrc,
			  sizeof(icrc)))
		return false;
	crc = icrc_check_sum(a, a->len - ROVER_ICRC_SIZE, a->len);
	return rover_icrc_end(crc) == icrc;
}
