// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * build_test.c: the ibv_wr_* way of posting.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#define CAP	6

static struct rover_qp *ready_qp(struct ibv_qp_ex **ex)
{
	struct rover_qp *qp = fake_qp(CAP, 3, 100, true);

	qp->vqp.qp.state = IBV_QPS_RTS;
	*ex = &qp->vqp.qp_ex;
	(*ex)->wr_id = 42;
	(*ex)->wr_flags = IBV_SEND_SIGNALED;
	expect(qp->vqp.comp_mask & VERBS_QP_EX);
	return qp;
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

static bool head_is(uint8_t opcode, uint32_t imm, uint32_t rkey, uint64_t addr)
{
	const struct rover_send_wqe *wqe = sent();

	return wqe->opcode == opcode && wqe->imm == imm && wqe->rkey == rkey &&
	       wqe->remote_addr == addr && wqe->wr_id == 42 &&
	       wqe->flags == ROVER_WQE_SIGNALED && !wqe->num_sge &&
	       !wqe->inline_len && !wqe->compare_add && !wqe->swap;
}

static void test_builders(void)
{
	struct ibv_mr mr = { .lkey = 55 };
	struct ibv_mw mw = { .type = IBV_MW_TYPE_2 };
	struct ibv_mw_bind_info info = { &mr, 0x9999, 88, 3 };
	const struct rover_send_wqe *wqe;
	struct ibv_qp_ex *ex;
	struct rover_qp *qp = ready_qp(&ex);

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_send_imm(ex, 5);
	ibv_wr_send_inv(ex, 6);
	ibv_wr_rdma_write(ex, 7, 8);
	ibv_wr_rdma_write_imm(ex, 9, 10, 11);
	ibv_wr_rdma_read(ex, 12, 13);
	expect(!fake_posted(&kernel.sq));
	expect(!ibv_wr_complete(ex));
	expect(head_is(ROVER_WQE_SEND, 0, 0, 0));
	expect(head_is(ROVER_WQE_SEND_IMM, 5, 0, 0));
	expect(head_is(ROVER_WQE_SEND_INV, 6, 0, 0));
	expect(head_is(ROVER_WQE_WRITE, 0, 7, 8));
	expect(head_is(ROVER_WQE_WRITE_IMM, 11, 9, 10));
	expect(head_is(ROVER_WQE_READ, 0, 12, 13));

	ibv_wr_start(ex);
	ibv_wr_atomic_cmp_swp(ex, 1, 2, 3, 4);
	ibv_wr_atomic_fetch_add(ex, 5, 6, 7);
	expect(!ibv_wr_complete(ex));
	wqe = sent();
	expect(wqe->opcode == ROVER_WQE_CMP_SWAP && wqe->rkey == 1);
	expect(wqe->remote_addr == 2 && wqe->compare_add == 3 && wqe->swap == 4);
	wqe = sent();
	expect(wqe->opcode == ROVER_WQE_FETCH_ADD && wqe->rkey == 5);
	expect(wqe->remote_addr == 6 && wqe->compare_add == 7 && !wqe->swap);

	ibv_wr_start(ex);
	ibv_wr_local_inv(ex, 66);
	ibv_wr_bind_mw(ex, &mw, 77, &info);
	expect(!ibv_wr_complete(ex));
	expect(head_is(ROVER_WQE_LOCAL_INV, 66, 0, 0));
	wqe = sent();
	expect(wqe->opcode == ROVER_WQE_BIND_MW && wqe->rkey == 77);
	expect(wqe->bind_addr == 0x9999 && wqe->bind_length == 88);
	expect(wqe->bind_lkey == 55 && wqe->bind_access == 3);

	/* They have no data, and windows of the first type another verb. */
	ibv_wr_start(ex);
	ibv_wr_local_inv(ex, 66);
	ibv_wr_set_sge(ex, 1, 2, 3);
	expect(ibv_wr_complete(ex) == EINVAL);
	mw.type = IBV_MW_TYPE_1;
	ibv_wr_start(ex);
	ibv_wr_bind_mw(ex, &mw, 77, &info);
	expect(ibv_wr_complete(ex) == EINVAL && !fake_posted(&kernel.sq));
	rover_destroy_qp(&qp->vqp.qp);
}

/* What only this way has: a word to store, and flushing; without data of their own. */
static void test_words(void)
{
	static const char word[8] = "\1\2\3\4\5\6\7";
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_WRITE }, *bad = NULL;
	const struct rover_send_wqe *wqe;
	struct ibv_qp_ex *ex;
	struct rover_qp *qp = ready_qp(&ex);

