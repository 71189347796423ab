/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ud - unreliable datagrams, in both directions
 */
#ifndef ROVER_UD_H
#define ROVER_UD_H

#include "qp/qp.h"
#include "wire/packet.h"

/**
 * rover_ud_send() - send what is posted, as far as the device takes it
 * @qp: alive, of the datagram service
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_ud_send(struct rover_qp *qp);

/**
 * rover_ud_receive() - a datagram has arrived
 * @qp: alive, of the datagram service, in a state that receives
 * @pkt: proved up to and including ICRC and namespace; if it was sent to a
 *	group, the queue pair is attached to that
 * @in: interface it came by; NULL if it was set aside
 *
 * Context: rx_lock held, softirqs off.
 */
void rover_ud_receive(struct rover_qp *qp, const struct rover_packet *pkt,
			    struct net_device *in);

#endif /* ROVER_UD_H */
