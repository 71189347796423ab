/* SPDX-License-Identifier: GPL-2.0 */
/*
 * responder - from packets to memory
 */
#ifndef ROVER_RESPONDER_H
#define ROVER_RESPONDER_H

#include "qp/qp.h"
#include "wire/packet.h"

/**
 * rover_responder_init() - ready for the first packet
 * @qp: on its way to RTR; attr.rq_psn is set
 *
 * Context: both locks held.
 */
void rover_responder_init(struct rover_qp *qp);

/**
 * rover_responder_receive() - one request packet
 * @qp: alive
 * @pkt: proved up to and including ICRC and peer
 *
 * What is to be acknowledged is only noted; see rover_responder_finish().
 *
 * Context: rx_lock held, softirqs off, under rcu_read_lock().
 */
void rover_responder_receive(struct rover_qp *qp, const struct rover_packet *pkt);

/**
 * rover_responder_finish() - at the end of a batch: one ACK, READ responses
 * @qp: alive
 *
 * Context: rx_lock held, softirqs off.
 */
void rover_responder_finish(struct rover_qp *qp);

/**
 * rover_responder_leave() - end a batch, and leave what finish would do to run
 * @qp: alive
 *
 * Context: rx_lock held.
 */
void rover_responder_leave(struct rover_qp *qp);

/**
 * rover_responder_flush() - complete a portion of the receives with FLUSH_ERR
 * @qp: in error
 *
 * See rover_wqe_recv_flush().
 *
 * Context: rx_lock held, softirqs off.
 */
void rover_responder_flush(struct rover_qp *qp);

/**
 * rover_responder_reset() - forget everything that was posted
 * @qp: on its way to RESET or to its end
 *
 * Context: both locks held.
 */
void rover_responder_reset(struct rover_qp *qp);

#endif /* ROVER_RESPONDER_H */
