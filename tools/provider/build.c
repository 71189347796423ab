// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * build.c: the ibv_wr_* way of posting. Work requests are built in place in the
 * send ring between wr_start and wr_complete, which hold the lock; the kernel
 * sees all of them or, after an error or wr_abort, none.
 */
#include <errno.h>
#include <string.h>

#include "compat.h"
#include "op.h"

static void fail(struct rover_qp *qp, int err)
{
	if (!qp->err)
		qp->err = err;
	qp->wqe = NULL;
}

/* Opens the next work request with what its kind puts into the head. */
static void build(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode,
		  struct rover_send_wqe head)
{
	struct rover_qp *qp = to_qp_ex(ex);
	/* Whether data is inline is said by the setter. */
	int flags = rover_op_flags(ex->wr_flags);

	qp->op = rover_op_find(opcode, qp->vqp.qp.qp_type);
	if (qp->err)
		return;
	if (!qp->op || flags < 0 || !rover_may_send(qp)) {
		fail(qp, -EINVAL);
		return;
	}
	if (rover_queue_full(&qp->sq, qp->next)) {
		fail(qp, -ENOMEM);
		return;
	}
	head.opcode = qp->op->wqe;
	head.flags = flags;
	head.wr_id = ex->wr_id;
	qp->wqe = rover_slot(&qp->sq.ring, qp->next++);
	*qp->wqe = head;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	build(ex, IBV_WR_SEND, (struct rover_send_wqe) { 0 });
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	build(ex, IBV_WR_SEND_WITH_IMM, (struct rover_send_wqe) { .imm = imm });
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	build(ex, IBV_WR_SEND_WITH_INV, (struct rover_send_wqe) { .imm = rkey });
}

static void wr_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	build(ex, IBV_WR_RDMA_WRITE,
	      (struct rover_send_wqe) { .rkey = rkey, .remote_addr = addr });
}

static void wr_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr,
			 __be32 imm)
{
	build(ex, IBV_WR_RDMA_WRITE_WITH_IMM,
	      (struct rover_send_wqe) { .rkey = rkey, .remote_addr = addr,
					.imm = imm });
}

static void wr_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	build(ex, IBV_WR_RDMA_READ,
	      (struct rover_send_wqe) { .rkey = rkey, .remote_addr = addr });
}

static void wr_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr,
		       uint64_t compare, uint64_t swap)
{
	build(ex, IBV_WR_ATOMIC_CMP_AND_SWP,
	      (struct rover_send_wqe) { .rkey = rkey, .remote_addr = addr,
					.compare_add = compare, .swap = swap });
}

static void wr_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr,
			 uint64_t add)
{
	build(ex, IBV_WR_ATOMIC_FETCH_AND_ADD,
	      (struct rover_send_wqe) { .rkey = rkey, .remote_addr = addr,
					.compare_add = add });
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	build(ex, IBV_WR_LOCAL_INV, (struct rover_send_wqe) { .imm = rkey });
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct rover_send_wqe head = { 0 };

	rover_set_binding(&head, rkey, info);
	build(ex, IBV_WR_BIND_MW, head);
	if (mw->type != IBV_MW_TYPE_2)
		fail(to_qp_ex(ex), -EINVAL);
}

static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr,
			    const void *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	build(ex, IBV_WR_ATOMIC_WRITE,
	      (struct rover_send_wqe) { .rkey = rkey, .remote_addr = addr,
					.compare_add = word });
}

/* What the kernel would take for something else is not passed on. */
static void wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr,
		     size_t length, uint8_t type, uint8_t level)
{
	if (!type || type & ~(IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT) ||
	    level > IBV_FLUSH_MR || length > UINT32_MAX) {
		fail(to_qp_ex(ex), -EINVAL);
		return;
	}
	build(ex, IBV_WR_FLUSH,
	      (struct rover_send_wqe) { .rkey = rkey, .remote_addr = addr,
					.imm = type | level << 4,
					.compare_add = length });
}

/* The work request a setter is about, without the data of an earlier setter. */
static struct rover_send_wqe *open_wqe(struct rover_qp *qp)
{
	struct rover_send_wqe *wqe = qp->wqe;

