// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * srq.c: shared receive queues are made, resized and destroyed here, and
 * posted to in post.c. Those of XRC differ in how they are made, and have a number.
 */
#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "rover.h"

/* Errors are positive in here, as in verbs. */
static int map_queue(struct rover_queue *q, struct ibv_context *ctx,
		     const struct rover_uapi_ring *desc, uint32_t cap,
		     uint32_t max_sge)
{
	int err = rover_queue_map(q, ctx->cmd_fd, desc, cap, max_sge,
				  ROVER_RECV_WQE_HDR +
				  max_sge * sizeof(struct rover_sge));

	/* Every shared receive queue has a ring. */
	if (!err && !q->ring.hdr)
		err = -EPROTO;
	if (err)
		rover_ring_unmap(&q->ring);
	return -err;
}

/* The kernel has made it, with room for @granted; or has not. */
static struct ibv_srq *map_srq(struct rover_srq *srq, int err,
			       const struct rover_uapi_ring *desc,
			       const struct ibv_srq_attr *granted)
{
	struct ibv_context *ctx = srq->vsrq.srq.context;

	if (err)
		goto err_free;
	err = map_queue(&srq->rq, ctx, desc, granted->max_wr, granted->max_sge);
	if (err) {
		rover_say(ctx, "mapping a shared receive ring", err);
		goto err_destroy;
	}
	rover_lock_init(&srq->rq.lock, false);
	return &srq->vsrq.srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free:
	free(srq);
	errno = err;
	return NULL;
}

/**
 * rover_create_srq() - ibv_create_srq()
 * @pd: protection domain, that of the keys in its receives
 * @attr: what is wanted; sizes become those granted
 */
struct ibv_srq *rover_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct rover_create_srq_resp resp = { 0 };
	struct ibv_srq_init_attr wanted = *attr;
	struct ibv_create_srq cmd = { 0 };
	struct rover_srq *srq = calloc(1, sizeof(*srq));
	struct ibv_srq *ibsrq;
	int err;

	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq(pd, &srq->vsrq.srq, &wanted, &cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	ibsrq = map_srq(srq, err, &resp.ring, &wanted.attr);
	if (ibsrq)
		attr->attr = wanted.attr;
	return ibsrq;
}

#define SRQ_COMP_MASK	(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | \
			 IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ)

/**
 * rover_create_srq_ex() - ibv_create_srq_ex(), of what is not basic
 * @ctx: context
 * @attr: what is wanted; sizes become those granted
 */
struct ibv_srq *rover_create_srq_ex(struct ibv_context *ctx,
				    struct ibv_srq_init_attr_ex *attr)
{
	struct rover_create_srq_ex_resp resp = { 0 };
	struct ibv_srq_init_attr_ex wanted = *attr;
	struct ibv_create_xsrq cmd = { 0 };
	struct rover_srq *srq;
	struct ibv_srq *ibsrq;
	int err;

	if (attr->comp_mask & ~SRQ_COMP_MASK ||
	    !(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) ||
	    attr->srq_type != IBV_SRQT_XRC) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq_ex(ctx, &srq->vsrq, &wanted, &cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	ibsrq = map_srq(srq, err, &resp.ring, &wanted.attr);
	if (ibsrq)
		attr->attr = wanted.attr;
	return ibsrq;
}

/**
 * rover_get_srq_num() - ibv_get_srq_num()
 * @ibsrq: shared receive queue of XRC
 * @num: for the number by which initiators name it
 *
 * Return: 0; EOPNOTSUPP for others, which have none.
 */
int rover_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num)
{
	struct rover_srq *srq = to_srq(ibsrq);

	if (srq->vsrq.srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*num = srq->vsrq.srq_num;
	return 0;
}

/*
 * What is posted has moved to another ring, where it has the same indices, so
 * ours go on. Without that ring nothing can be posted any more.
 */
static int change_ring(struct rover_srq *srq, const struct rover_uapi_ring *desc,
		       uint32_t cap)
{
	struct rover_ring old = srq->rq.ring;
	int err = map_queue(&srq->rq, srq->vsrq.srq.context, desc, cap,
			    srq->rq.max_sge);

	if (err)
		srq->rq.cap = 0;
	rover_ring_unmap(&old);
	return err;
}

/* Unlike write(), of ibv_cmd_modify_srq(), this has a response: the new ring. */
static int resize(struct ibv_srq *srq, const struct ibv_srq_attr *attr, int mask,
		  struct rover_uapi_modify_srq_resp *resp)
{
	const struct ib_uverbs_modify_srq core = {
		.srq_handle = srq->handle,
		.attr_mask = mask,
		.max_wr = attr->max_wr,
		.srq_limit = attr->srq_limit,
	};
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DEVICE,
			       UVERBS_METHOD_INVOKE_WRITE, 3);

	fill_attr_const_in(cmd, UVERBS_ATTR_WRITE_CMD,
			   IB_USER_VERBS_CMD_MODIFY_SRQ);
	fill_attr_in_ptr(cmd, UVERBS_ATTR_CORE_IN, &core);
	fill_attr_out_ptr(cmd, UVERBS_ATTR_UHW_OUT, resp);
	return execute_ioctl(srq->context, cmd);
}

/**
 * rover_modify_srq() - ibv_modify_srq()
 * @ibsrq: shared receive queue
 * @attr: new attributes
 * @mask: which of them
 *
 * Return: 0 or an errno. Nothing has changed then, unless there was no memory
 * to map a new ring: what is posted stays posted, and nothing more can be until
 * another attempt succeeds.
 */
int rover_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct rover_srq *srq = to_srq(ibsrq);
	struct rover_uapi_modify_srq_resp resp = { 0 };
	struct ibv_modify_srq cmd = { 0 };
	int err;

	if (!(mask & IBV_SRQ_MAX_WR))
		return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd, sizeof(cmd));

	rover_lock_close(&srq->rq.lock);
	err = resize(ibsrq, attr, mask, &resp);
	if (!err)
		err = change_ring(srq, &resp.ring, attr->max_wr);
	rover_lock_open(&srq->rq.lock);
	return err;
}

/**
 * rover_query_srq() - ibv_query_srq()
 * @ibsrq: shared receive queue
 * @attr: for its sizes, and the limit that still stands
 */
int rover_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = { 0 };

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

/**
 * rover_destroy_srq() - ibv_destroy_srq()
 * @ibsrq: shared receive queue
 *
 * Return: 0 or an errno; EBUSY as long as a queue pair uses it.
 */
int rover_destroy_srq(struct ibv_srq *ibsrq)
{
	struct rover_srq *srq = to_srq(ibsrq);
	int err = ibv_cmd_destroy_srq(ibsrq);

	if (err)
		return err;
	rover_ring_unmap(&srq->rq.ring);
	rover_lock_destroy(&srq->rq.lock);
	free(srq);
	return 0;
}
