// SPDX-License-Identifier: GPL-2.0
/*
 * rd_atomic - responses to READs and atomics
 *
 * Rows of rsp.res are answered in PSN order, as trains.  Duplicate READs are
 * executed again; atomics are not, so the last max_dest_rd_atomic results are
 * saved (IBTA 9.4.5, 9.7.5.1.2).  A duplicate replaces its pending row, or goes
 * before later PSNs: a requester drops responses behind a missing one.
 */
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "qp/srq.h"
#include "qp/xrc.h"
#include "rc/ack.h"
#include "rc/credit.h"
#include "rc/rd_atomic.h"
#include "tx/nettx.h"
#include "tx/train.h"
#include "wire/psn.h"

/* Packets per call; fewer in process context, see requester.c. */
#define BUDGET		256
#define BUDGET_PROCESS	32

static struct rover_res *rd_atomic_find_pending(const struct rover_qp *qp,
						u32 psn)
{
	const struct rover_rsp *rsp = &qp->rsp;
	u32 i;

	for (i = rsp->res_send; i != rsp->res_tail; i++) {
		struct rover_res *res = &rsp->res[i % rsp->res_max];
		s32 at = rover_psn_diff(psn, res->psn);

		if (at >= 0 && at < (s32)res->npsn)
			return res;
	}
	return NULL;
}

/* Test whether a duplicate asks for all that a pending row has still to send. */
static bool rd_atomic_covers(const struct rover_res *res, u32 psn, u32 npsn)
{
	return rover_psn_diff(psn + npsn, res->psn + res->npsn) >= 0;
}

/* Test for a response that a pending row has still to send. */
static bool rd_atomic_is_due(const struct rover_res *res, u32 psn)
{
	return rover_psn_diff(psn, res->psn) >= (s32)res->next;
}

bool rover_rd_atomic_has_space(const struct rover_qp *qp, u32 psn, u32 npsn)
{
	const struct rover_rsp *rsp = &qp->rsp;
	const struct rover_res *res;

	if (rsp->res_tail - rsp->res_send < rsp->res_max)
		return true;
	res = rd_atomic_find_pending(qp, psn);
	return res && (rd_atomic_is_due(res, psn) ||
		       rd_atomic_covers(res, psn, npsn));
}

bool rover_rd_atomic_has_duplicates(const struct rover_qp *qp)
{
	const struct rover_rsp *rsp = &qp->rsp;
	u32 i;

	for (i = rsp->res_send; i != rsp->res_tail; i++)
		if (rsp->res[i % rsp->res_max].repeat)
			return true;
	return false;
}

/*
 * Insert a row before later PSNs.  Those begun restart: the requester has
 * dropped their responses, unless it holds them (early).
 */
static struct rover_res *rd_atomic_insert_row(struct rover_qp *qp, u32 psn)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 i;

	for (i = rsp->res_tail++; i != rsp->res_send; i--) {
		struct rover_res *later = &rsp->res[(i - 1) % rsp->res_max];

		if (rover_psn_diff(psn, later->psn) > 0)
			break;
		if (later->next && !READ_ONCE(qp->peer_sack)) {
			later->next = 0;
			later->repeat = true;
		}
		rsp->res[i % rsp->res_max] = *later;
	}
	return &rsp->res[i % rsp->res_max];
}

/* Return NULL if a pending row is going to answer a duplicate. */
static struct rover_res *rd_atomic_take_row(struct rover_qp *qp, u32 psn,
					    u32 npsn, bool again)
{
	/* Only duplicates can be pending already. */
	struct rover_res *res = again ? rd_atomic_find_pending(qp, psn) : NULL;
	struct rover_rsp *rsp = &qp->rsp;

	if (res && rd_atomic_is_due(res, psn))
		return NULL;
	/* A row not answered yet is no repetition. */
	if (res && rd_atomic_covers(res, psn, npsn))
		again = res->repeat;
	else
		res = rd_atomic_insert_row(qp, psn);
	*res = (struct rover_res) {
		.psn = psn,
		.npsn = npsn,
		.msn = rsp->msn,
		.repeat = again,
	};
	return res;
}

void rover_rd_atomic_read(struct rover_qp *qp, u32 psn, u32 npsn,
			  const struct rover_reth *reth, bool again)
{
	struct rover_res *res;

	lockdep_assert_held(&qp->rx_lock);
	res = rd_atomic_take_row(qp, psn, npsn, again);
	if (!res)
		return;
	if (reth) {
		res->va = be64_to_cpu(reth->va);
		res->rkey = be32_to_cpu(reth->rkey);
		res->length = be32_to_cpu(reth->length);
	}
	res->srqn = qp->srq ? qp->srq->obj.key : 0;
	if (again)
		rover_path_lost(&qp->path);
	else
		rover_path_progress(&qp->path, (u64)npsn << qp->mtu_shift);
	if (res->length >= ROVER_LONG_BYTES)
		WRITE_ONCE(qp->rsp.long_tx, true);
}

void rover_rd_atomic_save(struct rover_qp *qp, u32 psn, u64 orig)
{
	struct rover_rsp *rsp = &qp->rsp;
	struct rover_res *res;

	lockdep_assert_held(&qp->rx_lock);
	res = rd_atomic_take_row(qp, psn, 1, false);
	res->atomic = true;
	res->orig = orig;
	rsp->saved[rsp->saved_tail++ % rsp->res_max] = (struct rover_saved) {
		.psn = psn,
		.msn = res->msn,
		.orig = orig,
	};
}

