// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * xrc_test.c: XRC domains, and what is in them.
 */
#include <errno.h>
#include <string.h>

#include <ccan/array_size.h>

#include "test.h"

#define SRQN	0x00abcdef

static struct ibv_xrcd *open_domain(void)
{
	struct ibv_xrcd_init_attr attr = {
		.fd = 3, .comp_mask = IBV_XRCD_INIT_ATTR_FD |
				      IBV_XRCD_INIT_ATTR_OFLAGS,
	};

	return rover_open_xrcd(&fake_context.context, &attr);
}

static void test_domain(void)
{
	struct ibv_xrcd_init_attr nothing = { 0 };
	struct ibv_xrcd *xrcd;
	struct rover_srq *srq;

	expect(!rover_open_xrcd(&fake_context.context, &nothing) &&
	       errno == EINVAL);
	xrcd = open_domain();
	srq = fake_srq(4, 1);
	/* What the kernel refuses stays open. */
	expect(rover_close_xrcd(xrcd) == EBUSY);
	rover_destroy_srq(&srq->vsrq.srq);
	expect(!rover_close_xrcd(xrcd));
}

static void test_queue(void)
{
	struct ibv_xrcd *xrcd = open_domain();
	struct ibv_srq_init_attr_ex attr = {
		.attr = { 5, 2, 0 }, .pd = &fake_pd.pd, .xrcd = xrcd,
		.srq_type = IBV_SRQT_XRC,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
	};
	struct rover_srq *basic = fake_srq(4, 1);
	struct ibv_recv_wr wr = { .wr_id = 77 }, *bad;
	const struct rover_recv_wqe *wqe;
	struct ibv_srq *srq;
	uint32_t num = 0;

	srq = rover_create_srq_ex(&fake_context.context, &attr);
	expect(srq && attr.attr.max_wr == 5 && attr.attr.max_sge == 3);
	expect(!rover_get_srq_num(srq, &num) && num == 0x123456);
	expect(rover_get_srq_num(&basic->vsrq.srq, &num) == EOPNOTSUPP);
	expect(!rover_post_srq_recv(srq, &wr, &bad));
	wqe = fake_posted(&kernel.srq);
	expect(wqe && wqe->wr_id == 77);
	expect(!rover_destroy_srq(srq));

	kernel.fail_mmap = 1;
	expect(!rover_create_srq_ex(&fake_context.context, &attr) &&
	       errno == ENOMEM && kernel.objects == 2);
	attr.comp_mask &= ~IBV_SRQ_INIT_ATTR_XRCD;
	expect(!rover_create_srq_ex(&fake_context.context, &attr) &&
	       errno == EINVAL);
	attr.srq_type = IBV_SRQT_TM;
	expect(!rover_create_srq_ex(&fake_context.context, &attr) &&
	       errno == EOPNOTSUPP);
	rover_destroy_srq(&basic->vsrq.srq);
	rover_close_xrcd(xrcd);
}

/* A target has no rings, and neither takes nor gives anything to post. */
static void test_targets(void)
{
	struct ibv_xrcd *xrcd = open_domain();
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd,
		/* What is not in the mask is not looked at. */
		.pd = (struct ibv_pd *)1, .comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.cap = { 9, 9, 9, 9, 9 },
	};
	struct ibv_qp_open_attr which = {
		.qp_num = 0x55, .qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd,
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE |
			     IBV_QP_OPEN_ATTR_XRCD,
	};
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;
	struct ibv_qp *qp[2];
	int i;

	qp[0] = rover_create_qp_ex(&fake_context.context, &attr);
	qp[1] = rover_open_qp(&fake_context.context, &which);
	expect(qp[0] && qp[1] && !kernel.mapped && kernel.objects == 3);
	expect(qp[0] && !qp[0]->pd && !attr.cap.max_send_wr);
	expect(qp[1] && qp[1]->qp_num == 0x55);
	for (i = 0; i < 2; i++) {
		qp[i]->state = IBV_QPS_RTS;
		expect(rover_post_send(qp[i], &send, &bad_send) == EINVAL);
		expect(rover_post_recv(qp[i], &recv, &bad_recv) == ENOMEM);
		fake_state(to_qp(qp[i]), IBV_QPS_RESET);
		expect(!rover_destroy_qp(qp[i]));
	}
	which.comp_mask = 0;
	expect(!rover_open_qp(&fake_context.context, &which) && errno == EINVAL);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	expect(!rover_create_qp_ex(&fake_context.context, &attr) &&
	       errno == EOPNOTSUPP);
	rover_close_xrcd(xrcd);
}

