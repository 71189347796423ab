/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wqe - work requests out of the rings, and completions for them
 */
#ifndef ROVER_WQE_H
#define ROVER_WQE_H

#include "qp/qp.h"
#include "wire/fault.h"

/**
 * rover_wqe_copy() - a send work request, copied once and proved
 * @qp: alive
 * @index: where in the ring it is; posted
 * @wqe: to be filled in
 * @length: set to the bytes of its SGL or inline data
 *
 * Its memory is not looked at.
 *
 * Context: tx_lock held.
 * Return: ROVER_OK, WQE, SEND_LENGTH.
 */
enum rover_fault rover_wqe_copy(struct rover_qp *qp, u32 index,
				struct rover_wqe *wqe, u64 *length);

/* rover_wqe_complete() once it is known that there is a completion. */
void rover_wqe_post(struct rover_qp *qp, const struct rover_sent *row,
		    enum rover_fault fault);

/**
 * rover_wqe_complete() - complete a send work request
 * @qp: alive; goes to error when its completion queue has overflowed
 * @row: what is known of the request
 * @fault: ROVER_OK: only if a completion was asked for
 *
 * Context: tx_lock held.
 */
static inline void rover_wqe_complete(struct rover_qp *qp,
				      const struct rover_sent *row,
				      enum rover_fault fault)
{
	if (fault || row->flags & ROVER_WQE_SIGNALED || qp->sig_all)
		rover_wqe_post(qp, row, fault);
}

/**
 * rover_wqe_fail() - a work request that was never sent ends in an error
 * @qp: alive
 * @wr_id: its cookie
 * @opcode: as the ring has it, proved or not
 * @fault: what is wrong with it; ROVER_FAULT_FLUSH for nothing
 *
 * Context: tx_lock held.
 */
void rover_wqe_fail(struct rover_qp *qp, u64 wr_id, u8 opcode,
		    enum rover_fault fault);

/*
 * Work requests flushed while a lock is held and softirqs are off.  A ring has room
 * for 32768, each with a completion and perhaps an event.
 */
#define ROVER_FLUSH_PORTION	64

/**
 * rover_wqe_flush() - complete a portion of the send ring with FLUSH_ERR
 * @qp: alive; no request that was begun is left
 *
 * Sets ROVER_WORK_TX when more is posted.
 *
 * Context: tx_lock held.
 */
void rover_wqe_flush(struct rover_qp *qp);

/**
 * rover_wqe_recv() - take the oldest receive, into rsp.wqe and rsp.sge
 * @qp: alive; it may share its receives with others
 * @need: bytes it has to have room for: else it stays where it is
 *
 * rsp.have_wqe is set when one was taken, good or bad.
 *
 * Context: rx_lock held.
 * Return: as rover_rq_take().
 */
enum rover_fault rover_wqe_recv(struct rover_qp *qp, u32 need);

/**
 * rover_wqe_recv_complete() - complete a receive
 * @qp: alive; goes to error when its completion queue has overflowed
 * @cqe: complete but for the queue pair's number
 * @solicited: the sender asked for an event
 *
 * Context: rx_lock held.
 */
void rover_wqe_recv_complete(struct rover_qp *qp, struct rover_cqe *cqe,
			     bool solicited);

/**
 * rover_wqe_recv_fail() - a receive ends in an error
 * @qp: alive
 * @wr_id: its cookie
 * @fault: why
 * @status: enum ib_wc_status
 *
 * Context: rx_lock held.
 */
void rover_wqe_recv_fail(struct rover_qp *qp, u64 wr_id, enum rover_fault fault,
			 u8 status);

/**
 * rover_wqe_recv_flush() - complete a portion of the receives with FLUSH_ERR
 * @qp: alive; has taken what it shares with others, and that is done with
 *
 * Sets ROVER_WORK_RX when more is posted.
 *
 * Where receives are shared those that are posted are for the others: instead
 * the program hears, once, that this queue pair takes no more.
 *
 * Context: rx_lock held.
 */
void rover_wqe_recv_flush(struct rover_qp *qp);

#endif /* ROVER_WQE_H */
