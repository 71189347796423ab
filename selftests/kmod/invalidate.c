// SPDX-License-Identifier: GPL-2.0
/*
 * invalidate - invalidation of keys: IB_WR_LOCAL_INV, IB_WR_SEND_WITH_INV
 *
 * Process context.
 */
#include "ktest.h"

/* After the invalidation neither the peer nor the owner can use the region. */
static void invalidate_test_gone(struct stage *st, const void *arg)
{
	bool by_peer = *(const bool *)arg;
	struct side *a = &st->a, *b = &st->b;
	u32 lkey = st->pd->local_dma_lkey;
	struct region r;
	struct mark *m;

	if (!region_simple(b, &r, ALL_RIGHTS))
		return;
	want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 100, lkey, r.mr->iova, r.mr->rkey),
	     IB_WC_SUCCESS);
	if (by_peer) {
		m = post_recv(b, b->dma + BUF_SIZE - PAGE_SIZE, 100, lkey);
		want(post_send_inv(a, r.mr->rkey), IB_WC_SUCCESS);
		if (want(m, IB_WC_SUCCESS))
			check(st->t, m->wc.wc_flags & IB_WC_WITH_INVALIDATE &&
			      m->wc.ex.invalidate_rkey == r.mr->rkey &&
			      m->wc.byte_len == 10 && m->wc.opcode == IB_WC_RECV,
			      "flags 0x%x, key 0x%08x, %u bytes", m->wc.wc_flags,
			      m->wc.ex.invalidate_rkey, m->wc.byte_len);
	} else {
		want(post_inv(b, r.mr->rkey, 0), IB_WC_SUCCESS);
	}
	memset(b->buf, 2, BUF_SIZE);
	memset(a->buf, 3, BUF_SIZE);
	want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 100, lkey, r.mr->iova, r.mr->rkey),
	     IB_WC_REM_ACCESS_ERR);
	want_state(a, IB_QPS_ERR);
	want_state(b, IB_QPS_ERR);
	want_event(b, IB_EVENT_QP_ACCESS_ERR);
	check(st->t, !memchr_inv(b->buf, 2, BUF_SIZE), "data was written");

	check(st->t, !stage_again(st), "not connected again");
	m = post_recv(a, a->dma, 200, lkey);
	want(post_send(b, r.mr->iova, 100, r.mr->lkey), IB_WC_LOC_PROT_ERR);
	want_state(b, IB_QPS_ERR);
	want_state(a, IB_QPS_RTS);
	check(st->t, !m->times, "something was received");
	check(st->t, !memchr_inv(a->buf, 3, BUF_SIZE), "data was read");
	region_free(&r);
}

/* Keys that cannot be invalidated, locally or by the peer. */
enum invalidate_foreign {
	STALE, NEVER, DMA_KEY, TWICE, OLD, OTHER_PD, LOCAL_ONLY, FOREIGNS
};

static const char *const invalidate_foreign_names[] = {
	[STALE] = "unknown key", [NEVER] = "key that was never registered",
	[DMA_KEY] = "local_dma_lkey", [TWICE] = "key that is invalid already",
	[OLD] = "key with another low byte",
	[OTHER_PD] = "key of another protection domain",
	[LOCAL_ONLY] = "key without remote rights",
};

struct invalidate_case {
	enum invalidate_foreign key;
	bool by_peer;
};

/* Prepare the region for the case and return the key. */
static u32 invalidate_spoil_key(struct stage *st, struct region *r, enum invalidate_foreign how)
{
	const struct piece pieces[] = { { 0, PAGE_SIZE }, {} };
	u32 key = r->mr->rkey;

	region_map(&st->b, r, pieces, NULL, PAGE_SIZE);
	switch (how) {
	case STALE:
		region_free(r);
		return key;
	case DMA_KEY:
		return st->pd->local_dma_lkey;
	case TWICE:
		want(post_reg(&st->b, r->mr, key, ALL_RIGHTS), IB_WC_SUCCESS);
		want(post_inv(&st->b, key, 0), IB_WC_SUCCESS);
		return key;
	case OLD:
		want(post_reg(&st->b, r->mr, key, ALL_RIGHTS), IB_WC_SUCCESS);
		return key ^ 1;
	case LOCAL_ONLY:
		want(post_reg(&st->b, r->mr, key, IB_ACCESS_LOCAL_WRITE),
		     IB_WC_SUCCESS);
		return key;
	default:
		return key;
	}
}