/* What reached the ring: whether the number is where the ABI has it. */
static void expect_srqn(bool atomic, uint32_t imm, uint64_t swap)
{
	const struct rover_send_wqe *wqe = fake_posted(&kernel.sq);

	if (!wqe) {
		expect(!"nothing was posted");
		return;
	}
	if (atomic)
		expect(wqe->imm == SRQN && wqe->swap == swap);
	else
		expect(wqe->remote_srqn == SRQN && !wqe->reserved_2c &&
		       wqe->imm == imm);
	fake_retire(&kernel.sq);
}

static void test_post(void)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		bool imm, atomic;
	} rows[] = {
		{ IBV_WR_SEND, false, false },
		{ IBV_WR_SEND_WITH_IMM, true, false },
		{ IBV_WR_SEND_WITH_INV, true, false },
		{ IBV_WR_RDMA_WRITE, false, false },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, true, false },
		{ IBV_WR_RDMA_READ, false, false },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, false, true },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, false, true },
	};
	struct ibv_send_wr wr = { .wr_id = 9, .qp_type.xrc.remote_srqn = SRQN };
	struct rover_qp *qp = fake_xrc_qp(8, false);
	struct ibv_send_wr *bad;
	unsigned int i;

	qp->vqp.qp.state = IBV_QPS_RTS;
	expect(kernel.mapped == 1);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(&wr.wr, 0, sizeof(wr.wr));
		wr.opcode = rows[i].opcode;
		wr.imm_data = 0x11223344;
		if (rows[i].atomic)
			wr.wr.atomic.swap = 0x5566778899aabbccULL;
		expect(!rover_post_send(&qp->vqp.qp, &wr, &bad));
		expect_srqn(rows[i].atomic, rows[i].imm ? 0x11223344 : 0,
			    0x5566778899aabbccULL);
	}
	/* There are no numbers as large, and what goes nowhere needs none. */
	wr.qp_type.xrc.remote_srqn = ROVER_MAX_SRQN + 1;
	wr.opcode = IBV_WR_SEND;
	expect(rover_post_send(&qp->vqp.qp, &wr, &bad) == EINVAL && bad == &wr);
	expect(!fake_posted(&kernel.sq));
	wr.opcode = IBV_WR_LOCAL_INV;
	expect(!rover_post_send(&qp->vqp.qp, &wr, &bad));
	expect(fake_posted(&kernel.sq));
	fake_state(qp, IBV_QPS_RESET);
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_build(void)
{
	struct rover_qp *qp = fake_qp(4, 1, 0, true);
	struct ibv_qp_ex *ex;

	expect(!qp->vqp.qp_ex.wr_set_xrc_srqn);
	rover_destroy_qp(&qp->vqp.qp);
	qp = fake_xrc_qp(8, true);
	ex = &qp->vqp.qp_ex;
	qp->vqp.qp.state = IBV_QPS_RTS;

	ibv_wr_start(ex);
	ibv_wr_send_imm(ex, 7);
	/* Before and after the data. */
	ibv_wr_set_xrc_srqn(ex, SRQN);
	ibv_wr_set_sge(ex, 1, 2, 3);
	ibv_wr_rdma_read(ex, 5, 6);
	ibv_wr_set_sge(ex, 1, 2, 3);
	ibv_wr_set_xrc_srqn(ex, SRQN);
	ibv_wr_atomic_cmp_swp(ex, 5, 6, 7, 8);
	ibv_wr_set_xrc_srqn(ex, SRQN);
	ibv_wr_set_sge(ex, 1, 2, 8);
	expect(!ibv_wr_complete(ex));
	expect_srqn(false, 7, 0);
	expect_srqn(false, 0, 0);
	expect_srqn(true, 0, 8);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, ROVER_MAX_SRQN + 1);
	expect(ibv_wr_complete(ex) == EINVAL);
	ibv_wr_start(ex);
	ibv_wr_set_xrc_srqn(ex, SRQN);
	expect(ibv_wr_complete(ex) == EINVAL);
	expect(!fake_posted(&kernel.sq));
	rover_destroy_qp(&qp->vqp.qp);
}

const struct test xrc_tests[] = {
	{ "XRC: domains are opened and closed", test_domain },
	{ "XRC: a shared queue has a ring, and a number", test_queue },
	{ "XRC: targets have no rings, made or opened", test_targets },
	{ "XRC: each operation says which queue it is for", test_post },
	{ "XRC: ibv_wr: and so do these", test_build },
	{ NULL, NULL },
};
