/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cnp - congestion notifications, in both directions
 */
#ifndef ROVER_CNP_H
#define ROVER_CNP_H

#include "qp/qp.h"

/**
 * rover_cnp_marked() - packets of the peer's have come with a mark
 * @qp: alive
 * @response: data that was asked for; else requests
 *
 * Context: tx_lock held for responses, else rx_lock; softirqs off.
 */
void rover_cnp_marked(struct rover_qp *qp, bool response);

/**
 * rover_cnp_receive() - packets of ours have come to the peer with a mark
 * @qp: alive
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_cnp_receive(struct rover_qp *qp);

#endif /* ROVER_CNP_H */
