// SPDX-License-Identifier: GPL-2.0
/*
 * srq - shared receive queues
 *
 * Each case has two queue pairs of its own on one shared receive queue.
 *
 * Process context.
 */
#include <linux/delay.h>

#include "srq_env.h"

#define MAX_SGE	2

static void srq_test_create(struct srq_env *q)
{
	const struct ib_device_attr *dev = &q->t->dev->attrs;
	const struct { u32 wr, sge; int err; } tries[] = {
		{ 0, 1, -EINVAL }, { dev->max_srq_wr + 1, 1, -EINVAL },
		{ U32_MAX, 1, -EINVAL }, { 1, dev->max_srq_sge + 1, -EINVAL },
		{ 1, U32_MAX, -EINVAL }, { 1, 1, 0 }, { 33, 3, 0 },
		{ 1, dev->max_srq_sge, 0 },
	};
	struct srq_env other = { .t = q->t, .owner = q->owner };
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 1, .max_sge = 1 }, .srq_type = IB_SRQT_TM,
		.ext.cq = q->owner->cq,
	};
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		err = srq_make(&other, tries[i].wr, tries[i].sge);
		check(q->t, err == tries[i].err, "%u of %u: %d", tries[i].wr,
		      tries[i].sge, err);
		if (err)
			continue;
		check(q->t, other.max_wr >= tries[i].wr && other.max_sge >= tries[i].sge,
		      "%u of %u are granted", other.max_wr, other.max_sge);
		srq_want_attr(&other, other.max_wr, 0);
		want_state(&q->st->a, IB_QPS_RTS);
		check(q->t, !ib_destroy_srq_user(other.srq, NULL), "not destroyed");
	}
	other.srq = ib_create_srq(q->owner->pd, &init);
	if (!check(q->t, PTR_ERR(other.srq) == -EOPNOTSUPP, "a queue with tag matching") &&
	    !IS_ERR(other.srq))
		ib_destroy_srq(other.srq);
	/* The SRQ is in use, and its queue pairs have no receive queue. */
	check(q->t, ib_destroy_srq_user(q->srq, NULL) == -EBUSY,
	      "destroyed while queue pairs use it");
	check(q->t, post_recv(&q->st->a, q->st->a.dma, 100,
			      q->owner->pd->local_dma_lkey)->err == -EINVAL,
	      "a receive for a queue pair that has none");
	check(q->t, !q->st->a.cap.max_recv_wr, "%u receives of its own",
	      q->st->a.cap.max_recv_wr);
}

/* A list is posted up to the first bad receive. */
static void srq_test_list(struct srq_env *q)
{
	struct side *o = q->owner;
	struct ib_sge sge[8] = {};
	struct ib_recv_wr wr[3] = {};
	const struct ib_recv_wr *bad = NULL;
	struct mark *m[3], *last = NULL;
	u32 n, i;
	int err;

	if (!check(q->t, q->max_sge < ARRAY_SIZE(sge), "%u entries", q->max_sge))
		return;
	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = (struct ib_sge){ o->dma + 200 * i, 200, o->pd->local_dma_lkey };
	for (i = 0; i < 3; i++) {
		m[i] = srq_mark_new(q);
		wr[i] = (struct ib_recv_wr){
			.wr_cqe = &m[i]->cqe, .sg_list = sge, .num_sge = q->max_sge,
			.next = i < 2 ? &wr[i + 1] : NULL,
		};
	}
	wr[1].num_sge++;
	err = ib_post_srq_recv(q->srq, wr, &bad);
	check(q->t, err == -EINVAL && bad == &wr[1], "too many entries: %d", err);
	wr[1].num_sge = -1;
	err = ib_post_srq_recv(q->srq, &wr[1], &bad);
	check(q->t, err == -EINVAL && bad == &wr[1], "-1 entries: %d", err);
	/* Fill the queue but for one entry, then post two. */
	for (n = 1, q->posted = 1; n < q->max_wr - 1; n++)
		if (!check(q->t, !srq_post_recv(q, 2000)->err, "receive %u", n))
			return;
	wr[1].num_sge = 1;
	err = ib_post_srq_recv(q->srq, &wr[1], &bad);
	check(q->t, err == -ENOMEM && bad == &wr[2], "one receive more than fits: %d", err);
	srq_want_full(q);
	side_fill(&q->st->a, 3);
	want(srq_send_from(&q->st->a, 200 * q->max_sge), IB_WC_SUCCESS);
	srq_check_came(q, m[0], 0, &q->st->a, &q->st->b, 200 * q->max_sge);
	last = srq_post_recv(q, 2000);
	check(q->t, !last->err, "no room again: %d", last->err);
	for (n = 1; n < q->max_wr; n++)
		want(srq_send_from(&q->st->a, 200), IB_WC_SUCCESS);
	want(m[1], IB_WC_SUCCESS);
	check(q->t, !last->times && !m[2]->times,
	      "more receives completed than messages were sent");
	want(srq_send_from(&q->st->a, 2000), IB_WC_SUCCESS);
	want(last, IB_WC_SUCCESS);
}

