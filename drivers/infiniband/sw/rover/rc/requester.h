/* SPDX-License-Identifier: GPL-2.0 */
/* requester - from work requests to packets */
#ifndef ROVER_REQUESTER_H
#define ROVER_REQUESTER_H

#include "qp/qp.h"

/**
 * rover_requester_init() - initialize the requester
 * @qp: entering RTS; attr is set
 * Context: both locks held.
 */
void rover_requester_init(struct rover_qp *qp);

/**
 * rover_requester_run() - send as cwnd, credits and device allow
 * @qp: alive, may send or retransmit
 * Context: tx_lock held.
 */
void rover_requester_run(struct rover_qp *qp);

/**
 * rover_requester_flush() - complete posted WQEs with FLUSH_ERR
 * @qp: in error, or its send queue is
 *
 * Flushes those with a row and a portion of the others (rover_flush_sends()).
 * Context: tx_lock held.
 */
void rover_requester_flush(struct rover_qp *qp);

/**
 * rover_requester_reset() - forget all posted WQEs
 * @qp: entering RESET, or destroyed
 * Context: both locks held.
 */
void rover_requester_reset(struct rover_qp *qp);

#endif /* ROVER_REQUESTER_H */
