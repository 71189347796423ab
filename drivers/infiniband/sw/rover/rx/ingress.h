/* SPDX-License-Identifier: GPL-2.0 */
/* ingress - from socket, netfilter or Ethernet to the receiving context */
#ifndef ROVER_INGRESS_H
#define ROVER_INGRESS_H

#include <linux/skbuff.h>

#include "qp/qp.h"

struct sock;

/**
 * rover_ingress_encap_rcv() - receive a packet or train from the UDP socket
 * @sk: rover's socket; sk_user_data is the struct rover_net
 * @skb: consumed
 *
 * Context: softirq, under rcu_read_lock().
 * Return: 0.
 */
int rover_ingress_encap_rcv(struct sock *sk, struct sk_buff *skb);

/**
 * rover_ingress_device() - find a device to count at without a queue pair
 * @rnet: namespace @skb arrived in
 * @skb: packet, still with its interface
 *
 * Context: under rcu_read_lock().
 * Return: the device on the packet's interface, else on one below it, else any
 *	of @rnet; NULL without devices.
 */
struct rover_dev *rover_ingress_device(struct rover_net *rnet,
				       const struct sk_buff *skb);

/**
 * rover_ingress_packet() - receive a packet or train, or queue it
 * @rnet: namespace it arrived in
 * @skb: as for rover_netrx(); consumed
 *
 * Context: softirq, under rcu_read_lock().
 */
void rover_ingress_packet(struct rover_net *rnet, struct sk_buff *skb);

/**
 * rover_ingress_shortcut() - receive from the shortcut
 * @skb: data at its IP header; consumed
 * @rnet: namespace of the receiver; only compared
 *
 * Context: softirq.
 */
void rover_ingress_shortcut(struct sk_buff *skb, const struct rover_net *rnet);

/**
 * rover_ingress_doorbell() - run a user QP after its doorbell
 * @qp: found under RCU, work bits set
 *
 * While it sends large messages, arrivals are received here, too.
 *
 * Context: process, under rcu_read_lock().
 */
void rover_ingress_doorbell(struct rover_qp *qp);

/* Callback of the workers: receive the backlog, run the queue pair. */
void rover_ingress_worker(struct rover_kick *heavy);

#endif /* ROVER_INGRESS_H */
