/* SPDX-License-Identifier: GPL-2.0 */
/* netrx - deliver received packets and trains to queue pairs */
#ifndef ROVER_NETRX_H
#define ROVER_NETRX_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "qp/qp.h"
#include "tx/gso_long.h"

/**
 * rover_netrx() - receive a packet or a train
 * @rnet: receiving namespace
 * @dev: device to count at; @hint's if that is set
 * @hint: queue pair of the first packet, if known; may be dead
 * @skb: data at the UDP header, linear, or behind the GRH; network header
 *	before that; consumed
 * Context: softirqs off, under rcu_read_lock().
 */
void rover_netrx(struct rover_net *rnet, struct rover_dev *dev,
		 struct rover_qp *hint, struct sk_buff *skb);

/* The skb may outlive its netdev: keep nothing of the stack. */
static inline void rover_netrx_detach(struct sk_buff *skb)
{
	skb_dst_drop(skb);
	skb_orphan(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
}

static inline bool rover_netrx_is_v1(const struct sk_buff *skb)
{
	return skb->protocol == cpu_to_be16(ETH_P_IBOE);
}

static inline enum rover_l3 rover_netrx_l3(const struct sk_buff *skb)
{
	if (rover_netrx_is_v1(skb))
		return ROVER_L3_GRH;
	return skb->protocol == cpu_to_be16(ETH_P_IPV6) ? ROVER_L3_IPV6 :
							  ROVER_L3_IPV4;
}

/* GSO types that rover sends; others are not RoCE. */
static inline bool rover_netrx_is_train(const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       (skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST ||
		rover_gso_long_is(skb));
}

static inline unsigned int rover_netrx_bth_at(const struct sk_buff *skb)
{
	return rover_netrx_is_v1(skb) ? 0 : sizeof(struct udphdr);
}

/* Packets by gso_segs; a guest's train may say 0. */
static inline unsigned int rover_netrx_packets(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? max(skb_shinfo(skb)->gso_segs, 1) : 1;
}

#endif /* ROVER_NETRX_H */
