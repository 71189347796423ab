/* SPDX-License-Identifier: GPL-2.0 */
/*
 * localop - work requests that never leave the host
 */
#ifndef ROVER_LOCALOP_H
#define ROVER_LOCALOP_H

#include "mem/fastreg.h"
#include "rc/retransmit.h"

/*
 * What REG_MR says, in a work request of a kernel user's ring, which nobody
 * else sees.
 */
static inline struct rover_fastreg *rover_localop_reg(struct rover_send_wqe *wqe)
{
	static_assert(sizeof(struct rover_fastreg) == sizeof(u64[3]));
	return (struct rover_fastreg *)&wqe->remote_addr;
}

/**
 * rover_localop_is() - is this request one of them?
 * @opcode: enum rover_wqe_opcode, proved
 */
static inline bool rover_localop_is(u8 opcode)
{
	return rover_wrs[opcode].flags & ROVER_WR_LOCAL;
}

/**
 * rover_localop_waits() - is it not to be done before all before it are?
 * @qp: alive
 * @wqe: such a request, proved
 *
 * If it is fenced; and if it closes a key that requests before it may still send
 * from: to the peer their packets would be lost, and to be sent again without a key.
 *
 * Context: tx_lock held.
 */
bool rover_localop_waits(struct rover_qp *qp, const struct rover_wqe *wqe);

/**
 * rover_localop_run() - do it
 * @qp: alive
 * @wqe: the request, proved but for what only its kind knows
 *
 * Context: tx_lock held, softirqs off; the caller holds no reference to any
 * key.
 * Return: ROVER_OK; WQE, OPERATION.
 */
enum rover_fault rover_localop_run(struct rover_qp *qp, struct rover_wqe *wqe);

/* What rover_localop_complete() does when there is something to complete. */
void rover_localop_retire(struct rover_qp *qp);

/**
 * rover_localop_complete() - complete those whose turn has come
 * @qp: alive; all before the oldest outstanding request is done
 *
 * Afterwards the oldest outstanding request is one with packets.
 *
 * Context: tx_lock held.
 */
static inline void rover_localop_complete(struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;

	if (req->acked != req->fetched &&
	    rover_localop_is(rover_retransmit_row(qp, req->acked)->opcode))
		rover_localop_retire(qp);
}

#endif /* ROVER_LOCALOP_H */
