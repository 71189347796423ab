// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * poll_test.c: both ways of polling, overflow and resizing.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <ccan/array_size.h>

#include "test.h"

static const struct {
	uint8_t cqe;
	enum ibv_wc_opcode wc;
} opcodes[] = {
	{ ROVER_CQE_SEND, IBV_WC_SEND },
	{ ROVER_CQE_WRITE, IBV_WC_RDMA_WRITE },
	{ ROVER_CQE_READ, IBV_WC_RDMA_READ },
	{ ROVER_CQE_CMP_SWAP, IBV_WC_COMP_SWAP },
	{ ROVER_CQE_FETCH_ADD, IBV_WC_FETCH_ADD },
	{ ROVER_CQE_RECV, IBV_WC_RECV },
	{ ROVER_CQE_RECV_WRITE_IMM, IBV_WC_RECV_RDMA_WITH_IMM },
};

static void complete(uint64_t wr_id)
{
	struct rover_cqe cqe = { .wr_id = wr_id };

	fake_complete(&kernel.cq, &cqe, false);
}

static void test_fields(void)
{
	struct ibv_cq *cq = fake_cq(4);
	unsigned int i;

	for (i = 0; i < 5 * ARRAY_SIZE(opcodes); i++) {
		unsigned int row = i % ARRAY_SIZE(opcodes);
		struct rover_cqe cqe = {
			.wr_id = 1000 + i, .qpn = 0x123456, .src_qpn = 7,
			.byte_len = i * 10, .imm = 0x11223344, .sl = 5,
			.opcode = opcodes[row].cqe, .flags = i & 7,
		};
		struct ibv_wc wc = { .slid = 9, .pkey_index = 9 };

		fake_complete(&kernel.cq, &cqe, false);
		expect(rover_poll_cq(cq, 1, &wc) == 1);
		expect(wc.wr_id == 1000 + i && wc.status == IBV_WC_SUCCESS);
		expect(wc.opcode == opcodes[row].wc && wc.qp_num == 0x123456);
		expect(wc.byte_len == i * 10 && wc.imm_data == 0x11223344);
		expect(wc.src_qp == 7 && wc.sl == 5 && !wc.slid);
		expect(!wc.pkey_index && !wc.dlid_path_bits && !wc.vendor_err);
		expect(!(wc.wc_flags & IBV_WC_WITH_IMM) == !(i & ROVER_CQE_WITH_IMM));
		expect(!(wc.wc_flags & IBV_WC_WITH_INV) == !(i & ROVER_CQE_WITH_INV));
		expect(!(wc.wc_flags & IBV_WC_GRH) == !(i & ROVER_CQE_GRH));
		expect(rover_poll_cq(cq, 1, &wc) == 0);
	}
	rover_destroy_cq(cq);
}

static void test_errors(void)
{
	struct ibv_cq *cq = fake_cq(4);
	struct rover_cqe cqe = { .wr_id = 3, .qpn = 9, .vendor_err = 17,
				 .status = IBV_WC_REM_ACCESS_ERR, .opcode = 200 };
	struct ibv_wc wc;

	fake_complete(&kernel.cq, &cqe, false);
	expect(rover_poll_cq(cq, 1, &wc) == 1);
	expect(wc.wr_id == 3 && wc.qp_num == 9 && wc.vendor_err == 17);
	expect(wc.status == IBV_WC_REM_ACCESS_ERR);
	rover_destroy_cq(cq);
}

/* Of a queue pair that was reset nothing is left, and of others all. */
static void test_forgotten(void)
{
	struct ibv_cq *cq = fake_cq(8);
	struct rover_cqe cqe = { 0 };
	struct ibv_wc wc[8];

	for (; cqe.wr_id < 12; cqe.wr_id++) {
		cqe.qpn = 7 + cqe.wr_id % 2;
		fake_complete(&kernel.cq, &cqe, false);
		if (cqe.wr_id < 4)
			expect(rover_poll_cq(cq, 1, wc) == 1);
	}
	rover_cq_forget(cq, 8);
	expect(rover_poll_cq(cq, 8, wc) == 4);
	expect(wc[0].wr_id == 4 && wc[1].wr_id == 6 && wc[3].wr_id == 10);
	expect(!rover_poll_cq(cq, 8, wc));
	/* What it completes from now on is news. */
	cqe.qpn = 8;
	fake_complete(&kernel.cq, &cqe, false);
	expect(rover_poll_cq(cq, 8, wc) == 1 && wc[0].wr_id == 12);
	rover_cq_forget(NULL, 8);
	rover_destroy_cq(cq);
}

