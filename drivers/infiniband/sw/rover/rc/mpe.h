/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mpe - what a peer asks for beyond data: to store a word at once, to flush
 */
#ifndef ROVER_MPE_H
#define ROVER_MPE_H

#include "qp/qp.h"
#include "wire/packet.h"

/**
 * rover_mpe_store() - ATOMIC WRITE
 * @qp: alive
 * @pkt: proved up to its permission
 *
 * Context: rx_lock held, softirqs off.
 * Return: ROVER_OK; LENGTH, UNALIGNED, KEY, ACCESS, BOUNDS.
 */
enum rover_fault rover_mpe_store(struct rover_qp *qp,
				  const struct rover_packet *pkt);

/**
 * rover_mpe_flush() - FLUSH
 * @qp: alive
 * @pkt: proved up to its length
 *
 * Context: rx_lock held, softirqs off.
 * Return: ROVER_OK; OPCODE for kinds that there are not or that the queue pair
 * does not allow; KEY, ACCESS, BOUNDS.
 */
enum rover_fault rover_mpe_flush(struct rover_qp *qp,
				  const struct rover_packet *pkt);

#endif /* ROVER_MPE_H */
