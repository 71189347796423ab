// SPDX-License-Identifier: GPL-2.0
/*
 * post - posting: states, lists, invalid requests, full queues
 *
 * Process context.
 */
#include <linux/delay.h>

#include "ktest.h"

static struct mark *post_small_send(struct side *s)
{
	return post_send(s, s->dma, 100, s->pd->local_dma_lkey);
}

static struct mark *post_small_recv(struct side *s)
{
	return post_recv(s, s->dma, 100, s->pd->local_dma_lkey);
}

static void post_test_states(struct stage *st, const void *arg)
{
	struct side *a = &st->a;
	struct mark *recv;

	check(st->t, !side_modify(a, IB_QPS_RESET, 0, 0), "no RESET");
	check(st->t, post_small_send(a)->err == -EINVAL, "a send in RESET");
	check(st->t, post_small_recv(a)->err == -EINVAL, "a receive in RESET");
	check(st->t, post_inv(a, 0x123456, 0)->err == -EINVAL, "LOCAL_INV in RESET");
	check(st->t, !side_modify(a, IB_QPS_INIT, ALL_RIGHTS, 0), "no INIT");
	check(st->t, post_small_send(a)->err == -EINVAL, "a send in INIT");
	recv = post_small_recv(a);
	check(st->t, !recv->err, "no receive in INIT: %d", recv->err);
	check(st->t, !side_modify(a, IB_QPS_RTR, 0, st->b.qp->qp_num), "no RTR");
	check(st->t, post_small_send(a)->err == -EINVAL, "a send in RTR");
	check(st->t, !side_modify(a, IB_QPS_ERR, 0, 0), "no ERR");
	want(recv, IB_WC_WR_FLUSH_ERR);
	want(post_small_send(a), IB_WC_WR_FLUSH_ERR);
	want(post_small_recv(a), IB_WC_WR_FLUSH_ERR);
	want(post_inv(a, 0x123456, 0), IB_WC_WR_FLUSH_ERR);
	want_state(a, IB_QPS_ERR);
}

/* A list with a bad request: those before it are executed, those behind not. */
static void post_test_list(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	u32 lkey = st->pd->local_dma_lkey;
	struct ib_sge sge[MOST_SGE + 4];
	struct ib_send_wr wr[3] = {};
	const struct ib_send_wr *bad = NULL;
	struct mark *m[3], *recv[2];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = (struct ib_sge){ a->dma + i, 1, lkey };
	for (i = 0; i < 3; i++) {
		m[i] = mark_new(a);
		wr[i] = (struct ib_send_wr){
			.wr_cqe = &m[i]->cqe, .opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED, .sg_list = sge,
			.num_sge = a->cap.max_send_sge, .next = i < 2 ? &wr[i + 1] : NULL,
		};
	}
	check(st->t, a->cap.max_send_sge < ARRAY_SIZE(sge), "%u entries",
	      a->cap.max_send_sge);
	wr[1].num_sge++;
	side_fill(a, 5);
	memset(b->buf, 0, 200);
	recv[0] = post_small_recv(b);
	recv[1] = post_small_recv(b);
	check(st->t, ib_post_send(a->qp, wr, &bad) == -EINVAL, "too many entries");
	check(st->t, bad == &wr[1], "bad_wr names another request");
	want(m[0], IB_WC_SUCCESS);
	if (want(recv[0], IB_WC_SUCCESS))
		check(st->t, recv[0]->wc.byte_len == a->cap.max_send_sge &&
		      !memcmp(a->buf, b->buf, a->cap.max_send_sge), "wrong data");
	check(st->t, !mark_await(m[2], 20) && !recv[1]->times,
	      "requests behind the invalid one are executed");
}

static int post_recv_sges(struct side *s, int num)
{
	struct ib_sge sge[MOST_SGE + 4] = {};
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr wr = {
		.wr_cqe = &mark_new(s)->cqe, .sg_list = sge, .num_sge = num,
	};

	return ib_post_recv(s->qp, &wr, &bad);
}

static int post_send_sges(struct side *s, enum ib_wr_opcode op, int num, int flags)
{
	struct ib_sge sge[MOST_SGE + 4] = {};
	const struct ib_send_wr *bad = NULL;
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &mark_new(s)->cqe, .opcode = op, .sg_list = sge,
			.num_sge = num, .send_flags = flags },
	};

	return ib_post_send(s->qp, &wr.wr, &bad);
}

