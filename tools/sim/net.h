/* SPDX-License-Identifier: GPL-2.0 */
/* net - netdevs of the senders, and a shared bottleneck in each direction */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <sim/kernel.h>

/* What a direction has done. */
struct net_counts {
	u64 packets;
	u64 bytes;
	u64 lost;
	u64 full;	/* dropped by the queue */
	u64 marked;
	u64 copied;
	u64 queue_max;
	u64 queue_sum;
	u64 again;	/* retransmissions */
};

void net_reset(void);

/* Take packets, linked by next, that @end sends at once. */
void net_send(struct end *end, struct sk_buff *skb, unsigned int packets);

const struct net_counts *net_counts(bool back);

/* Packets that are neither lost nor received yet. */
extern u64 net_carried;

#endif /* SIM_NET_H */
