// SPDX-License-Identifier: GPL-2.0
/*
 * clause - rules: cases in which a crafted peer talks to a queue pair
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "craft.h"
#include "clause.h"
#include "xrc.h"

/* The peer's queue pair numbers; each case has a new one. */
#define BYSTANDER_QPN	0x100000
#define FIRST_QPN	0x100001

/* First PSNs of the queue pair and of the peer, which wrap soon */
#define OWN_PSN		0xfffffe
#define PEER_PSN	0xfffffd

/*
 * A request that is not answered for longer than this may be retransmitted: the first probe to a
 * peer comes after 8 ms.  A rule that fails then is tried again, up to TRIES times, since the host
 * may have stalled.
 */
#define LATE_MS		6
/* A packet that came sooner was not sent by a timeout. */
#define PROMPT_MS	30
#define TRIES		8
/* Wait less if many cases fail, as with a mutant of the driver. */
#define SOON_MS(p)	(((p)->ktap.failed > 2 ? 500 : 4000) * (p)->slow)

/**
 * struct run - execution of a rule
 * @step: current step; if @times is set, one of its repetitions
 * @times: step with repetitions, or NULL
 * @each: current opcode of clause.each
 * @posted, @sent, @received, @taken: work requests posted, completed; receives posted, completed
 * @state: expected state of the queue pair
 * @seen: newest PSN of a received request
 * @asked_at: time of the last send completion, or of the step before the first request
 * @late: the host stalled while a request was outstanding
 * @tries: earlier tries of this rule
 */
struct run {
	struct testbed *s;
	const struct clause *clause;
	const struct step *step, *times;
	struct conn *c;
	struct craft craft;
	uint16_t each;
	unsigned int posted, sent, received, taken;
	enum ibv_qp_state state;
	uint32_t seen;
	uint64_t asked_at;
	bool late;
	unsigned int tries;
};

/* Set at the beginning of a rule. */
static jmp_buf begin_again;

static bool is_late(struct run *run)
{
	if (run->posted > run->sent && now_ms() > run->asked_at + LATE_MS)
		run->late = true;
	return run->late;
}

static void try_again(struct run *run)
{
	if (is_late(run) && run->tries < TRIES)
		longjmp(begin_again, 1);
}

