// SPDX-License-Identifier: GPL-2.0
/*
 * heard - invalidate a key in the handler of a completion
 *
 * On completion the device no longer uses the key, so the handler may
 * invalidate it through another queue pair.  Otherwise that would deadlock.
 *
 * Process context, except heard_invalidate(), called by the completion.
 */
#include "ktest.h"

/**
 * struct heard_closing - a key to invalidate
 * @by: side that posts the invalidation
 * @key: the key
 * @mark: the posted request
 * @posted: @mark is valid
 */
struct heard_closing {
	struct side *by;
	u32 key;
	struct mark *mark;
	struct completion posted;
};

static void heard_invalidate(struct ib_cq *cq, void *arg)
{
	struct side *s = arg;
	struct heard_closing *c = s->arg;

	c->mark = post_inv(c->by, c->key, 0);
	complete(&c->posted);
}

struct heard_case {
	enum ib_wr_opcode op;
	bool receive;
	const char *name;
};

/* Post the request whose completion is handled; @own is local memory. */
static struct mark *heard_post(struct stage *st, const struct heard_case *h,
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

static void heard_run_round(struct stage *rc, struct stage *st,
			    const struct heard_case *h,
			    const struct region *peers)
{
	struct side *s = h->receive ? &st->b : &st->a;
	struct heard_closing c = { .by = &rc->a };
	struct ktest *t = rc->t;
	struct region own;

	if (!region_simple(&rc->a, &own, ALL_RIGHTS))
		return;
	c.key = own.mr->lkey;
	init_completion(&c.posted);
	s->arg = &c;
	check(t, ib_req_notify_cq(s->cq, IB_CQ_NEXT_COMP) >= 0, "not armed");
	want(heard_post(st, h, &own, peers), IB_WC_SUCCESS);
	if (check(t, wait_for_completion_timeout(&c.posted, t->slow * HZ),
		  "nothing was heard"))
		want(c.mark, IB_WC_SUCCESS);
	region_free(&own);
}

/* On each vector: the completion may run on any CPU. */
static void heard_test(struct stage *rc, const void *arg)
{
	int i, vector, most = min(rc->t->dev->num_comp_vectors, 4);
	int rounds = rc->t->quick ? 5 : DEPTH;
	struct region peers;

	if (!region_simple(&rc->b, &peers, ALL_RIGHTS))
		return;
	for (vector = 0; vector < most; vector++) {
		const struct kind kind = {
			.type = IB_QPT_RC, .beside = rc,
			.hear = heard_invalidate, .vector = vector,
		};
		struct stage *st = stage_open_of(rc->t, &kind, 4 * DEPTH);

		if (!st)
			break;
		for (i = 0; i < rounds && !rc->t->bad; i++)
			heard_run_round(rc, st, arg, &peers);
		stage_close(st);
	}
	region_free(&peers);
}

void ktest_heard(struct ktest *t)
{
	static const struct heard_case all[] = {
		{ IB_WR_SEND, false, "SEND" },
		{ IB_WR_SEND, true, "receive" },
		{ IB_WR_RDMA_WRITE, false, "WRITE" },
		{ IB_WR_RDMA_READ, false, "READ" },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, false, "atomic" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		ktest_run(t, heard_test, &all[i],
			  "the key is taken back by whoever hears of it: %s",
			  all[i].name);
}
