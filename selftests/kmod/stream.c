// SPDX-License-Identifier: GPL-2.0
/*
 * stream - small messages in order, with many or one in flight
 *
 * The selftest doorbell loads this module and counts the packets.
 *
 * Process context; completions run in softirq.
 */
#include <linux/wait.h>

#include "ktest.h"

#define MESSAGES	4096

/**
 * struct stream_state - messages of one queue pair
 * @cqe: of each message
 * @t: the run
 * @done: completions so far
 * @wait: woken by completions
 */
struct stream_state {
	struct ib_cqe cqe;
	struct ktest *t;
	unsigned int done;
	wait_queue_head_t wait;
};

static void stream_one_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct stream_state *s = container_of(wc->wr_cqe, struct stream_state, cqe);

	check(s->t, wc->status == IB_WC_SUCCESS, "message %u: %s", s->done,
	      ib_wc_status_msg(wc->status));
	WRITE_ONCE(s->done, s->done + 1);
	wake_up(&s->wait);
}

/* Each message has its number: the last one must be written last. */
static void stream_test(struct stage *unused, const void *arg)
{
	unsigned int inflight = *(const unsigned int *)arg, i;
	struct ktest *t = unused->t;
	struct stage *st = stage_open(t, IB_POLL_SOFTIRQ, 4 * DEPTH);
	struct stream_state s = { .cqe.done = stream_one_done, .t = t };
	struct region r;

	if (!st)
		return;
	init_waitqueue_head(&s.wait);
	if (!region_simple(&st->b, &r, ALL_RIGHTS))
		goto out;
	for (i = 0; i < MESSAGES; i++) {
		u64 *number = (u64 *)st->a.buf + i % (2 * DEPTH);
		struct ib_sge sge = {
			.addr = st->a.dma + ((u8 *)number - st->a.buf),
			.length = sizeof(*number),
			.lkey = st->pd->local_dma_lkey,
		};
		struct ib_rdma_wr wr = {
			.wr = { .wr_cqe = &s.cqe, .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge,
				.num_sge = 1, .send_flags = IB_SEND_SIGNALED },
			.remote_addr = r.mr->iova,
			.rkey = r.mr->rkey,
		};

		if (!wait_event_timeout(s.wait, i - READ_ONCE(s.done) < inflight,
					5 * HZ * t->slow))
			break;
		*number = i;
		if (ib_post_send(st->a.qp, &wr.wr, NULL))
			break;
	}
	check(t, i == MESSAGES, "message %u was the last one posted", i);
	check(t, wait_event_timeout(s.wait, READ_ONCE(s.done) == i, 5 * HZ * t->slow),
	      "%u of %u are done", s.done, i);
	check(t, *(u64 *)st->b.buf == MESSAGES - 1, "the last message was not written last");
	region_free(&r);
out:
	stage_close(st);
}

void ktest_stream(struct ktest *t)
{
	static const unsigned int inflight = DEPTH / 2;

	ktest_run(t, stream_test, &inflight, "small messages arrive in order, many in flight");
}

void ktest_qd1(struct ktest *t)
{
	static const unsigned int inflight = 1;

	ktest_run(t, stream_test, &inflight, "small messages arrive in order, one in flight");
}
