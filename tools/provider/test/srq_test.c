// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * srq_test.c: shared receive queues.
 */
#include <errno.h>
#include <string.h>

#include "test.h"

#define CAP	5	/* not a power of two: the ring is longer than the queue */

static int post(struct rover_srq *srq, uint64_t wr_id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = n };
	struct ibv_recv_wr *bad = NULL;
	int err = rover_post_srq_recv(&srq->vsrq.srq, &wr, &bad);

	expect(!err ? !bad : bad == &wr);
	return err;
}

/* The oldest receive has to be this one. */
static void taken(uint64_t wr_id)
{
	const struct rover_recv_wqe *wqe = fake_posted(&kernel.srq);

	expect(wqe && wqe->wr_id == wr_id);
	if (wqe)
		fake_retire(&kernel.srq);
}

static int resize(struct rover_srq *srq, uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return rover_modify_srq(&srq->vsrq.srq, &attr, IBV_SRQ_MAX_WR);
}

static void test_life(void)
{
	struct ibv_srq_init_attr attr = { .attr = { CAP, 2, 0 } };
	struct rover_srq *srq = fake_srq(CAP, 2);
	struct ibv_srq *second;

	expect(srq && kernel.mapped == 1 && kernel.objects == 1);
	second = rover_create_srq(&fake_pd.pd, &attr);
	/* What the kernel granted. */
	expect(attr.attr.max_wr == CAP && attr.attr.max_sge == 3);
	expect(!rover_destroy_srq(second));
	expect(!rover_destroy_srq(&srq->vsrq.srq));
}

static void test_no_mapping(void)
{
	kernel.fail_mmap = 1;
	expect(!fake_srq(CAP, 2) && errno == ENOMEM);
	expect(!kernel.mapped && !kernel.objects && kernel.said == 1);
	kernel.bad_stride = true;
	expect(!fake_srq(CAP, 2) && errno == EPROTO);
}

static void test_post(void)
{
	struct ibv_sge sge[4] = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 },
				  { 10, 11, 12 } };
	struct rover_srq *srq = fake_srq(CAP, 3);
	struct rover_recv_wqe *wqe;
	int i;

	expect(!post(srq, 9, sge, 3));
	wqe = fake_posted(&kernel.srq);
	expect(wqe && wqe->wr_id == 9 && wqe->num_sge == 3 && !wqe->reserved_0c);
	expect(!memcmp((char *)wqe + ROVER_RECV_WQE_HDR, sge, 3 * sizeof(*sge)));
	expect(post(srq, 10, sge, 4) == EINVAL && post(srq, 10, sge, -1) == EINVAL);
	for (i = 1; i < CAP; i++)
		expect(!post(srq, 9 + i, NULL, 0));
	expect(post(srq, 1, NULL, 0) == ENOMEM);
	for (i = 0; i < 3 * CAP; i++) {
		taken(9 + i);
		expect(!post(srq, 9 + CAP + i, sge, i % 4));
		expect(post(srq, 1, NULL, 0) == ENOMEM);
	}
	/* Nobody flushes them, so nobody has to be woken. */
	expect(!kernel.doorbells);
	rover_destroy_srq(&srq->vsrq.srq);
}

/* What comes before the bad one is posted. */
static void test_chain(void)
{
	struct rover_srq *srq = fake_srq(8, 2);
	struct ibv_recv_wr wr[4] = { { 0 } }, *bad = NULL;
	int i;

	for (i = 0; i < 4; i++) {
		wr[i].wr_id = i;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	wr[2].num_sge = 100;
	expect(rover_post_srq_recv(&srq->vsrq.srq, wr, &bad) == EINVAL);
	expect(bad == &wr[2]);
	taken(0);
	taken(1);
	expect(!fake_posted(&kernel.srq));
	rover_destroy_srq(&srq->vsrq.srq);
}

/* Up and down, each time with the ring turned a little further. */
static void test_resize(void)
{
	static const uint32_t sizes[] = { 16, 5, 7, 3, 64, 4 };
	uint64_t head = 0, tail = 0;
	struct rover_srq *srq = fake_srq(CAP, 2);
	unsigned int i;

	for (i = 0; i < 6; i++) {
		while (tail - head < 3)
			expect(!post(srq, tail++, NULL, 0));
		expect(!resize(srq, sizes[i]) && kernel.mapped == 1);
		while (tail - head < sizes[i])
			expect(!post(srq, tail++, NULL, 0));
		expect(post(srq, 1, NULL, 0) == ENOMEM);
		while (tail - head > 2)
			taken(head++);
	}
	/* Refused: all stays as it was. */
	kernel.srq_err = EINVAL;
	expect(resize(srq, 100) == EINVAL);
	expect(!post(srq, tail++, NULL, 0) && !post(srq, tail++, NULL, 0));
	expect(post(srq, 1, NULL, 0) == ENOMEM);
	while (head != tail)
		taken(head++);
	rover_destroy_srq(&srq->vsrq.srq);
}

/* The kernel has gone on to a ring we cannot have. */
static void test_resize_unmapped(void)
{
	struct rover_srq *srq = fake_srq(CAP, 2);
	struct rover_ring_hdr *lost;

	expect(!post(srq, 1, NULL, 0));
	kernel.fail_mmap = 1;
	expect(resize(srq, 16) == ENOMEM && !kernel.mapped);
	expect(post(srq, 2, NULL, 0) == ENOMEM);
	lost = kernel.srq.hdr;
	/* A further attempt brings it back, with what was posted. */
	expect(!resize(srq, 16));
	expect(!post(srq, 2, NULL, 0));
	taken(1);
	taken(2);
	rover_destroy_srq(&srq->vsrq.srq);
	fake_forget(lost);
}

static void test_limit(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct rover_srq *srq = fake_srq(CAP, 2);
	struct rover_ring_hdr *hdr = kernel.srq.hdr;

	expect(!rover_modify_srq(&srq->vsrq.srq, &attr, IBV_SRQ_LIMIT));
	expect(kernel.srq.hdr == hdr && kernel.mapped == 1);
	expect(!post(srq, 1, NULL, 0));
	rover_destroy_srq(&srq->vsrq.srq);
}

static void test_qp(void)
{
	struct rover_srq *srq = fake_srq(CAP, 2);
	struct ibv_qp_init_attr attr = {
		.srq = &srq->vsrq.srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1,
			 .max_recv_wr = 7, .max_recv_sge = 7 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_recv_wr wr = { .wr_id = 9 }, *bad = NULL;
	struct ibv_qp *qp = rover_create_qp(&fake_pd.pd, &attr);

	expect(qp && kernel.mapped == 2);
	expect(!attr.cap.max_recv_wr && !attr.cap.max_recv_sge);
	qp->state = IBV_QPS_RTS;
	expect(rover_post_recv(qp, &wr, &bad) == EINVAL && bad == &wr);
	fake_state(to_qp(qp), IBV_QPS_RESET);
	rover_destroy_qp(qp);
	rover_destroy_srq(&srq->vsrq.srq);
}

const struct test srq_tests[] = {
	{ "shared: the ring is mapped and unmapped", test_life },
	{ "shared: a ring that cannot be mapped leaves nothing behind",
	  test_no_mapping },
	{ "shared: requests, a full queue, many laps", test_post },
	{ "shared: a chain with a bad request", test_chain },
	{ "shared: resizing keeps what is posted, and its place", test_resize },
	{ "shared: a new ring that cannot be mapped", test_resize_unmapped },
	{ "shared: a limit changes no ring", test_limit },
	{ "shared: a queue pair has no receive ring", test_qp },
	{ NULL, NULL },
};