	ibv_wr_start(ex);
	ibv_wr_atomic_write(ex, 1, 2, word);
	ibv_wr_flush(ex, 3, 4, 5, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR);
	expect(!ibv_wr_complete(ex));
	wqe = sent();
	expect(wqe->opcode == ROVER_WQE_ATOMIC_WRITE && wqe->rkey == 1);
	expect(wqe->remote_addr == 2 && !memcmp(&wqe->compare_add, word, 8));
	expect(!wqe->num_sge && !wqe->inline_len && !wqe->imm);
	wqe = sent();
	expect(wqe->opcode == ROVER_WQE_FLUSH && wqe->rkey == 3);
	expect(wqe->remote_addr == 4 && wqe->compare_add == 5 && wqe->imm == 0x12);

	ibv_wr_start(ex);
	ibv_wr_flush(ex, 3, 4, 5, 0, IBV_FLUSH_MR);
	expect(ibv_wr_complete(ex) == EINVAL);
	ibv_wr_start(ex);
	ibv_wr_flush(ex, 3, 4, 1ULL << 32, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	expect(ibv_wr_complete(ex) == EINVAL);
	expect(rover_post_send(&qp->vqp.qp, &wr, &bad) == EINVAL && bad == &wr);
	expect(!fake_posted(&kernel.sq));
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_setters(void)
{
	struct ibv_sge list[3] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } };
	struct ibv_data_buf bufs[3] = { { "abc", 3 }, { NULL, 0 }, { "defg", 4 } };
	const struct rover_send_wqe *wqe;
	struct ibv_qp_ex *ex;
	struct rover_qp *qp = ready_qp(&ex);
	const char *data;

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 3, 1, 2);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 3, bufs);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, bufs[0].addr, 2);
	ibv_wr_set_sge_list(ex, 3, list);	/* the last setter counts */
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 3, list);
	ibv_wr_set_inline_data(ex, bufs[2].addr, 4);
	expect(!ibv_wr_complete(ex));

	wqe = sent();
	data = (const char *)wqe + ROVER_SEND_WQE_HDR;
	expect(wqe->num_sge == 1 && !memcmp(data, list, 16));
	wqe = sent();
	data = (const char *)wqe + ROVER_SEND_WQE_HDR;
	expect(wqe->inline_len == 7 && !wqe->num_sge);
	expect(wqe->flags == (ROVER_WQE_INLINE | ROVER_WQE_SIGNALED));
	expect(!memcmp(data, "abcdefg", 7));
	wqe = sent();
	data = (const char *)wqe + ROVER_SEND_WQE_HDR;
	expect(wqe->num_sge == 3 && !wqe->inline_len);
	expect(wqe->flags == ROVER_WQE_SIGNALED && !memcmp(data, list, 48));
	wqe = sent();
	expect(wqe->inline_len == 4 && !wqe->num_sge);
	rover_destroy_qp(&qp->vqp.qp);
}

/* One that is wrong, and none of the batch is posted. */
static int complete_with(struct ibv_qp_ex *ex, void (*wrong)(struct ibv_qp_ex *))
{
	int err;

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	wrong(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 1, 2, 3);
	err = ibv_wr_complete(ex);
	expect(!fake_posted(&kernel.sq) && !kernel.doorbells);
	return err;
}

static void inline_too_long(struct ibv_qp_ex *ex)
{
	ibv_wr_set_inline_data(ex, (void *)1, 101);
}

static void inline_list_too_long(struct ibv_qp_ex *ex)
{
	char data[60] = "";
	struct ibv_data_buf bufs[2] = { { data, 60 }, { data, 41 } };

	ibv_wr_set_inline_data_list(ex, 2, bufs);
}

static void inline_list_wraps(struct ibv_qp_ex *ex)
{
	struct ibv_data_buf bufs[2] = { { "x", 1 }, { "x", SIZE_MAX } };

	ibv_wr_set_inline_data_list(ex, 2, bufs);
}

static void inline_read(struct ibv_qp_ex *ex)
{
	ibv_wr_rdma_read(ex, 1, 2);
	ibv_wr_set_inline_data(ex, "x", 1);
}

static void too_many_sges(struct ibv_qp_ex *ex)
{
	ibv_wr_set_sge_list(ex, 4, NULL);
}

