// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * post.c: ibv_post_send(), ibv_post_recv(), ibv_post_srq_recv(). What is wrong
 * with a work request by itself is found here, at once; what only the kernel can
 * know (keys, bounds, the peer) comes back as a completion.
 *
 * Errors are negative in here, as in the kernel, and positive for the program.
 */
#include <errno.h>
#include <string.h>

#include "op.h"

/*
 * Inline data of a gather list. The sum is never formed, so that it cannot
 * wrap, and nothing is read before its length is known to fit.
 */
static int copy_inline(struct rover_send_wqe *wqe, uint32_t room,
		       const struct ibv_sge *sge, unsigned int n)
{
	char *to = rover_send_payload(wqe);
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (sge[i].length > room - wqe->inline_len)
			return -EINVAL;
		if (!sge[i].length)
			continue;
		memcpy(to + wqe->inline_len, (const void *)(uintptr_t)sge[i].addr,
		       sge[i].length);
		wqe->inline_len += sge[i].length;
	}
	wqe->flags |= ROVER_WQE_INLINE;
	return 0;
}

static void fill_send(struct rover_send_wqe *wqe, const struct rover_op *op,
		      const struct ibv_send_wr *wr, uint8_t flags)
{
	*wqe = (struct rover_send_wqe) {
		.opcode = op->wqe,
		.flags = flags,
		.wr_id = wr->wr_id,
	};
	if (op->flags & ROVER_OP_IMM)
		wqe->imm = wr->invalidate_rkey;
	if (op->flags & ROVER_OP_RDMA) {
		wqe->rkey = wr->wr.rdma.rkey;
		wqe->remote_addr = wr->wr.rdma.remote_addr;
	}
	if (op->flags & ROVER_OP_ATOMIC) {
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->remote_addr = wr->wr.atomic.remote_addr;
		wqe->compare_add = wr->wr.atomic.compare_add;
		wqe->swap = wr->wr.atomic.swap;
	}
	if (op->flags & ROVER_OP_BIND)
		rover_set_binding(wqe, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
}

static int post_one_send(struct rover_qp *qp, const struct ibv_send_wr *wr,
			 uint32_t tail)
{
	const struct rover_op *op = rover_op_find(wr->opcode, qp->vqp.qp.qp_type);
	int flags = rover_op_flags(wr->send_flags);
	unsigned int num_sge = wr->num_sge;
	struct rover_send_wqe *wqe;

	if (!rover_may_send(qp))
		return -EINVAL;
	if (!op || op->flags & ROVER_OP_BUILT || flags < 0 ||
	    num_sge > qp->sq.max_sge)
		return -EINVAL;
	if (wr->send_flags & IBV_SEND_INLINE && !(op->flags & ROVER_OP_INLINE))
		return -EINVAL;
	if (num_sge && op->flags & ROVER_OP_LOCAL)
		return -EINVAL;
	/* Windows of the first type have a verb of their own: rover_bind_mw(). */
	if (op->flags & ROVER_OP_BIND && wr->bind_mw.mw &&
	    wr->bind_mw.mw->type != IBV_MW_TYPE_2)
		return -EINVAL;
	if (rover_queue_full(&qp->sq, tail))
		return -ENOMEM;

	if (qp->vqp.qp.qp_type == IBV_QPT_UD && !wr->wr.ud.ah)
		return -EINVAL;
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND &&
	    !(op->flags & ROVER_OP_LOCAL) &&
	    wr->qp_type.xrc.remote_srqn > ROVER_MAX_SRQN)
		return -EINVAL;

	wqe = rover_slot(&qp->sq.ring, tail);
	fill_send(wqe, op, wr, flags);
	if (qp->vqp.qp.qp_type == IBV_QPT_UD)
		rover_set_address(wqe, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
				  wr->wr.ud.remote_qkey);
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND)
		rover_set_srqn(wqe, op, wr->qp_type.xrc.remote_srqn);
	if (wr->send_flags & IBV_SEND_INLINE)
		return copy_inline(wqe, qp->max_inline, wr->sg_list, num_sge);
	wqe->num_sge = num_sge;
	if (num_sge)
		memcpy(rover_send_payload(wqe), wr->sg_list,
		       num_sge * sizeof(struct rover_sge));
	return 0;
}

