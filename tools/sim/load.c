// SPDX-License-Identifier: GPL-2.0
/* load - the programs: they post messages and receives */
#include <math.h>

#include "clock.h"
#include "host.h"
#include "load.h"
#include "model.h"
#include "options.h"
#include "pair.h"
#include "random.h"
#include "run/run.h"
#include "wire/wr.h"

u32 load_receives(void)
{
	return opts.receives == OPTION_SAME ? 2 * opts.depth : opts.receives;
}

static u8 load_choose_opcode(u64 *rng)
{
	static const u8 mix[] = {
		ROVER_WQE_SEND, ROVER_WQE_SEND_IMM, ROVER_WQE_SEND_INV,
		ROVER_WQE_WRITE, ROVER_WQE_WRITE, ROVER_WQE_WRITE_IMM,
		ROVER_WQE_READ, ROVER_WQE_READ, ROVER_WQE_CMP_SWAP,
		ROVER_WQE_FETCH_ADD, ROVER_WQE_ATOMIC_WRITE, ROVER_WQE_FLUSH,
		ROVER_WQE_LOCAL_INV,
	};

	switch (opts.verb) {
	case VERB_WRITE:
		return ROVER_WQE_WRITE;
	case VERB_WRITE_IMM:
		return ROVER_WQE_WRITE_IMM;
	case VERB_SEND:
		return ROVER_WQE_SEND;
	case VERB_SEND_IMM:
		return ROVER_WQE_SEND_IMM;
	case VERB_READ:
		return ROVER_WQE_READ;
	case VERB_ATOMIC:
		return random_below(rng, 2) ? ROVER_WQE_CMP_SWAP :
					      ROVER_WQE_FETCH_ADD;
	default:
		return mix[random_below(rng, ARRAY_SIZE(mix))];
	}
}

static u32 load_choose_len(u64 *rng, u8 opcode)
{
	u16 flags = rover_wrs[opcode].flags;

	if (flags & ROVER_WR_ATOMIC || opcode == ROVER_WQE_ATOMIC_WRITE)
		return sizeof(u64);
	if (!(flags & (ROVER_WR_GATHER | ROVER_WR_SCATTER)))
		return 0;
	return opts.min_size == OPTION_SAME ? opts.size :
	       random_between(rng, opts.min_size, opts.size);
}

/* Split @len bytes at @at into random pieces. */
static void load_put_sges(u64 *rng, struct rover_sge *sge, u8 *n, u64 at,
			  u32 len)
{
	u32 pieces = random_between(rng, 1, opts.sges), piece;

	for (*n = 0; len || !*n; ++*n) {
		piece = *n + 1U >= pieces ? len : random_between(rng, 0, len);
		sge[*n] = (struct rover_sge) { .addr = at, .length = piece };
		at += piece;
		len -= piece;
		if (*n + 1U >= pieces) {
			++*n;
			break;
		}
	}
}

/* A compare-and-swap finds what it wants in most cases. */
static void load_put_atomic(struct flow *flow, struct message *row,
			    struct rover_send_wqe *wqe)
{
	u64 change = random_next(&flow->rng);
	bool finds = random_below(&flow->rng, 4);

	row->value = flow->atomic_model;
	row->from = (u8 *)&row->value;
	wqe->remote_addr = (uintptr_t)&flow->atomic;
	if (row->opcode == ROVER_WQE_FETCH_ADD) {
		wqe->compare_add = change;
		flow->atomic_model += change;
		return;
	}
	wqe->compare_add = flow->atomic_model + !finds;
	wqe->swap = change;
	if (finds)
		flow->atomic_model = change;
}

static void load_put_remote(struct flow *flow, struct message *row, u8 *slot,
			    struct rover_send_wqe *wqe)
{
	wqe->imm = row->imm;
	wqe->rkey = 1;
	row->from = model_data + random_below(&flow->rng, MODEL_DATA / 8) * 8;
	wqe->remote_addr = (uintptr_t)slot;
	if (row->opcode == ROVER_WQE_READ) {
		wqe->remote_addr = (uintptr_t)row->from;
	} else if (row->opcode == ROVER_WQE_ATOMIC_WRITE) {
		row->value = random_next(&flow->rng);
		row->from = (u8 *)&row->value;
		wqe->compare_add = row->value;
	} else if (row->opcode == ROVER_WQE_FLUSH) {
		wqe->imm = ROVER_FLUSH_GLOBAL;
		wqe->compare_add = 64;
	} else if (rover_wrs[row->opcode].flags & ROVER_WR_ATOMIC) {
		load_put_atomic(flow, row, wqe);
	}
}

static void load_put_local(struct flow *flow, struct message *row, u8 *read,
			   struct rover_send_wqe *wqe)
{
	u16 flags = rover_wrs[row->opcode].flags;
	void *at = (void *)wqe + ROVER_SEND_WQE_HDR;

