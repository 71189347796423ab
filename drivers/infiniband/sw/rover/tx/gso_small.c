// SPDX-License-Identifier: GPL-2.0
/*
 * gso_small - several small packets in one skb
 *
 * Beginning: under the queue pair's lock with softirqs off.  Reading and cutting:
 * anywhere; the skb may be others' as well, and is only read.
 */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "tx/gso_small.h"
#include "wire/icrc.h"

/* @seal->first counts in these: headers, payload with its pad, all are whole ones. */
#define WORD	4

/* The sum of all headers of the first packet up to its BTH. */
static u32 sum_headers(const struct sk_buff *skb, const struct rover_trailer *seal)
{
	const struct rover_bth *bth = (const void *)skb->data;
	const void *ip = skb->data - rover_l3_len(seal->l3);
	const struct udphdr *udp = (const void *)bth - sizeof(*udp);

	return rover_icrc_begin(seal->l3, ip, udp, bth, sizeof(*bth),
				seal->first * WORD + ROVER_ICRC_SIZE);
}

void rover_gso_small_begin(struct rover_trailer *seal, const struct sk_buff *skb,
			u8 l3)
{
	seal->l3 = l3;
	seal->first = skb->len / WORD;
	seal->headers = sum_headers(skb, seal);
}

bool rover_gso_small_good(const struct sk_buff *skb, const struct rover_trailer *seal)
{
	return skb_headlen(skb) >= sizeof(struct rover_bth) &&
	       sum_headers(skb, seal) == seal->headers;
}

bool rover_gso_small_next(const struct sk_buff *skb, const struct rover_trailer *seal,
		       struct rover_record *record)
{
	unsigned int at = record->at + record->len, all = skb_headlen(skb);
	const struct rover_gap *gap = (const void *)skb->data + at;

	if (!record->len) {
		record->len = seal->first * WORD;
	} else {
		if (record->number == seal->more || at + sizeof(*gap) > all)
			return false;
		record->number++;
		record->at = at + sizeof(*gap);
		record->len = gap->len;
		record->sport = gap->sport;
	}
	return record->len >= sizeof(struct rover_bth) &&
	       record->len <= all - record->at;
}

struct sk_buff *rover_gso_small_cut(const struct sk_buff *skb,
				 const struct rover_trailer *seal,
				 const struct rover_record *record)
{
	unsigned int hdr = rover_l3_len(seal->l3);
	const struct rover_bth *bth;
	struct sk_buff *one;
	struct udphdr *udp;
	__le32 icrc;
	u32 crc;

	one = alloc_skb(ROVER_HEADROOM + hdr + record->len + ROVER_ICRC_SIZE,
			GFP_ATOMIC);
	if (!one)
		return NULL;
	skb_reserve(one, ROVER_HEADROOM);
	skb_put_data(one, skb->data - hdr, hdr);
	skb_set_transport_header(one, hdr - (int)sizeof(*udp));
	udp = udp_hdr(one);
	if (record->number)
		udp->source = record->sport;
	bth = skb_put_data(one, skb->data + record->at, record->len);
	if (seal->l3 == ROVER_L3_IPV4) {
		struct iphdr *ip = (void *)one->data;

		ip->id = cpu_to_be16(be16_to_cpu(ip->id) + record->number);
	}
	crc = rover_icrc_begin(seal->l3, one->data, udp, bth, record->len,
			       record->len + ROVER_ICRC_SIZE);
	/* Headers that were altered since they were sealed make a wrong ICRC. */
	crc ^= seal->headers ^ sum_headers(skb, seal);
	icrc = rover_icrc_end(crc);
	skb_put_data(one, &icrc, sizeof(icrc));
	skb_pull(one, hdr);
	skb_reset_network_header(one);
	return one;
}