#define WANT(run, holds, fmt, ...)					\
	do {								\
		if (!(holds)) {						\
			try_again(run);					\
			fail((run)->s->p, "step %ld%s: " fmt, place_of(run), \
			     note_each(run), ##__VA_ARGS__);		\
		}							\
	} while (0)

static long place_of(const struct run *run)
{
	return (run->times ? run->times : run->step) - run->clause->steps + 1;
}

static const char *note_each(const struct run *run)
{
	static char text[40];

	if (!run->clause->repeat)
		return "";
	snprintf(text, sizeof(text), ", opcode 0x%02x", run->each & 0xff);
	return text;
}

/* ---- packets ---- */

/* Wait for a packet to the peer's queue pair; false if none comes, or one to the bystander. */
static bool next_packet(struct run *run, unsigned int ms, bool *bystander)
{
	struct peer *peer = &run->s->peer;
	uint32_t qpn;

	while (peer_next(peer, ms)) {
		qpn = peer->bth.qpn & 0xffffff;
		if (qpn == run->craft.peer_qpn)
			return true;
		if (qpn == BYSTANDER_QPN && bystander) {
			*bystander = true;
			return false;
		}
	}
	return false;
}

/* A request was retransmitted since its answer was late. */
static bool is_timeout(struct run *run)
{
	uint32_t psn = run->s->peer.bth.psn & 0xffffff;

	return craft_is_request(&run->craft) && (int32_t)((psn - run->seen) << 8) <= 0 &&
	       is_late(run);
}

static void expect(struct run *run)
{
	uint64_t began = now_ms(), until = began + SOON_MS(run->s->p);
	const char *wrong;

	do {
		WANT(run, next_packet(run, SOON_MS(run->s->p), NULL), "no packet came");
		wrong = craft_judge(&run->craft, run->step);
	} while (wrong && !run->step->promptly && is_timeout(run) && now_ms() < until);
	WANT(run, !wrong, "a packet with opcode 0x%02x: %s", run->s->peer.bth.opcode, wrong);
	WANT(run, !run->step->promptly || now_ms() < began + PROMPT_MS, "a timeout sent it");
	if (craft_is_request(&run->craft))
		run->seen = run->s->peer.bth.psn & 0xffffff;
}

/*
 * Wait for an answer of the bystander.  Packets are processed in order: an answer of the queue
 * pair comes before it, and with @quiet there must be none.
 */
static void wait_for_bystander(struct run *run, bool quiet)
{
	struct testbed *s = run->s;
	static const uint8_t reth[16];
	struct peer_bth bth = {
		.opcode = WRITE_ONLY, .pkey = 0xffff, .qpn = s->bystander->qp->qp_num,
		.psn = s->bystander_psn++ % 0x1000000 | PEER_ACKREQ,
	};
	bool answered = false;
	uint32_t aeth;

	s->bystander_msn++;
	peer_send(&s->peer, &bth, reth, sizeof(reth), 0);
	while (!answered) {
		if (!next_packet(run, SOON_MS(s->p), &answered)) {
			WANT(run, answered, "the bystander does not answer");
			break;
		}
		WANT(run, !quiet || (!run->step->promptly && is_timeout(run)),
		     "a packet with opcode 0x%02x and PSN 0x%06x came", s->peer.bth.opcode,
		     s->peer.bth.psn & 0xffffff);
	}
	memcpy(&aeth, s->peer.body, sizeof(aeth));
	WANT(run, s->peer.bth.opcode == ACKNOWLEDGE &&
	     (be32toh(aeth) & 0x60ffffff) == s->bystander_msn, "the bystander is not well");
}

static void silence(struct run *run)
{
	wait_for_bystander(run, true);
}

/* ---- work requests and completions ---- */

static void post(struct run *run)
{
	const struct step *step = run->step;
	struct ibv_sge sge = sge_of(run->s->local, step->at, step->len);
	unsigned int id = ++run->posted, flags = IBV_SEND_SIGNALED | step->wc_flags;
	struct ibv_send_wr wr;
	bool add;

	switch (step->op) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		sge.length = 8;
		add = step->op == IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr = wr_atomic(id, step->op, &sge, PEER_VA + step->at, PEER_RKEY,
			       add ? step->value : step->compare, step->value);
		break;
	default:
		wr = wr_rdma(id, step->op, &sge, step->len > 0, flags, PEER_VA + step->at,
			     PEER_RKEY);
	}
	if (step->op == IBV_WR_SEND_WITH_IMM || step->op == IBV_WR_RDMA_WRITE_WITH_IMM)
		wr.imm_data = htobe32(PEER_IMM);
	if (step->op == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = PEER_RKEY;
	conn_send(run->c, &wr);
}

static void post_recv(struct run *run)
{
	uint32_t len = run->clause->recv_len ?: RECV_EACH;
	struct ibv_sge sge = sge_of(run->s->recv, run->received * RECV_EACH, len);

	run->received++;
	WANT(run, run->received * RECV_EACH <= RECV_ROOM, "the rule has too many receives");
	conn_recv(run->c, run->received, &sge, 1);
}

static void completed(struct run *run, struct queue *q, unsigned int *count)
{
	const struct step *step = run->step;
	uint64_t until = now_ms() + SOON_MS(run->s->p);
	unsigned int turns = 0;
	struct ibv_wc wc;

	while (!queue_poll(q, &wc, 1)) {
		WANT(run, now_ms() < until, "no completion came");
		relax(run->s->p, &turns);
	}
	(*count)++;
	WANT(run, wc.wr_id == step->id && (int)wc.status == step->status,
	     "completion %u with \"%s\", not %u with \"%s\"", (unsigned int)wc.wr_id,
	     ibv_wc_status_str(wc.status), step->id, ibv_wc_status_str(step->status));
	if (step->kind != STEP_GOT || wc.status)
		return;
	WANT(run, wc.byte_len == step->len, "%u bytes were received, not %u", wc.byte_len,
	     step->len);
	WANT(run, (wc.wc_flags & ~IBV_WC_GRH) == step->wc_flags, "completion flags 0x%x, not 0x%x",
	     wc.wc_flags, step->wc_flags);
	if (step->wc_flags & IBV_WC_WITH_IMM)
		WANT(run, be32toh(wc.imm_data) == PEER_IMM, "wrong immediate data");
	if (step->wc_flags & IBV_WC_WITH_INV)
		WANT(run, wc.invalidated_rkey == run->craft.keys[step->key],
		     "wrong invalidated key");
}

static void not_done(struct run *run)
{
	struct ibv_wc wc;

	silence(run);
	WANT(run, !queue_poll(run->c->send, &wc, 1), "work request %u is completed with \"%s\"",
	     (unsigned int)wc.wr_id, ibv_wc_status_str(wc.status));
}

/* ---- other steps ---- */

static void expect_event(struct run *run)
{
	struct ibv_qp *qp = NULL;
	int is = event_next(run->s->p, &qp, SOON_MS(run->s->p));

	WANT(run, is >= 0, "no event came");
	WANT(run, is == run->step->status && qp == run->c->qp, "event \"%s\"",
	     ibv_event_type_str(is));
}

static void expect_state(struct run *run)
{
	enum ibv_qp_state is = conn_state(run->c);

	run->state = run->step->status;
	WANT(run, is == run->state, "the queue pair is in state %d, not %d", is, run->state);
}

static void expect_memory(struct run *run, const uint8_t *from)
{
	const struct step *step = run->step;
	size_t at = craft_filled(from, step->len, step->fill);

	WANT(run, at == step->len, "byte %zu is 0x%02x, not 0x%02x", at, from[at], step->fill);
}

static void expect_word(struct run *run, const uint8_t *from)
{
	uint64_t is;

	memcpy(&is, from, sizeof(is));
	WANT(run, is == run->step->value, "the word is 0x%llx, not 0x%llx", (unsigned long long)is,
	     (unsigned long long)run->step->value);
}

static int run_shell(void *command)
{
	return system(command);
}

static void take_step(struct run *run)
{
	const struct step *step = run->step;
	struct testbed *s = run->s;

	switch (step->kind) {
	case STEP_IN:
		craft_send(&run->craft, step, run->each);
		break;
	case STEP_OUT:
		expect(run);
		break;
	case STEP_SILENCE:
	case STEP_IGNORE:
		wait_for_bystander(run, step->kind == STEP_SILENCE);
		break;
	case STEP_NOT_DONE:
		not_done(run);
		break;
	case STEP_POST:
		post(run);
		break;
	case STEP_RECV:
		post_recv(run);
		break;
	case STEP_SENT:
		completed(run, run->c->send, &run->sent);
		break;
	case STEP_GOT:
		completed(run, run->c->recv, &run->taken);
		break;
	case STEP_EVENT:
		expect_event(run);
		break;
	case STEP_STATE:
		expect_state(run);
		break;
	case STEP_MEMORY:
		expect_memory(run, s->remote->buf + step->at);
		break;
	case STEP_RECEIVED:
		expect_memory(run, s->recv->buf + (step->id - 1) * RECV_EACH + step->at);
		break;
	case STEP_LOCAL:
		expect_memory(run, s->local->buf + step->at);
		break;
	case STEP_POKE:
		memset(s->remote->buf + step->at, step->fill, step->len);
		break;
	case STEP_WORD:
		expect_word(run, s->remote->buf + step->at);
		break;
	case STEP_LOCAL_WORD:
		expect_word(run, s->local->buf + step->at);
		break;
	case STEP_SHELL:
		undo_later(s->p, run_shell, (void *)step->undo, step->undo);
		WANT(run, !system(step->text), "%s fails", step->text);
		break;
	case STEP_END:
		break;
	}
}

/* Take a step once, or step.times times. */
static void take_times(struct run *run)
{
	const struct step *of = run->step;
	struct step step = *of;
	unsigned int i;

	if (!of->times) {
		take_step(run);
		return;
	}
	for (i = 0; i < of->times; i++, step.psn++, step.msn++) {
		run->step = &step;
		run->times = of;
		take_step(run);
	}
	run->step = of;
	run->times = NULL;
}

/* ---- the end of a rule ---- */

/* In error each remaining request is flushed exactly once. */
static void expect_flushed(struct run *run, struct queue *q, unsigned int count, const char *what)
{
	uint64_t until = now_ms() + SOON_MS(run->s->p);
	unsigned int turns = 0;
	struct ibv_wc wc;

	while (count) {
		if (!queue_poll(q, &wc, 1)) {
			WANT(run, now_ms() < until, "%u %s are not flushed", count, what);
			relax(run->s->p, &turns);
			continue;
		}
		WANT(run, wc.status == IBV_WC_WR_FLUSH_ERR, "a flushed one of %s: \"%s\"", what,
		     ibv_wc_status_str(wc.status));
		count--;
	}
}

static void nothing_more(struct run *run)
{
	struct pair *p = run->s->p;
	struct ibv_wc wc;
	int is;

	silence(run);
	if (run->state == IBV_QPS_ERR) {
		expect_flushed(run, run->c->send, run->posted - run->sent, "work requests");
		if (!run->c->attr.srq)
			expect_flushed(run, run->c->recv, run->received - run->taken, "receives");
	}
	WANT(run, !queue_poll(run->c->send, &wc, 1), "a work request is completed with \"%s\"",
	     ibv_wc_status_str(wc.status));
	WANT(run, !queue_poll(run->c->recv, &wc, 1), "a receive is completed with \"%s\"",
	     ibv_wc_status_str(wc.status));
	is = event_next(p, NULL, 0);
	WANT(run, is < 0, "event \"%s\"", ibv_event_type_str(is));
	is = conn_state(run->c);
	WANT(run, is == (int)run->state, "the queue pair is in state %d, not %d", is, run->state);
}

/* ---- the beginning of a rule ---- */

static struct conn_attr attr_of(struct testbed *s, const struct clause *clause)
{
	struct conn_attr attr = conn_defaults(s->p);

	attr.pd = s->pd;
	attr.mtu = IBV_MTU_256;
	attr.send_wr = 16;
	attr.recv_wr = 16;
	attr.send_sge = 1;
	attr.recv_sge = 1;
	attr.entries = 64;
	attr.type = clause->type ?: IBV_QPT_RC;
	if (attr.type == IBV_QPT_XRC_SEND) {
		attr.recv_wr = 0;
		attr.recv_sge = 0;
	}
	attr.access = ((ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE) | clause->grant) & ~clause->deny;
	attr.rd_atomic = clause->rd_atomic ?: 4;
	attr.dest_rd_atomic = attr.rd_atomic;
	attr.timeout = clause->timeout;
	attr.retry_cnt = clause->retry_cnt ?: 7;
	attr.rnr_retry = clause->rnr_retry == NO_RETRY ? 0 : clause->rnr_retry ?: 7;
	attr.min_rnr_timer = RNR_TIMER;
	attr.qkey = PEER_QKEY;
	return attr;
}

static uint8_t service_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_UC:
		return SERVICE_UC;
	case IBV_QPT_UD:
		return SERVICE_UD;
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return SERVICE_XRC;
	default:
		return SERVICE_RC;
	}
}