/* In posted order, whichever queue pair takes them. */
static void srq_test_order(struct srq_env *q)
{
	struct side *a = &q->st->a, *b = &q->st->b;
	struct mark *m[16], *sent[16];
	u32 i, first = q->owner->came;

	side_fill(a, 1);
	for (i = 0; i < 16; i++)
		m[i] = srq_post_recv(q, 4096);
	for (i = 0; i < 16; i++)
		sent[i] = srq_send_from(a, 256 * i + i % 4);
	for (i = 0; i < 16; i++) {
		want(sent[i], IB_WC_SUCCESS);
		srq_check_came(q, m[i], i, a, b, 256 * i + i % 4);
	}
	side_fill(b, 2);
	for (i = 0; i < 16; i++)
		m[i] = srq_post_recv(q, 4096);
	for (i = 0; i < 16; i++) {
		struct side *from = i % 3 ? b : a, *to = i % 3 ? a : b;

		want(srq_send_from(from, 1000 + i), IB_WC_SUCCESS);
		srq_check_came(q, m[i], i, from, to, 1000 + i);
		check(q->t, m[i]->order == first + 16 + i, "out of order");
	}
	want_no_event(q->st);
	srq_want_limits(q, 0);
}

static void srq_test_limit(struct srq_env *q)
{
	struct mark *m[12];
	u32 i;

	for (i = 0; i < 8; i++)
		m[i] = srq_post_recv(q, 4096);
	check(q->t, !srq_modify(q, IB_SRQ_LIMIT, 0, 5), "no limit");
	srq_want_attr(q, q->max_wr, 5);
	for (i = 0; i < 3; i++)
		srq_take_oldest(q, m[i], i);
	srq_want_limits(q, 0);
	srq_take_oldest(q, m[i], i);
	srq_want_limits(q, 1);
	srq_want_attr(q, q->max_wr, 0);
	for (i++; i < 6; i++)
		srq_take_oldest(q, m[i], i);
	for (i = 8; i < 12; i++)
		m[i] = srq_post_recv(q, 4096);
	srq_want_limits(q, 1);
	/* Already below the limit: the event comes at once. */
	check(q->t, !srq_modify(q, IB_SRQ_LIMIT, 0, 7), "no limit again");
	srq_want_limits(q, 2);
	srq_want_attr(q, q->max_wr, 0);
	check(q->t, srq_modify(q, IB_SRQ_LIMIT, 0, q->max_wr + 1) == -EINVAL,
	      "a limit beyond the queue");
	check(q->t, srq_modify(q, 1 << 5, 0, 3) == -EINVAL, "an unknown attribute");
	check(q->t, !srq_modify(q, IB_SRQ_LIMIT, 0, 6), "no limit");
	srq_want_attr(q, q->max_wr, 6);
	check(q->t, !srq_modify(q, IB_SRQ_LIMIT, 0, 0), "the limit is not cleared");
	for (i = 6; i < 12; i++)
		srq_take_oldest(q, m[i], i);
	srq_want_limits(q, 2);
}

