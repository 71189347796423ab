// SPDX-License-Identifier: GPL-2.0
/*
 * reg - IB_WR_REG_MR: registers the mapped memory, and nothing else
 *
 * Process context.
 */
#include <linux/slab.h>

#include "ktest.h"

#define P	PAGE_SIZE

/* Layout of the memory of a region. */
struct reg_layout {
	const char *name;
	enum ib_mr_type type;
	unsigned int page_size;
	unsigned int offset;
	struct piece pieces[8];
};

static const struct reg_layout reg_layouts[] = {
	{ "one byte", IB_MR_TYPE_MEM_REG, P, 0, { { 3 * P + 17, 1 } } },
	{ "pages in any order", IB_MR_TYPE_MEM_REG, P, 0,
	  { { 3 * P, P }, { 0, P }, { 9 * P, P }, { 5 * P, P } } },
	{ "from the middle of one page to that of another", IB_MR_TYPE_MEM_REG, P, 0,
	  { { 3 * P + 100, P - 100 }, { 7 * P, P }, { P, 77 } } },
	{ "from an offset into the first entry", IB_MR_TYPE_MEM_REG, P, 1000,
	  { { 3 * P, P }, { 7 * P, P }, { P, 77 } } },
	{ "pages of 8 KiB", IB_MR_TYPE_MEM_REG, 2 * P, 0,
	  { { 4 * P, 2 * P }, { 0, 2 * P }, { 10 * P, 2 * P } } },
	{ "pages of 8 KiB, from an offset", IB_MR_TYPE_MEM_REG, 2 * P, P + 1,
	  { { 4 * P, 2 * P }, { 0, 2 * P }, { 10 * P, 2 * P } } },
	{ "entries with gaps", IB_MR_TYPE_SG_GAPS, P, 0,
	  { { 13, 500 }, { 2 * P + 7, 1 }, { 4 * P - 96, 96 }, { 6 * P + 1, 2000 },
	    { P, P }, { 11 * P + 4000, 300 } } },
	{ "entries with gaps, from an offset", IB_MR_TYPE_SG_GAPS, P, 499,
	  { { 13, 500 }, { 2 * P + 7, 3 }, { 4 * P - 96, 96 } } },
};

static u32 reg_layout_len(const struct reg_layout *l)
{
	const struct piece *p = l->pieces;
	u32 len = 0;

	for (; p->len; p++)
		len += p->len;
	return len - l->offset;
}

/* The buffer has pattern @old, except the region, which has @new. */
static void reg_compare(struct side *s, const struct reg_layout *l,
			unsigned int old, unsigned int new)
{
	const u8 *from = ktest_pattern(s->t, new);
	const struct piece *p = l->pieces;
	u8 *expected = kvzalloc(BUF_SIZE, GFP_KERNEL);
	u32 skip = l->offset;

	if (!check(s->t, expected, "no memory"))
		return;
	memcpy(expected, ktest_pattern(s->t, old), BUF_SIZE);
	for (; p->len; p++) {
		u32 len = p->len - min(skip, p->len);

		memcpy(expected + p->at + p->len - len, from, len);
		from += len;
		skip -= p->len - len;
	}
	check(s->t, !memcmp(s->buf, expected, BUF_SIZE), "wrong data");
	kvfree(expected);
}

static void reg_compare_flat(struct side *s, u32 len, unsigned int seed)
{
	check(s->t, !memcmp(s->buf, ktest_pattern(s->t, seed), len),
	      "wrong data here");
}

/* The peer writes and reads; then send from there and receive there. */
static void reg_use_layout(struct stage *st, const struct reg_layout *l,
			   struct region *r)
{
	u32 lkey = st->pd->local_dma_lkey, len = reg_layout_len(l);
	struct side *a = &st->a, *b = &st->b;
	u64 at = r->mr->iova;
	u32 key = r->mr->rkey;
	struct mark *m;

	side_fill(b, 1);
	side_fill(a, 2);
	want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, len, lkey, at, key),
	     IB_WC_SUCCESS);
	reg_compare(b, l, 1, 2);

	memset(a->buf, 0, BUF_SIZE);
	want(post_rdma(a, IB_WR_RDMA_READ, a->dma, len, lkey, at, key),
	     IB_WC_SUCCESS);
	reg_compare_flat(a, len, 2);

	memset(a->buf, 0, BUF_SIZE);
	m = post_recv(a, a->dma, len, lkey);
	want(post_send(b, at, len, key), IB_WC_SUCCESS);
	if (want(m, IB_WC_SUCCESS))
		check(st->t, m->wc.byte_len == len, "%u bytes", m->wc.byte_len);
	reg_compare_flat(a, len, 2);

	side_fill(a, 3);
	side_fill(b, 1);
	m = post_recv(b, at, len, key);
	want(post_send(a, a->dma, len, lkey), IB_WC_SUCCESS);
	want(m, IB_WC_SUCCESS);
	reg_compare(b, l, 1, 3);
}

