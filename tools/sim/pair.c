// SPDX-License-Identifier: GPL-2.0
/* pair - two connected queue pairs, each with a host of its own */
#include <stdio.h>

#include "clock.h"
#include "host.h"
#include "load.h"
#include "model.h"
#include "options.h"
#include "pair.h"
#include "qp/qp_state.h"
#include "random.h"
#include "rc/requester.h"
#include "rc/responder.h"
#include "run/run.h"
#include "run/timer.h"
#include "wire/psn.h"

#define MAX_INLINE	64

struct rover_dev pair_dev;
struct rover_stats pair_stats;

static void pair_ring_init(struct rover_ring *ring, u32 entries, u32 bytes)
{
	*ring = (struct rover_ring) {
		.hdr = calloc(1, sizeof(*ring->hdr)),
		.stride = ALIGN(bytes, ROVER_SLOT_SIZE),
		.limit = entries,
		.mask = roundup_pow_of_two(entries) - 1,
	};
	ring->slots = calloc(ring->mask + 1, ring->stride);
}

static void pair_ring_free(struct rover_ring *ring)
{
	free(ring->hdr);
	free(ring->slots);
}

static void pair_rings_init(struct rover_qp *qp)
{
	u32 sges = max_t(u32, opts.sges, 1) * sizeof(struct rover_sge);

	qp->max_send_sge = opts.sges;
	qp->max_recv_sge = opts.sges;
	qp->max_inline = MAX_INLINE;
	pair_ring_init(&qp->sq, opts.depth,
		       ROVER_SEND_WQE_HDR + max(sges, MAX_INLINE));
	pair_ring_init(&qp->rq, load_receives(), ROVER_RECV_WQE_HDR + sges);
}

static void pair_attr_init(struct rover_qp *qp)
{
	qp->attr = (struct ib_qp_attr) {
		.timeout = opts.timeout,
		.retry_cnt = opts.retry,
		.rnr_retry = opts.rnr_retry,
		.min_rnr_timer = opts.rnr_timer,
		.max_rd_atomic = opts.rd_atomic,
		.max_dest_rd_atomic = opts.rd_atomic,
	};
	qp->mtu = opts.mtu;
	qp->mtu_shift = ilog2(qp->mtu);
	qp->access = ROVER_MR_REMOTE | IB_ACCESS_FLUSH_GLOBAL;
	qp->rsp.res_max = roundup_pow_of_two(opts.rd_atomic);
	qp->rsp.res = calloc(qp->rsp.res_max, sizeof(*qp->rsp.res));
	qp->rsp.saved = calloc(qp->rsp.res_max, sizeof(*qp->rsp.saved));
	qp->req.sent = calloc(qp->sq.mask + 1, sizeof(*qp->req.sent));
}

static void pair_end_init(struct end *end, u32 number, bool back)
{
	struct rover_qp *qp = &end->qp;

	snprintf(end->name, sizeof(end->name), "%c%u", "AB"[back], number);
	end->back = back;
	random_seed(&end->rng, opts.seed, 1000000 + 2 * number + back);
	refcount_set(&qp->refs, 1);
	qp->obj.key = 16 + 2 * number + back;
	qp->dev = &pair_dev;
	qp->stats = &pair_stats;
	qp->ib = &end->ib.ib;
	end->ib.qp = qp;
	qp->pd = &end->pd.ib;
	qp->recv_pd = qp->pd;
	qp->scq = &end->scq;
	qp->rcq = &end->rcq;
	atomic_set(&end->scq.ib.usecnt, 1);
	atomic_set(&end->rcq.ib.usecnt, 1);
	qp->transport = ROVER_TRANSPORT_RC;
	qp->user = true;
	qp->alive = true;
	qp->home_cpu = ROVER_CPU_ANY;
	pair_rings_init(qp);
	pair_attr_init(qp);
	rover_timer_init(qp);
	qp->rtx.timer.end = end;
	qp->cc.timer.end = end;
}

static void pair_flow_init(struct flow *flow, struct end *from, u32 number)
{
	u32 depth = opts.depth;

	flow->from = from;
	flow->to = from->peer;
	from->peer->in = flow;
	random_seed(&flow->rng, opts.seed, 100 + 2 * number + from->back);
	flow->limit = from->back && !opts.both ? 0 : opts.messages;
	flow->mask = 2 * roundup_pow_of_two(depth) - 1;
	flow->rows = calloc(flow->mask + 1, sizeof(*flow->rows));
	flow->recv_rows = calloc(flow->mask + 1, sizeof(*flow->recv_rows));
	flow->slot = ALIGN(max_t(u64, opts.size, sizeof(u64)), 64);
	flow->slots = calloc(depth, flow->slot);
	flow->read_slots = calloc(depth, flow->slot);
	flow->recv_slots = calloc(load_receives(), flow->slot);
}