/* The event handler refills before the peer finds no receive. */
static void srq_test_refill(struct srq_env *q)
{
	struct mark *m[16], *sent[16];
	struct side *a = &q->st->a;
	u32 i;

	side_fill(a, 4);
	for (i = 0; i < 8; i++)
		m[i] = srq_post_recv(q, 4096);
	q->refill = 8;
	check(q->t, !srq_modify(q, IB_SRQ_LIMIT, 0, 1), "no limit");
	for (i = 0; i < 16; i++)
		sent[i] = srq_send_from(a, 1000 + i);
	for (i = 0; i < 16; i++) {
		if (!want(sent[i], IB_WC_SUCCESS))
			return;
		if (i == 8)
			memcpy(m + 8, q->filled, sizeof(q->filled));
		srq_check_came(q, m[i], i, a, &q->st->b, 1000 + i);
	}
	srq_want_limits(q, 1);
	want_state(a, IB_QPS_RTS);
}

static void srq_test_resize(struct srq_env *q)
{
	const struct ib_device_attr *dev = &q->t->dev->attrs;
	struct mark *m[64];
	u32 i, max_wr = q->max_wr;

	for (i = 0; i < 10; i++)
		m[i] = srq_post_recv(q, 4096);
	for (i = 0; i < 3; i++)
		srq_take_oldest(q, m[i], i);
	check(q->t, srq_modify(q, IB_SRQ_MAX_WR, 0, 0) == -EINVAL, "to zero receives");
	check(q->t, srq_modify(q, IB_SRQ_MAX_WR, dev->max_srq_wr + 1, 0) == -EINVAL,
	      "to more than the maximum");
	check(q->t, srq_modify(q, IB_SRQ_MAX_WR, 6, 0) == -EINVAL,
	      "to less than is posted");
	check(q->t, srq_modify(q, IB_SRQ_MAX_WR | IB_SRQ_LIMIT, 40, 41) == -EINVAL,
	      "with a limit beyond the new size");
	srq_want_attr(q, max_wr, 0);
	check(q->t, !srq_modify(q, IB_SRQ_MAX_WR | IB_SRQ_LIMIT, 50, 3),
	      "not enlarged");
	srq_want_attr(q, 50, 3);
	for (i = 10; i < 53; i++) {
		m[i] = srq_post_recv(q, 4096);
		check(q->t, !m[i]->err, "receive %u: %d", i, m[i]->err);
	}
	srq_want_full(q);
	for (i = 3; i < 49; i++)
		srq_take_oldest(q, m[i], i);
	srq_want_limits(q, 0);
	check(q->t, srq_modify(q, IB_SRQ_MAX_WR, 2, 0) == -EINVAL,
	      "below the limit");
	check(q->t, !srq_modify(q, IB_SRQ_MAX_WR, 4, 0), "not shrunk");
	srq_want_attr(q, 4, 3);
	srq_take_oldest(q, m[i], i);
	srq_want_limits(q, 0);
	i++;
	m[53] = srq_post_recv(q, 4096);
	check(q->t, !m[53]->err, "no room again: %d", m[53]->err);
	srq_want_full(q);
	for (; i < 54; i++)
		srq_take_oldest(q, m[i], i);
	srq_want_limits(q, 1);
}

/* Resize while messages arrive and receives are posted. */
static void srq_test_resize_busy(struct srq_env *q)
{
	struct side *a = &q->st->a, *b = &q->st->b;
	struct mark *m[16], *sent[16];
	u32 i, n;

	for (n = 0; n < (q->t->quick ? 10 : 200); n++) {
		side_fill(a, n);
		for (i = 0; i < 16; i++) {
			sent[i] = srq_send_from(a, 2000 + i);
			m[i] = srq_post_recv(q, 4096);
			check(q->t, !m[i]->err, "round %u, receive %u: %d", n, i, m[i]->err);
			if (i % 4 == 3)
				check(q->t,
				      !srq_modify(q, IB_SRQ_MAX_WR, 16 << i / 4, 0),
				      "round %u: not changed", n);
		}
		for (i = 0; i < 16; i++) {
			want(sent[i], IB_WC_SUCCESS);
			if (!srq_check_came(q, m[i], i, a, b, 2000 + i))
				return;
		}
	}
}