/* Create the SRQs that XRC requests may name. */
static void make_srqs(struct run *run, struct conn_attr *attr)
{
	struct shared *srqs[SRQS] = {};
	struct testbed *s = run->s;
	struct pair *p = s->p;
	int i;

	attr->recv = queue_new(p, 64, false, false);
	for (i = SRQ_OWN; i <= SRQ_FOREIGN; i++)
		srqs[i] = shared_xrc(p, s->pd, 16, 1, s->domains[i == SRQ_FOREIGN]->xrcd,
				     attr->recv);
	for (i = SRQ_OWN; i <= SRQ_FOREIGN; i++)
		run->craft.srqns[i] = srqs[i]->srqn;
	run->craft.srqns[SRQ_NOBODY] = srqs[SRQ_OWN]->srqn ^ 0x555555;
	attr->xrcd = s->domains[0]->xrcd;
	attr->srq = srqs[SRQ_OWN]->srq;
}

static void bind_window(struct run *run)
{
	struct testbed *s = run->s;
	struct ibv_mw *mw = ibv_alloc_mw(s->pd, IBV_MW_TYPE_2);
	struct ibv_mw_bind_info info = {
		.mr = s->mrs[KEY_ALL], .addr = (uintptr_t)s->remote->buf, .length = REMOTE_ROOM,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	struct ibv_send_wr wr;

	check(s->p, mw, "ibv_alloc_mw: %s", strerror(errno));
	run->craft.keys[KEY_WINDOW] = ibv_inc_rkey(mw->rkey);
	wr = wr_bind(1000, mw, run->craft.keys[KEY_WINDOW], IBV_SEND_SIGNALED, &info);
	conn_send(run->c, &wr);
	queue_want(run->c->send, 1000, IBV_WC_SUCCESS);
	undo_later(s->p, (int (*)(void *))ibv_dealloc_mw, mw, "ibv_dealloc_mw");
}

static struct conn *connect_to(struct testbed *s, const struct conn_attr *attr, uint32_t qpn,
			       enum ibv_qp_state state)
{
	struct conn *c = conn_make(s->p, attr);
	enum ibv_qp_state to;
	int error;

	c->own.psn = OWN_PSN;
	c->peer = (struct conn_id){ .qpn = qpn, .psn = PEER_PSN, .gid = s->peer.gid };
	for (to = IBV_QPS_INIT; to <= state; to++) {
		error = conn_modify(c, to);
		check(s->p, !error, "ibv_modify_qp to state %d: %s", to, strerror(error));
	}
	return c;
}

static void open_run(struct run *run)
{
	static uint32_t qpn = FIRST_QPN;
	const struct clause *clause = run->clause;
	struct conn_attr attr = attr_of(run->s, clause);
	struct testbed *s = run->s;
	const struct step *step;
	unsigned int i;

	run->craft = (struct craft){
		.s = s, .peer_qpn = qpn++, .psn = OWN_PSN, .peer_psn = PEER_PSN,
		.service = service_of(attr.type),
	};
	for (i = 0; i < KEYS; i++)
		run->craft.keys[i] = s->mrs[i] ? s->mrs[i]->rkey : 0x00bad000;
	if (attr.type == IBV_QPT_XRC_RECV)
		make_srqs(run, &attr);
	run->state = clause->state ?: IBV_QPS_RTS;
	run->c = connect_to(s, &attr, run->craft.peer_qpn, run->state);
	run->c->srqn = 1;
	if (attr.type == IBV_QPT_XRC_SEND)
		run->craft.srqns[SRQ_OWN] = run->c->srqn;
	run->craft.qpn = run->c->qp->qp_num;
	for (step = clause->steps; step->kind && step->key != KEY_WINDOW; step++)
		;
	if (step->kind)
		bind_window(run);
	memset(s->remote->buf, UNTOUCHED, REMOTE_ROOM);
	memset(s->recv->buf, UNTOUCHED, RECV_ROOM);
	memset(s->local->buf, LOCAL_FILL, LOCAL_ROOM);
	for (i = 0; i < clause->recvs; i++)
		post_recv(run);
}

/* ---- rules ---- */

struct turn {
	struct testbed *s;
	const struct clause *clause;
};

static void run_once(struct testbed *s, const struct clause *clause, uint16_t each)
{
	static struct run run;

	run.tries = 0;
	setjmp(begin_again);
	while (peer_next(&s->peer, 0) || event_next(s->p, NULL, 0) >= 0)
		;
	run = (struct run){ .s = s, .clause = clause, .step = clause->steps, .each = each,
			    .tries = run.tries + 1, .asked_at = now_ms() };
	open_run(&run);
	for (; run.step->kind; run.step++) {
		unsigned int sent = run.sent;

		is_late(&run);
		take_times(&run);
		if (run.posted == run.sent || run.sent != sent)
			run.asked_at = now_ms();
	}
	nothing_more(&run);
	undo_now(s->p, run.c);
}

static void run_clause(struct pair *p, const void *arg)
{
	const struct turn *turn = arg;
	const struct clause *clause = turn->clause;
	unsigned int i;

	if (clause->grant & IBV_ACCESS_FLUSH_GLOBAL && !turn->s->mrs[KEY_FLUSH])
		skip(p, "this kernel has no FLUSH");
	if (!clause->repeat)
		run_once(turn->s, clause, 0);
	for (i = 0; i < clause->repeat; i++)
		run_once(turn->s, clause, clause->each[i]);
}

void clause_run_all(struct testbed *s, const struct clause *clauses, unsigned int n)
{
	static const char *const nets[PEER_NETS] = { "", " (IPv6)", " (v1)" };
	struct turn turn = { .s = s };
	unsigned int i;

	for (i = 0; i < n; i++) {
		turn.clause = &clauses[i];
		if (s->peer.net == PEER_V1 && clauses[i].not_v1)
			continue;
		pair_case(s->p, run_clause, &turn, "%s%s", clauses[i].name, nets[s->peer.net]);
	}
}

/* ---- the testbed ---- */

static const int rights[KEYS] = {
	[KEY_ALL] = ALL_ACCESS | IBV_ACCESS_MW_BIND,
	[KEY_READ] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
	[KEY_WRITE] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	[KEY_NONE] = IBV_ACCESS_LOCAL_WRITE,
	[KEY_FLUSH] = ALL_ACCESS | IBV_ACCESS_FLUSH_GLOBAL,
	[KEY_FOREIGN] = ALL_ACCESS,
};

static void run_testbed(struct pair *p, const void *arg)
{
	struct testbed *s = *(struct testbed *const *)arg;
	static const struct clause usual = { .type = IBV_QPT_RC };
	struct conn_attr attr;
	int i;

	s->pd = p->pd;
	s->foreign = ibv_alloc_pd(p->ctx);
	check(p, s->foreign, "ibv_alloc_pd: %s", strerror(errno));
	s->remote = region_new(p, REMOTE_ROOM, rights[KEY_ALL]);
	s->recv = region_new(p, RECV_ROOM, IBV_ACCESS_LOCAL_WRITE);
	s->local = region_new(p, LOCAL_ROOM, IBV_ACCESS_LOCAL_WRITE);
	for (i = 0; i < KEYS; i++) {
		if (!rights[i])
			continue;
		s->mrs[i] = ibv_reg_mr(i == KEY_FOREIGN ? s->foreign : s->pd, s->remote->buf,
				       REMOTE_ROOM, rights[i]);
		/* Older kernels do not have FLUSH. */
		check(p, s->mrs[i] || i == KEY_FLUSH, "ibv_reg_mr, access 0x%x: %s", rights[i],
		      strerror(errno));
	}
	for (i = 0; i < 2 && s->xrc; i++)
		s->domains[i] = domain_new(p);
	attr = attr_of(s, &usual);
	s->bystander = connect_to(s, &attr, BYSTANDER_QPN, IBV_QPS_RTS);
	s->bystander_psn = PEER_PSN;
	undo_never(p);
}

void clause_begin(struct testbed *s, struct pair *p, enum peer_net net, bool xrc)
{
	if (s->p)
		peer_close(&s->peer);
	*s = (struct testbed){ .p = p, .xrc = xrc };
	peer_open(&s->peer, p, net);
	pair_case(p, run_testbed, &s, "the testbed is set up");
}

int clause_main(int argc, char **argv, bool xrc, const struct clause_table *tables,
		unsigned int n)
{
	static const char *const nets[PEER_NETS] = { "v4", "v6", "v1" };
	static struct testbed s;
	unsigned int i;
	struct pair p;
	int net;

	pair_open_alone(&p, argc, argv);
	for (net = 0; net < PEER_NETS; net++) {
		if (!pair_wants(&p, nets[net]))
			continue;
		clause_begin(&s, &p, net, xrc);
		for (i = 0; i < n; i++)
			clause_run_all(&s, tables[i].clauses, tables[i].n);
	}
	return pair_close(&p);
}
