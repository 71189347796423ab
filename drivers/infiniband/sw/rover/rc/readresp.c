// SPDX-License-Identifier: GPL-2.0
/*
 * readresp - answers to READs and atomics, in order, again if need be
 *
 * Requests are queued in rsp.res and answered in the order of their PSNs, as
 * trains, READs straight from memory.  A duplicate READ is simply executed again;
 * an atomic must not be, so the results of the last max_dest_rd_atomic of
 * them are kept in rsp.saved (IBTA 9.4.5, 9.7.5.1.2).  A duplicate of what is
 * still waiting takes its place, and any other goes before what comes after it: a
 * requester that misses an answer drops all those behind it.
 *
 * Runs under rx_lock with softirqs off.
 */
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "qp/srq.h"
#include "qp/xrc.h"
#include "rc/ack.h"
#include "rc/credit.h"
#include "rc/readresp.h"
#include "tx/nettx.h"
#include "tx/train.h"
#include "wire/psn.h"

/*
 * Packets per call, so that one READ cannot hold a CPU; in process context, where
 * softirqs are on between two calls, few of them (see requester.c).
 */
#define BUDGET		256
#define BUDGET_PROCESS	32

/* What waits to be answered with @psn, among others perhaps. */
static struct rover_res *waiting(const struct rover_qp *qp, u32 psn)
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

bool rover_readresp_room(const struct rover_qp *qp, u32 psn)
{
	const struct rover_rsp *rsp = &qp->rsp;

	return rsp->res_tail - rsp->res_send < rsp->res_max ||
	       waiting(qp, psn);
}

bool rover_readresp_crowded(const struct rover_qp *qp)
{
	const struct rover_rsp *rsp = &qp->rsp;
	u32 i;

	for (i = rsp->res_send; i != rsp->res_tail; i++)
		if (rsp->res[i % rsp->res_max].again)
			return true;
	return false;
}

/*
 * Room for @psn before all that comes later.  Of that what was begun is begun
 * again, for it was dropped if what is asked for now was missing.
 */
static struct rover_res *insert_row(struct rover_rsp *rsp, u32 psn)
{
	u32 i;

	for (i = rsp->res_tail++; i != rsp->res_send; i--) {
		struct rover_res *later = &rsp->res[(i - 1) % rsp->res_max];

		if (rover_psn_diff(psn, later->psn) > 0)
			break;
		if (later->next) {
			later->next = 0;
			later->again = true;
		}
		rsp->res[i % rsp->res_max] = *later;
	}
	return &rsp->res[i % rsp->res_max];
}

static struct rover_res *take_row(struct rover_qp *qp, u32 psn, bool again)
{
	/* What is new comes behind all that waits. */
	struct rover_res *res = again ? waiting(qp, psn) : NULL;
	struct rover_rsp *rsp = &qp->rsp;

	/* What has not been answered yet is not answered again. */
	if (res)
		again = res->again;
	else
		res = insert_row(rsp, psn);
	*res = (struct rover_res) {
		.psn = psn,
		.npsn = 1,
		.msn = rsp->msn,
		.again = again,
	};
	return res;
}

void rover_readresp_read(struct rover_qp *qp, u32 psn, u32 npsn,
			 const struct rover_reth *reth, bool again)
{
	struct rover_res *res;

	lockdep_assert_held(&qp->rx_lock);
	res = take_row(qp, psn, again);
	res->npsn = npsn;
	if (reth) {
		res->va = be64_to_cpu(reth->va);
		res->rkey = be32_to_cpu(reth->rkey);
		res->length = be32_to_cpu(reth->length);
	}
	res->srqn = qp->srq ? qp->srq->obj.key : 0;
	/* The requester has its window, and asks again for what does not come. */
	if (again)
		rover_path_lost(&qp->path);
	else
		rover_path_carried(&qp->path, (u64)npsn << qp->mtu_shift);
	if (res->length >= ROVER_BULK)
		WRITE_ONCE(qp->rsp.long_tx, true);
}

void rover_readresp_atomic(struct rover_qp *qp, u32 psn, u64 orig)
{
	struct rover_rsp *rsp = &qp->rsp;
	struct rover_res *res;

	lockdep_assert_held(&qp->rx_lock);
	res = take_row(qp, psn, false);
	res->atomic = true;
	res->orig = orig;
	rsp->saved[rsp->saved_tail++ % rsp->res_max] = (struct rover_saved) {
		.psn = psn,
		.msn = res->msn,
		.orig = orig,
	};
}

bool rover_readresp_again(struct rover_qp *qp, u32 psn)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 i, rows = min(rsp->saved_tail, rsp->res_max);

	lockdep_assert_held(&qp->rx_lock);
	/* The latest first: in rows that nothing has come to since, PSNs have gone round. */
	for (i = 1; i <= rows; i++) {
		u32 at = (rsp->saved_tail - i) % rsp->res_max;
		const struct rover_saved *saved = &rsp->saved[at];

		if (saved->psn == psn) {
			struct rover_res *res = take_row(qp, psn, true);

			res->atomic = true;
			res->msn = saved->msn;
			res->orig = saved->orig;
			return true;
		}
	}
	return false;
}