static void reg_test_layout(struct stage *st, const void *arg)
{
	const struct reg_layout *l = arg;
	unsigned int offset = l->offset;
	struct region r;
	struct mark *m;

	if (!region_new(&st->b, st->pd, &r, l->type, 8))
		return;
	check(st->t, region_map(&st->b, &r, l->pieces, &offset, l->page_size),
	      "not all entries are mapped");
	check(st->t, r.mr->length == reg_layout_len(l), "%llu bytes instead of %u",
	      r.mr->length, reg_layout_len(l));
	m = post_reg(&st->b, r.mr, r.mr->rkey, ALL_RIGHTS);
	if (want(m, IB_WC_SUCCESS)) {
		check(st->t, m->wc.opcode == IB_WC_REG_MR, "opcode %d",
		      m->wc.opcode);
		reg_use_layout(st, l, &r);
	}
	m = post_inv(&st->b, r.mr->rkey, 0);
	if (want(m, IB_WC_SUCCESS))
		check(st->t, m->wc.opcode == IB_WC_LOCAL_INV, "opcode %d",
		      m->wc.opcode);
	region_free(&r);
}

/* Register repeatedly, with another key and other memory each time. */
static void reg_test_keys(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	struct region r;
	u32 first;
	int i;

	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	first = r.mr->rkey;
	for (i = 1; i <= (st->t->quick ? 5 : 300); i++) {
		struct piece pieces[] = { { (i % 11) * P + i % 7, 64 }, {} };

		want(post_inv(b, r.mr->rkey, 0), IB_WC_SUCCESS);
		ib_update_fast_reg_key(r.mr, (first & 0xff) + i);
		check(st->t, r.mr->rkey >> 8 == first >> 8 &&
		      (r.mr->rkey & 0xff) == ((first + i) & 0xff), "key 0x%08x",
		      r.mr->rkey);
		check(st->t, region_map(b, &r, pieces, NULL, P), "not mapped");
		side_fill(a, i);
		if (!want(post_reg(b, r.mr, r.mr->rkey, ALL_RIGHTS), IB_WC_SUCCESS) ||
		    !want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 64,
				    st->pd->local_dma_lkey, r.mr->iova, r.mr->rkey),
			  IB_WC_SUCCESS))
			break;
		check(st->t, !memcmp(b->buf + pieces[0].at, a->buf, 64),
		      "round %d: wrong data", i);
	}
	/* The previous key is invalid. */
	want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 64, st->pd->local_dma_lkey,
		       r.mr->iova, (first & ~0xffU) | ((first + i - 2) & 0xff)),
	     IB_WC_REM_ACCESS_ERR);
	want_state(a, IB_QPS_ERR);
	want_state(b, IB_QPS_ERR);
	want_event(b, IB_EVENT_QP_ACCESS_ERR);
	region_free(&r);
}

/* As in storage: register and send in one list. */
static void reg_test_chain(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	const struct piece pieces[] = { { 5 * P, P }, { 2 * P, 50 }, {} };
	struct mark *recv, *reg, *send;
	const struct ib_send_wr *bad;
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR, .access = ALL_RIGHTS };
	struct ib_sge sge = { .length = P + 50 };
	struct ib_send_wr next = {
		.opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct region r;

	if (!region_new(b, st->pd, &r, IB_MR_TYPE_MEM_REG, 4))
		return;
	region_map(b, &r, pieces, NULL, P);
	side_fill(b, 9);
	recv = post_recv(a, a->dma, 2 * P, st->pd->local_dma_lkey);
	reg = mark_new(b);
	send = mark_new(b);
	wr.mr = r.mr;
	wr.key = r.mr->rkey;
	wr.wr.wr_cqe = &reg->cqe;
	wr.wr.next = &next;
	sge.addr = r.mr->iova;
	sge.lkey = r.mr->lkey;
	next.wr_cqe = &send->cqe;
	check(st->t, !ib_post_send(b->qp, &wr.wr, &bad), "not posted");
	want(recv, IB_WC_SUCCESS);
	want(send, IB_WC_SUCCESS);
	/* REG_MR is not signaled. */
	check(st->t, !reg->times, "a completion for REG_MR");
	check(st->t, !memcmp(a->buf, b->buf + 5 * P, P) &&
	      !memcmp(a->buf + P, b->buf + 2 * P, 50), "wrong data");
	region_free(&r);
}

