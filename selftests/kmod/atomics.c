// SPDX-License-Identifier: GPL-2.0
/*
 * atomics - atomics, ATOMIC WRITE and FLUSH
 *
 * Process context.
 */
#include "ktest.h"

#define CANARY	0x1122334455667788ULL

static u64 *atomics_word(struct side *s, u32 at)
{
	return (u64 *)(s->buf + at);
}

static void atomics_fill_canaries(struct side *s)
{
	unsigned int i;

	for (i = 0; i < BUF_SIZE; i += 8)
		*atomics_word(s, i) = CANARY;
}

/* Everything except the word at @but is unchanged. */
static void atomics_check_canaries(struct side *s, u32 but)
{
	unsigned int i;

	for (i = 0; i < BUF_SIZE; i += 8)
		if (i != but && *atomics_word(s, i) != CANARY)
			break;
	check(s->t, i == BUF_SIZE, "byte %u has changed", i);
}

static void atomics_test_values(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	struct mark *m[3];
	struct region r;
	u64 at;

	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	atomics_fill_canaries(a);
	atomics_fill_canaries(b);
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
	check(st->t, *atomics_word(a, 0) == CANARY && *atomics_word(a, 8) == CANARY + 5 &&
	      *atomics_word(a, 16) == CANARY + 5, "results %llx %llx %llx",
	      *atomics_word(a, 0), *atomics_word(a, 8), *atomics_word(a, 16));
	check(st->t, *atomics_word(b, 64) == 99, "the word is %llx", *atomics_word(b, 64));
	atomics_check_canaries(b, 64);
	region_free(&r);
}

static void atomics_test_unaligned(struct stage *st, const void *arg)
{
	enum ib_wr_opcode op = *(const enum ib_wr_opcode *)arg;
	struct side *a = &st->a, *b = &st->b;
	struct region r;

	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	atomics_fill_canaries(b);
	want(post_atomic(a, op, a->dma, r.mr->iova + 4, r.mr->rkey, 5, 7),
	     IB_WC_REM_INV_REQ_ERR);
	want_state(a, IB_QPS_ERR);
	want_state(b, IB_QPS_ERR);
	want_event(b, IB_EVENT_QP_ACCESS_ERR);
	atomics_check_canaries(b, BUF_SIZE);
	region_free(&r);
}

/* Masked atomics are not supported; the result needs eight bytes. */
static void atomics_test_refused(struct stage *st, const void *arg)
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
	check(st->t, m->err == -EOPNOTSUPP, "a masked atomic is posted: %d", m->err);
	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	atomics_fill_canaries(b);
	wr.remote_addr = r.mr->iova;
	wr.rkey = r.mr->rkey;
	want(post_wr(a, &wr.wr), IB_WC_LOC_LEN_ERR);
	want_state(a, IB_QPS_ERR);
	want_state(b, IB_QPS_RTS);
	atomics_check_canaries(b, BUF_SIZE);
	region_free(&r);
}

#ifdef ROVER_COMPAT_NO_WORDS
/* Kernel verbs before 6.2 have neither. */
static void atomics_test_write(struct stage *st, const void *arg)
{
	st->t->skip = "this kernel has no IB_WR_ATOMIC_WRITE and IB_WR_FLUSH";
}

#define atomics_test_write_refused	atomics_test_write
#define atomics_test_flush		atomics_test_write
#define atomics_test_flush_refused	atomics_test_write
#else
/* The word is inline data, not memory. */
static struct mark *atomics_post_write(struct side *s, void *word, u32 len, u64 remote,
				       u32 rkey, int flags)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)word, .length = len,
		.lkey = flags & IB_SEND_INLINE ? 0 : s->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_ATOMIC_WRITE, .sg_list = &sge,
			.num_sge = 1, .send_flags = flags },
		.remote_addr = remote,
		.rkey = rkey,
	};

	return post_wr(s, &wr.wr);
}

static void atomics_test_write(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	unsigned int i;
	struct region r;
	struct mark *m;

	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	atomics_fill_canaries(b);
	for (i = 1; i <= (st->t->quick ? 20 : 500); i++) {
		u64 word = i * CANARY;

		m = atomics_post_write(a, &word, 8, r.mr->iova + 4096, r.mr->rkey,
				       IB_SEND_INLINE);
		if (!want(m, IB_WC_SUCCESS))
			break;
		check(st->t, m->wc.opcode == IB_WC_ATOMIC_WRITE, "opcode %d",
		      m->wc.opcode);
		check(st->t, *atomics_word(b, 4096) == word, "%llx instead of %llx",
		      *atomics_word(b, 4096), word);
	}
	atomics_check_canaries(b, 4096);
	region_free(&r);
}

