/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netrx - from the UDP socket to the queue pair
 */
#ifndef ROVER_NETRX_H
#define ROVER_NETRX_H

#include <linux/skbuff.h>

struct sock;

/**
 * rover_netrx() - udp_tunnel's encap_rcv: a packet or a whole train
 * @sk: our socket; its sk_user_data is the struct rover_net
 * @skb: consumed
 *
 * Context: softirq, under rcu_read_lock().
 * Return: 0.
 */
int rover_netrx(struct sock *sk, struct sk_buff *skb);

#endif /* ROVER_NETRX_H */
