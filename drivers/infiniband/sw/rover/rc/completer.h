/* SPDX-License-Identifier: GPL-2.0 */
/* completer - from responses to completions */
#ifndef ROVER_COMPLETER_H
#define ROVER_COMPLETER_H

#include "qp/packet.h"
#include "qp/qp.h"

/**
 * rover_completer_receive() - receive a response packet
 * @qp: alive, may complete
 * @pkt: validated, including ICRC and peer
 * Context: tx_lock held until after rover_completer_finish().
 */
void rover_completer_receive(struct rover_qp *qp, const struct rover_packet *pkt);

/**
 * rover_completer_finish() - end a batch of responses
 * @qp: alive
 * Context: tx_lock held.
 */
void rover_completer_finish(struct rover_qp *qp);

/**
 * rover_completer_dead() - fail a QP without retries left
 * @qp: alive
 * Context: tx_lock held.
 */
void rover_completer_dead(struct rover_qp *qp);

#endif /* ROVER_COMPLETER_H */