static void pair_connect(struct end *end, u32 psn, u32 peer_psn)
{
	struct rover_qp *qp = &end->qp;

	qp->remote_qpn = end->peer->qp.obj.key;
	qp->attr.sq_psn = psn;
	qp->attr.rq_psn = peer_psn;
	spin_lock(&qp->rx_lock);
	spin_lock(&qp->tx_lock);
	qp->state = IB_QPS_RTR;
	rover_responder_init(qp);
	rover_requester_init(qp);
	/* Known after the first packet of the peer. */
	qp->peer_sack = !opts.gbn && !opts.fresh;
	qp->state = IB_QPS_RTS;
	spin_unlock(&qp->tx_lock);
	spin_unlock(&qp->rx_lock);
}

static u32 pair_psn(struct end *end)
{
	return opts.psn == OPTION_SAME ? random_next(&end->rng) & ROVER_PSN_MASK :
					 opts.psn;
}

struct pair *pair_create(u32 number)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct end *a = &pair->ends[0], *b = &pair->ends[1];
	u32 psn[2];

	a->peer = b;
	b->peer = a;
	pair_end_init(a, number, false);
	pair_end_init(b, number, true);
	pair_flow_init(&a->out, a, number);
	pair_flow_init(&b->out, b, number);
	psn[0] = pair_psn(a);
	psn[1] = pair_psn(b);
	a->sampled = psn[0];
	pair_connect(a, psn[0], psn[1]);
	pair_connect(b, psn[1], psn[0]);
	load_start(a);
	load_start(b);
	return pair;
}

static void pair_end_fail(struct end *end)
{
	struct rover_qp *qp = &end->qp;

	spin_lock(&qp->rx_lock);
	spin_lock(&qp->tx_lock);
	qp->state = IB_QPS_ERR;
	rover_qp_set_work(qp, ROVER_WORK_TX);
	rover_qp_set_work(qp, ROVER_WORK_RX);
	spin_unlock(&qp->tx_lock);
	spin_unlock(&qp->rx_lock);
	rover_run(qp);
}

void pair_fail(struct pair *pair)
{
	pair_end_fail(&pair->ends[0]);
	pair_end_fail(&pair->ends[1]);
}

static void pair_end_check(struct end *end)
{
	if (end->recv_done != end->recv_posted)
		model_fail(end, "%u of %u receives are complete in the end",
			   end->recv_done, end->recv_posted);
	if (end->out.done != end->out.posted)
		model_fail(end, "%u of %u messages are complete in the end",
			   end->out.done, end->out.posted);
	if (!end->out.failed && end->in->atomic_model != end->in->atomic &&
	    !end->in->failed)
		model_fail(end, "the atomic has a wrong value in the end");
}

void pair_check(struct pair *pair)
{
	pair_end_check(&pair->ends[0]);
	pair_end_check(&pair->ends[1]);
}

static void pair_end_destroy(struct end *end)
{
	struct rover_qp *qp = &end->qp;

	spin_lock(&qp->rx_lock);
	spin_lock(&qp->tx_lock);
	qp->alive = false;
	rover_responder_reset(qp);
	rover_requester_reset(qp);
	spin_unlock(&qp->tx_lock);
	spin_unlock(&qp->rx_lock);
	rover_timer_stop(qp);
	host_forget(end);
}

static void pair_end_free(struct end *end)
{
	struct rover_qp *qp = &end->qp;

	if (refcount_read(&qp->refs) != 1)
		model_fail(end, "%d references are left",
			   refcount_read(&qp->refs) - 1);
	host_forget(end);
	pair_ring_free(&qp->sq);
	pair_ring_free(&qp->rq);
	free(qp->rsp.res);
	free(qp->rsp.saved);
	free(qp->req.sent);
	free(end->out.rows);
	free(end->out.recv_rows);
	free(end->out.slots);
	free(end->out.read_slots);
	free(end->out.recv_slots);
}

void pair_destroy(struct pair *pair)
{
	pair_end_destroy(&pair->ends[0]);
	pair_end_destroy(&pair->ends[1]);
}

void pair_free(struct pair *pair)
{
	pair_end_free(&pair->ends[0]);
	pair_end_free(&pair->ends[1]);
	free(pair);
}
