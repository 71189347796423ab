/* SPDX-License-Identifier: GPL-2.0 */
/* ud - unreliable datagrams */
#ifndef ROVER_UD_H
#define ROVER_UD_H

#include "qp/packet.h"
#include "qp/qp.h"

/**
 * rover_ud_send() - send posted WQEs until the device is full
 * @qp: UD QP, alive
 * Context: tx_lock held.
 */
void rover_ud_send(struct rover_qp *qp);

/**
 * rover_ud_receive() - receive a datagram
 * @qp: UD QP, alive, may receive
 * @pkt: validated, including ICRC, namespace and group
 * @ndev: arrival interface; NULL from the backlog
 * Context: rx_lock held.
 */
void rover_ud_receive(struct rover_qp *qp, const struct rover_packet *pkt,
		      struct net_device *ndev);

#endif /* ROVER_UD_H */
