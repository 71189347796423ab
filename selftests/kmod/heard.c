// SPDX-License-Identifier: GPL-2.0
/*
 * heard - what may be done by whoever hears of a completion, there and then
 *
 * He may take back the key of the memory that it is about, with the help of another
 * queue pair: the device does not use that any more.  If it did, it would wait for
 * itself.
 *
 * Process context, but for hear(), which comes in that of the completion.
 */
#include "ktest.h"

/**
 * struct closing - a key, and that it was taken back
 * @by: who takes it back
 * @key: which
 * @mark: how that ended
 * @posted: there is one
 */
struct closing {
	struct side *by;
	u32 key;
	struct mark *mark;
	struct completion posted;
};

static void hear(struct ib_cq *cq, void *arg)
{
	struct side *s = arg;
	struct closing *c = s->arg;

	c->mark = post_inv(c->by, c->key, 0);
	complete(&c->posted);
}

struct heard {
	enum ib_wr_opcode op;
	bool receive;
	const char *name;
};

/* What the completion is of that is heard: @own is the memory at this end. */
static struct mark *post_heard(struct stage *st, const struct heard *h,
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

static void run_round(struct stage *rc, struct stage *st, const struct heard *h,
		      const struct region *peers)
{
	struct side *s = h->receive ? &st->b : &st->a;
	struct closing c = { .by = &rc->a };
	struct ktest *t = rc->t;
	struct region own;

	if (!region_simple(&rc->a, &own, ALL_RIGHTS))
		return;
	c.key = own.mr->lkey;
	init_completion(&c.posted);
	s->arg = &c;
	check(t, ib_req_notify_cq(s->cq, IB_CQ_NEXT_COMP) >= 0, "not armed");
	want(post_heard(st, h, &own, peers), IB_WC_SUCCESS);
	if (check(t, wait_for_completion_timeout(&c.posted, t->slow * HZ),
		  "nothing was heard"))
		want(c.mark, IB_WC_SUCCESS);
	region_free(&own);
}

/* On each processor, as the completion may be anybody's. */
static void run_heard(struct stage *rc, const void *arg)
{
	int i, vector, most = min(rc->t->dev->num_comp_vectors, 4);
	int rounds = rc->t->quick ? 5 : DEPTH;
	struct region peers;

	if (!region_simple(&rc->b, &peers, ALL_RIGHTS))
		return;
	for (vector = 0; vector < most; vector++) {
		const struct kind kind = {
			.type = IB_QPT_RC, .beside = rc,
			.hear = hear, .vector = vector,
		};
		struct stage *st = stage_open_of(rc->t, &kind, 4 * DEPTH);

		if (!st)
			break;
		for (i = 0; i < rounds && !rc->t->bad; i++)
			run_round(rc, st, arg, &peers);
		stage_close(st);
	}
	region_free(&peers);
}

void ktest_heard(struct ktest *t)
{
	static const struct heard all[] = {
		{ IB_WR_SEND, false, "SEND" },
		{ IB_WR_SEND, true, "receive" },
		{ IB_WR_RDMA_WRITE, false, "WRITE" },
		{ IB_WR_RDMA_READ, false, "READ" },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, false, "atomic" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		ktest_run(t, run_heard, &all[i],
			  "the key is taken back by whoever hears of it: %s",
			  all[i].name);
}
