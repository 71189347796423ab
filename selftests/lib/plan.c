// SPDX-License-Identifier: GPL-2.0
/*
 * plan - a list of transfers that both ends know, and the check of their result
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "plan.h"
#include "window.h"

#define SOURCE_SEED 0x50
#define TARGET_SEED 0xbadf00d

/**
 * struct job - execution of a plan
 * @asks: this end is the requester
 * @memory: source and target of this end; a transfer uses one of them
 * @posted, @done: work requests posted and completed, at the requester
 * @received: completed receives, at the responder
 * @receives: all receives
 * @arrivals: index of the transfer of each receive
 */
struct job {
	struct conn *c;
	struct plan *plan;
	bool asks;
	struct region *memory[2];
	int posted, done, received, receives, unsignaled;
	int *arrivals;
};

static bool is_send(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV;
}

static bool takes_receive(enum ibv_wr_opcode opcode)
{
	return is_send(opcode) || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* ---- making a plan ---- */

static int undo_plan(void *what)
{
	struct plan *plan = what;

	free(plan->list);
	return 0;
}

struct plan *plan_new(struct pair *p, bool from_b, uint64_t seed)
{
	struct plan *plan = pair_alloc(p, sizeof(*plan));

	*plan = (struct plan){ .p = p, .from_b = from_b, .seed = seed, .from_len = 61,
			       .to_len = 67 };
	undo_later(p, undo_plan, plan, "free");
	return plan;
}

/* Cut @size bytes into @n pieces of odd lengths with gaps between, from *@end on. */
static void cut(struct plan *plan, struct pieces *pieces, size_t *end, uint32_t size, int n)
{
	uint32_t left = size, len;

	*end += draw(&plan->seed, 1, 70);
	if (n > 1 && (uint32_t)n > size)
		n = size ?: 1;
	pieces->n = n;
	for (int i = 0; i < n; i++) {
		len = left;
		if (i < n - 1) {
			len = draw(&plan->seed, 1, 2 * (left / (n - i))) | 1;
			if (len > left - (n - 1 - i))
				len = left - (n - 1 - i);
		}
		pieces->piece[i].at = *end;
		pieces->piece[i].len = len;
		left -= len;
		*end += len + draw(&plan->seed, 1, 9);
	}
}

void plan_add(struct plan *plan, enum ibv_wr_opcode opcode, uint32_t size, int from, int to,
	      bool inlined)
{
	struct transfer *t;

	if (plan->n == plan->room) {
		plan->room = plan->room ? 2 * plan->room : 64;
		plan->list = realloc(plan->list, plan->room * sizeof(*t));
		check(plan->p, plan->list, "out of memory");
	}
	t = &plan->list[plan->n++];
	*t = (struct transfer){ .opcode = opcode, .size = size, .inlined = inlined };
	t->imm = draw(&plan->seed, 0, UINT32_MAX);
	if (opcode == IBV_WR_RDMA_READ)
		from = 1;
	else if (!is_send(opcode))
		to = 1;
	cut(plan, &t->from, &plan->from_len, size, from);
	cut(plan, &t->to, &plan->to_len, size, to);
	if (t->to.n && is_send(opcode)) {
		t->slack = draw(&plan->seed, 0, 1) ? draw(&plan->seed, 0, 40) : 0;
		plan->to_len += t->slack;
	}
}

/* ---- execution ---- */

static int undo_job(void *what)
{
	struct job *job = what;

	free(job->arrivals);
	return 0;
}

/* Set the SGEs of a transfer at this end; return their number. */
static int sges(struct job *job, struct transfer *t, bool target, struct ibv_sge *sge)
{
	struct pieces *pieces = target ? &t->to : &t->from;
	int i;

	for (i = 0; i < pieces->n; i++)
		sge[i] = sge_of(job->memory[target], pieces->piece[i].at, pieces->piece[i].len);
	return i;
}

static void post_receives(struct job *job)
{
	struct ibv_sge sge[MAX_PIECES];
	struct transfer *t;
	int i, n;

	job->arrivals = calloc(job->plan->n + 1, sizeof(int));
	for (i = 0; i < job->plan->n; i++) {
		t = &job->plan->list[i];
		if (!takes_receive(t->opcode))
			continue;
		job->arrivals[job->receives++] = i;
		if (job->asks)
			continue;
		n = 0;
		if (t->opcode != IBV_WR_RDMA_WRITE_WITH_IMM) {
			n = sges(job, t, true, sge);
			if (n)
				sge[n - 1].length += t->slack;
		}
		conn_recv(job->c, i, sge, n);
	}
}

/*
 * For each SEND_WITH_INV the receiver binds a window, whose key is invalidated.  The
 * ends exchange the keys, and store them as immediate data.
 */
static void bind_windows(struct job *job)
{
	struct plan *plan = job->plan;
	struct conn *c = job->c;
	struct pair *p = c->p;
	struct ibv_mw_bind_info info = { .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE };
	struct region *ground = NULL;
	struct ibv_send_wr wr;
	struct ibv_mw *mw;
	uint32_t theirs;
	int i;

	for (i = 0; i < plan->n; i++) {
		struct transfer *t = &plan->list[i];

		if (t->opcode != IBV_WR_SEND_WITH_INV)
			continue;
		t->imm = 0;
		if (!job->asks) {
			if (!ground)
				ground = region_in(p, c->attr.pd, 4096,
						   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
			mw = stage_mw(p, c->attr.pd, IBV_MW_TYPE_2);
			info.mr = ground->mr;
			info.addr = (uintptr_t)ground->buf;
			t->imm = ibv_inc_rkey(mw->rkey);
			wr = wr_bind(i, mw, t->imm, IBV_SEND_SIGNALED, &info);
			conn_send(c, &wr);
			queue_want(c->send, i, IBV_WC_SUCCESS);
		}
		pair_swap(p, &t->imm, &theirs, sizeof(theirs));
		t->imm |= theirs;
	}
}

struct job *job_new(struct conn *c, struct plan *plan)
{
	struct pair *p = c->p;
	struct job *job = pair_alloc(p, sizeof(*job));
	int target;

	undo_later(p, undo_job, job, "free");
	job->c = c;
	job->plan = plan;
	job->asks = p->server == plan->from_b;
	for (target = 0; target < 2; target++) {
		job->memory[target] = (p->region ?: region_in)(p, c->attr.pd, 64 +
					(target ? plan->to_len : plan->from_len), ALL_ACCESS);
		region_swap(p, job->memory[target]);
	}
	pattern_fill(job->memory[0]->buf, job->memory[0]->len, SOURCE_SEED);
	pattern_fill(job->memory[1]->buf, job->memory[1]->len, TARGET_SEED);
	post_receives(job);
	bind_windows(job);
	pair_sync(p);
	return job;
}

/* Post inline data without a valid key, and overwrite it at once. */
static int post_inline(struct conn *c, struct ibv_send_wr *wr)
{
	uint8_t copy[4096];
	size_t used = 0;
	int i, error;

	for (i = 0; i < wr->num_sge; i++) {
		struct ibv_sge *sge = &wr->sg_list[i];

		check(c->p, used + sge->length <= sizeof(copy), "the test's inline data is long");
		memcpy(copy + used, (void *)(uintptr_t)sge->addr, sge->length);
		sge->addr = (uintptr_t)copy + used;
		sge->lkey = 0xdeadbeef;
		used += sge->length;
	}
	wr->send_flags |= IBV_SEND_INLINE;
	error = conn_post(c, wr);
	memset(copy, 0x11, sizeof(copy));
	return error;
}

/* Post the next transfer; return false if the queue is full. About every third is unsignaled. */
static bool post_next(struct job *job)
{
	struct transfer *t = &job->plan->list[job->posted];
	bool reads = t->opcode == IBV_WR_RDMA_READ;
	struct region *there = job->memory[!reads];
	struct pieces *far = reads ? &t->from : &t->to;
	struct ibv_sge sge[MAX_PIECES];
	int n, error;
	bool last = job->posted == job->plan->n - 1;
	/* An unsignaled request leaves its slot only when a later completion is polled. */
	bool silent = !last && job->posted % 3 == 1 && job->unsignaled < 4;
	struct ibv_send_wr wr;

	/*
	 * librxe rings the doorbell even if the queue is full, and each doorbell restarts
	 * rdma_rxe's retry timer: a program that keeps trying to post waits for ever.
	 */
	if (job->c->p->rxe && job->posted - job->done >= (int)job->c->attr.send_wr)
		return false;
	n = sges(job, t, reads, sge);
	wr = wr_rdma(job->posted, t->opcode, sge, n, silent ? 0 : IBV_SEND_SIGNALED, 0, 0);
	if (has_imm(t->opcode))
		wr.imm_data = htonl(t->imm);
	else if (t->opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = t->imm;
	if (t->opcode == IBV_WR_RDMA_WRITE || t->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || reads) {
		wr.wr.rdma.remote_addr = there->peer_addr + (far->n ? far->piece[0].at : 0);
		wr.wr.rdma.rkey = there->peer_rkey;
	}
	error = t->inlined ? post_inline(job->c, &wr) : conn_post(job->c, &wr);
	if ((error == ENOMEM || error == ENOSPC) && job->posted > job->done)
		return false;
	check(job->c->p, !error, "posting transfer %d (opcode %d, %u bytes, %d pieces): %s",
	      job->posted, t->opcode, t->size, n, strerror(error));
	job->unsignaled = silent ? job->unsignaled + 1 : 0;
	job->posted++;
	return true;
}

static enum ibv_wc_opcode completes_as(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	default:
		return IBV_WC_SEND;
	}
}

static void check_common(struct job *job, struct ibv_wc *wc)
{
	check(job->c->p, wc->status == IBV_WC_SUCCESS,
	      "transfer %llu completes with \"%s\" (vendor error %u)",
	      (unsigned long long)wc->wr_id, ibv_wc_status_str(wc->status), wc->vendor_err);
	check(job->c->p, wc->qp_num == job->c->qp->qp_num, "qp_num 0x%x in a completion of 0x%x",
	      wc->qp_num, job->c->qp->qp_num);
}

static void check_sent(struct job *job, struct ibv_wc *wc)
{
	struct pair *p = job->c->p;
	struct transfer *t;

	check_common(job, wc);
	/* Unsignaled transfers are done when a later one completes. */
	while (job->done < (int)wc->wr_id) {
		check(p, job->done % 3 == 1, "transfer %d has no completion, %llu has", job->done,
		      (unsigned long long)wc->wr_id);
		job->done++;
	}
	check(p, job->done == (int)wc->wr_id && job->done < job->posted,
	      "completion of %llu comes after that of %d", (unsigned long long)wc->wr_id,
	      job->done - 1);
	t = &job->plan->list[job->done++];
	check(p, wc->opcode == completes_as(t->opcode), "wc.opcode %d for work request opcode %d",
	      wc->opcode, t->opcode);
	/* IBTA 11.4.2.1: the length is returned for receives, READs and atomics. */
	if (t->opcode == IBV_WR_RDMA_READ)
		check(p, wc->byte_len == t->size, "byte_len %u for a READ of %u", wc->byte_len,
		      t->size);
}

static void check_received(struct job *job, struct ibv_wc *wc)
{
	struct pair *p = job->c->p;
	int index = job->arrivals[job->received];
	struct transfer *t = &job->plan->list[index];
	bool write = t->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool inv = t->opcode == IBV_WR_SEND_WITH_INV;

	check_common(job, wc);
	check(p, job->received < job->receives && (int)wc->wr_id == index,
	      "receive %llu completes, not %d", (unsigned long long)wc->wr_id, index);
	job->received++;
	check(p, wc->opcode == (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV),
	      "wc.opcode %d of a receive for work request opcode %d", wc->opcode, t->opcode);
	check(p, wc->byte_len == t->size, "byte_len %u of a receive of %u", wc->byte_len, t->size);
	/* rdma_rxe uses the kernel's value of the flag. */
	check(p, !!(wc->wc_flags & IBV_WC_WITH_IMM) == has_imm(t->opcode) &&
	      !!(wc->wc_flags & (p->rxe ? 4 : IBV_WC_WITH_INV)) == inv,
	      "wc_flags 0x%x for work request opcode %d", wc->wc_flags, t->opcode);
	if (inv)
		check(p, wc->invalidated_rkey == t->imm, "key 0x%08x is invalidated, not 0x%08x",
		      wc->invalidated_rkey, t->imm);
	if (has_imm(t->opcode))
		check(p, wc->imm_data == htonl(t->imm), "imm_data 0x%x, not 0x%x",
		      ntohl(wc->imm_data), t->imm);
}

bool job_go(struct job *job)
{
	struct ibv_wc wc[16];
	int n, i;

	if (!job->asks) {
		if (job->received == job->receives)
			return true;
		n = queue_poll(job->c->recv, wc, 16);
		for (i = 0; i < n; i++)
			check_received(job, &wc[i]);
		return job->received == job->receives;
	}
	while (job->posted < job->plan->n && post_next(job))
		;
	n = job->done < job->posted ? queue_poll(job->c->send, wc, 16) : 0;
	for (i = 0; i < n; i++)
		check_sent(job, &wc[i]);
	return job->done == job->plan->n;
}

/* ---- check ---- */

static void overlay(struct plan *plan, struct transfer *t, const uint8_t *source, uint8_t *target)
{
	size_t used = 0, at;
	int i, k;

	/* Copy piece by piece on both sides at once. */
	for (i = k = 0, at = 0; i < t->from.n; i++) {
		size_t left = t->from.piece[i].len, from = t->from.piece[i].at, len;

		while (left) {
			check(plan->p, k < t->to.n, "the test's plan is wrong");
			len = t->to.piece[k].len - at;
			if (len > left)
				len = left;
			memcpy(target + t->to.piece[k].at + at, source + from, len);
			from += len;
			left -= len;
			at += len;
			used += len;
			if (at == t->to.piece[k].len) {
				k++;
				at = 0;
			}
		}
	}
	check(plan->p, used == t->size, "the test's plan is wrong");
}

static void blame(struct job *job, size_t at, const uint8_t *want)
{
	struct plan *plan = job->plan;
	struct transfer *t;
	int i;

	/* Offsets rise along the list. */
	for (i = 0; i < plan->n - 1; i++) {
		t = &plan->list[i + 1];
		if (t->to.n && t->to.piece[0].at > at)
			break;
	}
	t = &plan->list[i];
	fail(job->c->p,
	     "wrong data at or behind transfer %d (opcode %d, %u bytes, %d to %d pieces%s), byte %zd: %s",
	     i, t->opcode, t->size, t->from.n, t->to.n, t->inlined ? ", inline" : "",
	     t->to.n ? (ssize_t)(at - t->to.piece[0].at) : 0,
	     pattern_show(job->memory[1]->buf, want, at, job->memory[1]->len));
}

/* The target of a READ is at the requester, all others are at the responder. */
static bool lands_here(struct job *job, struct transfer *t)
{
	bool read = t->opcode == IBV_WR_RDMA_READ;

	return job->asks == read;
}

void job_judge(struct job *job)
{
	struct plan *plan = job->plan;
	struct region *target = job->memory[1];
	uint8_t *source = malloc(job->memory[0]->len), *want = malloc(target->len);
	size_t at;
	int i;

	check(plan->p, source && want, "out of memory");
	pattern_fill(source, job->memory[0]->len, SOURCE_SEED);
	pattern_fill(want, target->len, TARGET_SEED);
	/* The source must not have changed, at either end. */
	at = pattern_differ(job->memory[0]->buf, source, job->memory[0]->len);
	check(plan->p, at == job->memory[0]->len, "byte %zu of the source has changed", at);
	for (i = 0; i < plan->n; i++)
		if (lands_here(job, &plan->list[i]))
			overlay(plan, &plan->list[i], source, want);
	at = pattern_differ(target->buf, want, target->len);
	if (at < target->len)
		blame(job, at, want);
	free(source);
	free(want);
}

void plan_run(struct conn *c, struct plan *plan)
{
	struct job *job = job_new(c, plan);
	unsigned int count = 0;

	while (!job_go(job))
		relax(c->p, &count);
	pair_sync(c->p);
	job_judge(job);
}
