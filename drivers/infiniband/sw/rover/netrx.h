/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netrx - from packets and trains to the queue pair
 */
#ifndef ROVER_NETRX_H
#define ROVER_NETRX_H

#include <linux/skbuff.h>

#include "qp.h"

/**
 * rover_netrx() - receive a packet or a whole train
 * @rnet: namespace it has arrived in
 * @dev: device to count at
 * @likely: queue pair of its first packet, if it was looked up; maybe dead
 * @skb: data at its UDP header, all of which is there; consumed
 *
 * Context: softirq, under rcu_read_lock().
 */
void rover_netrx(struct rover_net *rnet, struct rover_dev *dev,
		 struct rover_qp *likely, struct sk_buff *skb);

/* Packets of a train, as far as it says so: where it comes from a guest, not. */
static inline unsigned int rover_netrx_packets(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? max(skb_shinfo(skb)->gso_segs, 1) : 1;
}

#endif /* ROVER_NETRX_H */
