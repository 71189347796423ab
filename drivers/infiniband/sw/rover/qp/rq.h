/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rq - receive work requests, out of a ring
 *
 * The kernel's end of a queue of receives, whoever owns it: one queue pair, or
 * many that share it.  The owner has the lock.
 */
#ifndef ROVER_RQ_H
#define ROVER_RQ_H

#include <rdma/rover-abi.h>

#include "core/ring.h"
#include "wire/fault.h"

/**
 * rover_rq_stride() - bytes of a slot for receives
 * @max_sge: scatter entries wanted; becomes what fits in whole cache lines
 */
u32 rover_rq_stride(u32 *max_sge);

/**
 * rover_rq_take() - take the oldest receive: only its copy counts from here on
 * @ring: of receives
 * @max_sge: most scatter entries a receive may have
 * @need: bytes it has to have room for: else it stays in the ring
 * @wqe: for its head
 * @sge: for its entries, ROVER_MAX_SGE
 *
 * Context: the lock of the ring's consumer held.
 * Return: ROVER_OK; RNR when there is none; TOO_LONG when it has too little
 * room; RQ_RING when the ring makes no sense.  RQ_CORRUPT when the receive
 * makes none: it is taken, and its wr_id is all that holds.
 */
enum rover_fault rover_rq_take(struct rover_ring *ring, u32 max_sge, u32 need,
				 struct rover_recv_wqe *wqe,
				 struct rover_sge *sge);

/**
 * rover_rq_taken() - did rover_rq_take() take one?
 * @fault: what it returned
 */
static inline bool rover_rq_taken(enum rover_fault fault)
{
	return !fault || fault == ROVER_FAULT_RQ_CORRUPT;
}

#endif /* ROVER_RQ_H */
