// SPDX-License-Identifier: GPL-2.0
/*
 * rc_error - invalid requests get the right error, and have no other effect
 *
 *	rc_error a|b PORT [GROUP...]	see main() for the groups
 *
 * One request of a row is wrong.  Those before it succeed, it fails as the
 * IBTA's tables say (volume 1, 9.9 and 11.6), those behind it are flushed; the
 * state of both queue pairs, the completions of the responder, its event and
 * its memory are checked.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/pattern.h"

/* The memory of either end, of which only the middle is shown to the other. */
#define MEMORY 98304
#define SHOWN_AT 32768
#define SHOWN 32768

enum flaw {
	NO_SUCH_KEY,		/* rkey */
	STALE_KEY,
	WRONG_PD,
	NO_RIGHT,		/* the region does not allow it */
	NO_QP_RIGHT,		/* the queue pair does not allow it */
	BEFORE_START,
	PAST_END,
	ALL_PAST_END,
	WRAP,
	UNALIGNED,
	NO_READS,		/* the responder agreed to no READ at all */
	LOCAL_NO_SUCH_KEY,	/* lkey */
	LOCAL_STALE_KEY,
	LOCAL_WRONG_PD,
	LOCAL_BOUNDS,
	LOCAL_SECOND_SGE,
	LOCAL_NO_RIGHT,
	LOCAL_TOO_LONG,
	INVALIDATES,		/* a key that may not be invalidated by the other end */
	INVALIDATES_NOTHING,
	RECV_SHORT,		/* of the receive at the other end */
	RECV_NO_SGE,
	RECV_NO_SUCH_KEY,
	RECV_NO_RIGHT,
	RECV_BOUNDS,
};

/**
 * struct wrong - a wrong request and what has to follow
 * @flaw: what is wrong
 * @opcode: operation
 * @size: bytes
 * @status: at the requester
 * @received: at the responder's receive, or 0: it takes none
 * @event: at the responder, or -1: it notices nothing
 */
struct wrong {
	enum flaw flaw;
	enum ibv_wr_opcode opcode;
	uint32_t size;
	enum ibv_wc_status status;
	enum ibv_wc_status received;
	int event;
};

struct setup {
	struct conn *c;
	struct region *r, *foreign;
	struct ibv_mr *shown, *other;
	uint64_t peer_addr;
	uint32_t peer_rkey;
};

static const char *const flaw_names[] = {
	[NO_SUCH_KEY] = "rkey that does not exist",
	[STALE_KEY] = "rkey of a deregistered region",
	[WRONG_PD] = "rkey of another protection domain",
	[NO_RIGHT] = "region without the access right",
	[NO_QP_RIGHT] = "queue pair without the access right",
	[BEFORE_START] = "range that begins one byte before the region",
	[PAST_END] = "range that ends one byte behind the region",
	[ALL_PAST_END] = "range behind the region",
	[WRAP] = "range that wraps around",
	[UNALIGNED] = "address that is not aligned",
	[NO_READS] = "responder with max_dest_rd_atomic 0",
	[LOCAL_NO_SUCH_KEY] = "lkey that does not exist",
	[LOCAL_STALE_KEY] = "lkey of a deregistered region",
	[LOCAL_WRONG_PD] = "lkey of another protection domain",
	[LOCAL_BOUNDS] = "local range out of bounds",
	[LOCAL_SECOND_SGE] = "lkey wrong in the second gather entry",
	[LOCAL_NO_RIGHT] = "local memory that is read-only",
	[LOCAL_TOO_LONG] = "message of more than 2^31 bytes",
	[INVALIDATES] = "invalidation of the key of a region",
	[INVALIDATES_NOTHING] = "invalidation of an unknown key",
	[RECV_SHORT] = "receive one byte short",
	[RECV_NO_SGE] = "receive without SGEs",
	[RECV_NO_SUCH_KEY] = "receive with an lkey that does not exist",
	[RECV_NO_RIGHT] = "receive into read-only memory",
	[RECV_BOUNDS] = "receive out of bounds",
};

