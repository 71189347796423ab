/* SPDX-License-Identifier: GPL-2.0 */
/* nettx - hand skbs to the stack or the netdev */
#ifndef ROVER_NETTX_H
#define ROVER_NETTX_H

#include "qp/qp.h"

/* Most skbs of a queue pair in flight. */
#define ROVER_TX_SKBS		64

/**
 * rover_nettx_throttled() - test whether @qp must stop sending
 * @qp: alive; kicked when it may go on
 * Context: tx_lock or rx_lock held.
 */
bool rover_nettx_throttled(struct rover_qp *qp);

/**
 * rover_nettx_has_sg() - test whether the netdev has scatter-gather
 * @path: destination; stacked netdevs may not tell
 * Context: softirqs off.
 */
bool rover_nettx_has_sg(struct rover_path *path);

/**
 * rover_nettx_route() - route an skb that is sent later
 * @path: destination
 * @skb: as for rover_nettx_send()
 * Context: softirqs off, under rcu_read_lock() until it is sent.
 * Return: false without a route.
 */
bool rover_nettx_route(struct rover_path *path, struct sk_buff *skb);

/**
 * rover_nettx_same_route() - test whether @path has @skb's route and headers
 * @path: of a queue pair whose lock is held
 * @skb: routed; its UDP source port may differ
 * Context: as for rover_nettx_route().
 */
bool rover_nettx_same_route(struct rover_path *path, const struct sk_buff *skb);

/**
 * rover_nettx_send() - send a packet or train
 * @qp: alive
 * @path: destination
 * @skb: consumed; data at IP header or GRH, complete but for IP length and
 *	checksum
 * @packets: number of packets
 * @bytes: from IP headers on
 * Context: softirqs off; tx_lock or rx_lock held unless @skb is routed.
 */
void rover_nettx_send(struct rover_qp *qp, struct rover_path *path,
		      struct sk_buff *skb, unsigned int packets,
		      unsigned int bytes);

/**
 * rover_nettx_send_queued() - send an skb from the shortcut's queue
 * @skb: RoCE v2; consumed
 * Context: softirq.
 */
void rover_nettx_send_queued(struct sk_buff *skb);

/**
 * rover_nettx_send_frame() - send an Ethernet frame
 * @qp: alive
 * @skb: consumed; data at the Ethernet header, all offsets set
 * Context: tx_lock held.
 */
void rover_nettx_send_frame(struct rover_qp *qp, struct sk_buff *skb);

#endif /* ROVER_NETTX_H */
