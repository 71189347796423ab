// SPDX-License-Identifier: GPL-2.0
/*
 * srq_env - a shared receive queue with two queue pairs, for the cases of srq
 *
 * Memory and marks of the receives belong to the outer stage: a receive may
 * outlive the queue pair that would have taken it.
 *
 * Process context, except srq_on_event(), which may run in any.
 */
#include <linux/delay.h>

#include "srq_env.h"

struct mark *srq_mark_new(struct srq_env *q)
{
	struct mark *m = mark_new(q->owner);

	m->shared = true;
	return m;
}

struct mark *srq_post(struct srq_env *q, struct ib_sge *sge, int n)
{
	struct ib_recv_wr wr = { .sg_list = sge, .num_sge = n };
	const struct ib_recv_wr *bad = NULL;
	struct mark *m = srq_mark_new(q);

	wr.wr_cqe = &m->cqe;
	m->err = ib_post_srq_recv(q->srq, &wr, &bad);
	if (m->err)
		check(q->t, bad == &wr, "bad_wr names another receive");
	return m;
}

struct mark *srq_post_recv(struct srq_env *q, u32 len)
{
	u64 at = q->owner->dma + q->posted++ % 16 * 4096;
	u32 lkey = q->owner->pd->local_dma_lkey;
	struct ib_sge sge[2] = { { at, len / 2, lkey }, { at + len / 2, len - len / 2, lkey } };

	return srq_post(q, sge, ARRAY_SIZE(sge));
}

/* An event handler may post. */
static void srq_on_event(struct ib_event *event, void *context)
{
	struct srq_env *q = context;
	u32 i;

	if (event->event != IB_EVENT_SRQ_LIMIT_REACHED || event->element.srq != q->srq) {
		atomic_inc(&q->others);
		return;
	}
	for (i = 0; i < q->refill; i++)
		q->filled[i] = srq_post_recv(q, 4096);
	atomic_inc(&q->limits);
}

int srq_make(struct srq_env *q, u32 max_wr, u32 max_sge)
{
	struct ib_srq_init_attr init = {
		.event_handler = srq_on_event,
		.srq_context = q,
		.attr = { .max_wr = max_wr, .max_sge = max_sge },
		.srq_type = IB_SRQT_BASIC,
	};

	q->srq = ib_create_srq(q->owner->pd, &init);
	if (IS_ERR(q->srq))
		return PTR_ERR(q->srq);
	q->max_wr = init.attr.max_wr;
	q->max_sge = init.attr.max_sge;
	return 0;
}

struct mark *srq_send_from(struct side *s, u32 len)
{
	return post_send(s, s->dma, len, s->pd->local_dma_lkey);
}

bool srq_check_came(struct srq_env *q, struct mark *m, u32 n,
		    const struct side *from, const struct side *to, u32 len)
{
	return want(m, IB_WC_SUCCESS) &&
	       check(q->t, m->wc.qp == to->qp && m->wc.byte_len == len &&
		     m->wc.opcode == IB_WC_RECV && !m->wc.wc_flags,
		     "receive %u: %u bytes, opcode %d, flags 0x%x, %s queue pair", n,
		     m->wc.byte_len, m->wc.opcode, m->wc.wc_flags,
		     m->wc.qp == to->qp ? "this" : "another") &&
	       check(q->t, !memcmp(q->owner->buf + n % 16 * 4096, from->buf, len),
		     "receive %u: wrong data", n);
}

void srq_want_full(struct srq_env *q)
{
	int err = srq_post_recv(q, 4096)->err;

	check(q->t, err == -ENOMEM, "a receive is posted to the full queue: %d", err);
	q->posted--;
}

bool srq_take_oldest(struct srq_env *q, struct mark *m, u32 n)
{
	struct side *a = &q->st->a;
	u32 len = 1000 + n;

	side_fill(a, n);
	return want(srq_send_from(a, len), IB_WC_SUCCESS) &&
	       srq_check_came(q, m, n, a, &q->st->b, len);
}

bool srq_reconnect(struct srq_env *q)
{
	return check(q->t, !stage_reset(q->st), "not connected again");
}

int srq_modify(struct srq_env *q, int mask, u32 max_wr, u32 limit)
{
	struct ib_srq_attr attr = { .max_wr = max_wr, .srq_limit = limit };

	return ib_modify_srq(q->srq, &attr, mask);
}

void srq_want_attr(struct srq_env *q, u32 max_wr, u32 limit)
{
	struct ib_srq_attr attr = {};

	check(q->t, !ib_query_srq(q->srq, &attr), "ib_query_srq() failed");
	check(q->t, attr.max_wr == max_wr && attr.max_sge == q->max_sge &&
	      attr.srq_limit == limit, "%u receives of %u, limit %u", attr.max_wr,
	      attr.max_sge, attr.srq_limit);
}

/* An event may come later than the completion of its receive. */
void srq_want_limits(struct srq_env *q, int limits)
{
	unsigned int i;

	for (i = 0; i < 200 * q->t->slow && atomic_read(&q->limits) < limits; i++)
		usleep_range(1000, 2000);
	check(q->t, atomic_read(&q->limits) == limits && !atomic_read(&q->others),
	      "%d limit events and %d others",
	      atomic_read(&q->limits), atomic_read(&q->others));
}