/* A refused request has no effect. */
static void post_test_refused(struct stage *st, const void *arg)
{
	struct side *a = &st->a;
	int most = a->cap.max_send_sge;

	check(st->t, post_recv_sges(a, a->cap.max_recv_sge + 1) == -EINVAL,
	      "a receive with too many entries");
	check(st->t, post_recv_sges(a, -1) == -EINVAL,
	      "a receive with -1 entries");
	check(st->t, post_send_sges(a, IB_WR_SEND, -1, 0) == -EINVAL,
	      "a SEND with -1 entries");
	check(st->t, post_send_sges(a, IB_WR_RDMA_READ, most + 1, 0) == -EINVAL,
	      "a READ with too many entries");
	check(st->t,
	      post_send_sges(a, IB_WR_RDMA_READ, 1, IB_SEND_INLINE) == -EINVAL,
	      "an inline READ");
	check(st->t,
	      post_send_sges(a, IB_WR_LOCAL_INV, 0, IB_SEND_INLINE) == -EINVAL,
	      "an inline LOCAL_INV");
	check(st->t, post_send_sges(a, IB_WR_SEND, 0, IB_SEND_IP_CSUM) == -EINVAL,
	      "IB_SEND_IP_CSUM");
	check(st->t, post_send_sges(a, IB_WR_SEND, 0, 1 << 30) == -EINVAL,
	      "unknown flags");
	check(st->t,
	      post_send_sges(a, IB_WR_RDMA_READ_WITH_INV, 1, 0) == -EOPNOTSUPP,
	      "READ_WITH_INV");
	check(st->t, post_send_sges(a, IB_WR_LSO, 0, 0) == -EOPNOTSUPP, "LSO");
	check(st->t, post_send_sges(a, 0x1f, 0, 0) == -EOPNOTSUPP,
	      "an unknown opcode");
	check(st->t, post_send_sges(a, 1000, 0, 0) == -EOPNOTSUPP,
	      "an opcode beyond the table");
	want_state(a, IB_QPS_RTS);
	check(st->t, !a->came && !a->events, "a refused request had an effect");
}

/* A local operation with an SGE fails when it is executed. */
static void post_test_local_sge(struct stage *st, const void *arg)
{
	struct ib_sge sge = { st->a.dma, 1, st->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV, .sg_list = &sge, .num_sge = 1,
	};

	want(post_wr(&st->a, &wr), IB_WC_LOC_QP_OP_ERR);
	want_state(&st->a, IB_QPS_ERR);
}

/* Inline data may be any memory, even on the stack. */
static void post_test_inline(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	u32 len = a->cap.max_inline_data;
	struct ib_sge sge[2] = { { .length = 3 }, { .length = len - 3 } };
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 2,
		.send_flags = IB_SEND_INLINE,
	};
	struct mark *m, *recv;
	u8 text[160];

	if (!check(st->t, len >= 64 && len < sizeof(text), "%u bytes", len))
		return;
	memcpy(text, ktest_pattern(st->t, 6), sizeof(text));
	sge[0].addr = (uintptr_t)text + 1;
	sge[1].addr = (uintptr_t)text + 4;
	recv = post_recv(b, b->dma, 1000, st->pd->local_dma_lkey);
	m = post_wr(a, &wr);
	memset(text + 1, 0, len);
	want(m, IB_WC_SUCCESS);
	if (want(recv, IB_WC_SUCCESS))
		check(st->t, recv->wc.byte_len == len, "%u bytes", recv->wc.byte_len);
	check(st->t, !memcmp(b->buf, ktest_pattern(st->t, 6) + 1, len), "wrong data");

	sge[1].length++;
	m = post_wr(a, &wr);
	check(st->t, m->err == -EINVAL, "one byte too many: %d", m->err);
	sge[0].length = U32_MAX;
	m = post_wr(a, &wr);
	check(st->t, m->err == -EINVAL, "U32_MAX bytes: %d", m->err);
	want_state(a, IB_QPS_RTS);
}

/* Nothing completes until the peer posts receives. */
static void post_test_full(struct stage *st, const void *arg)
{
	struct mark *sent[DEPTH], *got[DEPTH];
	unsigned int i;
	int err;

	for (i = 0; i < DEPTH; i++) {
		sent[i] = post_small_send(&st->a);
		check(st->t, !sent[i]->err, "request %u: %d", i, sent[i]->err);
	}
	err = post_small_send(&st->a)->err;
	check(st->t, st->a.cap.max_send_wr == DEPTH && err == -ENOMEM, "%u, %d",
	      st->a.cap.max_send_wr, err);
	err = post_inv(&st->a, 1, 0)->err;
	check(st->t, err == -ENOMEM, "one more: %d", err);
	check(st->t, !st->a.came, "one has completed");
	for (i = 0; i < DEPTH; i++) {
		got[i] = post_small_recv(&st->b);
		check(st->t, !got[i]->err, "receive %u: %d", i, got[i]->err);
	}
	for (i = 0; i < DEPTH; i++) {
		if (!want(sent[i], IB_WC_SUCCESS) || !want(got[i], IB_WC_SUCCESS))
			return;
		check(st->t, sent[i]->order == i && got[i]->order == i, "out of order");
	}
	/* The queue has free entries again. */
	got[0] = post_small_recv(&st->b);
	check(st->t, !got[0]->err, "receive: %d", got[0]->err);
	want(post_small_send(&st->a), IB_WC_SUCCESS);
}

