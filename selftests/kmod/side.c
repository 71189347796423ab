// SPDX-License-Identifier: GPL-2.0
/*
 * side - set up, connect and release two queue pairs
 *
 * Process context.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "ktest.h"

/* Each seed is another offset into the same random bytes. */
const u8 *ktest_pattern(const struct ktest *t, unsigned int seed)
{
	return t->pattern + seed * 17 % SEEDS;
}

void side_fill(struct side *s, unsigned int seed)
{
	memcpy(s->buf, ktest_pattern(s->t, seed), BUF_SIZE);
}

static void side_on_event(struct ib_event *event, void *context)
{
	struct side *s = context;
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->events |= BIT(event->event);
	s->num_events++;
	spin_unlock_irqrestore(&s->lock, flags);
}

static struct ib_cq *side_make_cq(struct side *s, const struct kind *kind, int cqes)
{
	struct ib_cq_init_attr init = {
		.cqe = cqes,
		.comp_vector = kind->vector,
	};

	return kind->comp_handler ?
	       ib_create_cq(s->t->dev, kind->comp_handler, NULL, s, &init) :
	       ib_alloc_cq(s->t->dev, s, cqes, 0, kind->how);
}

static int side_make_qp(struct side *s, const struct kind *kind)
{
	struct ib_qp_init_attr init = {
		.event_handler = side_on_event,
		.qp_context = s,
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.srq = kind->srq,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = MOST_SGE,
			.max_recv_sge = MOST_SGE,
			.max_inline_data = 64,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = kind->type,
		.port_num = PORT,
	};

	s->qp = ib_create_qp(s->pd, &init);
	if (IS_ERR(s->qp)) {
		int err = PTR_ERR(s->qp);

		s->qp = NULL;
		return err;
	}
	s->cap = init.cap;
	return 0;
}

static int side_open(struct stage *st, struct side *s, const struct kind *kind,
		     int cqes)
{
	int err;

	s->t = st->t;
	s->pd = st->pd;
	s->has_handler = kind->comp_handler;
	s->direct = s->has_handler || kind->how == IB_POLL_DIRECT;
	spin_lock_init(&s->lock);
	s->buf = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, BUF_ORDER);
	if (!s->buf)
		return -ENOMEM;
	s->dma = ib_dma_map_single(st->t->dev, s->buf, BUF_SIZE,
				   DMA_BIDIRECTIONAL);
	s->cq = side_make_cq(s, kind, cqes);
	if (IS_ERR(s->cq)) {
		err = PTR_ERR(s->cq);
		s->cq = NULL;
		return err;
	}
	return side_make_qp(s, kind);
}

static void side_close(struct side *s)
{
	if (s->qp)
		ib_destroy_qp(s->qp);
	if (s->cq && s->has_handler)
		ib_destroy_cq(s->cq);
	else if (s->cq)
		ib_free_cq(s->cq);
	if (s->dma)
		ib_dma_unmap_single(s->t->dev, s->dma, BUF_SIZE,
				    DMA_BIDIRECTIONAL);
	free_pages((unsigned long)s->buf, BUF_ORDER);
}

void stage_close(struct stage *st)
{
	side_close(&st->a);
	side_close(&st->b);
	if (st->pd && !st->beside)
		ib_dealloc_pd(st->pd);
	kvfree(st);
}

/* Without a drain, which would wait for receives that stay posted. */
int stage_reset(struct stage *st)
{
	int err = side_modify(&st->a, IB_QPS_RESET, 0, 0);

	if (!err)
		err = side_modify(&st->b, IB_QPS_RESET, 0, 0);
	if (!err)
		err = stage_connect(st, QP_RIGHTS);
	return err;
}

/*
 * Open two connected sides with @cqes entries in each completion queue.  NULL,
 * with a failed case, on error.
 */
struct stage *stage_open_of(struct ktest *t, const struct kind *kind, int cqes)
{
	struct stage *st = kvzalloc_objs(*st, 1, GFP_KERNEL);
	int err;

	if (!check(t, st, "no memory for a stage"))
		return NULL;
	st->t = t;
	st->beside = kind->beside;
	st->pd = kind->beside ? kind->beside->pd : ib_alloc_pd(t->dev, 0);
	if (IS_ERR(st->pd)) {
		err = PTR_ERR(st->pd);
		st->pd = NULL;
		goto fail;
	}
	err = side_open(st, &st->a, kind, cqes);
	if (!err)
		err = side_open(st, &st->b, kind, cqes);
	if (!err)
		err = stage_connect(st, QP_RIGHTS);
	if (!err)
		return st;
fail:
	stage_close(st);
	check(t, false, "no stage: %d", err);
	return NULL;
}

