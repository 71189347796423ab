/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nettx - out to the netdev, and not more than it can take
 */
#ifndef ROVER_NETTX_H
#define ROVER_NETTX_H

#include "qp/qp.h"

/* Most trains and packets of one queue pair in the device at a time. */
#define ROVER_TX_SKBS		64

/**
 * rover_nettx_full() - is the device full of this queue pair's packets?
 * @qp: alive
 *
 * When it is, the queue pair will be kicked as soon as half have left.
 *
 * Context: tx_lock or rx_lock held.
 */
bool rover_nettx_full(struct rover_qp *qp);

/**
 * rover_nettx_gathers() - does the netdev take a packet in several pieces?
 * @path: where to
 *
 * What it does not the stack copies into one, when all the work with pieces is
 * done.  One that takes what another is to send may not tell.
 *
 * Context: softirqs off.
 */
bool rover_nettx_gathers(struct rover_path *path);

/**
 * rover_nettx_aim() - find the way out of what is sent later
 * @path: where to
 * @skb: as for rover_nettx_send()
 *
 * Context: under rcu_read_lock() until it has been sent, softirqs off.
 * Return: false when there is none.
 */
bool rover_nettx_aim(struct rover_path *path, struct sk_buff *skb);

/**
 * rover_nettx_goes() - does this path lead there, and its packets look like that?
 * @path: of a queue pair whose lock is held
 * @skb: aimed
 *
 * The UDP source port may be another one.
 *
 * Context: as for rover_nettx_aim().
 */
bool rover_nettx_goes(struct rover_path *path, const struct sk_buff *skb);

/**
 * rover_nettx_send() - hand a packet or train to the IP layer, or to the netdev
 * @qp: alive; the packet holds a reference until the device is done with it
 * @path: where to
 * @skb: consumed; data at the IP header or GRH, all headers filled in but for
 *	IP length and checksum
 * @packets: in it
 * @bytes: of those, from their IP headers on
 *
 * A packet that is lost on the way out is no error: the protocol sends again.
 *
 * Context: tx_lock or rx_lock held, softirqs off; for what has been aimed a
 * reference to @qp is enough.
 */
void rover_nettx_send(struct rover_qp *qp, struct rover_path *path,
		      struct sk_buff *skb, unsigned int packets,
		      unsigned int bytes);

/**
 * rover_nettx_resume() - hand it to the IP layer, now that it is its turn
 * @skb: of RoCE v2, which rover_shortcut_take() has taken; consumed
 *
 * Context: softirq.
 */
void rover_nettx_resume(struct sk_buff *skb);

/**
 * rover_nettx_frame() - hand an Ethernet frame to the interface
 * @qp: alive; the frame holds a reference until the device is done with it
 * @skb: consumed; data at the Ethernet header, all offsets set
 *
 * As a packet socket does, so it is lost where one's would be; and where the
 * interface is down, or has left the namespace.
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_nettx_frame(struct rover_qp *qp, struct sk_buff *skb);

#endif /* ROVER_NETTX_H */
