/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rocev1 - RoCE v1: packets that are frames of an EtherType of their own
 */
#ifndef ROVER_ROCEV1_H
#define ROVER_ROCEV1_H

#include <linux/skbuff.h>

#include "core/dev.h"

/**
 * rover_rocev1_receive() - receive such a frame
 * @rnet: namespace of the interface it has come to
 * @skb: data and network header at its GRH; consumed
 *
 * Context: softirq, under rcu_read_lock().
 */
void rover_rocev1_receive(struct rover_net *rnet, struct sk_buff *skb);

#endif /* ROVER_ROCEV1_H */