/* Batches of all sizes over many laps; each completion once, in order. */
static void test_laps(void)
{
	struct ibv_cq *cq = fake_cq(8);
	uint64_t in = 0, out = 0;
	struct ibv_wc wc[16];
	int lap, n, i;

	for (lap = 0; lap < 200; lap++) {
		for (i = 0; i < lap % 9; i++)
			complete(in++);
		while ((n = rover_poll_cq(cq, lap % 5 + 1, wc)) > 0)
			for (i = 0; i < n; i++)
				expect(wc[i].wr_id == out++);
		expect(in == out && kernel.cq.hdr->head == (uint32_t)out);
	}
	expect(rover_poll_cq(cq, 0, wc) == 0);
	rover_destroy_cq(cq);
}

/* The kernel learns of consumed slots before a long batch is over. */
static void test_told_in_time(void)
{
	struct ibv_cq *cq = fake_cq(16);
	struct ibv_cq_ex *ex = &to_cq(cq)->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };
	uint64_t in = 0, out = 0;

	rover_cq_set_ops(to_cq(cq), 0);
	while (in < 16)
		complete(in++);
	expect(!ibv_start_poll(ex, &attr));
	do {
		expect(ex->wr_id == out++);
		if (in < 100 && fake_room(&kernel.cq))
			complete(in++);
	} while (!ibv_next_poll(ex));
	ibv_end_poll(ex);
	expect(in == 100 && out == 100);
	expect(kernel.cq.hdr->head == 100);
	expect(!(kernel.cq.hdr->flags & ROVER_RING_DEAD));
	rover_destroy_cq(cq);
}

static struct ibv_cq_ex *extended(uint64_t wc_flags, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8, .wc_flags = wc_flags, .flags = flags,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
	};

	fake_context.context.cmd_fd = FAKE_FD;
	return rover_create_cq_ex(&fake_context.context, &attr);
}

#define NEAR	60000000000ULL

