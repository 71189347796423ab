/* SPDX-License-Identifier: GPL-2.0 */
/* raw - Ethernet frames of raw packet QPs */
#ifndef ROVER_RAW_H
#define ROVER_RAW_H

#include <linux/if_ether.h>

#include "qp/qp.h"

/**
 * struct rover_raw_frame - a received frame
 * @skb: may be shared, so read only
 * @payload_at: offset in @skb after the Ethernet header
 * @eth: linear Ethernet header
 */
struct rover_raw_frame {
	const struct sk_buff *skb;
	int payload_at;
	const u8 *eth;
};

/**
 * rover_raw_send() - send posted WQEs until the device is full
 * @qp: raw packet QP, alive
 * Context: tx_lock held.
 */
void rover_raw_send(struct rover_qp *qp);

/**
 * rover_raw_receive() - receive a frame that matched a flow rule
 * @qp: raw packet QP, alive
 * @pkt: frame
 * Context: rx_lock held.
 */
void rover_raw_receive(struct rover_qp *qp, const struct rover_raw_frame *pkt);

/**
 * rover_raw_echo_sender() - return the sender of a looped-back frame
 * @skb: received by the interface
 * Return: NULL for other frames.
 */
const struct rover_qp *rover_raw_echo_sender(const struct sk_buff *skb);

#endif /* ROVER_RAW_H */
