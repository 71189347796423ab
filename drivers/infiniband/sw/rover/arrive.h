/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arrive - from the UDP socket to the context that receives
 */
#ifndef ROVER_ARRIVE_H
#define ROVER_ARRIVE_H

#include <linux/skbuff.h>

#include "qp.h"

struct sock;

/**
 * rover_arrive() - udp_tunnel's encap_rcv: a packet or a whole train
 * @sk: our socket; its sk_user_data is the struct rover_net
 * @skb: consumed
 *
 * Context: softirq, under rcu_read_lock().
 * Return: 0.
 */
int rover_arrive(struct sock *sk, struct sk_buff *skb);

/**
 * rover_arrive_posted() - a program has posted, and set the bits: run
 * @qp: found under RCU
 *
 * While large messages are sent, what arrives is received here, too.
 *
 * Context: process, under rcu_read_lock().
 */
void rover_arrive_posted(struct rover_qp *qp);

/* The heavy work of a queue pair: what was set aside, and what run has to do. */
void rover_arrive_heavy(struct rover_kick *heavy);

#endif /* ROVER_ARRIVE_H */