/* With too many entries those that fit are mapped, and nothing beyond. */
static void reg_test_too_many(struct stage *st, const void *arg)
{
	static const struct piece pieces[] = {
		{ 14 * P, P }, { 12 * P, P }, { 10 * P, P }, { 8 * P, P },
		{ 6 * P, P }, { 4 * P, P }, {},
	};
	struct side *a = &st->a, *b = &st->b;
	u32 lkey = st->pd->local_dma_lkey;
	struct region r;

	if (!region_new(b, st->pd, &r, IB_MR_TYPE_MEM_REG, 4))
		return;
	check(st->t, !region_map(b, &r, pieces, NULL, P), "all entries are mapped");
	check(st->t, ib_map_mr_sg(r.mr, r.sg, r.nents, NULL, P) == 4,
	      "wrong number of mapped entries");
	check(st->t, r.mr->length == 4 * P, "%llu bytes", r.mr->length);
	side_fill(a, 4);
	memset(b->buf, 0, BUF_SIZE);
	want(post_reg(b, r.mr, r.mr->rkey, ALL_RIGHTS), IB_WC_SUCCESS);
	want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 4 * P, lkey, r.mr->iova,
		       r.mr->rkey), IB_WC_SUCCESS);
	check(st->t, !memcmp(b->buf + 8 * P, a->buf + 3 * P, P), "wrong data");
	want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 4 * P + 1, lkey, r.mr->iova,
		       r.mr->rkey), IB_WC_REM_ACCESS_ERR);
	want_event(b, IB_EVENT_QP_ACCESS_ERR);
	check(st->t, !memchr_inv(b->buf + 6 * P, 0, P), "written where nothing is mapped");
	region_free(&r);
}

/* Invalid registrations. */
enum reg_misreg {
	TWICE, FOREIGN_PD, NOTHING, UNMAPPED, LOCAL_KEY, UNKNOWN_KEY, NO_RIGHT, NOT_LOCAL,
	NOT_LOCAL_ATOMIC, MISREGS
};

static const char *const reg_misreg_names[] = {
	[TWICE] = "region registered already",
	[FOREIGN_PD] = "region of another protection domain",
	[NOTHING] = "no bytes mapped", [UNMAPPED] = "region never mapped",
	[LOCAL_KEY] = "local_dma_lkey as key", [UNKNOWN_KEY] = "unknown key",
	[NO_RIGHT] = "invalid access flag",
	[NOT_LOCAL] = "remote write without local write access",
	[NOT_LOCAL_ATOMIC] = "remote atomics without local write access",
};

static struct mark *reg_misregister(struct stage *st, struct region *r,
				    enum reg_misreg how)
{
	int access = ALL_RIGHTS;
	u32 key = r->mr->rkey;

	switch (how) {
	case TWICE:
		want(post_reg(&st->b, r->mr, key, access), IB_WC_SUCCESS);
		key ^= 1;
		break;
	case NOTHING:
		sg_dma_len(r->sg) = 0;
		ib_map_mr_sg(r->mr, r->sg, 1, NULL, P);
		check(st->t, !r->mr->length, "%llu bytes", r->mr->length);
		break;
	case LOCAL_KEY:
		key = st->pd->local_dma_lkey;
		break;
	case UNKNOWN_KEY:
		key = ~key;
		break;
	case NO_RIGHT:
		access |= IB_ACCESS_ON_DEMAND;
		break;
	case NOT_LOCAL:
		access = IB_ACCESS_REMOTE_WRITE;
		break;
	case NOT_LOCAL_ATOMIC:
		access = IB_ACCESS_REMOTE_ATOMIC;
		break;
	default:
		break;
	}
	return post_reg(&st->b, r->mr, key, access);
}

