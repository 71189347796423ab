/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * abi.h: rover-abi.h in the form that rdma-core's command functions want, and
 * the sizes both sides rely on.
 */
#ifndef PROVIDER_ABI_H
#define PROVIDER_ABI_H

#include <assert.h>
#include <stddef.h>

#include <infiniband/kern-abi.h>
#include <rdma/rover-abi.h>
#include <kernel-abi/rover-abi.h>

DECLARE_DRV_CMD(rover_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		rover_uapi_alloc_ucontext_req, rover_uapi_alloc_ucontext_resp);
DECLARE_DRV_CMD(rover_create_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ,
		empty, rover_uapi_create_cq_resp);
DECLARE_DRV_CMD(rover_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		empty, rover_uapi_resize_cq_resp);
DECLARE_DRV_CMD(rover_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		empty, rover_uapi_create_qp_resp);
DECLARE_DRV_CMD(rover_create_qp_ex, IB_USER_VERBS_EX_CMD_CREATE_QP,
		empty, rover_uapi_create_qp_resp);
DECLARE_DRV_CMD(rover_create_srq, IB_USER_VERBS_CMD_CREATE_SRQ,
		empty, rover_uapi_create_srq_resp);
DECLARE_DRV_CMD(rover_create_srq_ex, IB_USER_VERBS_CMD_CREATE_XSRQ,
		empty, rover_uapi_create_srq_resp);
DECLARE_DRV_CMD(rover_create_ah, IB_USER_VERBS_CMD_CREATE_AH,
		empty, rover_uapi_create_ah_resp);

static_assert(sizeof(struct rover_ring_hdr) == 256, "four cache lines");
static_assert(offsetof(struct rover_ring_hdr, head) == 64, "one line a word");
static_assert(offsetof(struct rover_ring_hdr, arm) == 128, "one line a word");
static_assert(offsetof(struct rover_ring_hdr, flags) == 192, "one line a word");
static_assert(sizeof(struct rover_sge) == 16, "layout");
static_assert(sizeof(struct rover_send_wqe) == ROVER_SEND_WQE_HDR, "layout");
static_assert(offsetof(struct rover_send_wqe, remote_srqn) == 40, "layout");
static_assert(sizeof(struct rover_recv_wqe) == ROVER_RECV_WQE_HDR, "layout");
static_assert(sizeof(struct rover_cqe) == ROVER_SLOT_SIZE, "one cache line");
static_assert(offsetof(struct rover_cqe, phase) == 63, "phase is the last byte");
static_assert(sizeof(struct rover_uapi_alloc_ucontext_req) == 16, "layout");
static_assert(sizeof(struct rover_uapi_alloc_ucontext_resp) == 24, "layout");
static_assert(sizeof(struct rover_uapi_ring) == 24, "layout");
static_assert(sizeof(struct rover_uapi_create_cq_resp) == 32, "layout");
static_assert(sizeof(struct rover_uapi_resize_cq_resp) == 32, "layout");
static_assert(sizeof(struct rover_uapi_create_qp_resp) == 64, "layout");
static_assert(sizeof(struct rover_uapi_create_srq_resp) == 32, "layout");
static_assert(sizeof(struct rover_uapi_modify_srq_resp) == 32, "layout");
static_assert(sizeof(struct rover_uapi_create_ah_resp) == 8, "layout");
static_assert(sizeof(struct rover_uapi_dm) == 32, "layout");

#endif /* PROVIDER_ABI_H */
