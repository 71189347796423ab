/* SPDX-License-Identifier: GPL-2.0 */
/*
 * requester - from work requests to packets
 */
#ifndef ROVER_REQUESTER_H
#define ROVER_REQUESTER_H

#include "qp/qp.h"

/**
 * rover_requester_init() - ready to send the first packet
 * @qp: on its way to RTS; attr.sq_psn and the counters are set
 *
 * Context: both locks held.
 */
void rover_requester_init(struct rover_qp *qp);

/**
 * rover_requester_run() - send what window, credits and device allow
 * @qp: alive, may send or retransmit
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_requester_run(struct rover_qp *qp);

/**
 * rover_requester_flush() - complete posted requests with FLUSH_ERR
 * @qp: in error, or its send queue is
 *
 * All that were begun, at most ROVER_MAX_INFLIGHT, and a portion of the others: see
 * rover_wqe_flush().
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_requester_flush(struct rover_qp *qp);

/**
 * rover_requester_reset() - forget everything that was posted
 * @qp: on its way to RESET or to its end
 *
 * Context: both locks held.
 */
void rover_requester_reset(struct rover_qp *qp);

#endif /* ROVER_REQUESTER_H */
