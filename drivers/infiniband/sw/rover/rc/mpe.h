/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mpe - memory placement extensions: ATOMIC WRITE, FLUSH (annex A19)
 */
#ifndef ROVER_MPE_H
#define ROVER_MPE_H

#include "qp/qp.h"
#include "wire/packet.h"

/**
 * rover_mpe_store() - execute an ATOMIC WRITE
 * @qp: alive
 * @pkt: validated up to its permission
 *
 * Context: rx_lock held, softirqs off.
 * Return: ROVER_OK; LENGTH, UNALIGNED, KEY, ACCESS, BOUNDS.
 */
enum rover_fault rover_mpe_store(struct rover_qp *qp,
				 const struct rover_packet *pkt);

/**
 * rover_mpe_flush() - execute a FLUSH
 * @qp: alive
 * @pkt: validated up to its length
 *
 * Context: rx_lock held, softirqs off.
 * Return: ROVER_OK; OPCODE if unknown or not allowed; KEY, ACCESS, BOUNDS.
 */
enum rover_fault rover_mpe_flush(struct rover_qp *qp,
				 const struct rover_packet *pkt);

#endif /* ROVER_MPE_H */
