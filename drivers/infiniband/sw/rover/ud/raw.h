/* SPDX-License-Identifier: GPL-2.0 */
/*
 * raw - Ethernet frames of raw packet queue pairs, in both directions
 */
#ifndef ROVER_RAW_H
#define ROVER_RAW_H

#include <linux/if_ether.h>

#include "qp/qp.h"

/**
 * struct rover_raw - a frame that has arrived
 * @skb: holds it; only read, since others may hold it, too
 * @at: offset of what follows the Ethernet header in @skb
 * @eth: its Ethernet header: @skb's linear data
 */
struct rover_raw {
	const struct sk_buff *skb;
	int at;
	const u8 *eth;
};

/**
 * rover_raw_send() - send what is posted, as far as the device takes it
 * @qp: alive, a raw packet queue pair
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_raw_send(struct rover_qp *qp);

/**
 * rover_raw_receive() - a frame is for this queue pair
 * @qp: alive, a raw packet queue pair
 * @pkt: the frame
 *
 * Context: rx_lock held, softirqs off.
 */
void rover_raw_receive(struct rover_qp *qp, const struct rover_raw *pkt);

/**
 * rover_raw_echo_of() - who has sent this frame, if it is one that came back?
 * @skb: received by the interface
 *
 * A multicast frame that a queue pair sends comes back to the flow rules of its
 * own device.  It is for nobody else.
 *
 * Return: NULL when it has come from elsewhere.
 */
const struct rover_qp *rover_raw_echo_of(const struct sk_buff *skb);

#endif /* ROVER_RAW_H */