static const char *op_name(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
		return "SEND";
	case IBV_WR_SEND_WITH_IMM:
		return "SEND_IMM";
	case IBV_WR_SEND_WITH_INV:
		return "SEND_INV";
	case IBV_WR_RDMA_WRITE:
		return "WRITE";
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return "WRITE_IMM";
	case IBV_WR_RDMA_READ:
		return "READ";
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return "CMP_AND_SWP";
	default:
		return "FETCH_AND_ADD";
	}
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static int right_of(enum ibv_wr_opcode opcode)
{
	if (is_atomic(opcode))
		return IBV_ACCESS_REMOTE_ATOMIC;
	return opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
}

static int dereg(void *mr)
{
	return ibv_dereg_mr(mr);
}

static int dealloc_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static struct ibv_mr *reg(struct pair *p, struct ibv_pd *pd, void *buf, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, buf, len, access);

	check(p, mr, "ibv_reg_mr with access 0x%x: %s", access, strerror(errno));
	undo_later(p, dereg, mr, "ibv_dereg_mr");
	return mr;
}

/* Both ends make the same; the flaw shows only where it matters. */
static void set_up(struct pair *p, const struct wrong *w, struct setup *s)
{
	struct conn_attr attr = conn_defaults(p);
	struct { uint64_t addr, rkey; } mine, theirs;
	struct ibv_pd *pd = p->pd;
	int access = ALL_ACCESS;

	if (w->flaw == NO_QP_RIGHT)
		attr.access &= ~right_of(w->opcode);
	if (w->flaw == NO_READS)
		attr.dest_rd_atomic = 0;
	if (w->flaw == NO_RIGHT)
		access &= ~right_of(w->opcode);
	s->r = region_new(p, MEMORY, IBV_ACCESS_LOCAL_WRITE);
	pattern_fill(s->r->buf, s->r->len, 1 + end_b(p));
	pd = ibv_alloc_pd(p->ctx);
	check(p, pd, "ibv_alloc_pd: %s", strerror(errno));
	undo_later(p, dealloc_pd, pd, "ibv_dealloc_pd");
	s->foreign = region_in(p, pd, 8192, ALL_ACCESS);
	s->shown = reg(p, w->flaw == WRONG_PD ? pd : p->pd, s->r->buf + SHOWN_AT, SHOWN, access);
	s->other = reg(p, p->pd, s->r->buf, 4096, 0);
	s->c = conn_open(p, &attr);
	mine.addr = (uintptr_t)s->shown->addr;
	mine.rkey = s->shown->rkey;
	pair_swap(p, &mine, &theirs, sizeof(mine));
	s->peer_addr = theirs.addr;
	s->peer_rkey = theirs.rkey;
}

/* The same request when nothing is wrong with it. */
static struct ibv_send_wr right_request(struct setup *s, const struct wrong *w, uint64_t wr_id,
					struct ibv_sge *sge)
{
	*sge = sge_of(s->r, 4096, w->size);
	if (is_atomic(w->opcode))
		return wr_atomic(wr_id, w->opcode, sge, s->peer_addr + 8192, s->peer_rkey, 1, 2);
	return wr_rdma(wr_id, w->opcode, sge, 1, IBV_SEND_SIGNALED, s->peer_addr + 8192,
		       s->peer_rkey);
}

static void spoil_remote(struct setup *s, const struct wrong *w, uint64_t *addr, uint32_t *rkey)
{
	switch (w->flaw) {
	case NO_SUCH_KEY:
		*rkey ^= 0x00010100;
		break;
	case BEFORE_START:
		*addr = s->peer_addr - (is_atomic(w->opcode) ? 8 : 1);
		break;
	case PAST_END:
		*addr = s->peer_addr + SHOWN - w->size + (is_atomic(w->opcode) ? 8 : 1);
		break;
	case ALL_PAST_END:
		*addr = s->peer_addr + SHOWN + 8;
		break;
	case WRAP:
		*addr = -8ULL;
		break;
	case UNALIGNED:
		*addr += 4;
		break;
	default:
		break;
	}
}

