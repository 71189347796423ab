/* SPDX-License-Identifier: GPL-2.0 */
/*
 * readresp - answers to READs and atomics, in order, again if need be
 */
#ifndef ROVER_READRESP_H
#define ROVER_READRESP_H

#include "qp/qp.h"
#include "wire/psn.h"

/**
 * rover_readresp_pending() - are there answers not yet sent?
 * @qp: alive; rx_lock held
 */
static inline bool rover_readresp_pending(const struct rover_qp *qp)
{
	return qp->rsp.res_send != qp->rsp.res_tail;
}

/**
 * rover_readresp_psn() - the response that is to be sent next
 * @qp: alive; rx_lock held; one is pending
 */
static inline u32 rover_readresp_psn(const struct rover_qp *qp)
{
	const struct rover_rsp *rsp = &qp->rsp;
	const struct rover_res *res = &rsp->res[rsp->res_send % rsp->res_max];

	return rover_psn_add(res->psn, res->next);
}

/**
 * rover_readresp_room() - may this READ or atomic be taken?
 * @qp: alive; rx_lock held
 * @psn: of the request
 */
bool rover_readresp_room(const struct rover_qp *qp, u32 psn);

/**
 * rover_readresp_crowded() - is room taken by what was answered before?
 * @qp: alive; rx_lock held
 *
 * Then a peer that sends more is not to blame: it does not know of duplicates
 * that are still on their way.
 */
bool rover_readresp_crowded(const struct rover_qp *qp);

/**
 * rover_readresp_read() - note a READ to be answered
 * @qp: alive; there is room
 * @psn: of the request
 * @npsn: responses it takes
 * @reth: what it asks for; key, rights and bounds were checked; NULL for nothing
 * @again: a duplicate; it may still be waiting for its first answer
 *
 * Context: rx_lock held.
 */
void rover_readresp_read(struct rover_qp *qp, u32 psn, u32 npsn,
			 const struct rover_reth *reth, bool again);

/**
 * rover_readresp_atomic() - note the result of an atomic
 * @qp: alive; there is room
 * @psn: of the request
 * @orig: what the memory held before
 *
 * The result is also kept for duplicates.
 *
 * Context: rx_lock held.
 */
void rover_readresp_atomic(struct rover_qp *qp, u32 psn, u64 orig);

/**
 * rover_readresp_again() - answer a duplicate atomic with its saved result
 * @qp: alive; there is room
 * @psn: of the request
 *
 * Context: rx_lock held.
 * Return: false when it is not remembered.
 */
bool rover_readresp_again(struct rover_qp *qp, u32 psn);

/**
 * rover_readresp_run() - send what is pending, as far as the device takes it
 * @qp: alive
 *
 * When the device is full the queue pair is kicked later and ROVER_WORK_RX
 * brings us back.
 *
 * Context: rx_lock held, softirqs off.
 * Return: ROVER_OK, or a fault of the memory (it was deregistered meanwhile; PAGE,
 * when it is not there yet and ROVER_WORK_RX will bring us back); see
 * rover_readresp_pending() for whether all was sent.
 */
enum rover_fault rover_readresp_run(struct rover_qp *qp);

#endif /* ROVER_READRESP_H */
