/* SPDX-License-Identifier: GPL-2.0 */
/* mpe - memory placement extensions (annex A19) */
#ifndef ROVER_MPE_H
#define ROVER_MPE_H

#include "qp/packet.h"
#include "qp/qp.h"

/**
 * rover_mpe_store() - execute an ATOMIC WRITE
 * @qp: alive
 * @pkt: validated, except for its range
 * Context: rx_lock held.
 * Return: ROVER_OK or a fault.
 */
enum rover_fault rover_mpe_store(struct rover_qp *qp,
				 const struct rover_packet *pkt);

/**
 * rover_mpe_flush() - execute a FLUSH
 * @qp: alive
 * @pkt: validated, except for rights and range
 * Context: rx_lock held.
 * Return: ROVER_OK or a fault.
 */
enum rover_fault rover_mpe_flush(struct rover_qp *qp,
				 const struct rover_packet *pkt);

#endif /* ROVER_MPE_H */
