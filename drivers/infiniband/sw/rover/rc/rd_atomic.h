/* SPDX-License-Identifier: GPL-2.0 */
/* rd_atomic - responses to READs and atomics */
#ifndef ROVER_RD_ATOMIC_H
#define ROVER_RD_ATOMIC_H

#include "qp/qp.h"
#include "wire/psn.h"

/**
 * rover_rd_atomic_pending() - test whether responses wait to be sent
 * @qp: alive; rx_lock held
 */
static inline bool rover_rd_atomic_pending(const struct rover_qp *qp)
{
	return qp->rsp.res_send != qp->rsp.res_tail;
}

/**
 * rover_rd_atomic_psn() - return the PSN of the next response
 * @qp: alive; rx_lock held; one is pending
 */
static inline u32 rover_rd_atomic_psn(const struct rover_qp *qp)
{
	const struct rover_rsp *rsp = &qp->rsp;
	const struct rover_res *res = &rsp->res[rsp->res_send % rsp->res_max];

	return rover_psn_add(res->psn, res->next);
}

/**
 * rover_rd_atomic_has_space() - test whether a request can be queued
 * @qp: alive; rx_lock held
 * @psn: of the request
 * @npsn: PSNs of a duplicate, any of a new request
 */
bool rover_rd_atomic_has_space(const struct rover_qp *qp, u32 psn, u32 npsn);

/**
 * rover_rd_atomic_has_duplicates() - test whether duplicates occupy rows
 * @qp: alive; rx_lock held
 *
 * The peer's limit does not count duplicates: a lack of rows is no fault.
 */
bool rover_rd_atomic_has_duplicates(const struct rover_qp *qp);

/**
 * rover_rd_atomic_read() - queue a READ
 * @qp: alive; has space
 * @psn: of the request
 * @npsn: responses
 * @reth: checked range; NULL for no data
 * @again: duplicate, perhaps of a pending row
 * Context: rx_lock held.
 */
void rover_rd_atomic_read(struct rover_qp *qp, u32 psn, u32 npsn,
			  const struct rover_reth *reth, bool again);

/**
 * rover_rd_atomic_save() - queue and save an atomic result
 * @qp: alive; has space
 * @psn: of the request
 * @orig: previous value
 * Context: rx_lock held.
 */
void rover_rd_atomic_save(struct rover_qp *qp, u32 psn, u64 orig);

/**
 * rover_rd_atomic_repeat() - queue a saved atomic result
 * @qp: alive; has space
 * @psn: of the request
 * Context: rx_lock held.
 * Return: false if it is not saved.
 */
bool rover_rd_atomic_repeat(struct rover_qp *qp, u32 psn);

/**
 * rover_rd_atomic_run() - send pending responses
 * @qp: alive; kicked later if the device is full
 * Context: rx_lock held.
 * Return: ROVER_OK, even if some are left; PAGE, with ROVER_WORK_RX set once
 * the memory is there; or another fault.
 */
enum rover_fault rover_rd_atomic_run(struct rover_qp *qp);

#endif /* ROVER_RD_ATOMIC_H */