static void reg_test_misreg(struct stage *st, const void *arg)
{
	const struct piece pieces[] = { { P, P }, {} };
	enum reg_misreg how = *(const enum reg_misreg *)arg;
	struct ib_pd *pd = st->pd;
	struct side *b = &st->b;
	struct region r;

	if (how == FOREIGN_PD)
		pd = ib_alloc_pd(st->t->dev, 0);
	if (!check(st->t, !IS_ERR(pd), "no domain"))
		return;
	if (region_new(b, pd, &r, IB_MR_TYPE_MEM_REG, 4)) {
		if (how != UNMAPPED)
			region_map(b, &r, pieces, NULL, P);
		want(reg_misregister(st, &r, how), IB_WC_MW_BIND_ERR);
		want_state(b, IB_QPS_ERR);
		want(post_send(b, b->dma, 1, st->pd->local_dma_lkey),
		     IB_WC_WR_FLUSH_ERR);
		/* The peer is not affected. */
		want_state(&st->a, IB_QPS_RTS);
		check(st->t, !b->events, "events 0x%lx", b->events);
		region_free(&r);
	}
	if (how == FOREIGN_PD)
		ib_dealloc_pd(pd);
}

/* Kernel verbs allocate no windows: call the driver. */
static struct ib_mw *reg_window_new(struct stage *st)
{
	const struct ib_device_ops *ops = &st->t->dev->ops;
	struct ib_mw *mw = kzalloc(ops->size_ib_mw, GFP_KERNEL);

	if (!mw)
		return NULL;
	mw->device = st->t->dev;
	mw->pd = st->pd;
	mw->type = IB_MW_TYPE_2;
	if (!ops->alloc_mw(mw, NULL))
		return mw;
	kfree(mw);
	return NULL;
}

static void reg_test_window(struct stage *st, const void *arg)
{
	const struct piece pieces[] = { { P, P }, {} };
	struct ib_mw *mw = reg_window_new(st);
	struct region r;

	if (!check(st->t, mw, "no window"))
		return;
	if (region_new(&st->b, st->pd, &r, IB_MR_TYPE_MEM_REG, 4)) {
		region_map(&st->b, &r, pieces, NULL, P);
		want(post_reg(&st->b, r.mr, mw->rkey, ALL_RIGHTS), IB_WC_MW_BIND_ERR);
		check(st->t, !stage_again(st), "not connected again");
		want(post_inv(&st->b, mw->rkey, 0), IB_WC_MW_BIND_ERR);
		want_state(&st->b, IB_QPS_ERR);
		region_free(&r);
	}
	st->t->dev->ops.dealloc_mw(mw);
	kfree(mw);
}

/* An operation of the peer, with rights that lack it. */
struct reg_lack {
	const char *name;
	int access;
	enum ib_wr_opcode op;
};

static const struct reg_lack reg_lacks[] = {
	{ "READ", ALL_RIGHTS & ~IB_ACCESS_REMOTE_READ, IB_WR_RDMA_READ },
	{ "WRITE", ALL_RIGHTS & ~IB_ACCESS_REMOTE_WRITE, IB_WR_RDMA_WRITE },
	{ "COMPARE AND SWAP", ALL_RIGHTS & ~IB_ACCESS_REMOTE_ATOMIC,
	  IB_WR_ATOMIC_CMP_AND_SWP },
	{ "FETCH AND ADD", ALL_RIGHTS & ~IB_ACCESS_REMOTE_ATOMIC,
	  IB_WR_ATOMIC_FETCH_AND_ADD },
	{ "READ from a region without remote rights", IB_ACCESS_LOCAL_WRITE, IB_WR_RDMA_READ },
};

static void reg_test_lack(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	const struct reg_lack *l = arg;
	struct region r;
	struct mark *m;

	if (!region_simple(b, &r, l->access))
		return;
	memset(a->buf, 1, BUF_SIZE);
	memset(b->buf, 2, BUF_SIZE);
	if (l->op == IB_WR_RDMA_READ || l->op == IB_WR_RDMA_WRITE)
		m = post_rdma(a, l->op, a->dma, 3000, st->pd->local_dma_lkey,
			      r.mr->iova, r.mr->rkey);
	else
		m = post_atomic(a, l->op, a->dma, r.mr->iova, r.mr->rkey,
				0x0202020202020202, 7);
	want(m, IB_WC_REM_ACCESS_ERR);
	want_state(a, IB_QPS_ERR);
	want_state(b, IB_QPS_ERR);
	want_event(b, IB_EVENT_QP_ACCESS_ERR);
	check(st->t, !memchr_inv(a->buf, 1, BUF_SIZE), "data came");
	check(st->t, !memchr_inv(b->buf, 2, BUF_SIZE), "data was written");
	region_free(&r);
}