	if (!wqe || qp->op->flags & ROVER_OP_LOCAL) {
		fail(qp, -EINVAL);
		return NULL;
	}
	wqe->flags &= ~ROVER_WQE_INLINE;
	wqe->inline_len = 0;
	wqe->num_sge = 0;
	return wqe;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge,
			    const struct ibv_sge *list)
{
	struct rover_qp *qp = to_qp_ex(ex);
	struct rover_send_wqe *wqe = open_wqe(qp);

	if (!wqe)
		return;
	if (num_sge > qp->sq.max_sge) {
		fail(qp, -EINVAL);
		return;
	}
	wqe->num_sge = num_sge;
	if (num_sge)
		memcpy(rover_send_payload(wqe), list,
		       num_sge * sizeof(struct rover_sge));
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				    const struct ibv_data_buf *list)
{
	struct rover_qp *qp = to_qp_ex(ex);
	struct rover_send_wqe *wqe = open_wqe(qp);
	char *to;
	size_t i;

	if (!wqe)
		return;
	if (!(qp->op->flags & ROVER_OP_INLINE)) {
		fail(qp, -EINVAL);
		return;
	}
	to = rover_send_payload(wqe);
	for (i = 0; i < num_buf; i++) {
		/* The sum is never formed, so that it cannot wrap. */
		if (list[i].length > qp->max_inline - wqe->inline_len) {
			fail(qp, -EINVAL);
			return;
		}
		if (!list[i].length)
			continue;
		memcpy(to + wqe->inline_len, list[i].addr, list[i].length);
		wqe->inline_len += list[i].length;
	}
	wqe->flags |= ROVER_WQE_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ex, 1, &buf);
}

/* May come before or after the data, which stays as it is. */
static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah,
			   uint32_t qpn, uint32_t qkey)
{
	struct rover_qp *qp = to_qp_ex(ex);

	if (qp->wqe && ah)
		rover_set_address(qp->wqe, ah, qpn, qkey);
	else
		fail(qp, -EINVAL);
}

/* The same. */
static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t srqn)
{
	struct rover_qp *qp = to_qp_ex(ex);

	if (qp->wqe && srqn <= ROVER_MAX_SRQN)
		rover_set_srqn(qp->wqe, qp->op, srqn);
	else
		fail(qp, -EINVAL);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct rover_qp *qp = to_qp_ex(ex);

	rover_lock_hold(&qp->sq.lock);
	qp->next = qp->sq.tail;
	qp->wqe = NULL;
	qp->err = 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct rover_qp *qp = to_qp_ex(ex);
	bool posted = !qp->err && qp->next != qp->sq.tail;
	int err = qp->err;

	if (posted)
		rover_queue_publish(&qp->sq, qp->next);
	rover_lock_release(&qp->sq.lock);

	if (posted && rover_queue_asleep(&qp->sq))
		err = rover_doorbell_ring(qp);
	return -err;
}

/**
 * rover_qp_restart_build() - what is being built is of a life that has ended
 * @qp: was reset
 */
void rover_qp_restart_build(struct rover_qp *qp)
{
	if (!rover_lock_held(&qp->sq.lock))
		return;
	fail(qp, -EINVAL);
	qp->next = qp->sq.tail;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	rover_lock_release(&to_qp_ex(ex)->sq.lock);
}

/**
 * rover_qp_set_ops() - make a queue pair an extended one
 * @qp: created
 * @send_ops: IBV_QP_EX_WITH_* that the program will use, all within
 *	rover_op_all(); the others stay NULL
 */
void rover_qp_set_ops(struct rover_qp *qp, uint64_t send_ops)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	if (send_ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_write;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_write_imm;
	if (send_ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_read;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_cmp_swp;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_fetch_add;
	if (send_ops & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
	if (send_ops & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = wr_bind_mw;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_WRITE)
		rover_set_wr_atomic_write(ex, wr_atomic_write);
	if (send_ops & IBV_QP_EX_WITH_FLUSH)
		rover_set_wr_flush(ex, wr_flush);

	if (qp->vqp.qp.qp_type == IBV_QPT_UD)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND)
		ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	qp->vqp.comp_mask |= VERBS_QP_EX;
}
