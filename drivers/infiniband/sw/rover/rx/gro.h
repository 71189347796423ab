/* SPDX-License-Identifier: GPL-2.0 */
/* gro - build trains from packets that a NIC received one by one */
#ifndef ROVER_GRO_H
#define ROVER_GRO_H

#include <linux/list.h>
#include <linux/skbuff.h>

struct sock;

/* gro_receive and gro_complete of udp_tunnel. */
struct sk_buff *rover_gro_receive(struct sock *sk, struct list_head *head,
				  struct sk_buff *skb);
int rover_gro_complete(struct sock *sk, struct sk_buff *skb, int nhoff);

#endif /* ROVER_GRO_H */
