// SPDX-License-Identifier: GPL-2.0
/*
 * word - what is done to a single word of the peer's
 *
 * Process context.
 */
#include "ktest.h"

#define CANARY	0x1122334455667788ULL

static u64 *word_at(struct side *s, u32 at)
{
	return (u64 *)(s->buf + at);
}

static void canaries(struct side *s)
{
	unsigned int i;

	for (i = 0; i < BUF_SIZE; i += 8)
		*word_at(s, i) = CANARY;
}

/* All that is not at @but is what it was. */
static void check_canaries(struct side *s, u32 but)
{
	unsigned int i;

	for (i = 0; i < BUF_SIZE; i += 8)
		if (i != but && *word_at(s, i) != CANARY)
			break;
	check(s->t, i == BUF_SIZE, "byte %u has changed", i);
}

static void run_atomics(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	struct mark *m[3];
	struct region r;
	u64 at;

	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	canaries(a);
	canaries(b);
	at = r.mr->iova + 64;
	m[0] = post_atomic(a, IB_WR_ATOMIC_FETCH_AND_ADD, a->dma, at, r.mr->rkey,
			   5, 0);
	m[1] = post_atomic(a, IB_WR_ATOMIC_CMP_AND_SWP, a->dma + 8, at, r.mr->rkey,
			   CANARY, 1);
	m[2] = post_atomic(a, IB_WR_ATOMIC_CMP_AND_SWP, a->dma + 16, at, r.mr->rkey,
			   CANARY + 5, 99);
	if (want(m[0], IB_WC_SUCCESS))
		check(st->t, m[0]->wc.opcode == IB_WC_FETCH_ADD &&
		      m[0]->wc.byte_len == 8, "opcode %d", m[0]->wc.opcode);
	want(m[1], IB_WC_SUCCESS);
	if (want(m[2], IB_WC_SUCCESS))
		check(st->t, m[2]->wc.opcode == IB_WC_COMP_SWAP, "opcode %d",
		      m[2]->wc.opcode);
	check(st->t, *word_at(a, 0) == CANARY && *word_at(a, 8) == CANARY + 5 &&
	      *word_at(a, 16) == CANARY + 5, "results %llx %llx %llx",
	      *word_at(a, 0), *word_at(a, 8), *word_at(a, 16));
	check(st->t, *word_at(b, 64) == 99, "the word is %llx", *word_at(b, 64));
	check_canaries(b, 64);
	region_free(&r);
}

static void run_unaligned(struct stage *st, const void *arg)
{
	enum ib_wr_opcode op = *(const enum ib_wr_opcode *)arg;
	struct side *a = &st->a, *b = &st->b;
	struct region r;

	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	canaries(b);
	want(post_atomic(a, op, a->dma, r.mr->iova + 4, r.mr->rkey, 5, 7),
	     IB_WC_REM_INV_REQ_ERR);
	want_state(a, IB_QPS_ERR);
	want_state(b, IB_QPS_ERR);
	want_event(b, IB_EVENT_QP_ACCESS_ERR);
	check_canaries(b, BUF_SIZE);
	region_free(&r);
}

/* Masked ones are not ours; a short place for the result is none. */
static void run_atomic_refused(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	struct ib_sge sge = {
		.addr = a->dma, .length = 4, .lkey = st->pd->local_dma_lkey,
	};
	struct ib_atomic_wr wr = {
		.wr = { .opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &sge,
			.num_sge = 1 },
	};
	struct region r;
	struct mark *m;

	m = post_atomic(a, IB_WR_MASKED_ATOMIC_CMP_AND_SWP, a->dma, 0, 0, 0, 0);
	check(st->t, m->err == -EOPNOTSUPP, "a masked one is posted: %d", m->err);
	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	canaries(b);
	wr.remote_addr = r.mr->iova;
	wr.rkey = r.mr->rkey;
	want(post_wr(a, &wr.wr), IB_WC_LOC_LEN_ERR);
	want_state(a, IB_QPS_ERR);
	want_state(b, IB_QPS_RTS);
	check_canaries(b, BUF_SIZE);
	region_free(&r);
}

void ktest_word(struct ktest *t)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
	};

	ktest_run(t, run_atomics, NULL, "atomics");
	ktest_run(t, run_unaligned, &ops[0], "COMPARE AND SWAP at an odd place");
	ktest_run(t, run_unaligned, &ops[1], "FETCH AND ADD at an odd place");
	ktest_run(t, run_atomic_refused, NULL, "atomics that may not be");
}
