/* SPDX-License-Identifier: GPL-2.0 */
/*
 * completer - from responses to completions
 */
#ifndef ROVER_COMPLETER_H
#define ROVER_COMPLETER_H

#include "qp/qp.h"
#include "wire/packet.h"

/**
 * rover_completer_receive() - one response packet
 * @qp: alive, may complete
 * @pkt: proved up to and including ICRC and peer
 *
 * Sets ROVER_WORK_TX when there is something to send because of it, or leaves that
 * to rover_completer_finish().
 *
 * Context: tx_lock held, softirqs off; it is held until after
 *	rover_completer_finish().
 */
void rover_completer_receive(struct rover_qp *qp, const struct rover_packet *pkt);

/**
 * rover_completer_finish() - those that came together have been received
 * @qp: alive
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_completer_finish(struct rover_qp *qp);

/**
 * rover_completer_dead() - the peer does not answer any more
 * @qp: alive; its retries are used up
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_completer_dead(struct rover_qp *qp);

#endif /* ROVER_COMPLETER_H */