static void atomics_test_write_refused(struct stage *st, const void *arg)
{
	static const struct {
		int off;
		int access;
		u32 key;
		enum ib_wc_status status;
	} tries[] = {
		{ 4, ALL_RIGHTS, 0, IB_WC_REM_INV_REQ_ERR },
		{ -8, ALL_RIGHTS, 0, IB_WC_REM_ACCESS_ERR },
		{ 0, ALL_RIGHTS, 1, IB_WC_REM_ACCESS_ERR },
		{ 0, ALL_RIGHTS & ~IB_ACCESS_REMOTE_WRITE, 0, IB_WC_REM_ACCESS_ERR },
	};
	struct side *a = &st->a, *b = &st->b;
	u64 words[2] = { 1, 2 };
	struct region r;
	struct mark *m;
	unsigned int i;

	m = atomics_post_write(a, words, 8, 0, 0, 0);
	check(st->t, m->err == -EINVAL, "a word in memory is posted: %d", m->err);
	m = atomics_post_write(a, words, 4, 0, 0, IB_SEND_INLINE);
	check(st->t, m->err == -EINVAL, "half a word is posted: %d", m->err);
	m = atomics_post_write(a, words, 16, 0, 0, IB_SEND_INLINE);
	check(st->t, m->err == -EINVAL, "two words are posted: %d", m->err);
	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		if (!region_simple(b, &r, tries[i].access))
			return;
		atomics_fill_canaries(b);
		want(atomics_post_write(a, words, 8, r.mr->iova + tries[i].off,
					r.mr->rkey ^ tries[i].key, IB_SEND_INLINE),
		     tries[i].status);
		want_state(a, IB_QPS_ERR);
		want_state(b, IB_QPS_ERR);
		atomics_check_canaries(b, BUF_SIZE);
		check(st->t, !stage_again(st), "not connected again");
		region_free(&r);
	}
}

/* Data written before a FLUSH is there when it completes. */
static void atomics_test_flush(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	struct mark *m[2];
	struct region r;
	unsigned int i;

	if (!region_simple(b, &r, ALL_RIGHTS | IB_ACCESS_FLUSH_GLOBAL))
		return;
	for (i = 0; i < (st->t->quick ? 10 : 100); i++) {
		side_fill(a, i);
		m[0] = post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 9000,
				 st->pd->local_dma_lkey, r.mr->iova, r.mr->rkey);
		m[1] = post_rdma(a, IB_WR_FLUSH, 0, 0, 0, r.mr->iova, r.mr->rkey);
		if (!want(m[1], IB_WC_SUCCESS))
			break;
		want(m[0], IB_WC_SUCCESS);
		check(st->t, m[1]->wc.opcode == IB_WC_FLUSH, "opcode %d",
		      m[1]->wc.opcode);
		check(st->t, !memcmp(a->buf, b->buf, 9000), "round %u: wrong data", i);
	}
	region_free(&r);
}

/* A key without the right, a wrong key, a queue pair without the right. */
static void atomics_test_flush_refused(struct stage *st, const void *arg)
{
	static const int rights = ALL_RIGHTS | IB_ACCESS_FLUSH_GLOBAL;
	struct side *a = &st->a, *b = &st->b;
	struct region r;
	struct mark *m;
	unsigned int i;

	m = post_rdma(a, IB_WR_FLUSH, a->dma, 8, st->pd->local_dma_lkey, 0, 0);
	check(st->t, m->err == -EINVAL, "a FLUSH with local memory is posted: %d", m->err);
	for (i = 0; i < 3; i++) {
		if (!region_simple(b, &r, i ? rights : ALL_RIGHTS))
			return;
		if (i == 2) {
			side_modify(a, IB_QPS_RESET, 0, 0);
			side_modify(b, IB_QPS_RESET, 0, 0);
			check(st->t, !stage_connect(st, ALL_RIGHTS), "not connected");
		}
		want(post_rdma(a, IB_WR_FLUSH, 0, 0, 0, r.mr->iova,
			       r.mr->rkey ^ (i == 1)),
		     i == 2 ? IB_WC_REM_INV_REQ_ERR : IB_WC_REM_ACCESS_ERR);
		want_state(a, IB_QPS_ERR);
		want_state(b, IB_QPS_ERR);
		check(st->t, !stage_again(st), "not connected again");
		region_free(&r);
	}
}
#endif

void ktest_atomics(struct ktest *t)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
	};

	ktest_run(t, atomics_test_values, NULL, "atomics change the word and return its old value");
	ktest_run(t, atomics_test_unaligned, &ops[0],
		  "an unaligned COMPARE AND SWAP fails");
	ktest_run(t, atomics_test_unaligned, &ops[1], "an unaligned FETCH AND ADD fails");
	ktest_run(t, atomics_test_refused, NULL, "masked and short atomics are refused");
	ktest_run(t, atomics_test_write, NULL, "ATOMIC WRITE stores the word");
	ktest_run(t, atomics_test_write_refused, NULL, "invalid ATOMIC WRITEs are refused");
	ktest_run(t, atomics_test_flush, NULL,
		  "data of earlier WRITEs is there after a FLUSH");
	ktest_run(t, atomics_test_flush_refused, NULL, "invalid FLUSHes are refused");
}
