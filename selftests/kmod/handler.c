// SPDX-License-Identifier: GPL-2.0
/*
 * handler - invalidate a key in a completion handler
 *
 * When a request has completed the device no longer uses its key, so the
 * completion handler may invalidate the key through another queue pair.  If the
 * device still held a reference to the key, that would deadlock.
 *
 * Process context, except handler_invalidate(), the completion handler.
 */
#include "ktest.h"

/**
 * struct handler_key - a key to invalidate
 * @by: side that posts the invalidation
 * @key: the key
 * @mark: the posted request
 * @posted: @mark is valid
 */
struct handler_key {
	struct side *by;
	u32 key;
	struct mark *mark;
	struct completion posted;
};

static void handler_invalidate(struct ib_cq *cq, void *arg)
{
	struct side *s = arg;
	struct handler_key *c = s->arg;

	c->mark = post_inv(c->by, c->key, 0);
	complete(&c->posted);
}

struct handler_case {
	enum ib_wr_opcode op;
	bool receive;
	const char *name;
};

/* Post the request whose completion is handled; @own is local memory. */
static struct mark *handler_post(struct stage *st, const struct handler_case *h,
				 const struct region *own, const struct region *peers)
{
	struct ib_sge sge = { own->mr->iova, 8, own->mr->lkey };
	struct side *a = &st->a, *b = &st->b;
	struct mark *recv;

	if (h->op == IB_WR_ATOMIC_FETCH_AND_ADD) {
		struct ib_atomic_wr wr = {
			.wr = { .opcode = h->op, .sg_list = &sge, .num_sge = 1 },
			.remote_addr = peers->mr->iova,
			.rkey = peers->mr->rkey,
		};

		return post_wr(a, &wr.wr);
	}
	if (h->op != IB_WR_SEND)
		return post_rdma(a, h->op, own->mr->iova, 5000, own->mr->lkey,
				 peers->mr->iova, peers->mr->rkey);
	if (!h->receive) {
		post_recv(b, b->dma, 5000, b->pd->local_dma_lkey);
		return post_send(a, own->mr->iova, 5000, own->mr->lkey);
	}
	recv = post_recv(b, own->mr->iova, 5000, own->mr->lkey);
	post_send(a, a->dma, 5000, a->pd->local_dma_lkey);
	return recv;
}

static void handler_run_round(struct stage *rc, struct stage *st,
			      const struct handler_case *h,
			      const struct region *peers)
{
	struct side *s = h->receive ? &st->b : &st->a;
	struct handler_key c = { .by = &rc->a };
	struct ktest *t = rc->t;
	struct region own;

	if (!region_simple(&rc->a, &own, ALL_RIGHTS))
		return;
	c.key = own.mr->lkey;
	init_completion(&c.posted);
	s->arg = &c;
	check(t, ib_req_notify_cq(s->cq, IB_CQ_NEXT_COMP) >= 0, "not armed");
	want(handler_post(st, h, &own, peers), IB_WC_SUCCESS);
	if (check(t, wait_for_completion_timeout(&c.posted, t->slow * HZ),
		  "the handler was not called"))
		want(c.mark, IB_WC_SUCCESS);
	region_free(&own);
}

/* On each vector: the completion may run on any CPU. */
static void handler_test(struct stage *rc, const void *arg)
{
	int i, vector, most = min(rc->t->dev->num_comp_vectors, 4);
	int rounds = rc->t->quick ? 5 : DEPTH;
	struct region peers;

	if (!region_simple(&rc->b, &peers, ALL_RIGHTS))
		return;
	for (vector = 0; vector < most; vector++) {
		const struct kind kind = {
			.type = IB_QPT_RC, .beside = rc,
			.comp_handler = handler_invalidate, .vector = vector,
		};
		struct stage *st = stage_open_of(rc->t, &kind, 4 * DEPTH);

		if (!st)
			break;
		for (i = 0; i < rounds && !rc->t->bad; i++)
			handler_run_round(rc, st, arg, &peers);
		stage_close(st);
	}
	region_free(&peers);
}

void ktest_handler(struct ktest *t)
{
	static const struct handler_case all[] = {
		{ IB_WR_SEND, false, "SEND" },
		{ IB_WR_SEND, true, "receive" },
		{ IB_WR_RDMA_WRITE, false, "WRITE" },
		{ IB_WR_RDMA_READ, false, "READ" },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, false, "atomic" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		ktest_run(t, handler_test, &all[i],
			  "a completion handler can invalidate the key: %s",
			  all[i].name);
}