/* A region without local write access. */
static void reg_test_read_only(struct stage *st, const void *arg)
{
	bool receive = *(const bool *)arg;
	struct side *a = &st->a, *b = &st->b;
	struct region r, from;
	struct mark *m;

	if (!region_simple(b, &r, IB_ACCESS_REMOTE_READ))
		return;
	memset(b->buf, 2, BUF_SIZE);
	if (receive) {
		m = post_recv(b, r.mr->iova, 100, r.mr->lkey);
		want(post_send(a, a->dma, 100, st->pd->local_dma_lkey),
		     IB_WC_REM_OP_ERR);
		want(m, IB_WC_LOC_PROT_ERR);
		want_state(a, IB_QPS_ERR);
	} else if (region_simple(a, &from, ALL_RIGHTS)) {
		want(post_rdma(b, IB_WR_RDMA_READ, r.mr->iova, 100, r.mr->lkey,
			       from.mr->iova, from.mr->rkey), IB_WC_LOC_PROT_ERR);
		region_free(&from);
	}
	want_state(b, IB_QPS_ERR);
	check(st->t, !memchr_inv(b->buf, 2, BUF_SIZE), "data was written");
	region_free(&r);
}

/* Out of bounds before, behind, and with overflow. */
static void reg_test_bounds(struct stage *st, const void *arg)
{
	static const struct { s64 at; u32 len; } bad[] = {
		{ -1, 1 }, { -1, 2 }, { BUF_SIZE - P, 1 }, { BUF_SIZE - P - 1, 2 },
		{ -4096, 4097 }, { -8, 3 },
	};
	unsigned int i;
	struct region r;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!region_simple(&st->b, &r, ALL_RIGHTS))
			return;
		memset(st->b.buf, 2, BUF_SIZE);
		want(post_rdma(&st->a, IB_WR_RDMA_WRITE, st->a.dma, bad[i].len,
			       st->pd->local_dma_lkey, r.mr->iova + bad[i].at,
			       r.mr->rkey), IB_WC_REM_ACCESS_ERR);
		check(st->t, !memchr_inv(st->b.buf, 2, BUF_SIZE), "%u: written", i);
		check(st->t, !stage_again(st), "not connected again");
		region_free(&r);
	}
}

static void reg_test_limits(struct stage *st, const void *arg)
{
	u32 most = st->t->dev->attrs.max_fast_reg_page_list_len;
	static const enum ib_mr_type types[] = {
		IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS,
	};
	struct scatterlist sg;
	unsigned int i;
	struct ib_mr *mr;

	sg_init_table(&sg, 1);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		mr = ib_alloc_mr(st->pd, types[i], 0);
		check(st->t, IS_ERR(mr), "a region of no pages is allocated");
		mr = ib_alloc_mr(st->pd, types[i], most + 1);
		check(st->t, PTR_ERR(mr) == -EINVAL, "more pages than the maximum");
		mr = ib_alloc_mr(st->pd, types[i], most);
		if (!check(st->t, !IS_ERR(mr), "the maximum is refused"))
			continue;
		check(st->t, ib_map_mr_sg(mr, &sg, 0, NULL, P) < 0,
		      "nothing at all was mapped");
		ib_dereg_mr(mr);
	}
	mr = ib_alloc_mr(st->pd, IB_MR_TYPE_DM, 4);
	check(st->t, PTR_ERR(mr) == -EOPNOTSUPP, "a region of device memory is allocated");
}

void ktest_reg(struct ktest *t)
{
	static const bool receives[] = { false, true };
	enum reg_misreg how;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reg_layouts); i++)
		ktest_run(t, reg_test_layout, &reg_layouts[i], "REG_MR registers memory: %s",
			  reg_layouts[i].name);
	ktest_run(t, reg_test_keys, NULL, "a region can be registered again with another key");
	ktest_run(t, reg_test_chain, NULL, "REG_MR and a SEND of its memory work in one list");
	ktest_run(t, reg_test_too_many, NULL, "of too many entries those that fit are mapped");
	for (how = 0; how < MISREGS; how++)
		ktest_run(t, reg_test_misreg, &how, "REG_MR fails: %s",
			  reg_misreg_names[how]);
	ktest_run(t, reg_test_window, NULL,
		  "REG_MR fails: key of a memory window");
	for (i = 0; i < ARRAY_SIZE(reg_lacks); i++)
		ktest_run(t, reg_test_lack, &reg_lacks[i],
			  "access without the right fails: %s", reg_lacks[i].name);
	ktest_run(t, reg_test_read_only, &receives[0],
		  "a READ into a region without local write access fails");
	ktest_run(t, reg_test_read_only, &receives[1],
		  "a receive in a region without local write access fails");
	ktest_run(t, reg_test_bounds, NULL, "access outside the registered range fails");
	ktest_run(t, reg_test_limits, NULL, "ib_alloc_mr() checks its arguments");
}
