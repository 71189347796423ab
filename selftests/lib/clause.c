// SPDX-License-Identifier: GPL-2.0
/*
 * clause - rules: cases in which a crafted peer talks to a queue pair
 */
#include <errno.h>
#include <string.h>

#include "clause_run.h"
#include "xrc.h"

/* The peer's queue pair numbers: each rule has a new one. */
#define FIRST_QPN	(BYSTANDER_QPN + 1)

/* First PSNs of the queue pair and of the peer, which wrap soon */
#define OWN_PSN		0xfffffe
#define PEER_PSN	0xfffffd

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
		run_recv(run);
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
	setjmp(run_begin);
	while (peer_next(&s->peer, 0) || event_next(s->p, NULL, 0) >= 0)
		;
	run = (struct run){ .s = s, .clause = clause, .step = clause->steps, .each = each,
			    .tries = run.tries + 1, .asked_at = now_ms() };
	open_run(&run);
	for (; run.step->kind; run.step++)
		run_step(&run);
	run_end(&run);
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
