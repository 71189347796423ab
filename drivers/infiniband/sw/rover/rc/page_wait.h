/* SPDX-License-Identifier: GPL-2.0 */
/* page_wait - requests waiting for the responder's ODP memory */
#ifndef ROVER_PAGE_WAIT_H
#define ROVER_PAGE_WAIT_H

#include "qp/packet.h"
#include "qp/qp.h"

/**
 * rover_page_wait_begin() - drop a request until its memory is there
 * @qp: alive
 * @pkt: expected request
 * Context: rx_lock held, under rcu_read_lock().
 */
void rover_page_wait_begin(struct rover_qp *qp, const struct rover_packet *pkt);

/**
 * rover_page_wait_end() - end the wait
 * @qp: alive; memory is there, or cannot be had
 * Context: rx_lock held.
 */
void rover_page_wait_end(struct rover_qp *qp);

/**
 * rover_page_wait_is_remote() - test whether an RNR NAK is for ODP memory
 * @qp: alive; packet req.una was refused
 * @row: its request
 * Context: tx_lock held.
 * Return: true if the packet takes no receive, or an advertised one.
 */
bool rover_page_wait_is_remote(const struct rover_qp *qp,
			       const struct rover_sent *row);

#endif /* ROVER_PAGE_WAIT_H */
