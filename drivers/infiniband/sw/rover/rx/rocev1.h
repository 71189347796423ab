/* SPDX-License-Identifier: GPL-2.0 */
/* rocev1 - receive RoCE v1 packets, frames of their own EtherType */
#ifndef ROVER_ROCEV1_H
#define ROVER_ROCEV1_H

#include <linux/skbuff.h>

#include "core/dev.h"

/**
 * rover_rocev1_receive() - receive a RoCE v1 frame
 * @rnet: receiving namespace
 * @skb: data and network header at the GRH; consumed
 * Context: softirq, under rcu_read_lock().
 */
void rover_rocev1_receive(struct rover_net *rnet, struct sk_buff *skb);

#endif /* ROVER_ROCEV1_H */
