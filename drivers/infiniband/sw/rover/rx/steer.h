/* SPDX-License-Identifier: GPL-2.0 */
/* steer - choose the context that receives a packet */
#ifndef ROVER_STEER_H
#define ROVER_STEER_H

#include <linux/skbuff.h>

#include "qp/qp.h"

struct sock;

/**
 * rover_steer_encap_rcv() - receive from the UDP socket
 * @sk: rover's socket; sk_user_data is the struct rover_net
 * @skb: packet or train; consumed
 * Context: softirq, under rcu_read_lock().
 * Return: 0.
 */
int rover_steer_encap_rcv(struct sock *sk, struct sk_buff *skb);

/**
 * rover_steer_device() - find a device to count at
 * @rnet: receiving namespace
 * @skb: still with its interface
 * Context: under rcu_read_lock().
 * Return: device on the interface, on one below it, any of @rnet, or NULL.
 */
struct rover_dev *rover_steer_device(struct rover_net *rnet,
				     const struct sk_buff *skb);

/**
 * rover_steer_packet() - receive or queue a packet or train
 * @rnet: receiving namespace
 * @skb: as for rover_netrx(); consumed
 * Context: softirq, under rcu_read_lock().
 */
void rover_steer_packet(struct rover_net *rnet, struct sk_buff *skb);

/**
 * rover_steer_shortcut() - receive from the shortcut
 * @skb: data at the IP header; consumed
 * @rnet: receiving namespace; only compared
 * Context: softirq.
 */
void rover_steer_shortcut(struct sk_buff *skb, const struct rover_net *rnet);

#endif /* ROVER_STEER_H */