static u8 opcode_in_rc(const struct rover_res *res)
{
	if (res->npsn == 1)
		return ROVER_RC_READ_RESP_ONLY;
	if (res->next == 0)
		return ROVER_RC_READ_RESP_FIRST;
	return res->next + 1 == res->npsn ? ROVER_RC_READ_RESP_LAST :
					    ROVER_RC_READ_RESP_MIDDLE;
}

/* One response packet.  FIRST, LAST and ONLY have an AETH, MIDDLE has not. */
static int add_response(struct rover_train *train, struct rover_res *res,
			struct rover_sgl *sgl, enum rover_fault *fault)
{
	struct rover_qp *qp = train->qp;
	u32 at = res->next << qp->mtu_shift;
	struct rover_outgoing out __uninitialized;
	int err;

	rover_outgoing_init(&out, rover_opcode_in(opcode_in_rc(res),
						  qp->transport),
			    rover_psn_add(res->psn, res->next));
	out.again = res->again;
	out.middles = res->next || res->npsn < 2 ? 0 : res->npsn - 2;
	out.len = min(res->length - at, qp->mtu);
	out.sgl = sgl;
	if (rover_opcodes[out.opcode].flags & ROVER_OP_AETH) {
		struct rover_aeth aeth = {
			.syndrome_msn = rover_aeth_make(rover_credit_offer(qp),
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

/* May one more packet be made now? */
static bool may_add(struct rover_qp *qp, int *budget)
{
	return !rover_nettx_full(qp) && (*budget)-- > 0;
}

/* Return true when all of this READ is on its way. */
static bool add_read(struct rover_train *train, struct rover_res *res,
		     struct rover_sgl *sgl, int *budget,
		     enum rover_fault *fault)
{
	struct rover_qp *qp = train->qp;
	int err = 0;

	/* What has no data is of no memory, and so of no domain. */
	*fault = res->length ? rover_xrc_aim(qp, res->srqn) : ROVER_OK;
	if (*fault)
		return false;
	rover_sgl_aim_one(sgl, qp->pd, qp->obj.key, res->va, res->length, res->rkey,
			  IB_ACCESS_REMOTE_READ, &qp->rx_demand);
	if (res->next)
		rover_sgl_seek(sgl, (u64)res->next << qp->mtu_shift);
	while (!err && res->next < res->npsn && may_add(qp, budget))
		err = add_response(train, res, sgl, fault);
	return res->next == res->npsn;
}

/*
 * The memory of a duplicate is gone.  That is no fault of anybody: the peer has
 * had its answer, and told our user so, while this one waited (IBTA 9.7.5.1.2).
 */
static void forget(struct rover_qp *qp, const struct rover_res *res)
{
	rover_qp_drop(qp, ROVER_STAT_DROP_RATE, ROVER_RC_READ_REQUEST, res->psn);
}

enum rover_fault rover_readresp_run(struct rover_qp *qp)
{
	enum rover_fault fault = ROVER_OK;
	struct rover_rsp *rsp = &qp->rsp;
	int budget = in_serving_softirq() ? BUDGET : BUDGET_PROCESS;
	struct rover_sgl sgl = {};
	struct rover_train train;

	lockdep_assert_held(&qp->rx_lock);
	/* Where it is first done is where it stays. */
	if (rsp->long_tx && READ_ONCE(qp->home_cpu) == ROVER_CPU_ANY)
		rover_affinity_home(qp);
	rover_train_begin(&train, qp, &rsp->ip_id, ROVER_TRAIN_MAX);
	train.response = true;
	rcu_read_lock();
	while (rover_readresp_pending(qp)) {
		struct rover_res *res = &rsp->res[rsp->res_send % rsp->res_max];
		bool done;

		if (res->atomic)
			done = may_add(qp, &budget) &&
			       rover_ack_atomic(&train, res);
		else
			done = add_read(&train, res, &sgl, &budget, &fault);
		if (fault && fault != ROVER_FAULT_PAGE && res->again) {
			forget(qp, res);
			fault = ROVER_OK;
			done = true;
		}
		if (!done)
			break;
		rsp->res_send++;
	}
	rover_sgl_release(&sgl);
	rover_xrc_leave(qp);
	rcu_read_unlock();
	rover_train_send(&train);
	if (!rover_readresp_pending(qp))
		WRITE_ONCE(rsp->long_tx, false);
	/* Out of budget or memory, with nothing in the device to wake us. */
	if (rover_readresp_pending(qp) && !fault &&
	    !test_bit(ROVER_TX_BLOCKED, &qp->work))
		set_bit(ROVER_WORK_RX, &qp->work);
	return fault;
}
