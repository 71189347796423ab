// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * post_test.c: ibv_post_send() and ibv_post_recv(), and the life of the rings.
 */
#include <errno.h>
#include <string.h>

#include <ccan/array_size.h>

#include "test.h"

#define CAP	5	/* not a power of two: the ring is longer than the queue */

static struct rover_qp *ready_qp(void)
{
	struct rover_qp *qp = fake_qp(CAP, 4, 100, false);

	qp->vqp.qp.state = IBV_QPS_RTS;
	return qp;
}

static int post(struct rover_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int err = rover_post_send(&qp->vqp.qp, wr, &bad);

	expect(!err == !bad);
	return err;
}

static const struct rover_send_wqe *sent(void)
{
	static const struct rover_send_wqe none = { .opcode = 0xff };
	struct rover_send_wqe *wqe = fake_posted(&kernel.sq);

	if (!wqe)
		return &none;
	fake_retire(&kernel.sq);
	return wqe;
}

static void test_life(void)
{
	struct rover_qp *qp = ready_qp();
	struct ibv_cq *cq = fake_cq(10);

	expect(qp && cq && kernel.mapped == 3);
	expect(!rover_destroy_qp(&qp->vqp.qp));
	expect(!rover_destroy_cq(cq));
}

/* The kernel's object must not outlive a ring that could not be mapped. */
static void test_no_mapping(void)
{
	int i;

	for (i = 1; i <= 2; i++) {
		kernel.fail_mmap = i;
		errno = 0;
		expect(!fake_qp(CAP, 4, 100, false) && errno == ENOMEM);
		expect(!kernel.mapped && !kernel.objects && kernel.said == i);
	}
	kernel.fail_mmap = 1;
	expect(!fake_cq(10) && errno == ENOMEM && !kernel.objects);
	kernel.fail_mmap = 0;
	kernel.bad_stride = true;
	expect(!fake_qp(CAP, 4, 100, false) && errno == EPROTO);
	expect(!fake_cq(10) && errno == EPROTO);
}

static void test_refusals(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_UC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ,
	};
	struct ibv_context *ctx = &fake_context.context;

	expect(!rover_create_qp_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.qp_type = IBV_QPT_RAW_PACKET;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM;
	expect(!rover_create_qp_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.qp_type = IBV_QPT_DRIVER;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	expect(!rover_create_qp_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.qp_type = IBV_QPT_RC;
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO;
	expect(!rover_create_qp_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE;
	expect(!rover_create_qp_ex(ctx, &attr) && errno == EOPNOTSUPP);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = 1;
	expect(!rover_create_qp_ex(ctx, &attr) && errno == EOPNOTSUPP);
}

/* The one flag there is gets through, and no flags take the older command. */
static void test_flags(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
	};
	struct ibv_qp *qp;

	qp = rover_create_qp_ex(&fake_context.context, &attr);
	expect(qp && kernel.qp_flags == IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	fake_state(to_qp(qp), IBV_QPS_RESET);
	rover_destroy_qp(qp);
	attr.create_flags = 0;
	qp = rover_create_qp_ex(&fake_context.context, &attr);
	expect(qp && !kernel.qp_flags);
	fake_state(to_qp(qp), IBV_QPS_RESET);
	rover_destroy_qp(qp);
}

struct row {
	enum ibv_wr_opcode wr;
	uint8_t wqe;
	bool imm, rdma, atomic;
};

static const struct row rows[] = {
	{ IBV_WR_SEND, ROVER_WQE_SEND, false, false, false },
	{ IBV_WR_SEND_WITH_IMM, ROVER_WQE_SEND_IMM, true, false, false },
	{ IBV_WR_SEND_WITH_INV, ROVER_WQE_SEND_INV, true, false, false },
	{ IBV_WR_RDMA_WRITE, ROVER_WQE_WRITE, false, true, false },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, ROVER_WQE_WRITE_IMM, true, true, false },
	{ IBV_WR_RDMA_READ, ROVER_WQE_READ, false, true, false },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, ROVER_WQE_CMP_SWAP, false, false, true },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, ROVER_WQE_FETCH_ADD, false, false, true },
};

