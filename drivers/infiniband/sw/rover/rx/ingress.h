/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ingress - from the socket or the Ethernet to the context that receives
 */
#ifndef ROVER_INGRESS_H
#define ROVER_INGRESS_H

#include <linux/skbuff.h>

#include "qp/qp.h"

struct sock;

/**
 * rover_ingress_encap_rcv() - udp_tunnel's encap_rcv: a packet or a whole train
 * @sk: our socket; its sk_user_data is the struct rover_net
 * @skb: consumed
 *
 * Context: softirq, under rcu_read_lock().
 * Return: 0.
 */
int rover_ingress_encap_rcv(struct sock *sk, struct sk_buff *skb);

/**
 * rover_ingress_device() - the device to count at while no queue pair is known
 * @rnet: namespace it has arrived in
 * @skb: a packet, still with its interface
 *
 * Context: under rcu_read_lock().
 * Return: the device on the packet's interface, else one on an interface below it,
 * else any of the namespace; NULL when it has none.
 */
struct rover_dev *rover_ingress_device(struct rover_net *rnet,
				      const struct sk_buff *skb);

/**
 * rover_ingress_packet() - receive it, here or elsewhere
 * @rnet: namespace it has arrived in
 * @skb: as for rover_netrx(); consumed
 *
 * Context: softirq, under rcu_read_lock().
 */
void rover_ingress_packet(struct rover_net *rnet, struct sk_buff *skb);

/**
 * rover_ingress_shortcut() - receive what did not go by the stack
 * @skb: data at its IP header; consumed
 * @rnet: namespace that the queue pair it is for has to be in; not to be followed
 *
 * Context: softirq.
 */
void rover_ingress_shortcut(struct sk_buff *skb, const struct rover_net *rnet);

/**
 * rover_ingress_posted() - a program has posted, and set the bits: run
 * @qp: found under RCU
 *
 * While large messages are sent, what arrives is received here, too.
 *
 * Context: process, under rcu_read_lock().
 */
void rover_ingress_posted(struct rover_qp *qp);

/* The heavy work of a queue pair: what was set aside, and what run has to do. */
void rover_ingress_heavy(struct rover_kick *heavy);

#endif /* ROVER_INGRESS_H */