/* The peer waits until receives are posted. */
static void srq_test_rnr(struct srq_env *q)
{
	struct side *a = &q->st->a, *b = &q->st->b;
	struct mark *sent[4], *m[4];
	u32 i;

	side_fill(a, 3);
	for (i = 0; i < 4; i++)
		sent[i] = srq_send_from(a, 3000 + i);
	check(q->t, !mark_await(sent[0], 20), "the SEND completes without a receive");
	for (i = 0; i < 4; i++) {
		m[i] = srq_post_recv(q, 4096);
		want(sent[i], IB_WC_SUCCESS);
		srq_check_came(q, m[i], i, a, b, 3000 + i);
		check(q->t, i == 3 || !mark_await(sent[i + 1], 5), "the next SEND completes, too");
	}
	want_state(a, IB_QPS_RTS);
	want_state(b, IB_QPS_RTS);
}

/* LAST_WQE_REACHED came @times times, and no other event. */
static void srq_want_last_wqe(struct srq_env *q, unsigned int times)
{
	struct side *b = &q->st->b;

	want_state(b, IB_QPS_ERR);
	want_event(b, IB_EVENT_QP_LAST_WQE_REACHED);
	usleep_range(5000, 6000);
	check(q->t, b->events == BIT(IB_EVENT_QP_LAST_WQE_REACHED) && b->num_events == times,
	      "%u events, 0x%lx", b->num_events, b->events);
}

/* In error the queue pair takes no more receives; others can. */
static void srq_test_last(struct srq_env *q)
{
	struct side *a = &q->st->a, *b = &q->st->b;
	struct mark *m[4];
	u32 i;

	for (i = 0; i < 4; i++)
		m[i] = srq_post_recv(q, 4096);
	srq_take_oldest(q, m[0], 0);
	check(q->t, !side_modify(b, IB_QPS_ERR, 0, 0), "no ERR");
	srq_want_last_wqe(q, 1);
	check(q->t, !side_modify(b, IB_QPS_ERR, 0, 0), "no ERR twice");
	/* Its messages are not received. */
	ib_drain_qp(b->qp);
	srq_want_last_wqe(q, 1);
	for (i = 1; i < 4; i++)
		check(q->t, !m[i]->times, "receive %u is flushed", i);
	if (!srq_reconnect(q))
		return;
	srq_take_oldest(q, m[1], 1);
	ib_drain_qp(b->qp);
	srq_want_last_wqe(q, 2);
	/* The other queue pair takes the rest. */
	if (!srq_reconnect(q))
		return;
	for (i = 2; i < 4; i++) {
		side_fill(b, i);
		want(srq_send_from(b, 900), IB_WC_SUCCESS);
		srq_check_came(q, m[i], i, b, a, 900);
	}
	check(q->t, !a->events, "events 0x%lx", a->events);
}

/* A message longer than the congestion window. */
static struct mark *srq_post_long(struct srq_env *q, struct mark **recv)
{
	struct side *a = &q->st->a, *o = q->owner;
	u32 lkey = a->pd->local_dma_lkey;
	struct ib_sge from[2] = { { a->dma, BUF_SIZE, lkey }, { a->dma, BUF_SIZE, lkey } };
	struct ib_sge to[2] = { { o->dma, BUF_SIZE, lkey }, { o->dma, BUF_SIZE, lkey } };
	struct ib_send_wr send = { .opcode = IB_WR_SEND, .sg_list = from, .num_sge = 2 };

	*recv = srq_post(q, to, 2);
	return post_wr(a, &send);
}

/*
 * Fail one side before, during or after a message.  A receive already taken is
 * flushed before the last event; any other stays for the next message.
 */