static void invalidate_take_back(struct stage *st, u32 key, bool by_peer)
{
	struct side *a = &st->a, *b = &st->b;
	struct mark *m;

	if (by_peer) {
		m = post_recv(b, b->dma + BUF_SIZE - 100, 100,
			      st->pd->local_dma_lkey);
		want(post_send_inv(a, key), IB_WC_REM_ACCESS_ERR);
		want(m, IB_WC_REM_INV_REQ_ERR);
		want_state(a, IB_QPS_ERR);
	} else {
		want(post_inv(b, key, 0), IB_WC_MW_BIND_ERR);
		want(post_inv(b, key, 0), IB_WC_WR_FLUSH_ERR);
		want_state(&st->a, IB_QPS_RTS);
	}
	want_state(b, IB_QPS_ERR);
}

static void invalidate_test_foreign(struct stage *st, const void *arg)
{
	const struct invalidate_case *inv = arg;
	struct side *a = &st->a, *b = &st->b;
	struct stage *other = NULL;
	struct region r;
	u32 key;

	if (inv->key == OTHER_PD) {
		other = stage_open(st->t, IB_POLL_WORKQUEUE, 4 * DEPTH);
		if (!other)
			return;
		if (!region_simple(&other->b, &r, ALL_RIGHTS))
			goto out;
		key = r.mr->rkey;
	} else {
		if (!region_new(b, st->pd, &r, IB_MR_TYPE_MEM_REG, 4))
			return;
		key = invalidate_spoil_key(st, &r, inv->key);
	}
	invalidate_take_back(st, key, inv->by_peer);

	/* A key that could not be invalidated still works for its owner. */
	if (other) {
		want(post_rdma(&other->a, IB_WR_RDMA_WRITE, other->a.dma, 100,
			       other->pd->local_dma_lkey, r.mr->iova, key),
		     IB_WC_SUCCESS);
	} else if (inv->key == OLD || (inv->key == LOCAL_ONLY && inv->by_peer)) {
		check(st->t, !stage_again(st), "not connected again");
		post_recv(a, a->dma, 100, st->pd->local_dma_lkey);
		want(post_send(b, r.mr->iova, 100, r.mr->lkey), IB_WC_SUCCESS);
	}
	region_free(&r);
out:
	if (other)
		stage_close(other);
}

/* LOCAL_INV needs no remote rights. */
static void invalidate_test_local_only(struct stage *st, const void *arg)
{
	struct region r;

	if (!region_simple(&st->b, &r, IB_ACCESS_LOCAL_WRITE))
		return;
	want(post_inv(&st->b, r.mr->rkey, 0), IB_WC_SUCCESS);
	want_state(&st->b, IB_QPS_RTS);
	region_free(&r);
}

/* In order and fenced: the READ before still finds its memory. */
static void invalidate_test_fence(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	struct region to, from;
	unsigned int i, bytes = 40000;
	struct mark *m[3];

	for (i = 0; i < (st->t->quick ? 3 : 50); i++) {
		if (!region_simple(a, &to, IB_ACCESS_LOCAL_WRITE))
			return;
		if (!region_simple(b, &from, IB_ACCESS_REMOTE_READ)) {
			region_free(&to);
			return;
		}
		memset(a->buf, 0, BUF_SIZE);
		side_fill(b, i);
		m[0] = post_rdma(a, IB_WR_RDMA_READ, to.mr->iova, bytes,
				 to.mr->lkey, from.mr->iova, from.mr->rkey);
		m[1] = post_inv(a, to.mr->lkey, IB_SEND_FENCE);
		m[2] = post_rdma(a, IB_WR_RDMA_READ, a->dma, 1,
				 st->pd->local_dma_lkey, from.mr->iova,
				 from.mr->rkey);
		want(m[0], IB_WC_SUCCESS);
		want(m[1], IB_WC_SUCCESS);
		want(m[2], IB_WC_SUCCESS);
		check(st->t, m[0]->order < m[1]->order &&
		      m[1]->order < m[2]->order, "out of order");
		check(st->t, !memcmp(a->buf, b->buf, bytes), "wrong data");
		region_free(&to);
		region_free(&from);
	}
}