	if (flags & ROVER_WR_INLINE_OK && row->len <= flow->from->qp.max_inline &&
	    random_below(&flow->rng, 2)) {
		wqe->flags |= ROVER_WQE_INLINE;
		wqe->inline_len = row->len;
		memcpy(at, row->from, row->len);
	} else if (flags & (ROVER_WR_GATHER | ROVER_WR_SCATTER)) {
		load_put_sges(&flow->rng, at, &wqe->num_sge,
			      flags & ROVER_WR_GATHER ? (uintptr_t)row->from :
							(uintptr_t)read,
			      row->len);
	}
}

static void load_post_one(struct flow *flow)
{
	struct end *end = flow->from;
	struct rover_ring *sq = &end->qp.sq;
	u32 number = flow->posted, slot = number % opts.depth;
	struct rover_send_wqe *wqe = rover_ring_slot(sq, sq->tail);
	struct message *row = flow_row(flow, number);
	bool last = number + 1 == flow->limit;

	memset(wqe, 0, sq->stride);
	*row = (struct message) {
		.opcode = load_choose_opcode(&flow->rng),
		.posted_at = clock_now,
		.recv = flow->recvs,
		.imm = random_next(&flow->rng),
		.signaled = last || (number + 1) % (opts.depth / 2 + 1) == 0 ||
			    !random_part(&flow->rng, opts.unsignaled),
	};
	row->len = load_choose_len(&flow->rng, row->opcode);
	wqe->opcode = row->opcode;
	wqe->wr_id = number;
	wqe->flags = row->signaled ? ROVER_WQE_SIGNALED : 0;
	if (opts.verb == VERB_MIXED && !random_below(&flow->rng, 8))
		wqe->flags |= ROVER_WQE_FENCE;
	if (rover_wrs[row->opcode].flags & ROVER_WR_RECV)
		flow->recv_rows[flow->recvs++ & flow->mask] = number;
	load_put_remote(flow, row, flow->slots + slot * flow->slot, wqe);
	load_put_local(flow, row, flow->read_slots + slot * flow->slot, wqe);
	flow->posted++;
	sq->hdr->tail = ++sq->tail;
	if (!flow->begun)
		flow->begun = clock_now;
}

static void load_program(void *arg);

static u64 load_gap(struct flow *flow)
{
	double u = (double)(random_below(&flow->rng, 1 << 20) + 1) / (1 << 20);

	return opts.gap ? -log(u) * opts.gap : 0;
}

static void load_alarm(void *arg)
{
	struct end *end = arg;

	end->out.waiting = false;
	load_wake(end);
}

static bool load_may_post(const struct flow *flow)
{
	return flow->posted < flow->limit && !flow->failed &&
	       flow->posted - flow->seen < opts.depth;
}

static void load_post(struct end *end)
{
	struct flow *flow = &end->out;
	u32 posted = flow->posted;

	flow->seen = flow->done;
	if (opts.until && clock_now >= NSEC_PER_SEC + opts.until &&
	    flow->limit > flow->posted)
		flow->limit = flow->posted;
	while (load_may_post(flow) && clock_now >= flow->next_at) {
		load_post_one(flow);
		flow->next_at = clock_now + load_gap(flow);
	}
	if (load_may_post(flow) && !flow->waiting) {
		flow->waiting = true;
		clock_at(flow->next_at, load_alarm, end);
	}
	if (flow->posted == posted)
		return;
	model_progress_at = clock_now;
	rover_run_posted(&end->qp);
}

static void load_post_recv(struct end *end)
{
	struct rover_ring *rq = &end->qp.rq;
	struct rover_recv_wqe *wqe = rover_ring_slot(rq, rq->tail);
	struct flow *in = end->in;
	u32 number = end->recv_posted++;
	u64 at = (uintptr_t)in->recv_slots + number % load_receives() * in->slot;
	u8 n;

	wqe->wr_id = number;
	load_put_sges(&end->rng, (void *)wqe + ROVER_RECV_WQE_HDR, &n, at,
		      in->slot);
	wqe->num_sge = n;
	rq->hdr->tail = ++rq->tail;
}

static void load_post_recvs(struct end *end)
{
	u32 target = end->recv_done + load_receives();
	bool any = end->recv_posted != target;

	while (end->recv_posted != target)
		load_post_recv(end);
	if (any && rover_ring_wait_met(&end->qp.rq))
		rover_run_receives(&end->qp);
}

/* The program sees its completions and goes on. */
static void load_program(void *arg)
{
	struct end *end = arg;
	u64 away = host_away(end);

	if (away) {
		clock_at(away, load_program, end);
		return;
	}

	end->app_due = false;
	end->unread = 0;
	if (model_closing || !end->qp.alive || end->out.failed ||
	    end->qp.state != IB_QPS_RTS)
		return;
	load_post_recvs(end);
	load_post(end);
}

void load_wake(struct end *end)
{
	u64 slow = opts.app_slow ?
		   random_below(&end->rng, opts.app_slow) : 0;

	if (end->app_due)
		return;
	end->app_due = true;
	clock_at(clock_now + opts.app + slow, load_program, end);
}

void load_start(struct end *end)
{
	struct flow *flow = &end->out;

	load_post_recvs(end);
	flow->next_at = clock_now + random_below(&flow->rng, opts.stagger + 1) +
			(end->qp.obj.key - 16) / 2 * opts.apart;
	load_wake(end);
}