static void srq_test_partial(struct srq_env *q)
{
	struct side *a = &q->st->a, *b = &q->st->b;
	struct mark *m[2], *sent;
	unsigned int i;

	for (i = 0; i < (q->t->quick ? 6 : 40); i++) {
		sent = srq_post_long(q, &m[0]);
		q->posted = 1;
		m[1] = srq_post_recv(q, 4096);
		check(q->t, !side_modify(i % 2 ? a : b, IB_QPS_ERR, 0, 0) &&
		      !side_modify(a, IB_QPS_ERR, 0, 0), "no ERR");
		check(q->t, mark_await(sent, 1000) &&
		      (!sent->wc.status || sent->wc.status == IB_WC_WR_FLUSH_ERR),
		      "the send has status %d", sent->wc.status);
		ib_drain_qp(b->qp);
		srq_want_last_wqe(q, i + 1);
		check(q->t, m[0]->times <= 1 && !m[1]->times, "taken %u and %u times",
		      m[0]->times, m[1]->times);
		if (m[0]->times)
			check(q->t, m[0]->wc.qp == b->qp &&
			      (m[0]->wc.status == IB_WC_WR_FLUSH_ERR ||
			       m[0]->wc.status == IB_WC_SUCCESS), "the receive has status %d",
			      m[0]->wc.status);
		if (!srq_reconnect(q) ||
		    (!m[0]->times && !srq_take_oldest(q, m[0], 0)) ||
		    !srq_take_oldest(q, m[1], 1))
			return;
	}
}

/*
 * A receive that is too short or has a bad key fails its queue pair, not the
 * SRQ.
 */
static void srq_test_bad(struct srq_env *q)
{
	struct side *a = &q->st->a, *b = &q->st->b, *o = q->owner;
	struct ib_sge sge = { o->dma, 4096, o->pd->local_dma_lkey ^ 1 };
	struct mark *m[3];

	m[0] = srq_post_recv(q, 1999);
	m[1] = srq_post(q, &sge, 1);
	check(q->t, !m[1]->err, "not posted");
	q->posted = 2;
	m[2] = srq_post_recv(q, 4096);
	want(srq_send_from(a, 2000), IB_WC_REM_INV_REQ_ERR);
	want(m[0], IB_WC_LOC_LEN_ERR);
	check(q->t, m[0]->wc.qp == b->qp, "completed for another queue pair");
	want_state(a, IB_QPS_ERR);
	srq_want_last_wqe(q, 1);
	if (!srq_reconnect(q))
		return;
	want(srq_send_from(a, 2000), IB_WC_REM_OP_ERR);
	want(m[1], IB_WC_LOC_PROT_ERR);
	srq_want_last_wqe(q, 2);
	if (srq_reconnect(q))
		srq_take_oldest(q, m[2], 2);
	srq_want_limits(q, 0);
}

/* UD queue pairs take receives, too; one too short for a datagram stays. */
static void srq_test_ud(struct srq_env *q)
{
	const struct kind kind = {
		.type = IB_QPT_UD, .how = IB_POLL_SOFTIRQ, .beside = q->st, .srq = q->srq,
	};
	struct stage *st = stage_open_of(q->t, &kind, 4 * DEPTH);
	struct ib_ah *ah = ktest_ah(q->st, RDMA_CREATE_AH_SLEEPABLE);
	struct mark *m[3];
	struct dgram d;

	if (!st || !ah)
		goto out;
	m[0] = srq_post_recv(q, GRH_BYTES + 200);
	m[1] = srq_post_recv(q, 4096);
	m[2] = srq_post_recv(q, 4096);
	d = (struct dgram){
		.ah = ah, .qpn = st->b.qp->qp_num, .qkey = QKEY, .len = 201, .imm = 5,
	};
	side_fill(&st->a, 1);
	want(post_dgram(&st->a, &d), IB_WC_SUCCESS);
	d.len = 200;
	want(post_dgram(&st->a, &d), IB_WC_SUCCESS);
	if (want(m[0], IB_WC_SUCCESS))
		check(q->t, m[0]->wc.qp == st->b.qp && m[0]->wc.byte_len == 240 &&
		      m[0]->wc.src_qp == st->a.qp->qp_num &&
		      m[0]->wc.wc_flags & IB_WC_WITH_IMM &&
		      m[0]->wc.wc_flags & IB_WC_GRH &&
		      !memcmp(q->owner->buf + GRH_BYTES, st->a.buf, 200),
		      "%u bytes from %u, flags 0x%x", m[0]->wc.byte_len,
		      m[0]->wc.src_qp, m[0]->wc.wc_flags);
	srq_take_oldest(q, m[1], 1);
	ib_drain_qp(st->b.qp);
	want_event(&st->b, IB_EVENT_QP_LAST_WQE_REACHED);
	check(q->t, !m[2]->times && st->b.num_events == 1, "%u events", st->b.num_events);
	srq_take_oldest(q, m[2], 2);
out:
	if (ah)
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (st)
		stage_close(st);
}