struct stage *stage_open(struct ktest *t, enum ib_poll_context how, int cqes)
{
	const struct kind kind = { .type = IB_QPT_RC, .how = how };

	return stage_open_of(t, &kind, cqes);
}

/* Attribute mask of each state, by type of queue pair. */
#define MASK_INIT	(IB_QP_PKEY_INDEX | IB_QP_PORT)
#define MASK_PATH	(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)

static const int side_state_masks[][IB_QPS_ERR + 1] = {
	[IB_QPT_RC] = {
		[IB_QPS_INIT] = MASK_INIT | IB_QP_ACCESS_FLAGS,
		[IB_QPS_RTR] = MASK_PATH | IB_QP_MAX_DEST_RD_ATOMIC |
			       IB_QP_MIN_RNR_TIMER,
		[IB_QPS_RTS] = IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			       IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC,
	},
	[IB_QPT_UC] = {
		[IB_QPS_INIT] = MASK_INIT | IB_QP_ACCESS_FLAGS,
		[IB_QPS_RTR] = MASK_PATH,
		[IB_QPS_RTS] = IB_QP_SQ_PSN,
	},
	[IB_QPT_UD] = {
		[IB_QPS_INIT] = MASK_INIT | IB_QP_QKEY,
		[IB_QPS_RTS] = IB_QP_SQ_PSN,
	},
};

int side_modify(struct side *s, enum ib_qp_state state, int rights, u32 peer)
{
	struct ib_qp_attr attr = {
		.qp_state = state,
		.port_num = PORT,
		.qp_access_flags = rights,
		.qkey = QKEY,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = peer,
		.rq_psn = 0xfffff0,
		.sq_psn = 0xfffff0,
		.max_rd_atomic = 8,
		.max_dest_rd_atomic = 8,
		.min_rnr_timer = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	struct rdma_ah_attr *ah = &attr.ah_attr;

	ah->type = rdma_ah_find_type(s->t->dev, PORT);
	rdma_ah_set_port_num(ah, PORT);
	rdma_ah_set_grh(ah, &s->t->gid, 0, s->t->gid_index, 64, 0);
	return ib_modify_qp(s->qp, &attr,
			    IB_QP_STATE | side_state_masks[s->qp->qp_type][state]);
}

/* From SQE back to RTS, with unchanged attributes. */
int side_resume(struct side *s)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };

	return ib_modify_qp(s->qp, &attr, IB_QP_STATE);
}

/* From RESET to RTS, with these rights for the peer. */
int stage_connect(struct stage *st, int rights)
{
	static const enum ib_qp_state states[] = {
		IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS,
	};
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(states) && !err; i++) {
		err = side_modify(&st->a, states[i], rights, st->b.qp->qp_num);
		if (!err)
			err = side_modify(&st->b, states[i], rights,
					  st->a.qp->qp_num);
	}
	return err;
}

/* Drain, reset and connect again. */
int stage_again(struct stage *st)
{
	ib_drain_qp(st->a.qp);
	ib_drain_qp(st->b.qp);
	return stage_reset(st);
}

/* Destroy the queue pair, with requests in flight or not. */
void side_destroy(struct side *s)
{
	check(s->t, !ib_destroy_qp(s->qp), "not destroyed");
	s->qp = NULL;
}

/* State and events may be due to the peer: wait for them. */
bool side_state(struct side *s, enum ib_qp_state state, const char *where)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};
	int i;

	for (i = 0; i < 200 * s->t->slow; i++) {
		if (ib_query_qp(s->qp, &attr, IB_QP_STATE, &init))
			return ktest_wrong(s->t, where, 0, "query_qp failed");
		if (attr.qp_state == state)
			return true;
		usleep_range(1000, 2000);
	}
	return ktest_wrong(s->t, where, 0, "state %d instead of %d",
			   attr.qp_state, state);
}

bool side_event(struct side *s, enum ib_event_type event, const char *where)
{
	int i;

	for (i = 0; i < 200 * s->t->slow; i++) {
		if (READ_ONCE(s->events) & BIT(event))
			return true;
		usleep_range(1000, 2000);
	}
	return ktest_wrong(s->t, where, 0, "no event %s, but 0x%lx",
			   ib_event_msg(event), s->events);
}

/* Neither side got an event. */
bool stage_no_event(struct stage *st, const char *where, int line)
{
	return ktest_check(st->t, !st->a.events && !st->b.events, where, line,
			   "events 0x%lx, 0x%lx", st->a.events, st->b.events);
}
