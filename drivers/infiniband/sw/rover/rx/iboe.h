/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iboe - RoCE v1: packets that are frames of an EtherType of their own
 */
#ifndef ROVER_IBOE_H
#define ROVER_IBOE_H

#include <linux/skbuff.h>

#include "core/dev.h"

/**
 * rover_iboe_arrive() - receive such a frame
 * @rnet: namespace of the interface it has come to
 * @skb: data and network header at its GRH; consumed
 *
 * Context: softirq, under rcu_read_lock().
 */
void rover_iboe_arrive(struct rover_net *rnet, struct sk_buff *skb);

#endif /* ROVER_IBOE_H */