/* Destroy queue pairs while they take receives; untaken receives stay. */
static void srq_test_destroy(struct srq_env *q)
{
	struct ktest *t = q->t;
	const struct kind kind = {
		.type = IB_QPT_RC, .how = IB_POLL_SOFTIRQ, .beside = q->st, .srq = q->srq,
	};
	u32 i, n, left;
	struct mark *m;

	for (i = 0; i < (t->quick ? 6 : 100); i++) {
		struct stage *st = stage_open_of(t, &kind, 4 * DEPTH);

		if (!st)
			return;
		for (n = 0; n < q->max_wr && !srq_post_recv(q, 4096)->err; n++)
			;
		for (n = 0; n < 16; n++) {
			srq_send_from(&st->a, 4000);
			srq_send_from(&st->b, 4000);
		}
		side_destroy(i % 2 ? &st->a : &st->b);
		stage_close(st);
	}
	/* Fill it up: exactly max_wr messages are received. */
	do {
		m = srq_post_recv(q, 4096);
	} while (!m->err);
	for (left = 0; left < q->max_wr; left++)
		if (!want(srq_send_from(&q->st->a, 100), IB_WC_SUCCESS))
			return;
	m = srq_send_from(&q->st->a, 100);
	check(t, !mark_await(m, 20), "more messages were received");
	srq_post_recv(q, 4096);
	want(m, IB_WC_SUCCESS);
}

struct srq_case {
	void (*fn)(struct srq_env *q);
	const char *name;
};

static const struct srq_case srq_cases[] = {
	{ srq_test_create, "creation checks its arguments" },
	{ srq_test_list, "a list is posted up to its first invalid receive" },
	{ srq_test_order, "both queue pairs take receives in order" },
	{ srq_test_limit, "the limit event comes once" },
	{ srq_test_refill, "the handler of the limit event can post receives" },
	{ srq_test_resize, "a resize keeps receives and checks its arguments" },
	{ srq_test_resize_busy, "a resize under traffic loses no receive" },
	{ srq_test_rnr, "an empty queue makes the peer wait" },
	{ srq_test_last, "LAST_WQE_REACHED comes once a queue pair takes no more" },
	{ srq_test_partial, "a receive that a failed queue pair has taken is flushed" },
	{ srq_test_bad, "an invalid receive fails its queue pair only" },
	{ srq_test_ud, "UD queue pairs take receives" },
	{ srq_test_destroy, "queue pairs are destroyed under traffic" },
};

/* Destroy the queue with a receive left in it. */
static void srq_run_case(struct stage *rc, const void *arg)
{
	const struct srq_case *c = arg;
	struct ktest *t = rc->t;
	struct srq_env q = { .t = t, .owner = &rc->b };
	struct kind kind = { .type = IB_QPT_RC, .how = IB_POLL_SOFTIRQ, .beside = rc };
	int err = srq_make(&q, DEPTH, MAX_SGE);

	if (!check(t, !err, "no SRQ: %d", err))
		return;
	kind.srq = q.srq;
	q.st = stage_open_of(t, &kind, 4 * DEPTH);
	if (q.st) {
		c->fn(&q);
		srq_post_recv(&q, 4096);
		stage_close(q.st);
	}
	check(t, !ib_destroy_srq_user(q.srq, NULL), "not destroyed");
}

void ktest_srq(struct ktest *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(srq_cases); i++)
		ktest_run(t, srq_run_case, &srq_cases[i], "SRQ: %s",
			  srq_cases[i].name);
}
