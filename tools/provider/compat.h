/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * compat.h: all that differs between the rdma-core versions rover is built in.
 *
 * IBVERBS_PABI_VERSION: 34 is rdma-core 39 to 56 (Debian 12 and 13); 57, 59,
 * 64 and 65 are those releases and the ones that follow them.
 */
#ifndef PROVIDER_COMPAT_H
#define PROVIDER_COMPAT_H

#include <infiniband/driver.h>

/* Names that are newer than the oldest release. The kernel's numbers hold. */
#if RDMA_CORE_VERSION < 44
#define IBV_WR_ATOMIC_WRITE		15
#define IBV_WC_ATOMIC_WRITE		9
#define IBV_QP_EX_WITH_ATOMIC_WRITE	(1 << 12)
#define rover_set_wr_atomic_write(ex, write)	((void)(write))
#else
#define rover_set_wr_atomic_write(ex, write)	((ex)->wr_atomic_write = (write))
#endif

#if RDMA_CORE_VERSION < 45
#define IBV_WR_FLUSH		14
#define IBV_WC_FLUSH		8
#define IBV_QP_EX_WITH_FLUSH	(1 << 11)
#define IBV_FLUSH_GLOBAL	1
#define IBV_FLUSH_PERSISTENT	2
#define IBV_FLUSH_MR		1
#define rover_set_wr_flush(ex, flush)	((void)(flush))
#else
#define rover_set_wr_flush(ex, flush)	((ex)->wr_flush = (flush))
#endif

static inline int
rover_cmd_get_context(struct verbs_context *vctx,
		      struct ibv_get_context *cmd, size_t cmd_size,
		      struct ib_uverbs_get_context_resp *resp, size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 57
	return ibv_cmd_get_context(vctx, cmd, cmd_size, NULL, resp, resp_size);
#else
	return ibv_cmd_get_context(vctx, cmd, cmd_size, resp, resp_size);
#endif
}

static inline int
rover_cmd_create_cq(struct ibv_context *ctx,
		    const struct ibv_cq_init_attr_ex *attr, struct verbs_cq *vcq,
		    struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 59
	return ibv_cmd_create_cq_ex(ctx, attr, NULL, vcq, NULL, 0, resp,
				    resp_size, 0);
#else
	return ibv_cmd_create_cq_ex(ctx, attr, vcq, NULL, 0, resp, resp_size, 0);
#endif
}

static inline int
rover_cmd_create_qp_ex2(struct ibv_context *ctx, struct verbs_qp *vqp,
			struct ibv_qp_init_attr_ex *attr,
			struct ibv_create_qp_ex *cmd, size_t cmd_size,
			struct ib_uverbs_ex_create_qp_resp *resp,
			size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 64
	return ibv_cmd_create_qp_ex2(ctx, vqp, attr, cmd, cmd_size, resp,
				     resp_size, NULL);
#else
	return ibv_cmd_create_qp_ex2(ctx, vqp, attr, cmd, cmd_size, resp,
				     resp_size);
#endif
}

#endif /* PROVIDER_COMPAT_H */