static int post_one_recv(struct rover_queue *q, const struct ibv_recv_wr *wr,
			 uint32_t tail)
{
	unsigned int num_sge = wr->num_sge;
	struct rover_recv_wqe *wqe;

	if (num_sge > q->max_sge)
		return -EINVAL;
	if (rover_queue_full(q, tail))
		return -ENOMEM;

	wqe = rover_slot(&q->ring, tail);
	*wqe = (struct rover_recv_wqe) {
		.wr_id = wr->wr_id,
		.num_sge = num_sge,
	};
	if (num_sge)
		memcpy((char *)wqe + ROVER_RECV_WQE_HDR, wr->sg_list,
		       num_sge * sizeof(struct rover_sge));
	return 0;
}

/* As much of a list as can be posted, the rest in @wr; @posted: any of it. */
static int post_recvs(struct rover_queue *q, struct ibv_recv_wr **wr,
		      bool *posted)
{
	uint32_t tail;
	int err = 0;

	rover_lock(&q->lock);
	for (tail = q->tail; *wr; *wr = (*wr)->next, tail++) {
		err = post_one_recv(q, *wr, tail);
		if (err)
			break;
	}
	*posted = tail != q->tail;
	if (*posted)
		rover_queue_publish(q, tail);
	rover_unlock(&q->lock);
	return err;
}

/* What was published is on its way, whatever came after it was wrong. */
static int ring_if_asleep(struct rover_qp *qp, struct rover_queue *q)
{
	return rover_queue_asleep(q) ? rover_doorbell_ring(qp) : 0;
}

/**
 * rover_post_send() - ibv_post_send()
 * @ibqp: queue pair
 * @wr: list of work requests
 * @bad: set to the first that was not posted
 *
 * Return: 0; EINVAL for a bad work request or state, ENOMEM when the queue is
 * full: those before @bad are posted and under way. EIO and the like when the
 * device has gone: @bad is the whole list, and its fate is unknown.
 */
int rover_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad)
{
	struct rover_qp *qp = to_qp(ibqp);
	struct ibv_send_wr *first = wr;
	bool posted;
	uint32_t tail;
	int err = 0;
	int gone = 0;

	rover_lock(&qp->sq.lock);
	for (tail = qp->sq.tail; wr; wr = wr->next, tail++) {
		err = post_one_send(qp, wr, tail);
		if (err)
			break;
	}
	posted = tail != qp->sq.tail;
	if (posted)
		rover_queue_publish(&qp->sq, tail);
	rover_unlock(&qp->sq.lock);

	if (posted)
		gone = ring_if_asleep(qp, &qp->sq);
	if (gone || err)
		*bad = gone ? first : wr;
	return gone ? -gone : -err;
}

/**
 * rover_bind_mw() - ibv_bind_mw()
 * @ibqp: queue pair
 * @mw: window of type 1; its key is another one from now on
 * @bind: what it is to be bound to
 *
 * Return: as rover_post_send().
 */
int rover_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw.rkey = ibv_inc_rkey(mw->rkey),
		.bind_mw.bind_info = bind->bind_info,
	};
	struct ibv_send_wr *bad;
	int err = rover_post_send(ibqp, &wr, &bad);

	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}

/**
 * rover_post_recv() - ibv_post_recv()
 * @ibqp: queue pair
 * @wr: list of work requests
 * @bad: set to the first that was not posted
 *
 * Enters the kernel only when the queue pair is in error, to be flushed, and when
 * a peer waits for receives.
 *
 * Return: as rover_post_send().
 */
int rover_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad)
{
	struct rover_qp *qp = to_qp(ibqp);
	struct ibv_recv_wr *first = wr;
	int err = -EINVAL;
	bool posted = false;
	int gone = 0;

	if (qp->vqp.qp.state != IBV_QPS_RESET && !qp->vqp.qp.srq)
		err = post_recvs(&qp->rq, &wr, &posted);
	if (posted)
		gone = ring_if_asleep(qp, &qp->rq);
	if (gone || err)
		*bad = gone ? first : wr;
	return gone ? -gone : -err;
}

/**
 * rover_post_srq_recv() - ibv_post_srq_recv()
 * @ibsrq: shared receive queue
 * @wr: list of work requests
 * @bad: set to the first that was not posted
 *
 * Never enters the kernel: receives wait there for packets, whatever happens.
 *
 * Return: 0; EINVAL for a bad work request, ENOMEM when the queue is full:
 * those before @bad are posted.
 */
int rover_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad)
{
	bool posted;
	int err = post_recvs(&to_srq(ibsrq)->rq, &wr, &posted);

	if (err)
		*bad = wr;
	return -err;
}
