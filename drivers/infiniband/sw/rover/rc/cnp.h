/* SPDX-License-Identifier: GPL-2.0 */
/* cnp - congestion notification packets (CNP) */
#ifndef ROVER_CNP_H
#define ROVER_CNP_H

#include "qp/qp.h"

/**
 * rover_cnp_marked() - handle ECN marks of received packets
 * @qp: alive
 * @response: READ responses, else requests
 * Context: tx_lock held for responses, else rx_lock.
 */
void rover_cnp_marked(struct rover_qp *qp, bool response);

/**
 * rover_cnp_receive() - handle a CNP
 * @qp: alive
 * Context: tx_lock held.
 */
void rover_cnp_receive(struct rover_qp *qp);

#endif /* ROVER_CNP_H */
