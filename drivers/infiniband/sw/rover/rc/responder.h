/* SPDX-License-Identifier: GPL-2.0 */
/* responder - from request packets to memory */
#ifndef ROVER_RESPONDER_H
#define ROVER_RESPONDER_H

#include "qp/packet.h"
#include "qp/qp.h"

/**
 * rover_responder_init() - initialize the responder
 * @qp: entering RTR; attr is set
 * Context: both locks held.
 */
void rover_responder_init(struct rover_qp *qp);

/**
 * rover_responder_receive() - receive a request packet
 * @qp: alive
 * @pkt: validated, including ICRC and peer
 * Context: rx_lock held, under rcu_read_lock().
 */
void rover_responder_receive(struct rover_qp *qp, const struct rover_packet *pkt);

/**
 * rover_responder_finish() - end a batch: send responses and ACK
 * @qp: alive
 * Context: rx_lock held.
 */
void rover_responder_finish(struct rover_qp *qp);

/**
 * rover_responder_leave() - end a batch, and leave sending to run
 * @qp: alive
 * Context: rx_lock held.
 */
void rover_responder_leave(struct rover_qp *qp);

/**
 * rover_responder_flush() - flush receives, see rover_flush_receives()
 * @qp: in error
 * Context: rx_lock held.
 */
void rover_responder_flush(struct rover_qp *qp);

/**
 * rover_responder_reset() - forget current message and pending responses
 * @qp: entering RESET, or destroyed
 * Context: both locks held.
 */
void rover_responder_reset(struct rover_qp *qp);

#endif /* ROVER_RESPONDER_H */
