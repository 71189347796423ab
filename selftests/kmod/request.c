// SPDX-License-Identifier: GPL-2.0
/*
 * request - work requests and their completions
 *
 * Process context, except request_done(), called by the completion queue.
 */
#include <linux/delay.h>

#include "ktest.h"

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct mark *m = container_of(wc->wr_cqe, struct mark, cqe);
	struct ib_ah *ah = m->ah;
	struct side *s = m->side;
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	m->wc = *wc;
	m->order = s->came++;
	m->times++;
	m->ah = NULL;
	spin_unlock_irqrestore(&s->lock, flags);
	if (ah)
		rdma_destroy_ah(ah, 0);
	complete(&m->done);
}

/* Reuses the oldest mark: at most MARKS may be in use. */
struct mark *mark_new(struct side *s)
{
	struct mark *m = &s->marks[s->used++ % MARKS];

	*m = (struct mark){ .side = s, .cqe.done = request_done };
	init_completion(&m->done);
	return m;
}

bool mark_await(struct mark *m, unsigned int ms)
{
	unsigned long until = jiffies + msecs_to_jiffies(ms * m->side->t->slow);

	if (!m->side->direct)
		return wait_for_completion_timeout(&m->done,
						   msecs_to_jiffies(ms * m->side->t->slow));
	while (!try_wait_for_completion(&m->done)) {
		if (time_after(jiffies, until))
			return false;
		if (!ib_process_cq_direct(m->side->cq, -1))
			usleep_range(100, 200);
	}
	return true;
}

bool mark_status(struct mark *m, enum ib_wc_status status, const char *where,
		 int line)
{
	struct ktest *t = m->side->t;

	if (m->err)
		return ktest_wrong(t, where, line, "not posted: %d", m->err);
	if (!mark_await(m, 3000))
		return ktest_wrong(t, where, line, "no completion; expected \"%s\"",
				   ib_wc_status_msg(status));
	if (m->times != 1)
		return ktest_wrong(t, where, line, "%u completions", m->times);
	if (!m->shared && m->wc.qp != m->side->qp)
		return ktest_wrong(t, where, line, "the completion names another queue pair");
	if (m->wc.status != status)
		return ktest_wrong(t, where, line, "\"%s\" instead of \"%s\"",
				   ib_wc_status_msg(m->wc.status),
				   ib_wc_status_msg(status));
	return true;
}

struct mark *post_marked(struct mark *m, struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad = NULL;
	struct side *s = m->side;

	wr->wr_cqe = &m->cqe;
	wr->send_flags |= IB_SEND_SIGNALED;
	m->err = ib_post_send(s->qp, wr, &bad);
	if (m->err)
		check(s->t, bad == wr, "bad_wr names another request");
	return m;
}

struct mark *post_wr(struct side *s, struct ib_send_wr *wr)
{
	return post_marked(mark_new(s), wr);
}

struct mark *post_rdma(struct side *s, enum ib_wr_opcode op, u64 addr, u32 len,
		       u32 lkey, u64 remote, u32 rkey)
{
	struct ib_sge sge = { .addr = addr, .length = len, .lkey = lkey };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = op, .sg_list = &sge, .num_sge = len ? 1 : 0 },
		.remote_addr = remote,
		.rkey = rkey,
	};

	return post_wr(s, &wr.wr);
}

struct mark *post_send(struct side *s, u64 addr, u32 len, u32 lkey)
{
	struct ib_sge sge = { .addr = addr, .length = len, .lkey = lkey };
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
	};

	return post_wr(s, &wr);
}

struct mark *post_send_inv(struct side *s, u32 key)
{
	struct ib_sge sge = {
		.addr = s->dma, .length = 10, .lkey = s->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND_WITH_INV, .sg_list = &sge, .num_sge = 1,
		.ex.invalidate_rkey = key,
	};

	return post_wr(s, &wr);
}

struct mark *post_recv(struct side *s, u64 addr, u32 len, u32 lkey)
{
	struct ib_sge sge = { .addr = addr, .length = len, .lkey = lkey };
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad = NULL;
	struct mark *m = mark_new(s);

	wr.wr_cqe = &m->cqe;
	m->err = ib_post_recv(s->qp, &wr, &bad);
	if (m->err)
		check(s->t, bad == &wr, "bad_wr names another receive");
	return m;
}

struct mark *post_reg(struct side *s, struct ib_mr *mr, u32 key, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = key,
		.access = access,
	};

	return post_wr(s, &wr.wr);
}

struct mark *post_inv(struct side *s, u32 key, int flags)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = flags,
		.ex.invalidate_rkey = key,
	};

	return post_wr(s, &wr);
}

struct mark *post_atomic(struct side *s, enum ib_wr_opcode op, u64 addr,
			 u64 remote, u32 rkey, u64 compare_add, u64 swap)
{
	struct ib_sge sge = {
		.addr = addr, .length = 8, .lkey = s->pd->local_dma_lkey,
	};
	struct ib_atomic_wr wr = {
		.wr = { .opcode = op, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = remote,
		.compare_add = compare_add,
		.swap = swap,
		.rkey = rkey,
	};

	return post_wr(s, &wr.wr);
}
