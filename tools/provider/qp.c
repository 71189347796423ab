// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * qp.c: queue pairs, from creation to destruction. What the module can do is
 * the module's to say; refused here is only what the provider could not post.
 *
 * Errors of static functions are negative, those of verbs positive.
 */
#include <errno.h>
#include <stdlib.h>

#include "compat.h"
#include "op.h"

#define QP_COMP_MASK	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | \
			 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_XRCD)

static int check_attr(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->comp_mask & ~QP_COMP_MASK)
		return -EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags & ~IBV_QP_CREATE_BLOCK_SELF_MCAST_LB)
		return -EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    attr->send_ops_flags & ~rover_op_all(attr->qp_type))
		return -EOPNOTSUPP;
	return 0;
}

static void unmap_queues(struct rover_qp *qp)
{
	rover_ring_unmap(&qp->sq.ring);
	rover_ring_unmap(&qp->rq.ring);
}

static int map_queues(struct rover_qp *qp,
		      const struct rover_uapi_create_qp_resp *resp,
		      const struct ibv_qp_cap *cap)
{
	size_t send = cap->max_send_sge * sizeof(struct rover_sge);
	size_t recv = cap->max_recv_sge * sizeof(struct rover_sge);
	int fd = qp->vqp.qp.context->cmd_fd;
	int err;

	/* The count has eight bits in a send work request. */
	if (cap->max_send_sge > UINT8_MAX)
		return -EPROTO;
	if (send < cap->max_inline_data)
		send = cap->max_inline_data;
	err = rover_queue_map(&qp->sq, fd, &resp->sq, cap->max_send_wr,
			      cap->max_send_sge, ROVER_SEND_WQE_HDR + send);
	if (!err)
		err = rover_queue_map(&qp->rq, fd, &resp->rq, cap->max_recv_wr,
				      cap->max_recv_sge,
				      ROVER_RECV_WQE_HDR + recv);
	if (err)
		unmap_queues(qp);
	return err;
}

static int create_with_flags(struct ibv_context *ctx, struct rover_qp *qp,
			     struct ibv_qp_init_attr_ex *attr,
			     struct rover_uapi_create_qp_resp *resp)
{
	struct rover_create_qp_ex_resp full = { 0 };
	struct ibv_create_qp_ex cmd = { 0 };
	int err;

	err = rover_cmd_create_qp_ex2(ctx, &qp->vqp, attr, &cmd, sizeof(cmd),
				      &full.ibv_resp, sizeof(full));
	*resp = full.drv_payload;
	return err;
}

/* By the older command, which knows no flags. */
static int create_plain(struct ibv_context *ctx, struct rover_qp *qp,
			struct ibv_qp_init_attr_ex *attr,
			struct rover_uapi_create_qp_resp *resp)
{
	struct rover_create_qp_resp full = { 0 };
	struct ibv_create_qp cmd = { 0 };
	int err;

	attr->comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
	err = ibv_cmd_create_qp_ex(ctx, &qp->vqp, attr, &cmd, sizeof(cmd),
				   &full.ibv_resp, sizeof(full));
	*resp = full.drv_payload;
	return err;
}

static void init_locks(struct rover_qp *qp, bool single)
{
	rover_lock_init(&qp->sq.lock, single);
	rover_lock_init(&qp->rq.lock, single);
}

/*
 * Of a target of XRC the kernel makes an object of its own, which this program
 * only opens: there is no answer of the module's then, and no ring.
 */
static struct rover_qp *create_qp(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct rover_uapi_create_qp_resp resp;
	struct rover_qp *qp = calloc(1, sizeof(*qp));
	int err;

	if (!qp)
		return NULL;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags)
		err = create_with_flags(ctx, qp, attr, &resp);
	else
		err = create_plain(ctx, qp, attr, &resp);
	if (err)
		goto err_free;
	err = -map_queues(qp, &resp, &attr->cap);
	if (err) {
		rover_say(ctx, "mapping the rings of a queue pair", err);
		goto err_destroy;
	}
	qp->max_inline = attr->cap.max_inline_data;
	rover_doorbell_init(&qp->doorbell, resp.qpn);
	init_locks(qp, rover_pd_single(attr->pd));
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		rover_qp_set_ops(qp, attr->send_ops_flags);
	return qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free:
	free(qp);
	errno = err;
	return NULL;
}

