/* SPDX-License-Identifier: GPL-2.0 */
/* outofseq - requests before or behind the expected one */
#ifndef ROVER_OUTOFSEQ_H
#define ROVER_OUTOFSEQ_H

#include "qp/packet.h"
#include "qp/qp.h"

/* Packets of reliable connections; rx_lock held, under rcu_read_lock(). */

/* A packet before @pkt is missing. */
void rover_outofseq_early(struct rover_qp *qp, const struct rover_packet *pkt);
/* @pkt was received before (IBTA 9.7.5.1.2). */
void rover_outofseq_duplicate(struct rover_qp *qp,
			      const struct rover_packet *pkt);

/**
 * rover_outofseq_is_crowded() - test whether duplicates leave no row
 * @qp: alive
 * @pkt: expected request: a READ, an atomic or what is answered like them
 * Return: true if @pkt is to be sent again.
 */
bool rover_outofseq_is_crowded(const struct rover_qp *qp,
			       const struct rover_packet *pkt);

#endif /* ROVER_OUTOFSEQ_H */