/* Make the request wrong; sge has room for two. */
static void spoil(struct setup *s, const struct wrong *w, struct ibv_send_wr *wr)
{
	struct ibv_sge *sge = wr->sg_list;

	if (is_atomic(w->opcode))
		spoil_remote(s, w, &wr->wr.atomic.remote_addr, &wr->wr.atomic.rkey);
	else
		spoil_remote(s, w, &wr->wr.rdma.remote_addr, &wr->wr.rdma.rkey);
	switch (w->flaw) {
	case LOCAL_NO_SUCH_KEY:
		sge->lkey ^= 0x00010100;
		break;
	case LOCAL_STALE_KEY:
		sge->addr = (uintptr_t)s->shown->addr;
		sge->lkey = s->shown->lkey;
		undo_now(s->c->p, s->shown);
		break;
	case LOCAL_WRONG_PD:
		*sge = sge_of(s->foreign, 0, w->size);
		break;
	case LOCAL_BOUNDS:
		sge->addr = (uintptr_t)s->r->buf + s->r->len - w->size + 1;
		break;
	case LOCAL_SECOND_SGE:
		sge[1] = sge[0];
		sge[0].length = w->size / 2;
		sge[1].length -= w->size / 2;
		sge[1].lkey = 0xdeadbeef;
		wr->num_sge = 2;
		break;
	case LOCAL_TOO_LONG:
		/* Tested before the memory. */
		sge[0].length = 1U << 31;
		sge[1] = sge[0];
		sge[1].length = w->size;
		wr->num_sge = 2;
		break;
	case INVALIDATES:
		wr->invalidate_rkey = s->peer_rkey;
		break;
	case INVALIDATES_NOTHING:
		wr->invalidate_rkey = s->peer_rkey ^ 0x00010100;
		break;
	case LOCAL_NO_RIGHT:
		sge->addr = (uintptr_t)s->other->addr;
		sge->lkey = s->other->lkey;
		break;
	default:
		break;
	}
}

/* Three receives at either end; what is wrong with the first is the flaw. */
static void post_receives(struct setup *s, const struct wrong *w)
{
	struct ibv_sge sge = sge_of(s->r, 65536, w->size);
	int i, n = 1;

	if (end_b(s->c->p)) {
		switch (w->flaw) {
		case RECV_SHORT:
			sge.length--;
			break;
		case RECV_NO_SGE:
			n = 0;
			break;
		case RECV_NO_SUCH_KEY:
			sge.lkey ^= 0x00010100;
			break;
		case RECV_NO_RIGHT:
			sge = (struct ibv_sge){ (uintptr_t)s->other->addr, 4096, s->other->lkey };
			break;
		case RECV_BOUNDS:
			sge.addr = (uintptr_t)s->r->buf + s->r->len - 1;
			break;
		default:
			break;
		}
	}
	for (i = 0; i < 3; i++)
		conn_recv(s->c, i, &sge, n);
}