/* Posting a receive ends an RNR wait of 655 ms. */
static void post_test_rnr_wait(struct stage *st, const void *arg)
{
	struct ib_qp_attr attr = { .min_rnr_timer = 0 };
	struct mark *sent, *got;

	check(st->t, !ib_modify_qp(st->b.qp, &attr, IB_QP_MIN_RNR_TIMER), "no timer");
	sent = post_small_send(&st->a);
	check(st->t, !mark_await(sent, 20), "the SEND completes without a receive");
	got = post_small_recv(&st->b);
	check(st->t, mark_await(sent, 400) && sent->wc.status == IB_WC_SUCCESS,
	      "the RNR wait does not end");
	want(got, IB_WC_SUCCESS);
}

static void post_test_full_recv(struct stage *st, const void *arg)
{
	struct mark *m;
	unsigned int n;

	for (n = 0; n <= DEPTH; n++) {
		m = post_small_recv(&st->b);
		if (m->err)
			break;
	}
	check(st->t, n == st->b.cap.max_recv_wr && m->err == -ENOMEM,
	      "receive %u: %d", n, m->err);
}

/* The PD's local_dma_lkey is for local use, and covers all memory. */
static void post_test_local_key(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	struct ib_pd *pd;

	memset(b->buf, 2, BUF_SIZE);
	want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 100, st->pd->local_dma_lkey,
		       b->dma, st->pd->local_dma_lkey), IB_WC_REM_ACCESS_ERR);
	want_state(b, IB_QPS_ERR);
	want_event(b, IB_EVENT_QP_ACCESS_ERR);
	check(st->t, !memchr_inv(b->buf, 2, BUF_SIZE), "written");

	check(st->t, !stage_again(st), "not connected again");
	want(post_rdma(a, IB_WR_RDMA_READ, a->dma, 100, st->pd->local_dma_lkey,
		       b->dma, st->pd->local_dma_lkey), IB_WC_REM_ACCESS_ERR);

	/* The key of another PD is invalid. */
	check(st->t, !stage_again(st), "not connected again");
	pd = ib_alloc_pd(st->t->dev, 0);
	if (!check(st->t, !IS_ERR(pd), "no domain"))
		return;
	want(post_send(a, a->dma, 100, pd->local_dma_lkey), IB_WC_LOC_PROT_ERR);
	want_state(a, IB_QPS_ERR);
	want_state(b, IB_QPS_RTS);
	ib_dealloc_pd(pd);
}

static void post_test_global_key(struct stage *st, const void *arg)
{
	struct ib_pd *pd = ib_alloc_pd(st->t->dev, IB_PD_UNSAFE_GLOBAL_RKEY);

	if (!check(st->t, PTR_ERR(pd) == -EOPNOTSUPP, "%ld",
		   IS_ERR(pd) ? PTR_ERR(pd) : 0) && !IS_ERR(pd))
		ib_dealloc_pd(pd);
}

/* Unread completions vanish with their queue pair, or at its reset. */
static void post_test_unread(struct stage *rc, const void *arg)
{
	const struct kind kind = {
		.type = IB_QPT_RC, .how = IB_POLL_DIRECT, .beside = rc,
	};
	struct stage *st = stage_open_of(rc->t, &kind, 4 * DEPTH);
	struct ib_wc wc;

	if (!st)
		return;
	post_small_recv(&st->b);
	post_small_send(&st->a);
	/* A queue that is polled directly must not be armed: just wait. */
	msleep(50 * st->t->slow);
	if (arg)
		check(st->t, !side_modify(&st->a, IB_QPS_RESET, 0, 0), "no RESET");
	else
		side_destroy(&st->a);
	check(st->t, !ib_poll_cq(st->a.cq, 1, &wc), "its completion is still there");
	check(st->t, ib_poll_cq(st->b.cq, 1, &wc) == 1 && wc.qp == st->b.qp,
	      "the completion of the other queue pair is gone");
	stage_close(st);
}

void ktest_post(struct ktest *t)
{
	ktest_run(t, post_test_states, NULL,
		  "the state of the queue pair decides what can be posted");
	ktest_run(t, post_test_list, NULL, "a list is posted up to its first invalid request");
	ktest_run(t, post_test_refused, NULL, "invalid requests are not posted");
	ktest_run(t, post_test_local_sge, NULL, "LOCAL_INV with an SGE fails");
	ktest_run(t, post_test_inline, NULL, "inline data is copied when it is posted");
	ktest_run(t, post_test_full, NULL, "a full send queue refuses requests");
	ktest_run(t, post_test_rnr_wait, NULL,
		  "posting a receive ends an RNR wait");
	ktest_run(t, post_test_full_recv, NULL, "a full receive queue refuses receives");
	ktest_run(t, post_test_unread, NULL, "destroying a queue pair removes its completions");
	ktest_run(t, post_test_unread, t, "resetting a queue pair removes its completions");
	ktest_run(t, post_test_local_key, NULL,
		  "local_dma_lkey is for local use in its domain only");
	ktest_run(t, post_test_global_key, NULL,
		  "a domain with an unsafe global rkey is refused");
}
