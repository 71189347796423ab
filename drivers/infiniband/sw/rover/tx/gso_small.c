// SPDX-License-Identifier: GPL-2.0
/*
 * gso_small - several small packets in one skb
 *
 * The skb may be shared: read only.
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "tx/gso_small.h"
#include "wire/icrc.h"

/* Unit of first_words: headers and padded payload are multiples. */
#define WORD	4

static u32 gso_small_sum_headers(const struct sk_buff *skb,
				 const struct rover_trailer *trailer)
{
	const struct rover_bth *bth = (const void *)skb->data;
	const void *ip = skb->data - rover_l3_len(trailer->l3);
	const struct udphdr *udp = (const void *)bth - sizeof(*udp);

	return rover_icrc_begin(trailer->l3, ip, udp, bth, sizeof(*bth),
				trailer->first_words * WORD + ROVER_ICRC_SIZE);
}

void rover_gso_small_begin(struct rover_trailer *trailer,
			   const struct sk_buff *skb, u8 l3)
{
	trailer->l3 = l3;
	trailer->first_words = skb->len / WORD;
	trailer->header_crc = gso_small_sum_headers(skb, trailer);
}

bool rover_gso_small_verify(const struct sk_buff *skb,
			    const struct rover_trailer *trailer)
{
	return skb_headlen(skb) >= sizeof(struct rover_bth) &&
	       gso_small_sum_headers(skb, trailer) == trailer->header_crc;
}

bool rover_gso_small_next(const struct sk_buff *skb,
			  const struct rover_trailer *trailer,
			  struct rover_small_packet *small)
{
	unsigned int at = small->at + small->len, all = skb_headlen(skb);
	const struct rover_small_gap *gap = (const void *)skb->data + at;

	if (!small->len) {
		small->len = trailer->first_words * WORD;
	} else {
		if (small->index == trailer->extra || at + sizeof(*gap) > all)
			return false;
		small->index++;
		small->at = at + sizeof(*gap);
		small->len = gap->len;
		small->sport = gap->sport;
	}
	return small->len >= sizeof(struct rover_bth) &&
	       small->len <= all - small->at;
}

struct sk_buff *rover_gso_small_cut(const struct sk_buff *skb,
				    const struct rover_trailer *trailer,
				    const struct rover_small_packet *small)
{
	unsigned int hdr = rover_l3_len(trailer->l3);
	const struct rover_bth *bth;
	struct sk_buff *packet;
	struct udphdr *udp;
	__le32 icrc;
	u32 crc;

	packet = alloc_skb(ROVER_HEADROOM + hdr + small->len + ROVER_ICRC_SIZE,
			   GFP_ATOMIC);
	if (!packet)
		return NULL;
	skb_reserve(packet, ROVER_HEADROOM);
	skb_put_data(packet, skb->data - hdr, hdr);
	skb_set_transport_header(packet, hdr - (int)sizeof(*udp));
	udp = udp_hdr(packet);
	if (small->index)
		udp->source = small->sport;
	bth = skb_put_data(packet, skb->data + small->at, small->len);
	if (trailer->l3 == ROVER_L3_IPV4) {
		struct iphdr *ip = (void *)packet->data;

		ip->id = cpu_to_be16(be16_to_cpu(ip->id) + small->index);
	}
	crc = rover_icrc_begin(trailer->l3, packet->data, udp, bth, small->len,
			       small->len + ROVER_ICRC_SIZE);
	/* If headers were changed make the ICRC wrong. */
	crc ^= trailer->header_crc ^ gso_small_sum_headers(skb, trailer);
	icrc = rover_icrc_end(crc);
	skb_put_data(packet, &icrc, sizeof(icrc));
	skb_pull(packet, hdr);
	skb_reset_network_header(packet);
	return packet;
}
