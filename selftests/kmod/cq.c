// SPDX-License-Identifier: GPL-2.0
/*
 * cq - completion queues: poll contexts, drain, overflow, destruction under traffic
 *
 * The cases open stages of their own.
 *
 * Process context.
 */
#include "ktest.h"

static const char *const cq_poll_names[] = {
	[IB_POLL_DIRECT] = "by the caller",
	[IB_POLL_SOFTIRQ] = "in a softirq",
	[IB_POLL_WORKQUEUE] = "by a worker",
	[IB_POLL_UNBOUND_WORKQUEUE] = "by an unbound worker",
};

/* Each completion comes once, in order, and only if signaled. */
static void cq_exchange(struct stage *st, unsigned int round)
{
	struct side *a = &st->a, *b = &st->b;
	u32 lkey = st->pd->local_dma_lkey;
	unsigned int i, first_a = a->came, first_b = b->came;
	struct mark *sent[8], *got[8];

	side_fill(a, round);
	for (i = 0; i < 8; i++)
		got[i] = post_recv(b, b->dma + i * 4096, 4096, lkey);
	for (i = 0; i < 8; i++)
		sent[i] = post_send(a, a->dma + i * 4096, 100 + 500 * i, lkey);
	for (i = 0; i < 8; i++) {
		want(sent[i], IB_WC_SUCCESS);
		if (!want(got[i], IB_WC_SUCCESS))
			return;
		check(st->t, sent[i]->order == first_a + i &&
		      got[i]->order == first_b + i, "out of order");
		check(st->t, !memcmp(a->buf + i * 4096, b->buf + i * 4096, 100 + 500 * i),
		      "wrong data");
	}
}

/* Open a stage with a region at b; NULL, and a failed case, on error. */
static struct stage *cq_stage_open(struct ktest *t, enum ib_poll_context how,
				   unsigned int cqes, struct region *r)
{
	struct stage *st = stage_open(t, how, cqes);

	if (!st || region_simple(&st->b, r, ALL_RIGHTS))
		return st;
	stage_close(st);
	return NULL;
}

static void cq_test_poll(struct stage *unused, const void *arg)
{
	enum ib_poll_context how = *(const enum ib_poll_context *)arg;
	struct ktest *t = unused->t;
	struct mark *last[16];
	struct stage *st;
	unsigned int i;

	st = stage_open(t, how, 4 * DEPTH);
	if (!st)
		return;
	for (i = 0; i < (t->quick ? 5 : 100); i++)
		cq_exchange(st, i);
	/* After a drain all requests have completed. */
	for (i = 0; i < 16; i++)
		last[i] = post_recv(&st->a, st->a.dma, 100, st->pd->local_dma_lkey);
	ib_drain_rq(st->a.qp);
	for (i = 0; i < 16; i++)
		check(t, last[i]->times == 1 &&
		      last[i]->wc.status == IB_WC_WR_FLUSH_ERR, "receive %u", i);
	for (i = 0; i < 16; i++)
		last[i] = post_send(&st->b, st->b.dma, 40000, st->pd->local_dma_lkey);
	ib_drain_qp(st->b.qp);
	for (i = 0; i < 16; i++)
		check(t, last[i]->times == 1 &&
		      last[i]->wc.status == IB_WC_WR_FLUSH_ERR, "send %u", i);
	want_state(&st->b, IB_QPS_ERR);
	check(t, !stage_again(st), "not connected again");
	cq_exchange(st, 1);
	stage_close(st);
}

/* Unsignaled requests complete silently, unless they fail. */
static void cq_test_unsignaled(struct stage *st, const void *arg)
{
	struct side *a = &st->a;
	struct ib_sge sge = { a->dma, 100, st->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 },
	};
	const struct ib_send_wr *bad;
	struct mark *m[4];
	struct region r;
	unsigned int i;

	if (!region_simple(&st->b, &r, ALL_RIGHTS))
		return;
	wr.remote_addr = r.mr->iova;
	wr.rkey = r.mr->rkey;
	for (i = 0; i < 4; i++) {
		m[i] = mark_new(a);
		wr.wr.wr_cqe = &m[i]->cqe;
		wr.wr.send_flags = i == 3 ? IB_SEND_SIGNALED : 0;
		check(st->t, !ib_post_send(a->qp, &wr.wr, &bad), "not posted");
	}
	want(m[3], IB_WC_SUCCESS);
	check(st->t, a->came == 1, "%u completions", a->came);
	wr.rkey ^= 1;
	wr.wr.send_flags = 0;
	m[0] = mark_new(a);
	wr.wr.wr_cqe = &m[0]->cqe;
	check(st->t, !ib_post_send(a->qp, &wr.wr, &bad), "not posted");
	want(m[0], IB_WC_REM_ACCESS_ERR);
	region_free(&r);
}

/* Destroy the sending or the receiving queue pair under traffic. */
static void cq_test_destroy(struct stage *unused, const void *arg)
{
	static const enum ib_poll_context hows[] = {
		IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE, IB_POLL_DIRECT,
	};
	struct ktest *t = unused->t;
	u32 bytes = t->slow > 1 ? 4000 : 40000;
	unsigned int i, n;

	for (i = 0; i < (t->quick ? 6 : 200); i++) {
		struct stage *st;
		struct region r;

		st = cq_stage_open(t, hows[i % 3], 4 * DEPTH, &r);
		if (!st)
			return;
		for (n = 0; n < DEPTH; n++)
			post_rdma(&st->a, n % 2 ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
				  st->a.dma, bytes, st->pd->local_dma_lkey,
				  r.mr->iova, r.mr->rkey);
		side_destroy(i % 2 ? &st->a : &st->b);
		region_free(&r);
		stage_close(st);
	}
}

/* Without polling, the first completion that does not fit is fatal. */
static void cq_test_overflow(struct stage *unused, const void *arg)
{
	struct ktest *t = unused->t;
	struct mark *m[12];
	struct stage *st;
	struct region r;
	unsigned int i;

	st = cq_stage_open(t, IB_POLL_DIRECT, 4, &r);
	if (!st)
		return;
	for (i = 0; i < ARRAY_SIZE(m); i++)
		m[i] = post_rdma(&st->a, IB_WR_RDMA_WRITE, st->a.dma, 100,
				 st->pd->local_dma_lkey, r.mr->iova, r.mr->rkey);
	want_event(&st->a, IB_EVENT_QP_FATAL);
	want_state(&st->a, IB_QPS_ERR);
	/* Those that fitted are still there. */
	check(t, ib_process_cq_direct(st->a.cq, -1) == 4 && st->a.cq->cqe == 4,
	      "wrong number of completions; the queue has %d entries", st->a.cq->cqe);
	for (i = 0; i < ARRAY_SIZE(m); i++)
		check(t, m[i]->times == (i < 4), "completion %u", i);
	region_free(&r);
	stage_close(st);
}

void ktest_cq(struct ktest *t)
{
	enum ib_poll_context how;

	for (how = IB_POLL_DIRECT; how <= IB_POLL_UNBOUND_WORKQUEUE; how++)
		ktest_run(t, cq_test_poll, &how, "completions come once and in order, polled %s",
			  cq_poll_names[how]);
	ktest_run(t, cq_test_unsignaled, NULL, "an unsignaled request completes only if it fails");
	ktest_run(t, cq_test_destroy, NULL, "queue pairs are destroyed under traffic");
	ktest_run(t, cq_test_overflow, NULL, "a full completion queue fails the queue pair");
}