/* What means nothing to it a program may not have set: libibverbs would keep it. */
static void leave_out(struct ibv_qp_init_attr_ex *attr)
{
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		attr->pd = NULL;
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		attr->send_cq = NULL;
	if (attr->qp_type == IBV_QPT_XRC_RECV ||
	    attr->qp_type == IBV_QPT_XRC_SEND)
		attr->recv_cq = NULL;
}

/**
 * rover_create_qp_ex() - ibv_create_qp_ex()
 * @ctx: context
 * @attr: what is wanted; @attr->cap becomes what was granted
 */
struct ibv_qp *rover_create_qp_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex wanted = *attr;
	struct rover_qp *qp;
	int err = -check_attr(attr);

	if (err) {
		errno = err;
		return NULL;
	}
	leave_out(&wanted);
	qp = create_qp(ctx, &wanted);
	if (!qp)
		return NULL;
	attr->cap = wanted.cap;
	return &qp->vqp.qp;
}

/**
 * rover_create_qp() - ibv_create_qp()
 * @pd: protection domain
 * @attr: what is wanted; @attr->cap becomes what was granted
 */
struct ibv_qp *rover_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex wanted = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct rover_qp *qp = create_qp(pd->context, &wanted);

	if (!qp)
		return NULL;
	attr->cap = wanted.cap;
	return &qp->vqp.qp;
}

/**
 * rover_open_qp() - ibv_open_qp()
 * @ctx: context
 * @attr: which target of which XRC domain
 */
struct ibv_qp *rover_open_qp(struct ibv_context *ctx,
			     struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp = { 0 };
	struct rover_qp *qp = calloc(1, sizeof(*qp));
	struct ibv_open_qp cmd = { 0 };
	int err;

	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(ctx, &qp->vqp, sizeof(qp->vqp), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(qp);
		errno = err;
		return NULL;
	}
	init_locks(qp, false);
	return &qp->vqp.qp;
}

/* Takes the completions of a queue pair that makes no more out of its queues. */
static void purge(struct ibv_cq *send, struct ibv_cq *recv, uint32_t qpn)
{
	rover_cq_forget(send, qpn);
	if (recv != send)
		rover_cq_forget(recv, qpn);
}

/**
 * rover_modify_qp() - ibv_modify_qp()
 * @ibqp: queue pair
 * @attr: new attributes
 * @mask: which of them
 *
 * The state that posting looks at is kept by libibverbs.
 */
int rover_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct rover_qp *qp = to_qp(ibqp);
	struct ibv_modify_qp cmd = { 0 };
	int err;

	err = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (!err && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET) {
		rover_queue_restart(&qp->sq);
		rover_queue_restart(&qp->rq);
		rover_qp_restart_build(qp);
		purge(ibqp->send_cq, ibqp->recv_cq, ibqp->qp_num);
	}
	return err;
}

/**
 * rover_query_qp() - ibv_query_qp()
 * @ibqp: queue pair
 * @attr: for the attributes
 * @mask: which of them
 * @init: for what it was made with
 */
int rover_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init)
{
	struct ibv_query_qp cmd = { 0 };

	return ibv_cmd_query_qp(ibqp, attr, mask, init, &cmd, sizeof(cmd));
}

/**
 * rover_destroy_qp() - ibv_destroy_qp()
 * @ibqp: queue pair
 *
 * Nobody can tell any more what a completion of it means, so those that were not
 * polled go with it.
 */
int rover_destroy_qp(struct ibv_qp *ibqp)
{
	struct rover_qp *qp = to_qp(ibqp);
	int err = ibv_cmd_destroy_qp(ibqp);

	if (err)
		return err;
	/* Its number is not given to another one for a while. */
	purge(ibqp->send_cq, ibqp->recv_cq, ibqp->qp_num);
	unmap_queues(qp);
	rover_lock_destroy(&qp->sq.lock);
	rover_lock_destroy(&qp->rq.lock);
	free(qp);
	return 0;
}