static void test_extended_fields(void)
{
	uint64_t all = IBV_WC_STANDARD_FLAGS |
		       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
		       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	struct ibv_cq_ex *ex = extended(all, 0);
	struct rover_cqe cqe = {
		.wr_id = 1, .qpn = 2, .src_qpn = 3, .byte_len = 4, .imm = 5,
		.vendor_err = 6, .sl = 7, .opcode = ROVER_CQE_RECV,
		.flags = ROVER_CQE_WITH_IMM, .status = IBV_WC_LOC_PROT_ERR,
	};
	struct ibv_poll_cq_attr attr = { .comp_mask = 1 };
	struct timespec now;
	uint64_t wall;

	expect(kernel.cq_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	clock_gettime(CLOCK_MONOTONIC, &now);
	cqe.timestamp = (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	fake_complete(&kernel.cq, &cqe, false);
	expect(ibv_start_poll(ex, &attr) == EINVAL);
	attr.comp_mask = 0;
	expect(!ibv_start_poll(ex, &attr));
	expect(ex->wr_id == 1 && ex->status == IBV_WC_LOC_PROT_ERR);
	expect(ibv_wc_read_opcode(ex) == IBV_WC_RECV);
	expect(ibv_wc_read_vendor_err(ex) == 6 && ibv_wc_read_byte_len(ex) == 4);
	expect(ibv_wc_read_imm_data(ex) == 5 && ibv_wc_read_qp_num(ex) == 2);
	expect(ibv_wc_read_src_qp(ex) == 3 && ibv_wc_read_sl(ex) == 7);
	expect(!ibv_wc_read_slid(ex) && !ibv_wc_read_dlid_path_bits(ex));
	expect(ibv_wc_read_wc_flags(ex) == IBV_WC_WITH_IMM);
	expect(ibv_wc_read_completion_ts(ex) == cqe.timestamp);
	clock_gettime(CLOCK_REALTIME, &now);
	wall = (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	expect(wall - ibv_wc_read_completion_wallclock_ns(ex) < NEAR);
	ibv_end_poll(ex);
	rover_destroy_cq(ibv_cq_ex_to_cq(ex));
}

/* Past the last completion nothing is shown, consumed or unlocked twice. */
static void test_extended_walk(void)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *ex = extended(0, 0);
	struct ibv_wc wc;
	int i;

	expect(!ex->read_byte_len && !ex->read_completion_ts);
	for (i = 0; i < 50; i++) {
		expect(ibv_start_poll(ex, &attr) == ENOENT);
		expect(ibv_start_poll(ex, &attr) == ENOENT);
		complete(1);
		complete(2);
		expect(!ibv_start_poll(ex, &attr) && ex->wr_id == 1);
		expect(!ibv_next_poll(ex) && ex->wr_id == 2);
		expect(ibv_next_poll(ex) == ENOENT);
		expect(ibv_next_poll(ex) == ENOENT);
		complete(3);
		expect(!ibv_next_poll(ex) && ex->wr_id == 3);
		expect(ibv_next_poll(ex) == ENOENT);
		ibv_end_poll(ex);
		complete(4);
		complete(5);
		expect(!ibv_start_poll(ex, &attr) && ex->wr_id == 4);
		ibv_end_poll(ex);
		expect(rover_poll_cq(ibv_cq_ex_to_cq(ex), 1, &wc) == 1);
		expect(wc.wr_id == 5);
	}
	rover_destroy_cq(ibv_cq_ex_to_cq(ex));
}

/* Also who is shown nothing tells the kernel what room there is. */
static void test_extended_forgotten(void)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *ex = extended(0, 0);
	struct rover_cqe cqe = { .qpn = 8 };

	fake_complete(&kernel.cq, &cqe, false);
	rover_cq_forget(ibv_cq_ex_to_cq(ex), 8);
	expect(ibv_start_poll(ex, &attr) == ENOENT);
	expect(kernel.cq.hdr->head == kernel.cq.index);
	rover_destroy_cq(ibv_cq_ex_to_cq(ex));
}

static void test_extended_refusals(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8, .comp_mask = 1U << 31,
	};
	struct ibv_cq_ex *ex;

	expect(!extended(IBV_WC_EX_WITH_CVLAN, 0) && errno == EOPNOTSUPP);
	expect(!extended(IBV_WC_EX_WITH_TM_INFO, 0) && errno == EOPNOTSUPP);
	expect(!extended(0, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) &&
	       errno == EOPNOTSUPP);
	expect(!rover_create_cq_ex(&fake_context.context, &attr) &&
	       errno == EOPNOTSUPP);
	ex = extended(0, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	expect(ex && to_cq_ex(ex)->lock.single);
	rover_destroy_cq(ibv_cq_ex_to_cq(ex));
}

static void test_overflow(void)
{
	struct ibv_cq *cq = fake_cq(4);
	struct ibv_cq_ex *ex = &to_cq(cq)->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_wc wc[8];
	int i;

	rover_cq_set_ops(to_cq(cq), 0);
	for (i = 0; i < 6; i++)
		complete(i);
	expect(rover_poll_cq(cq, 8, wc) == 4 && wc[3].wr_id == 3);
	errno = 0;
	expect(rover_poll_cq(cq, 8, wc) < 0 && errno == EIO);
	expect(ibv_start_poll(ex, &attr) == EIO);
	expect(ibv_start_poll(ex, &attr) == EIO);
	rover_destroy_cq(cq);
}

static void test_resize(void)
{
	static const int sizes[] = { 4, 64, 8, 16, 4, 4 };
	struct ibv_cq *cq = fake_cq(16);
	uint64_t in = 0, out = 0;
	struct ibv_wc wc;
	unsigned int i;
	int j;

	for (i = 0; i < 4 * ARRAY_SIZE(sizes); i++) {
		for (j = 0; j < 4; j++)
			complete(in++);
		expect(rover_poll_cq(cq, 1, &wc) == 1 && wc.wr_id == out++);
		expect(!rover_resize_cq(cq, sizes[i % ARRAY_SIZE(sizes)]));
		expect(kernel.mapped == 1);
		complete(in++);
		while (rover_poll_cq(cq, 1, &wc) == 1)
			expect(wc.wr_id == out++);
		expect(in == out);
	}
	complete(in++);
	complete(in++);
	expect(rover_resize_cq(cq, 1) == EINVAL);
	expect(rover_poll_cq(cq, 1, &wc) == 1 && wc.wr_id == out);
	kernel.fail_mmap = 1;
	expect(rover_resize_cq(cq, 32) == ENOMEM);
	expect(rover_poll_cq(cq, 1, &wc) < 0);
	free(kernel.cq.hdr);	/* which nobody could map */
	rover_destroy_cq(cq);
}

const struct test poll_tests[] = {
	{ "poll: every opcode and field", test_fields },
	{ "poll: completions in error", test_errors },
	{ "poll: of a queue pair that was reset nothing is left", test_forgotten },
	{ "poll: many laps", test_laps },
	{ "poll: a long batch does not overflow the queue", test_told_in_time },
	{ "extended poll: every field", test_extended_fields },
	{ "extended poll: start, next, end", test_extended_walk },
	{ "extended poll: of a queue pair that was reset nothing is left",
	  test_extended_forgotten },
	{ "extended poll: flags nobody can serve", test_extended_refusals },
	{ "poll: an overflowed queue is drained, then an error", test_overflow },
	{ "resize keeps what was not polled", test_resize },
	{ NULL, NULL },
};