/* In order and not fenced: data sent from the region still arrives. */
static void invalidate_test_unfenced(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	unsigned int i, bytes = 40000;
	u32 lkey = st->pd->local_dma_lkey;
	struct region from, to;
	struct mark *m[3];

	for (i = 0; i < (st->t->quick ? 3 : 50); i++) {
		if (!region_simple(a, &from, IB_ACCESS_LOCAL_WRITE))
			return;
		if (!region_simple(b, &to, ALL_RIGHTS)) {
			region_free(&from);
			return;
		}
		memset(b->buf, 0, BUF_SIZE);
		side_fill(a, i);
		m[0] = post_rdma(a, IB_WR_RDMA_WRITE, from.mr->iova, bytes,
				 from.mr->lkey, to.mr->iova, to.mr->rkey);
		m[1] = post_inv(a, from.mr->lkey, 0);
		m[2] = post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 1, lkey,
				 to.mr->iova, to.mr->rkey);
		want(m[0], IB_WC_SUCCESS);
		want(m[1], IB_WC_SUCCESS);
		want(m[2], IB_WC_SUCCESS);
		check(st->t, !memcmp(a->buf, b->buf, bytes), "wrong data");
		region_free(&from);
		region_free(&to);
	}
}

/* A region per request, invalidated by the answer, as in storage. */
static void invalidate_test_serve(struct stage *st, const void *arg)
{
	struct side *a = &st->a, *b = &st->b;
	u32 lkey = st->pd->local_dma_lkey;
	const struct piece pieces[] = { { 3 * PAGE_SIZE, PAGE_SIZE }, { 1 * PAGE_SIZE, 1000 }, {} };
	struct mark *m[3], *recv;
	struct region r;
	int i;

	if (!region_new(b, st->pd, &r, IB_MR_TYPE_MEM_REG, 4))
		return;
	for (i = 0; i < (st->t->quick ? 10 : 300); i++) {
		check(st->t, region_map(b, &r, pieces, NULL, PAGE_SIZE), "not mapped");
		ib_update_fast_reg_key(r.mr, i);
		side_fill(a, i);
		recv = post_recv(b, b->dma, 100, lkey);
		m[0] = post_reg(b, r.mr, r.mr->rkey, ALL_RIGHTS);
		want(m[0], IB_WC_SUCCESS);
		m[1] = post_rdma(a, IB_WR_RDMA_WRITE, a->dma, PAGE_SIZE + 1000,
				 lkey, r.mr->iova, r.mr->rkey);
		m[2] = post_send_inv(a, r.mr->rkey);
		want(m[1], IB_WC_SUCCESS);
		want(m[2], IB_WC_SUCCESS);
		if (!want(recv, IB_WC_SUCCESS))
			break;
		check(st->t, recv->wc.ex.invalidate_rkey == r.mr->rkey,
		      "wrong key in the completion");
		check(st->t, !memcmp(b->buf + 3 * PAGE_SIZE, a->buf, PAGE_SIZE) &&
		      !memcmp(b->buf + 1 * PAGE_SIZE, a->buf + PAGE_SIZE, 1000),
		      "round %d: wrong data", i);
	}
	region_free(&r);
}

void ktest_invalidate(struct ktest *t)
{
	static const bool ways[] = { false, true };
	struct invalidate_case inv;

	ktest_run(t, invalidate_test_gone, &ways[0], "LOCAL_INV makes a key invalid");
	ktest_run(t, invalidate_test_gone, &ways[1], "SEND with invalidate makes a key invalid");
	for (inv.key = 0; inv.key < LOCAL_ONLY; inv.key++) {
		inv.by_peer = false;
		ktest_run(t, invalidate_test_foreign, &inv,
			  "LOCAL_INV fails: %s",
			  invalidate_foreign_names[inv.key]);
	}
	for (inv.key = 0; inv.key < FOREIGNS; inv.key++) {
		inv.by_peer = true;
		ktest_run(t, invalidate_test_foreign, &inv,
			  "SEND with invalidate fails: %s",
			  invalidate_foreign_names[inv.key]);
	}
	ktest_run(t, invalidate_test_local_only, NULL,
		  "LOCAL_INV needs no remote rights");
	ktest_run(t, invalidate_test_fence, NULL,
		  "LOCAL_INV with fence waits for a READ");
	ktest_run(t, invalidate_test_unfenced, NULL,
		  "LOCAL_INV without fence follows a WRITE of the region");
	ktest_run(t, invalidate_test_serve, NULL,
		  "a region is registered and invalidated for each request");
}