/* The requester: a good one, the wrong one, three that are flushed, and the receives. */
static void ask(struct setup *s, const struct wrong *w)
{
	struct ibv_sge sge[5], two[2];
	struct ibv_send_wr wr[5];
	struct pair *p = s->c->p;
	int i;

	wr[0] = wr_rdma(0, IBV_WR_RDMA_WRITE, NULL, 0, IBV_SEND_SIGNALED, 0, 0);
	if (w->flaw == NO_QP_RIGHT && right_of(w->opcode) == IBV_ACCESS_REMOTE_WRITE)
		wr[0].opcode = IBV_WR_RDMA_READ;
	for (i = 1; i < 5; i++)
		wr[i] = right_request(s, w, i, &sge[i]);
	two[0] = sge[1];
	wr[1].sg_list = two;
	spoil(s, w, &wr[1]);
	/* IBTA 10.8.6: a request that is flushed completes, signaled or not. */
	wr[3].send_flags = 0;
	for (i = 0; i < 5; i++)
		wr[i].next = i < 4 ? &wr[i + 1] : NULL;
	conn_send(s->c, wr);
	queue_want(s->c->send, 0, IBV_WC_SUCCESS);
	queue_want(s->c->send, 1, w->status);
	for (i = 2; i < 5; i++)
		queue_want(s->c->send, i, IBV_WC_WR_FLUSH_ERR);
	for (i = 0; i < 3; i++)
		queue_want(s->c->recv, i, IBV_WC_WR_FLUSH_ERR);
	conn_want_state(s->c, IBV_QPS_ERR);
	queue_quiet(s->c->send, 5);
	i = event_next(p, NULL, 0);
	check(p, i < 0, "event \"%s\" at the requester, whose completion said it all",
	      ibv_event_type_str(i));
}

/* The responder, when it is concerned: one event or one receive in error, the others flushed. */
static void suffer(struct setup *s, const struct wrong *w)
{
	struct pair *p = s->c->p;
	struct ibv_qp *qp = NULL;
	struct ibv_wc wc;
	int i = 0, event;

	if (w->event >= 0 && !w->received) {
		event = event_next(p, &qp, 5000 * p->slow);
		check(p, event >= 0, "no event, where \"%s\" should be",
		      ibv_event_type_str(w->event));
		check(p, event == w->event && qp == s->c->qp,
		      "event \"%s\", where \"%s\" should be",
		      ibv_event_type_str(event), ibv_event_type_str(w->event));
	}
	if (w->received)
		queue_want(s->c->recv, i++, w->received);
	for (; i < 3; i++) {
		queue_next(s->c->recv, &wc);
		check(p, wc.wr_id == (uint64_t)i && wc.status == IBV_WC_WR_FLUSH_ERR,
		      "receive %llu completes with \"%s\", not %d flushed",
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), i);
	}
	conn_want_state(s->c, IBV_QPS_ERR);
	queue_quiet(s->c->recv, 5);
	event = event_next(p, NULL, 0);
	check(p, event < 0, "event \"%s\", where there should be %s", ibv_event_type_str(event),
	      w->received ? "none" : "one only");
}

static void run_wrong(struct pair *p, const void *arg)
{
	const struct wrong *w = arg;
	struct setup s;
	static uint8_t want[MEMORY];
	size_t at, until;

	set_up(p, w, &s);
	post_receives(&s, w);
	if (end_b(p) && w->flaw == STALE_KEY)
		undo_now(p, s.shown);
	pair_sync(p);
	if (end_a(p))
		ask(&s, w);
	else if (w->event >= 0)
		suffer(&s, w);
	pair_sync(p);
	if (end_b(p) && w->event < 0) {
		/* What is wrong at the requester alone is none of the responder's business. */
		conn_want_state(s.c, IBV_QPS_RTS);
		queue_quiet(s.c->recv, 5);
	}
	/* A receive may have data that came before the fault; all else is as it was. */
	pattern_fill(want, sizeof(want), 1 + end_b(p));
	until = w->received == IBV_WC_LOC_LEN_ERR ? w->size - 1 :
		w->received == IBV_WC_REM_INV_REQ_ERR ? w->size : 0;
	if (end_b(p))
		memcpy(want + 65536, s.r->buf + 65536, until);
	at = pattern_differ(s.r->buf, want, sizeof(want));
	check(p, at == sizeof(want), "byte %zu of the memory has changed: %s", at,
	      pattern_show(s.r->buf, want, at, sizeof(want)));
}

static void all_wrong(struct pair *p, const struct wrong *list, int n)
{
	for (; n--; list++)
		pair_case(p, run_wrong, list, "%s of %u bytes: %s", op_name(list->opcode),
			  list->size, flaw_names[list->flaw]);
}

