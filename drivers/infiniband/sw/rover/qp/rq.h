/* SPDX-License-Identifier: GPL-2.0 */
/* rq - take receive WQEs from a ring of a queue pair or SRQ */
#ifndef ROVER_RQ_H
#define ROVER_RQ_H

#include <rdma/rover-abi.h>

#include "core/ring.h"
#include "wire/fault.h"

/**
 * rover_rq_stride() - compute the slot size of a receive ring
 * @max_sge: entries wanted; raised to fill the slot
 * Return: bytes, a multiple of ROVER_SLOT_SIZE.
 */
u32 rover_rq_stride(u32 *max_sge);

/**
 * rover_rq_take() - copy and retire the oldest receive
 * @ring: receive ring
 * @max_sge: entries a receive may have
 * @need: bytes it must hold; otherwise it stays in the ring
 * @wqe: filled with the head
 * @sge: filled with the entries
 * Context: lock of the ring's owner held.
 * Return: ROVER_OK; RNR if there is none; TOO_LONG if shorter than @need;
 *	RQ_RING if the ring is corrupt; RQ_CORRUPT if the receive is: it was
 *	taken, and only its wr_id is valid.
 */
enum rover_fault rover_rq_take(struct rover_ring *ring, u32 max_sge, u32 need,
			       struct rover_recv_wqe *wqe,
			       struct rover_sge *sge);

/**
 * rover_rq_taken() - test whether rover_rq_take() took a receive
 * @fault: its result
 */
static inline bool rover_rq_taken(enum rover_fault fault)
{
	return !fault || fault == ROVER_FAULT_RQ_CORRUPT;
}

#endif /* ROVER_RQ_H */
