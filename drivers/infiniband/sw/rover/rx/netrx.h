/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netrx - from packets and trains to the queue pair
 */
#ifndef ROVER_NETRX_H
#define ROVER_NETRX_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "qp/qp.h"
#include "tx/gso_long.h"

/**
 * rover_netrx() - receive a packet or a whole train
 * @rnet: namespace it has arrived in
 * @dev: device to count at: that of @likely, if it is not NULL
 * @likely: queue pair of its first packet, if it was looked up; maybe dead
 * @skb: data at its UDP header, all of which is there, or behind its GRH; the
 *	network header is in front of that; consumed
 *
 * Context: softirq, under rcu_read_lock().
 */
void rover_netrx(struct rover_net *rnet, struct rover_dev *dev,
		 struct rover_qp *likely, struct sk_buff *skb);

/* RoCE v1, else v2. */
static inline bool rover_netrx_is_frame(const struct sk_buff *skb)
{
	return skb->protocol == cpu_to_be16(ETH_P_IBOE);
}

static inline enum rover_l3 rover_netrx_l3(const struct sk_buff *skb)
{
	if (rover_netrx_is_frame(skb))
		return ROVER_L3_GRH;
	return skb->protocol == cpu_to_be16(ETH_P_IPV6) ? ROVER_L3_IPV6 :
							  ROVER_L3_IPV4;
}

/* As we make them; other packets of several are no RoCE. */
static inline bool rover_netrx_is_train(const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       (skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST ||
		rover_gso_long_is(skb));
}

/* Where the first BTH is, from the data on. */
static inline unsigned int rover_netrx_bth_at(const struct sk_buff *skb)
{
	return rover_netrx_is_frame(skb) ? 0 : sizeof(struct udphdr);
}

/* Packets of a train, as far as it says so: where it comes from a guest, not. */
static inline unsigned int rover_netrx_packets(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? max(skb_shinfo(skb)->gso_segs, 1) : 1;
}

#endif /* ROVER_NETRX_H */
