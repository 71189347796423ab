// SPDX-License-Identifier: GPL-2.0
/*
 * uc - unreliable connections: data is complete or lost, local errors fail
 *
 * The cases have queue pairs of their own; those of the outer stage register
 * memory.
 *
 * Process context.
 */
#include "ktest.h"

/* The sender gets no acknowledgment: receives show what arrived. */
struct uc_env {
	struct stage *st;
	struct side *owner;
	struct region r;
};

/* Send from the start of a's buffer; a WRITE goes to the owner's. */
static struct mark *uc_post(struct uc_env *u, enum ib_wr_opcode op, u32 len,
			    u32 bad_key)
{
	struct side *a = &u->st->a;
	struct ib_sge sge[2] = {
		{ a->dma, len / 2, a->pd->local_dma_lkey },
		{ a->dma + len / 2, len - len / 2, a->pd->local_dma_lkey },
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = op, .sg_list = sge, .num_sge = len ? 2 : 0,
			.ex.imm_data = cpu_to_be32(0x80000000 + len),
		},
		.remote_addr = u->r.mr->iova,
		.rkey = u->r.mr->rkey ^ bad_key,
	};

	return post_wr(a, &wr.wr);
}

static struct mark *uc_post_recv(struct uc_env *u, u32 len)
{
	struct side *b = &u->st->b;

	return post_recv(b, b->dma, len, b->pd->local_dma_lkey);
}

/* A message of three packets arrives. */
static bool uc_check_passes(struct uc_env *u, struct mark *recv)
{
	struct ktest *t = u->st->t;

	side_fill(&u->st->a, 79);
	want(uc_post(u, IB_WR_SEND, 3000, 0), IB_WC_SUCCESS);
	return want(recv, IB_WC_SUCCESS) &&
	       check(t, recv->wc.byte_len == 3000 &&
		     !memcmp(u->st->a.buf, u->st->b.buf, 3000), "wrong data");
}

/* Both queue pairs are in RTS and got no event. */
static void uc_check_quiet(struct uc_env *u)
{
	struct stage *st = u->st;

	want_state(&st->a, IB_QPS_RTS);
	want_state(&st->b, IB_QPS_RTS);
	want_no_event(st);
}

static void uc_run_send(struct uc_env *u, u32 len, bool imm)
{
	struct stage *st = u->st;
	struct mark *recv = uc_post_recv(u, len);

	memset(st->b.buf, 0xee, BUF_SIZE);
	want(uc_post(u, imm ? IB_WR_SEND_WITH_IMM : IB_WR_SEND, len, 0),
	     IB_WC_SUCCESS);
	if (!want(recv, IB_WC_SUCCESS))
		return;
	check(st->t, recv->wc.opcode == IB_WC_RECV && recv->wc.byte_len == len &&
	      recv->wc.wc_flags == (imm ? IB_WC_WITH_IMM : 0),
	      "%u bytes: opcode %d, %u bytes, flags 0x%x", len, recv->wc.opcode,
	      recv->wc.byte_len, recv->wc.wc_flags);
	check(st->t, !imm || be32_to_cpu(recv->wc.ex.imm_data) == 0x80000000 + len,
	      "data 0x%x", be32_to_cpu(recv->wc.ex.imm_data));
	check(st->t, !memcmp(st->a.buf, st->b.buf, len) &&
	      !memchr_inv(st->b.buf + len, 0xee, BUF_SIZE - len), "%u bytes: wrong data",
	      len);
}

/* A SEND behind a WRITE without immediate data shows its arrival. */
static void uc_run_write(struct uc_env *u, u32 len, bool imm)
{
	struct mark *recv = uc_post_recv(u, 0);
	struct stage *st = u->st;

	memset(u->owner->buf, 0xee, BUF_SIZE);
	want(uc_post(u, imm ? IB_WR_RDMA_WRITE_WITH_IMM : IB_WR_RDMA_WRITE, len, 0),
	     IB_WC_SUCCESS);
	if (!imm)
		want(uc_post(u, IB_WR_SEND, 0, 0), IB_WC_SUCCESS);
	if (!want(recv, IB_WC_SUCCESS))
		return;
	check(st->t, !imm || (recv->wc.opcode == IB_WC_RECV_RDMA_WITH_IMM &&
			      recv->wc.byte_len == len &&
			      recv->wc.wc_flags == IB_WC_WITH_IMM &&
			      be32_to_cpu(recv->wc.ex.imm_data) == 0x80000000 + len),
	      "%u bytes: opcode %d, %u bytes, flags 0x%x, data 0x%x", len,
	      recv->wc.opcode, recv->wc.byte_len, recv->wc.wc_flags,
	      be32_to_cpu(recv->wc.ex.imm_data));
	check(st->t, !memcmp(st->a.buf, u->owner->buf, len) &&
	      !memchr_inv(u->owner->buf + len, 0xee, BUF_SIZE - len),
	      "%u bytes: wrong data", len);
}

static void uc_test_data(struct uc_env *u)
{
	static const u32 lens[] = { 0, 1, 1023, 1024, 1025, 9000, 40000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		side_fill(&u->st->a, i);
		uc_run_send(u, lens[i], false);
		uc_run_send(u, lens[i], true);
		uc_run_write(u, lens[i], false);
		uc_run_write(u, lens[i], true);
	}
	uc_check_quiet(u);
}

