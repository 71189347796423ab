/* SPDX-License-Identifier: GPL-2.0 */
/* localop - work requests without packets */
#ifndef ROVER_LOCALOP_H
#define ROVER_LOCALOP_H

#include "rc/retransmit.h"

/**
 * rover_localop_is() - test for a work request without packets
 * @opcode: validated
 */
static inline bool rover_localop_is(u8 opcode)
{
	return rover_wrs[opcode].flags & ROVER_WR_LOCAL;
}

/**
 * rover_localop_waits() - test whether earlier WQEs must be done first
 * @qp: alive
 * @wqe: local operation, validated
 *
 * True with FENCE, or if @wqe invalidates a key that sent packets refer to:
 * these could not be sent again.
 * Context: tx_lock held.
 */
bool rover_localop_waits(struct rover_qp *qp, const struct rover_wqe *wqe);

/**
 * rover_localop_run() - execute a local operation
 * @qp: alive
 * @wqe: validated, except for fields of its opcode
 * Context: tx_lock held; no reference to any key held.
 * Return: ROVER_OK, ROVER_FAULT_WQE or _OPERATION.
 */
enum rover_fault rover_localop_run(struct rover_qp *qp, struct rover_wqe *wqe);

void rover_localop_retire(struct rover_qp *qp);

/**
 * rover_localop_complete() - complete the oldest local operations
 * @qp: alive
 *
 * Then the oldest request has packets.
 * Context: tx_lock held.
 */
static inline void rover_localop_complete(struct rover_qp *qp)
{
	const struct rover_req *req = &qp->req;

	if (req->oldest != req->fetched &&
	    rover_localop_is(rover_retransmit_row(qp, req->oldest)->opcode))
		rover_localop_retire(qp);
}

#endif /* ROVER_LOCALOP_H */