bool rover_rd_atomic_repeat(struct rover_qp *qp, u32 psn)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 i, rows = min(rsp->saved_tail, rsp->res_max);

	lockdep_assert_held(&qp->rx_lock);
	/* Newest first: old rows may hold wrapped PSNs. */
	for (i = 1; i <= rows; i++) {
		u32 at = (rsp->saved_tail - i) % rsp->res_max;
		const struct rover_saved *saved = &rsp->saved[at];

		if (saved->psn == psn) {
			struct rover_res *res =
				rd_atomic_take_row(qp, psn, 1, true);

			if (!res)
				return true;
			res->atomic = true;
			res->msn = saved->msn;
			res->orig = saved->orig;
			return true;
		}
	}
	return false;
}

static u8 rd_atomic_opcode(const struct rover_res *res)
{
	if (res->npsn == 1)
		return ROVER_RC_READ_RESP_ONLY;
	if (res->next == 0)
		return ROVER_RC_READ_RESP_FIRST;
	return res->next + 1 == res->npsn ? ROVER_RC_READ_RESP_LAST :
					    ROVER_RC_READ_RESP_MIDDLE;
}

static int rd_atomic_add_packet(struct rover_train *train,
				struct rover_res *res, struct rover_sgl *sgl,
				enum rover_fault *fault)
{
	struct rover_qp *qp = train->qp;
	u32 at = res->next << qp->mtu_shift;
	struct rover_outgoing out __uninitialized;
	int err;

	rover_outgoing_init(&out, rover_opcode_in(rd_atomic_opcode(res),
						  qp->transport),
			    rover_psn_add(res->psn, res->next));
	out.retransmit = res->repeat;
	out.middles = res->next || res->npsn < 2 ? 0 : res->npsn - 2;
	out.len = min(res->length - at, qp->mtu);
	out.sgl = sgl;
	if (rover_opcodes[out.opcode].flags & ROVER_OP_AETH) {
		struct rover_aeth aeth = {
			.syndrome_msn =
				rover_aeth_make(rover_credit_syndrome(qp),
						res->msn),
		};

		memcpy(out.ext, &aeth, sizeof(aeth));
		out.ext_len = sizeof(aeth);
	}
	err = rover_train_add(train, &out, fault);
	if (!err)
		res->next++;
	return err;
}

static bool rd_atomic_may_add(struct rover_qp *qp, int *budget)
{
	return !rover_nettx_throttled(qp) && (*budget)-- > 0;
}

static bool rd_atomic_add_read(struct rover_train *train, struct rover_res *res,
			       struct rover_sgl *sgl, int *budget,
			       enum rover_fault *fault)
{
	struct rover_qp *qp = train->qp;
	int err = 0;

	/* An empty READ needs no PD. */
	*fault = res->length ? rover_xrc_use_srq(qp, res->srqn) : ROVER_OK;
	if (*fault)
		return false;
	rover_sgl_set_remote(sgl, qp->pd, qp->obj.key, res->va, res->length,
			     res->rkey, IB_ACCESS_REMOTE_READ, &qp->rx_pagein);
	if (res->next)
		rover_sgl_seek(sgl, (u64)res->next << qp->mtu_shift);
	while (!err && res->next < res->npsn && rd_atomic_may_add(qp, budget))
		err = rd_atomic_add_packet(train, res, sgl, fault);
	return res->next == res->npsn;
}

/*
 * The memory of a duplicate is gone, which is no error: its owner may
 * deregister it after the first response (IBTA 9.7.5.1.2).
 */
static void rd_atomic_drop_duplicate(struct rover_qp *qp,
				     const struct rover_res *res)
{
	rover_qp_drop(qp, ROVER_STAT_DROP_UNANSWERED, ROVER_RC_READ_REQUEST,
		      res->psn);
}

enum rover_fault rover_rd_atomic_run(struct rover_qp *qp)
{
	enum rover_fault fault = ROVER_OK;
	struct rover_rsp *rsp = &qp->rsp;
	int budget = in_serving_softirq() ? BUDGET : BUDGET_PROCESS;
	struct rover_sgl sgl = {};
	struct rover_train train;

	lockdep_assert_held(&qp->rx_lock);
	if (rsp->long_tx && READ_ONCE(qp->home_cpu) == ROVER_CPU_ANY)
		rover_affinity_set_home(qp);
	rover_train_begin(&train, qp, &rsp->ip_id, ROVER_TRAIN_MAX);
	train.response = true;
	rcu_read_lock();
	while (rover_rd_atomic_pending(qp)) {
		struct rover_res *res = &rsp->res[rsp->res_send % rsp->res_max];
		bool done;

		if (res->atomic)
			done = rd_atomic_may_add(qp, &budget) &&
			       rover_ack_atomic(&train, res);
		else
			done = rd_atomic_add_read(&train, res, &sgl, &budget,
						  &fault);
		if (fault && fault != ROVER_FAULT_PAGE && res->repeat) {
			rd_atomic_drop_duplicate(qp, res);
			fault = ROVER_OK;
			done = true;
		}
		if (!done)
			break;
		rsp->res_send++;
	}
	rover_sgl_release(&sgl);
	rover_xrc_clear_srq(qp);
	rcu_read_unlock();
	rover_train_send(&train);
	if (!rover_rd_atomic_pending(qp))
		WRITE_ONCE(rsp->long_tx, false);
	/* Out of budget or memory: no skb in the device will kick this QP. */
	if (rover_rd_atomic_pending(qp) && !fault &&
	    !test_bit(ROVER_TX_BLOCKED, &qp->work))
		rover_qp_set_work(qp, ROVER_WORK_RX);
	return fault;
}