/* No packet of this message is sent, not even those before the bad entry. */
static void uc_test_bad_source(struct uc_env *u)
{
	struct side *a = &u->st->a;
	u32 lkey = a->pd->local_dma_lkey;
	struct ib_sge sge[2] = { { a->dma, 5000, lkey }, { a->dma, 5000, lkey ^ 1 } };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 2 },
		.remote_addr = u->r.mr->iova,
		.rkey = u->r.mr->rkey,
	};
	struct mark *recv = uc_post_recv(u, 10000), *m[2];
	struct stage *st = u->st;
	unsigned int i;

	memset(st->b.buf, 0xee, BUF_SIZE);
	memset(u->owner->buf, 0xee, BUF_SIZE);
	for (i = 0; i < 2; i++) {
		m[0] = post_wr(a, &wr.wr);
		m[1] = uc_post(u, IB_WR_SEND, 10, 0);
		want(m[0], IB_WC_LOC_PROT_ERR);
		want(m[1], IB_WC_WR_FLUSH_ERR);
		want_state(a, IB_QPS_SQE);
		want(uc_post(u, IB_WR_RDMA_WRITE, 10, 0), IB_WC_WR_FLUSH_ERR);
		check(st->t, !side_resume(a), "SQE to RTS failed");
		wr.wr.opcode = IB_WR_RDMA_WRITE;
	}
	check(st->t, !recv->times && !memchr_inv(st->b.buf, 0xee, BUF_SIZE) &&
	      !memchr_inv(u->owner->buf, 0xee, BUF_SIZE), "something has arrived");
	uc_check_passes(u, recv);
	uc_check_quiet(u);
}

/* A WRITE with a bad key is lost silently, and takes no receive. */
static void uc_test_bad_target(struct uc_env *u)
{
	struct mark *recv = uc_post_recv(u, 3000);

	memset(u->owner->buf, 0xee, BUF_SIZE);
	want(uc_post(u, IB_WR_RDMA_WRITE_WITH_IMM, 3000, 1), IB_WC_SUCCESS);
	want(uc_post(u, IB_WR_RDMA_WRITE, 3000, 0x100), IB_WC_SUCCESS);
	uc_check_passes(u, recv);
	check(u->st->t, !memchr_inv(u->owner->buf, 0xee, BUF_SIZE), "data was written");
	uc_check_quiet(u);
}

/* Without a receive a message is lost; a receive too short stays. */
static void uc_test_short(struct uc_env *u)
{
	struct mark *recv;

	want(uc_post(u, IB_WR_SEND, 3000, 0), IB_WC_SUCCESS);
	/* A WRITE with immediate data behind it shows that it has arrived. */
	uc_run_write(u, 2000, true);
	recv = uc_post_recv(u, 3000);
	want(uc_post(u, IB_WR_SEND, 3001, 0), IB_WC_SUCCESS);
	uc_check_passes(u, recv);
	uc_check_quiet(u);
}

static void uc_test_refused(struct uc_env *u)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_SEND_WITH_INV, IB_WR_LOCAL_INV, IB_WR_LSO,
	};
	struct side *a = &u->st->a;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		struct ib_atomic_wr wr = { .wr.opcode = ops[i] };
		int err = post_wr(a, &wr.wr)->err;

		check(u->st->t, err == -EOPNOTSUPP, "operation %d: %d", ops[i], err);
	}
	check(u->st->t, !a->came, "a refused request had an effect");
	uc_check_quiet(u);
}

static void uc_test_flush(struct uc_env *u)
{
	struct side *a = &u->st->a, *b = &u->st->b;
	struct mark *recv[4];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(recv); i++)
		recv[i] = uc_post_recv(u, 100);
	check(u->st->t, !side_modify(b, IB_QPS_ERR, 0, 0), "no ERR");
	for (i = 0; i < ARRAY_SIZE(recv); i++)
		want(recv[i], IB_WC_WR_FLUSH_ERR);
	want(post_send(b, b->dma, 100, b->pd->local_dma_lkey), IB_WC_WR_FLUSH_ERR);
	want(uc_post_recv(u, 100), IB_WC_WR_FLUSH_ERR);
	want(uc_post(u, IB_WR_SEND, 5000, 0), IB_WC_SUCCESS);
	want_state(a, IB_QPS_RTS);
	want_no_event(u->st);
}

struct uc_case {
	void (*fn)(struct uc_env *u);
	const char *name;
};

static const struct uc_case uc_cases[] = {
	{ uc_test_data, "SENDs and WRITEs arrive" },
	{ uc_test_bad_source, "a message with an invalid local key is not sent" },
	{ uc_test_bad_target, "a WRITE with a wrong remote key is dropped" },
	{ uc_test_short, "messages without a large enough receive are dropped" },
	{ uc_test_refused, "unsupported requests are not posted" },
	{ uc_test_flush, "a queue pair in error flushes requests" },
};

/* Run the case, then check that the queue pairs still work. */
static void uc_run_case(struct stage *rc, const void *arg)
{
	const struct kind kind = {
		.type = IB_QPT_UC, .how = IB_POLL_SOFTIRQ, .beside = rc,
	};
	const struct uc_case *c = arg;
	struct ktest *t = rc->t;
	struct uc_env u = { .owner = &rc->b };

	if (!region_simple(u.owner, &u.r, ALL_RIGHTS))
		return;
	u.st = stage_open_of(t, &kind, 4 * DEPTH);
	if (u.st) {
		c->fn(&u);
		if (check(t, !stage_again(u.st), "the queue pairs cannot be connected again"))
			uc_check_passes(&u, uc_post_recv(&u, 3000));
		stage_close(u.st);
	}
	region_free(&u.r);
}

void ktest_uc(struct ktest *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(uc_cases); i++)
		ktest_run(t, uc_run_case, &uc_cases[i], "unreliable connections: %s",
			  uc_cases[i].name);
}