static void check_row(struct rover_qp *qp, const struct row *row)
{
	struct ibv_sge sge[2] = { { 0x1111, 7, 3 }, { 0x2222, 9, 4 } };
	struct ibv_send_wr wr = {
		.wr_id = 0x1234567890abcdefULL, .sg_list = sge, .num_sge = 2,
		.opcode = row->wr, .imm_data = 0x11223344,
	};
	const struct rover_send_wqe *wqe;

	if (row->atomic) {
		wr.wr.atomic.remote_addr = 0x5555;
		wr.wr.atomic.rkey = 77;
		wr.wr.atomic.compare_add = 88;
		wr.wr.atomic.swap = 99;
	} else {
		wr.wr.rdma.remote_addr = 0x5555;
		wr.wr.rdma.rkey = 77;
	}
	expect(!post(qp, &wr));
	wqe = sent();
	expect(wqe->opcode == row->wqe && !wqe->flags && !wqe->reserved_03);
	expect(wqe->wr_id == wr.wr_id && wqe->num_sge == 2 && !wqe->inline_len);
	expect(wqe->imm == (row->imm ? wr.imm_data : 0));
	expect(wqe->rkey == (row->rdma || row->atomic ? 77U : 0));
	expect(wqe->remote_addr == (row->rdma || row->atomic ? 0x5555U : 0));
	expect(wqe->compare_add == (row->atomic ? 88U : 0));
	expect(wqe->swap == (row->atomic ? 99U : 0));
	expect(!memcmp((const char *)wqe + ROVER_SEND_WQE_HDR, sge, sizeof(sge)));
}

/* Many laps, so that what an earlier request left in a slot would be seen. */
static void test_opcodes(void)
{
	struct rover_qp *qp = ready_qp();
	unsigned int i;

	for (i = 0; i < 7 * ARRAY_SIZE(rows); i++)
		check_row(qp, &rows[i * 5 % ARRAY_SIZE(rows)]);
	rover_destroy_qp(&qp->vqp.qp);
}

