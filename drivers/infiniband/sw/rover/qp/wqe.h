/* SPDX-License-Identifier: GPL-2.0 */
/* wqe - copies and completions of WQEs */
#ifndef ROVER_WQE_H
#define ROVER_WQE_H

#include "qp/qp.h"
#include "wire/fault.h"

/**
 * rover_wqe_copy() - copy and validate a send WQE, but not keys
 * @qp: alive
 * @index: ring index, posted
 * @wqe: filled in
 * @length: set to the bytes of the SGL or inline data
 * Context: tx_lock held.
 * Return: ROVER_OK, WQE, SEND_LENGTH.
 */
enum rover_fault rover_wqe_copy(struct rover_qp *qp, u32 index,
				struct rover_wqe *wqe, u64 *length);

/* Slow path of rover_wqe_complete() */
void rover_wqe_write_cqe(struct rover_qp *qp, const struct rover_sent *row,
			 enum rover_fault fault);

/**
 * rover_wqe_complete() - complete a send request
 * @qp: alive; moves to ERR if its CQ overflows
 * @row: request
 * @fault: ROVER_OK writes a CQE only if signaled
 * Context: tx_lock held.
 */
static inline void rover_wqe_complete(struct rover_qp *qp,
				      const struct rover_sent *row,
				      enum rover_fault fault)
{
	if (fault || row->flags & ROVER_WQE_SIGNALED || qp->sig_all)
		rover_wqe_write_cqe(qp, row, fault);
}

/**
 * rover_wqe_fail() - fail a send request that was never sent
 * @qp: alive
 * @wr_id: of the WQE
 * @opcode: of the WQE, not validated
 * @fault: reason
 * Context: tx_lock held.
 */
void rover_wqe_fail(struct rover_qp *qp, u64 wr_id, u8 opcode,
		    enum rover_fault fault);

/**
 * rover_wqe_recv() - take the oldest receive into rsp.wqe and rsp.sge
 * @qp: alive; rsp.have_wqe is set if one was taken, valid or not
 * @need: bytes it must hold; otherwise it stays posted
 * Context: rx_lock held.
 * Return: as rover_rq_take().
 */
enum rover_fault rover_wqe_recv(struct rover_qp *qp, u32 need);

/**
 * rover_wqe_recv_complete() - complete a receive
 * @qp: alive; moves to ERR if its CQ overflows
 * @cqe: complete except @qpn
 * @solicited: the sender asked for an event
 * Context: rx_lock held.
 */
void rover_wqe_recv_complete(struct rover_qp *qp, struct rover_cqe *cqe,
			     bool solicited);

/**
 * rover_wqe_recv_fail() - complete a receive in error
 * @qp: alive
 * @wr_id: of the WQE
 * @fault: reason
 * @status: enum ib_wc_status
 * Context: rx_lock held.
 */
void rover_wqe_recv_fail(struct rover_qp *qp, u64 wr_id, enum rover_fault fault,
			 u8 status);

#endif /* ROVER_WQE_H */