/* RDMA that the responder refuses. */
static void all_remote(struct pair *p)
{
	static const enum flaw flaws[] = {
		NO_SUCH_KEY, STALE_KEY, WRONG_PD, NO_RIGHT, BEFORE_START, PAST_END, ALL_PAST_END,
		WRAP,
	};
	/* Once each path: a WRITE of one packet, and one atomic operation, are like the others. */
	static const struct { enum ibv_wr_opcode opcode; uint32_t size; bool alike; } ops[] = {
		{ IBV_WR_RDMA_WRITE, 100, true }, { IBV_WR_RDMA_WRITE, 5000 },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, 5000 }, { IBV_WR_RDMA_READ, 5000 },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, 8, true }, { IBV_WR_ATOMIC_FETCH_AND_ADD, 8 },
	};
	struct wrong w;
	unsigned int i, k;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (pair_once(p) && ops[i].alike)
			continue;
		for (k = 0; k < sizeof(flaws) / sizeof(flaws[0]); k++) {
			w = (struct wrong){ flaws[k], ops[i].opcode, ops[i].size,
					    IBV_WC_REM_ACCESS_ERR, 0, IBV_EVENT_QP_ACCESS_ERR };
			all_wrong(p, &w, 1);
		}
		/* IBTA table 58: what the QP is not set up for is an invalid request. */
		w = (struct wrong){ NO_QP_RIGHT, ops[i].opcode, ops[i].size,
				    IBV_WC_REM_INV_REQ_ERR, 0, IBV_EVENT_QP_REQ_ERR };
		all_wrong(p, &w, 1);
	}
}

static const struct wrong others[] = {
	{ UNALIGNED, IBV_WR_ATOMIC_CMP_AND_SWP, 8, IBV_WC_REM_INV_REQ_ERR, 0,
	  IBV_EVENT_QP_ACCESS_ERR },
	{ UNALIGNED, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, IBV_WC_REM_INV_REQ_ERR, 0,
	  IBV_EVENT_QP_ACCESS_ERR },
	{ NO_READS, IBV_WR_RDMA_READ, 100, IBV_WC_REM_INV_REQ_ERR, 0, IBV_EVENT_QP_ACCESS_ERR },
	{ NO_READS, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, IBV_WC_REM_INV_REQ_ERR, 0,
	  IBV_EVENT_QP_ACCESS_ERR },
	{ LOCAL_NO_SUCH_KEY, IBV_WR_SEND, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_NO_SUCH_KEY, IBV_WR_RDMA_WRITE, 5000, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_STALE_KEY, IBV_WR_RDMA_WRITE, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_WRONG_PD, IBV_WR_RDMA_WRITE, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_WRONG_PD, IBV_WR_SEND, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_BOUNDS, IBV_WR_RDMA_WRITE, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_SECOND_SGE, IBV_WR_RDMA_WRITE, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_NO_SUCH_KEY, IBV_WR_RDMA_READ, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_BOUNDS, IBV_WR_RDMA_READ, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_NO_RIGHT, IBV_WR_RDMA_READ, 100, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_NO_RIGHT, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, IBV_WC_LOC_PROT_ERR, 0, -1 },
	{ LOCAL_TOO_LONG, IBV_WR_SEND, 1, IBV_WC_LOC_LEN_ERR, 0, -1 },
	{ LOCAL_TOO_LONG, IBV_WR_RDMA_WRITE, 1, IBV_WC_LOC_LEN_ERR, 0, -1 },
	{ LOCAL_TOO_LONG, IBV_WR_RDMA_READ, 1, IBV_WC_LOC_LEN_ERR, 0, -1 },
	{ INVALIDATES, IBV_WR_SEND_WITH_INV, 100, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR,
	  0 },
	{ INVALIDATES_NOTHING, IBV_WR_SEND_WITH_INV, 3000, IBV_WC_REM_ACCESS_ERR,
	  IBV_WC_REM_INV_REQ_ERR, 0 },
	{ RECV_SHORT, IBV_WR_SEND, 100, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR, 0 },
	{ RECV_SHORT, IBV_WR_SEND, 5000, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR, 0 },
	{ RECV_SHORT, IBV_WR_SEND_WITH_IMM, 2048, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR, 0 },
	{ RECV_NO_SGE, IBV_WR_SEND, 1, IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR, 0 },
	{ RECV_NO_SUCH_KEY, IBV_WR_SEND, 100, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, 0 },
	{ RECV_NO_RIGHT, IBV_WR_SEND, 100, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, 0 },
	{ RECV_BOUNDS, IBV_WR_SEND, 100, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR, 0 },
};