static void bad_flags(struct ibv_qp_ex *ex)
{
	ex->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_send(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
}

static void one_too_many(struct ibv_qp_ex *ex)
{
	int i;

	for (i = 0; i < CAP; i++)
		ibv_wr_send(ex);
}

static void test_errors(void)
{
	struct ibv_qp_ex *ex;
	struct rover_qp *qp = ready_qp(&ex);

	fake_flag(&kernel.sq, ROVER_RING_NEED_WAKEUP, true);
	expect(complete_with(ex, inline_too_long) == EINVAL);
	expect(complete_with(ex, inline_list_too_long) == EINVAL);
	expect(complete_with(ex, inline_list_wraps) == EINVAL);
	expect(complete_with(ex, inline_read) == EINVAL);
	expect(complete_with(ex, too_many_sges) == EINVAL);
	expect(complete_with(ex, bad_flags) == EINVAL);
	expect(complete_with(ex, one_too_many) == ENOMEM);

	ibv_wr_start(ex);
	ibv_wr_set_sge(ex, 1, 2, 3);	/* of no request */
	expect(ibv_wr_complete(ex) == EINVAL);
	qp->vqp.qp.state = IBV_QPS_RTR;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	expect(ibv_wr_complete(ex) == EINVAL);
	qp->vqp.qp.state = IBV_QPS_RTS;

	/* The queue is as it was. */
	ibv_wr_start(ex);
	expect(!ibv_wr_complete(ex) && !kernel.doorbells);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	expect(!ibv_wr_complete(ex) && kernel.doorbells == 1);
	expect(head_is(ROVER_WQE_SEND, 0, 0, 0));
	kernel.doorbell_err = EIO;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	expect(ibv_wr_complete(ex) == EIO);
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_abort(void)
{
	struct ibv_qp_ex *ex;
	struct rover_qp *qp = ready_qp(&ex);
	int i;

	for (i = 0; i < 3 * CAP; i++) {
		ibv_wr_start(ex);
		ibv_wr_send_imm(ex, 1);
		ibv_wr_send_imm(ex, 2);
		ibv_wr_abort(ex);
		expect(!fake_posted(&kernel.sq));
		ibv_wr_start(ex);
		ibv_wr_send_imm(ex, 3);
		expect(!ibv_wr_complete(ex));
		expect(head_is(ROVER_WQE_SEND_IMM, 3, 0, 0));
	}
	rover_destroy_qp(&qp->vqp.qp);
}

static void test_addresses(void)
{
	struct rover_qp *qp = fake_ud_qp(CAP, true);
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;
	struct rover_ah ah = { .number = 77 };
	const struct rover_send_wqe *wqe;
	int i;

	qp->vqp.qp.state = IBV_QPS_RTS;
	ex->wr_id = 42;
	ex->wr_flags = 0;
	/* Address and data in either order. */
	ibv_wr_start(ex);
	for (i = 0; i < 2; i++) {
		ibv_wr_send(ex);
		if (i)
			ibv_wr_set_ud_addr(ex, &ah.ah, 5 + i, 7);
		ibv_wr_set_sge(ex, 1, 2, 3);
		if (!i)
			ibv_wr_set_ud_addr(ex, &ah.ah, 5 + i, 7);
	}
	expect(!ibv_wr_complete(ex));
	for (i = 0; i < 2; i++) {
		wqe = sent();
		expect(wqe->opcode == ROVER_WQE_SEND && wqe->num_sge == 1);
		expect(wqe->ah == 77 && wqe->remote_qpn == 5U + i &&
		       wqe->remote_qkey == 7);
	}

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, NULL, 5, 7);
	expect(ibv_wr_complete(ex) == EINVAL);
	ibv_wr_start(ex);
	ibv_wr_set_ud_addr(ex, &ah.ah, 5, 7);
	expect(ibv_wr_complete(ex) == EINVAL);
	expect(!fake_posted(&kernel.sq));
	expect(!ex->wr_rdma_write && !ex->wr_send_inv);
	rover_destroy_qp(&qp->vqp.qp);
}

const struct test build_tests[] = {
	{ "ibv_wr: every operation, field by field", test_builders },
	{ "ibv_wr: words and flushes", test_words },
	{ "ibv_wr: setters", test_setters },
	{ "ibv_wr: an error posts nothing", test_errors },
	{ "ibv_wr: abort", test_abort },
	{ "ibv_wr: addresses of datagrams", test_addresses },
	{ NULL, NULL },
};
