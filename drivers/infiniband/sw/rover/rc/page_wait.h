/* SPDX-License-Identifier: GPL-2.0 */
/*
 * page_wait - requests that wait for memory on demand at the responder
 */
#ifndef ROVER_PAGE_WAIT_H
#define ROVER_PAGE_WAIT_H

#include "qp/qp.h"
#include "wire/packet.h"

/**
 * rover_page_wait_begin() - drop a request whose memory is being brought in
 * @qp: alive
 * @pkt: the request expected next
 *
 * Context: rx_lock held, under rcu_read_lock().
 */
void rover_page_wait_begin(struct rover_qp *qp, const struct rover_packet *pkt);

/**
 * rover_page_wait_end() - the memory is there, or cannot be had
 * @qp: alive; rover_page_wait_begin() was called
 *
 * Sets rsp.nak_due, by which the peer sends the request again.
 *
 * Context: rx_lock held.
 */
void rover_page_wait_end(struct rover_qp *qp);

/**
 * rover_page_wait_is_peers() - is an RNR NAK about the peer's memory?
 * @qp: alive; req.una is the packet that was refused
 * @row: its request
 *
 * Context: tx_lock held.
 * Return: true when that packet takes no receive, or one of which the peer has told.
 */
bool rover_page_wait_is_peers(const struct rover_qp *qp,
			     const struct rover_sent *row);

#endif /* ROVER_PAGE_WAIT_H */