/* ---- what is so when a program hears of it ---- */

/* Without a pause, which queue_want() may make. */
static void spin_for_error(struct pair *p, struct queue *queue)
{
	uint64_t until = now_ms() + 5000 * p->slow;
	struct ibv_wc wc;

	while (!queue_poll(queue, &wc, 1))
		check(p, now_ms() < until, "no completion came");
	check(p, wc.status != IBV_WC_SUCCESS, "it succeeds");
}

/*
 * A program that sees an error completion finds the queue pair in ERR, however soon it looks.
 * In turn the peer has too short a receive, which is an error at both ends, and a uses an
 * unknown key.
 */
static void run_at_once(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct conn_attr attr = conn_defaults(p);
	struct ibv_sge sge = sge_of(r, 0, 8);
	int i, rounds = p->quick ? 100 : 1000;
	struct ibv_send_wr wr;
	struct conn *c;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		bool alone = i % 2;

		c = conn_open(p, &attr);
		if (end_b(p))
			conn_recv(c, i, NULL, 0);
		pair_sync(p);
		sge.lkey = r->mr->lkey ^ alone;
		wr = wr_send(i, &sge, 1, IBV_SEND_SIGNALED);
		if (end_a(p))
			conn_send(c, &wr);
		if (end_a(p) || !alone) {
			spin_for_error(p, end_a(p) ? c->send : c->recv);
			conn_want_state(c, IBV_QPS_ERR);
		}
		pair_sync(p);
		undo_now(p, c);
	}
}

/* A refused request does not affect the requests before it, however long they are. */
static void run_behind_read(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 8 << 20, ALL_ACCESS);
	struct conn_attr attr = conn_defaults(p);
	struct conn *c = conn_open(p, &attr);
	struct ibv_send_wr read, write;
	struct ibv_sge sge;

	(void)arg;
	region_swap(p, r);
	if (end_a(p)) {
		/* The window is as large as it can be after that. */
		sge = sge_of(r, 0, 8 << 20);
		read = wr_rdma(1, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			       r->peer_rkey);
		conn_send(c, &read);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		sge.length = 1536 << 10;
		write = wr_rdma(2, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
				r->peer_rkey ^ 1);
		read.next = &write;
		conn_send(c, &read);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		queue_want(c->send, 2, IBV_WC_REM_ACCESS_ERR);
	}
	pair_sync(p);
}

/* One for those who look at counters only. */
static const struct wrong access_denied = {
	NO_RIGHT, IBV_WR_RDMA_WRITE, 4096, IBV_WC_REM_ACCESS_ERR, 0, IBV_EVENT_QP_ACCESS_ERR
};

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "remote"))
		all_remote(&p);
	if (pair_wants(&p, "others"))
		all_wrong(&p, others, sizeof(others) / sizeof(others[0]));
	if (pair_wants(&p, "state")) {
		pair_case(&p, run_at_once, NULL,
			  "a queue pair is in ERR when the error completion is visible");
		pair_case(&p, run_behind_read, NULL,
			  "a refused request does not affect a long READ before it");
	}
	if (pair_wants(&p, "access"))
		all_wrong(&p, &access_denied, 1);
	return pair_close(&p);
}