/* Requests about windows: no data, and nothing left of who was there before. */
static void test_windows(void)
{
	struct ibv_mr mr = { .lkey = 55 };
	struct ibv_mw mw = { .rkey = 0x1234ff, .type = IBV_MW_TYPE_2 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV,
				  .invalidate_rkey = 66 };
	struct ibv_mw_bind bind = { .wr_id = 7, .send_flags = IBV_SEND_FENCE,
				    .bind_info = { &mr, 0x9999, 88, 3 } };
	struct rover_qp *qp = ready_qp();
	const struct rover_send_wqe *wqe;

	expect(!post(qp, &wr));
	wqe = sent();
	expect(wqe->opcode == ROVER_WQE_LOCAL_INV && wqe->imm == 66);
	wr.num_sge = 1;
	expect(post(qp, &wr) == EINVAL);

	wr = (struct ibv_send_wr) { .opcode = IBV_WR_BIND_MW };
	wr.bind_mw.mw = &mw;
	wr.bind_mw.rkey = 77;
	wr.bind_mw.bind_info = bind.bind_info;
	expect(!post(qp, &wr));
	wqe = sent();
	expect(wqe->opcode == ROVER_WQE_BIND_MW && wqe->rkey == 77);
	expect(wqe->bind_addr == 0x9999 && wqe->bind_length == 88);
	expect(wqe->bind_lkey == 55 && wqe->bind_access == 3 && !wqe->imm);
	mw.type = IBV_MW_TYPE_1;
	expect(post(qp, &wr) == EINVAL);

	/* Its own verb, which gives it another key: only the low bits change. */
	expect(!rover_bind_mw(&qp->vqp.qp, &mw, &bind));
	wqe = sent();
	expect(wqe->opcode == ROVER_WQE_BIND_MW && wqe->wr_id == 7);
	expect(wqe->flags == ROVER_WQE_FENCE && wqe->rkey == 0x123400);
	expect(mw.rkey == 0x123400 && wqe->bind_lkey == 55);
	bind.bind_info = (struct ibv_mw_bind_info) { 0 };
	expect(!rover_bind_mw(&qp->vqp.qp, &mw, &bind));
	wqe = sent();
	expect(!wqe->bind_length && !wqe->bind_lkey && mw.rkey == 0x123401);
	bind.send_flags = 1U << 31;
	expect(rover_bind_mw(&qp->vqp.qp, &mw, &bind) == EINVAL);
	expect(mw.rkey == 0x123401);
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_send_flags(void)
{
	struct rover_qp *qp = ready_qp();
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	unsigned int i;

	for (i = 0; i < 16; i++) {
		unsigned int flags = 0;

		wr.send_flags = i;
		flags |= i & IBV_SEND_SIGNALED ? ROVER_WQE_SIGNALED : 0;
		flags |= i & IBV_SEND_SOLICITED ? ROVER_WQE_SOLICITED : 0;
		flags |= i & IBV_SEND_FENCE ? ROVER_WQE_FENCE : 0;
		flags |= i & IBV_SEND_INLINE ? ROVER_WQE_INLINE : 0;
		expect(!post(qp, &wr));
		expect(sent()->flags == flags);
	}
	wr.send_flags = IBV_SEND_IP_CSUM;
	expect(post(qp, &wr) == EINVAL);
	wr.send_flags = 1U << 31;
	expect(post(qp, &wr) == EINVAL);
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_bad_requests(void)
{
	static const int bad[] = { IBV_WR_TSO, IBV_WR_DRIVER1, 12, 13, 14, 15, 16, 1000, -1 };
	static const int no_inline[] = { IBV_WR_RDMA_READ,
					 IBV_WR_ATOMIC_CMP_AND_SWP,
					 IBV_WR_ATOMIC_FETCH_AND_ADD,
					 IBV_WR_LOCAL_INV, IBV_WR_BIND_MW };
	struct rover_qp *qp = ready_qp();
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .num_sge = 5 };
	unsigned int i;

	expect(post(qp, &wr) == EINVAL);
	wr.num_sge = -1;
	expect(post(qp, &wr) == EINVAL);
	wr.num_sge = 0;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		wr.opcode = bad[i];
		expect(post(qp, &wr) == EINVAL);
	}
	wr.send_flags = IBV_SEND_INLINE;
	for (i = 0; i < ARRAY_SIZE(no_inline); i++) {
		wr.opcode = no_inline[i];
		expect(post(qp, &wr) == EINVAL);
	}
	wr.send_flags = 0;
	qp->vqp.qp.qp_type = IBV_QPT_UC;
	wr.opcode = IBV_WR_RDMA_READ;
	expect(post(qp, &wr) == EINVAL);
	expect(!fake_posted(&kernel.sq) && !kernel.doorbells);
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_inline(void)
{
	struct rover_qp *qp = ready_qp();
	char data[101] = "to be copied, and more";
	struct ibv_sge sge[4] = {
		{ (uintptr_t)data, 3, 0 }, { 0, 0, 0 }, { (uintptr_t)data + 3, 97, 0 },
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = sge,
				  .num_sge = 3, .send_flags = IBV_SEND_INLINE };
	const struct rover_send_wqe *wqe;

	expect(!post(qp, &wr));
	wqe = sent();
	expect(wqe->inline_len == 100 && !wqe->num_sge);
	expect(wqe->flags == ROVER_WQE_INLINE);
	expect(!memcmp((const char *)wqe + ROVER_SEND_WQE_HDR, data, 100));

	sge[2].length = 98;
	expect(post(qp, &wr) == EINVAL);
	/* Sums that wrap to 0 and to 2; nothing may be read at these lengths. */
	sge[0].length = 0x80000000;
	sge[2].length = 0x80000000;
	expect(post(qp, &wr) == EINVAL);
	sge[0].length = 3;
	sge[2].length = 0xffffffff;
	expect(post(qp, &wr) == EINVAL);
	expect(!fake_posted(&kernel.sq));
	rover_destroy_qp(&qp->vqp.qp);
}

/* What comes before the one that does not fit is posted, and rung. */
static void test_full(void)
{
	struct rover_qp *qp = ready_qp();
	struct ibv_send_wr wr[CAP + 1] = { { 0 } };
	struct ibv_send_wr *bad = NULL;
	unsigned int i;

	for (i = 0; i <= CAP; i++) {
		wr[i].wr_id = i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i < CAP ? &wr[i + 1] : NULL;
	}
	fake_flag(&kernel.sq, ROVER_RING_NEED_WAKEUP, true);
	expect(rover_post_send(&qp->vqp.qp, wr, &bad) == ENOMEM);
	expect(bad == &wr[CAP] && kernel.doorbells == 1);
	expect(post(qp, &wr[CAP]) == ENOMEM && kernel.doorbells == 1);
	for (i = 0; i < CAP; i++) {
		expect(sent()->wr_id == i);
		expect(!post(qp, &wr[CAP]));
		expect(post(qp, &wr[CAP]) == ENOMEM);
	}
	wr[1].opcode = IBV_WR_TSO;
	for (i = 0; i < CAP; i++)
		expect(sent()->wr_id == CAP);
	expect(rover_post_send(&qp->vqp.qp, wr, &bad) == EINVAL && bad == &wr[1]);
	expect(sent()->wr_id == 0 && !fake_posted(&kernel.sq));
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_states(void)
{
	struct rover_qp *qp = fake_qp(CAP, 4, 100, false);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad;
	int state;

	for (state = IBV_QPS_RESET; state <= IBV_QPS_ERR; state++) {
		qp->vqp.qp.state = state;
		expect(post(qp, &wr) == (state < IBV_QPS_RTS ? EINVAL : 0));
		bad = NULL;
		expect(rover_post_recv(&qp->vqp.qp, &recv, &bad) ==
		       (state == IBV_QPS_RESET ? EINVAL :
			state > CAP ? ENOMEM : 0));
		expect(!bad == (state != IBV_QPS_RESET && state <= CAP));
	}
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_reset(void)
{
	struct rover_qp *qp = ready_qp();
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad;
	int i;

	for (i = 0; i < 2; i++)
		expect(!post(qp, &wr));
	expect(sent()->opcode == ROVER_WQE_SEND);
	expect(!rover_post_recv(&qp->vqp.qp, &recv, &bad));
	fake_state(qp, IBV_QPS_RESET);
	expect(!fake_posted(&kernel.sq) && !fake_posted(&kernel.rq));
	fake_state(qp, IBV_QPS_RTS);
	for (i = 0; i < CAP; i++)
		expect(!post(qp, &wr));
	expect(post(qp, &wr) == ENOMEM);
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_doorbell(void)
{
	struct rover_qp *qp = ready_qp();
	struct ibv_send_wr second = { .opcode = IBV_WR_SEND, .wr_id = 2 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .next = &second };
	const struct ib_uverbs_ioctl_hdr *hdr = &kernel.request.hdr;
	const struct ib_uverbs_attr *attr = hdr->attrs;
	struct ibv_send_wr *bad = NULL;
	uint32_t qpn;

	expect(!post(qp, &wr) && !kernel.doorbells);
	fake_flag(&kernel.sq, ROVER_RING_NEED_WAKEUP, true);
	expect(!post(qp, &wr) && kernel.doorbells == 1);
	expect(hdr->length == 40 && hdr->object_id == 0x1000);
	expect(hdr->method_id == 0x1000 && hdr->num_attrs == 1);
	expect(hdr->driver_id == 0x524f5645 && !hdr->reserved1 && !hdr->reserved2);
	expect(attr->attr_id == 0x1000 && attr->len == 4);
	expect(attr->flags == UVERBS_ATTR_F_MANDATORY && !attr->attr_data.reserved);
	memcpy(&qpn, &attr->data, 4);
	expect(qpn == 0xabcdef);

	/* Device gone: all are posted, none is known to be. */
	kernel.doorbell_err = EIO;
	expect(rover_post_send(&qp->vqp.qp, &second, &bad) == EIO);
	expect(bad == &second);
	expect(rover_post_send(&qp->vqp.qp, &wr, &bad) == ENOMEM && bad == &wr);
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_recv(void)
{
	struct rover_qp *qp = ready_qp();
	struct ibv_sge sge[4] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 },
				  { 10, 11, 12 } };
	struct ibv_recv_wr wr = { .wr_id = 9, .sg_list = sge, .num_sge = 4 };
	struct ibv_recv_wr *bad = NULL;
	struct rover_recv_wqe *wqe;
	int i;

	expect(!rover_post_recv(&qp->vqp.qp, &wr, &bad) && !bad);
	wqe = fake_posted(&kernel.rq);
	expect(wqe && wqe->wr_id == 9 && wqe->num_sge == 4 && !wqe->reserved_0c);
	expect(!memcmp((char *)wqe + ROVER_RECV_WQE_HDR, sge, sizeof(sge)));
	wr.num_sge = 5;
	expect(rover_post_recv(&qp->vqp.qp, &wr, &bad) == EINVAL && bad == &wr);
	wr.num_sge = 0;
	for (i = 1; i < CAP; i++)
		expect(!rover_post_recv(&qp->vqp.qp, &wr, &bad));
	expect(rover_post_recv(&qp->vqp.qp, &wr, &bad) == ENOMEM);
	expect(!kernel.doorbells);
	fake_flag(&kernel.rq, ROVER_RING_NEED_WAKEUP, true);
	fake_retire(&kernel.rq);
	expect(!rover_post_recv(&qp->vqp.qp, &wr, &bad) && kernel.doorbells == 1);
	rover_destroy_qp(&qp->vqp.qp);
}

/* The kernel hears of the receive that a peer waits for, and not of those before it. */
static void test_awaited(void)
{
	struct ibv_recv_wr wr = { .wr_id = 9 }, *bad = NULL;
	struct rover_qp *qp = ready_qp();

	kernel.rq.hdr->waits_for = 3;
	expect(!rover_post_recv(&qp->vqp.qp, &wr, &bad) && !kernel.doorbells);
	kernel.rq.hdr->waits = 1;
	expect(!rover_post_recv(&qp->vqp.qp, &wr, &bad) && !kernel.doorbells);
	expect(!rover_post_recv(&qp->vqp.qp, &wr, &bad) && kernel.doorbells == 1);
	expect(!rover_post_recv(&qp->vqp.qp, &wr, &bad) && kernel.doorbells == 2);
	kernel.rq.hdr->waits = 0;
	expect(!rover_post_recv(&qp->vqp.qp, &wr, &bad) && kernel.doorbells == 2);
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_no_recv_ring(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_recv_wr wr = { .wr_id = 9 }, *bad = NULL;
	struct ibv_qp *qp;

	fake_pd.pd.context = &fake_context.context;
	qp = rover_create_qp(&fake_pd.pd, &attr);
	qp->state = IBV_QPS_RTS;
	expect(rover_post_recv(qp, &wr, &bad) == ENOMEM && bad == &wr);
	expect(!(to_qp(qp)->vqp.comp_mask & VERBS_QP_EX));
	fake_state(to_qp(qp), IBV_QPS_RESET);
	rover_destroy_qp(qp);
}

/* Datagrams: where they go, and what cannot be one. */
static void test_datagrams(void)
{
	struct rover_qp *qp = fake_ud_qp(CAP, false);
	struct rover_ah ah = { .number = 0x12345678 };
	struct ibv_send_wr wr = { .wr_id = 9, .opcode = IBV_WR_SEND_WITH_IMM,
				  .imm_data = 5, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad = NULL;
	struct rover_send_wqe *wqe;

	qp->vqp.qp.state = IBV_QPS_RTS;
	wr.wr.ud.ah = &ah.ah;
	wr.wr.ud.remote_qpn = 0xabcdef;
	wr.wr.ud.remote_qkey = 0x80000001;
	expect(!rover_post_send(&qp->vqp.qp, &wr, &bad));
	wqe = fake_posted(&kernel.sq);
	expect(wqe && wqe->opcode == ROVER_WQE_SEND_IMM && wqe->imm == 5);
	expect(wqe && wqe->ah == 0x12345678 && wqe->remote_qpn == 0xabcdef &&
	       wqe->remote_qkey == 0x80000001);
	expect(wqe && !wqe->rkey && !wqe->reserved_24 && !wqe->reserved_28);
	fake_retire(&kernel.sq);

	wr.opcode = IBV_WR_RDMA_WRITE;
	expect(rover_post_send(&qp->vqp.qp, &wr, &bad) == EINVAL && bad == &wr);
	wr.opcode = IBV_WR_SEND;
	wr.wr.ud.ah = NULL;
	expect(rover_post_send(&qp->vqp.qp, &wr, &bad) == EINVAL && bad == &wr);
	expect(!fake_posted(&kernel.sq));
	rover_destroy_qp(&qp->vqp.qp);
}

const struct test post_tests[] = {
	{ "rings are mapped and unmapped", test_life },
	{ "a ring that cannot be mapped leaves nothing behind", test_no_mapping },
	{ "attributes nobody can serve are refused", test_refusals },
	{ "flags of a queue pair reach the kernel", test_flags },
	{ "send: every operation, field by field", test_opcodes },
	{ "send: windows are bound and invalidated", test_windows },
	{ "send: flags", test_send_flags },
	{ "send: bad requests fail at once and post nothing", test_bad_requests },
	{ "send: inline data, and sums that wrap", test_inline },
	{ "send: a full queue", test_full },
	{ "posting in each state", test_states },
	{ "reset empties the queues", test_reset },
	{ "doorbell: when, how and what its error does", test_doorbell },
	{ "send: datagrams", test_datagrams },
	{ "receive: requests, a full queue, a queue pair in error", test_recv },
	{ "receive: a peer that waits for some", test_awaited },
	{ "receive: no receive queue", test_no_recv_ring },
	{ NULL, NULL },
};
