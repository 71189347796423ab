// SPDX-License-Identifier: GPL-2.0
/*
 * xrc_rules - XRC: invalid use, errors at both ends, and the order of destruction
 *
 *	xrc_rules a|b PORT [GROUP...]	see main() for the groups
 *
 * End a has the initiators, end b targets and queues.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/xrc.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* How long to wait for what must not come. */
#define SILENCE 20

/* ---- queues that are not there ---- */

enum wrong { NO_SUCH, OTHER_DOMAIN, DESTROYED, ZERO };

struct wrong_arg {
	const char *what;
	enum wrong wrong;
	enum ibv_wr_opcode opcode;
};

static const struct wrong_arg wrongs[] = {
	{ "an unknown queue, SEND", NO_SUCH, IBV_WR_SEND },
	{ "an unknown queue, WRITE", NO_SUCH, IBV_WR_RDMA_WRITE },
	{ "an unknown queue, READ", NO_SUCH, IBV_WR_RDMA_READ },
	{ "an unknown queue, atomic", NO_SUCH, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "queue 0", ZERO, IBV_WR_SEND },
	{ "a queue of another domain, SEND", OTHER_DOMAIN, IBV_WR_SEND },
	{ "a queue of another domain, READ", OTHER_DOMAIN, IBV_WR_RDMA_READ },
	{ "a destroyed queue, SEND", DESTROYED, IBV_WR_SEND },
	{ "a destroyed queue, WRITE with immediate", DESTROYED,
	  IBV_WR_RDMA_WRITE_WITH_IMM },
};

/* b: the number that a is to use. */
static uint32_t wrong_number(struct stage *g, enum wrong wrong)
{
	struct pair *p = g->p;
	struct shared *s;
	uint32_t srqn;

	switch (wrong) {
	case NO_SUCH:
		/* Of all numbers there are, one of which is ours. */
		return g->s->srqn ^ 0x5a5a5a;
	case OTHER_DOMAIN:
		s = shared_xrc(p, p->pd, 4, 2, domain_new(p)->xrcd, g->s->recv);
		shared_fill(s, 0, 1);
		return s->srqn;
	case DESTROYED:
		s = shared_xrc(p, p->pd, 4, 2, g->d->xrcd, g->s->recv);
		srqn = s->srqn;
		shared_fill(s, 0, 1);
		undo_now(p, s->srq);
		return srqn;
	default:
		return 0;
	}
}

/* The requester gets an invalid request error, the target goes to ERR and raises an event. */
static void run_wrong(struct pair *p, const void *data)
{
	const struct wrong_arg *arg = data;
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	struct ibv_sge sge = sge_of(g.r, 0, 8);
	struct ibv_send_wr wr = wr_rdma(1, arg->opcode, &sge, 1, IBV_SEND_SIGNALED,
					g.r->peer_addr, g.r->peer_rkey);
	uint32_t srqn = stage_tell(p, end_b(p) ? wrong_number(&g, arg->wrong) : 0);

	if (arg->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr = wr_atomic(1, arg->opcode, &sge, g.r->peer_addr, g.r->peer_rkey, 1, 0);
	if (end_b(p))
		shared_fill(g.s, 0, 1);
	pair_sync(p);
	if (end_a(p)) {
		/* Zero is where conn_post() would put one that is good. */
		g.c[0]->srqn = srqn;
		stage_ask(&g, wr_for(wr, srqn), IBV_WC_REM_INV_REQ_ERR);
	} else {
		stage_event(&g, IBV_EVENT_QP_REQ_ERR);
		/* No receive was taken, of either queue, and no memory touched. */
		queue_quiet(g.s->recv, SILENCE);
		check(p, !memcmp(g.r->buf, g.r->buf + 8, 8), "memory was touched");
	}
	stage_well(&g);
}

/* ---- errors that a queue knows of ---- */

/* A message is longer than its receive: the error is reported in the CQ of the queue. */
static void run_long(struct pair *p, const void *arg)
{
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	struct ibv_sge small = sge_of(g.r, 0, 10), large = sge_of(g.r, 0, 3000);
	struct ibv_wc wc;

	(void)arg;
	if (end_b(p))
		check(p, !shared_post(g.s, 77, &small, 1), "posting a receive fails");
	pair_sync(p);
	if (end_a(p)) {
		stage_ask(&g, wr_send(1, &large, 1, IBV_SEND_SIGNALED), IBV_WC_REM_INV_REQ_ERR);
	} else {
		queue_next(g.s->recv, &wc);
		check(p, wc.wr_id == 77 && wc.status == IBV_WC_LOC_LEN_ERR &&
		      wc.qp_num == g.c[0]->qp->qp_num, "completion %llu: %s",
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
		conn_want_state(g.c[0], IBV_QPS_ERR);
	}
	stage_well(&g);
}

/*
 * The key cannot be invalidated at the target: the data has arrived, and the receive reports
 * the error.
 */
static void run_invalidate(struct pair *p, const void *arg)
{
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	struct ibv_sge sge = sge_of(g.r, 0, 100);
	struct ibv_send_wr wr = wr_send(1, &sge, 1, IBV_SEND_SIGNALED);

	(void)arg;
	if (end_b(p))
		shared_fill(g.s, 0, 1);
	pair_sync(p);
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.invalidate_rkey = g.r->peer_rkey;
	if (end_a(p)) {
		stage_ask(&g, wr, IBV_WC_REM_ACCESS_ERR);
	} else {
		queue_want(g.s->recv, 0, IBV_WC_REM_INV_REQ_ERR);
		conn_want_state(g.c[0], IBV_QPS_ERR);
	}
	stage_well(&g);
}

/* No receive is posted: the initiator retries, or fails by rnr_retry; others go on. */
static void run_empty(struct pair *p, const void *arg)
{
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	struct conn *hasty;

	(void)arg;
	attr.rnr_retry = 0;
	hasty = xrc_open(p, &attr, end_a(p), g.d, g.s);
	if (end_a(p)) {
		conn_send(hasty, &wr);
		queue_want(hasty->send, 1, IBV_WC_RNR_RETRY_EXC_ERR);
		conn_send(g.c[0], &wr);
		queue_quiet(g.c[0]->send, SILENCE);
	}
	pair_sync(p);
	if (end_b(p)) {
		queue_quiet(g.s->recv, 1);
		conn_want_state(hasty, IBV_QPS_RTS);
		shared_fill(g.s, 0, 1);
		queue_want(g.s->recv, 0, IBV_WC_SUCCESS);
	} else {
		queue_want(g.c[0]->send, 1, IBV_WC_SUCCESS);
	}
	stage_well(&g);
}

/* An XRC queue raises SRQ_LIMIT_REACHED, and can be resized. */
static void run_limit(struct pair *p, const void *arg)
{
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);
	int i;

	(void)arg;
	if (end_b(p)) {
		shared_fill(g.s, 0, 3);
		check(p, !shared_modify(g.s, IBV_SRQ_LIMIT, 0, 2), "arming fails");
		check(p, !shared_modify(g.s, IBV_SRQ_MAX_WR, 100, 0), "resizing fails");
		check(p, shared_query(g.s).max_wr == 100, "its size is %u",
		      shared_query(g.s).max_wr);
	}
	for (i = 0; i < 2; i++) {
		pair_sync(p);
		if (end_a(p)) {
			stage_ask(&g, wr, IBV_WC_SUCCESS);
			continue;
		}
		queue_want(g.s->recv, i, IBV_WC_SUCCESS);
		check(p, shared_event(g.s, IBV_EVENT_SRQ_LIMIT_REACHED, i ? SOON(p) : SILENCE) == i,
		      "an event with %d of 2 left", 2 - i);
	}
	stage_well(&g);
}

/* ---- protection: keys are those of the queue's domain ---- */

static int dealloc_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

/* A key of one protection domain, by a queue of that domain, and by a queue of another. */
static void run_keys(struct pair *p, const void *data)
{
	const enum ibv_wr_opcode *opcode = data;
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	struct ibv_sge sge = sge_of(g.r, 0, 8);
	struct region *there = g.r;
	struct ibv_send_wr wr;
	struct ibv_pd *pd;
	uint32_t srqn = 0;

	if (end_b(p)) {
		pd = ibv_alloc_pd(p->ctx);
		check(p, pd, "ibv_alloc_pd: %s", strerror(errno));
		undo_later(p, dealloc_pd, pd, "ibv_dealloc_pd");
		srqn = shared_xrc(p, pd, 4, 2, g.d->xrcd, g.s->recv)->srqn;
		there = region_in(p, pd, STAGE_ROOM, ALL_ACCESS);
	}
	region_swap(p, there);
	srqn = stage_tell(p, srqn);
	pair_sync(p);
	wr = *opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ?
	     wr_atomic(1, *opcode, &sge, there->peer_addr, there->peer_rkey, 1, 0) :
	     wr_rdma(1, *opcode, &sge, 1, IBV_SEND_SIGNALED, there->peer_addr, there->peer_rkey);
	if (end_a(p)) {
		stage_ask(&g, wr_for(wr, srqn), IBV_WC_SUCCESS);
		stage_ask(&g, wr_for(wr, g.c[0]->srqn), IBV_WC_REM_ACCESS_ERR);
	} else {
		stage_event(&g, IBV_EVENT_QP_ACCESS_ERR);
	}
	stage_well(&g);
}

/* ---- states ---- */

/* A step of one kind: what must be given, and what the core takes and forgets. */
struct step {
	enum ibv_qp_state to;
	int needed, ignored;
};

static void try_step(struct conn *c, const struct step *step)
{
	struct pair *p = c->p;
	struct ibv_qp_attr attr;
	int mask = conn_step(c, step->to, &attr);

	check(p, ibv_modify_qp(c->qp, &attr, mask & ~step->needed) == EINVAL,
	      "to state %d without 0x%x", step->to, step->needed);
	check(p, ibv_modify_qp(c->qp, &attr, mask | IBV_QP_QKEY) == EINVAL,
	      "to state %d with a Q_Key", step->to);
	check(p, !ibv_modify_qp(c->qp, &attr, mask | step->ignored), "to state %d: %s", step->to,
	      strerror(errno));
	conn_want_state(c, step->to);
}

/* Attributes that initiators and targets need, and invalid ones. */
static void run_states(struct pair *p, const void *arg)
{
	static const struct step initiator[] = {
		{ IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS },
		{ IBV_QPS_RTR, IBV_QP_AV, IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_DEST_RD_ATOMIC },
		{ IBV_QPS_RTS, IBV_QP_MAX_QP_RD_ATOMIC },
	};
	static const struct step target[] = {
		{ IBV_QPS_INIT, IBV_QP_PKEY_INDEX },
		{ IBV_QPS_RTR, IBV_QP_MIN_RNR_TIMER },
		{ IBV_QPS_RTS, IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					       IBV_QP_MAX_QP_RD_ATOMIC },
	};
	struct conn_attr attr = xrc_defaults(p);
	struct domain *d = NULL;
	struct shared *s = NULL;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr is;
	struct conn *c;
	int round;
	size_t i;

	(void)arg;
	if (end_b(p)) {
		d = domain_new(p);
		s = shared_xrc(p, p->pd, 4, 2, d->xrcd, queue_new(p, 8, false, false));
	}
	c = xrc_make(p, &attr, end_a(p), d, s);
	xrc_meet(c, s);
	/* Twice: by RESET it begins anew. */
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 3; i++)
			try_step(c, end_a(p) ? &initiator[i] : &target[i]);
		check(p, !ibv_query_qp(c->qp, &is, IBV_QP_STATE | IBV_QP_CAP, &init),
		      "ibv_query_qp fails");
		check(p, init.qp_type == c->attr.type && !is.cap.max_recv_wr &&
		      !is.cap.max_send_wr == end_b(p), "type %d, room for %u and %u",
		      init.qp_type, is.cap.max_send_wr, is.cap.max_recv_wr);
		check(p, is.dest_qp_num == c->peer.qpn, "it is connected to 0x%x",
		      is.dest_qp_num);
		check(p, !conn_modify(c, IBV_QPS_SQD) && !conn_modify(c, IBV_QPS_ERR) &&
		      !conn_modify(c, IBV_QPS_RESET), "SQD, ERR and RESET fail");
	}
}

/* ---- what is refused ---- */

static void refuse_qp(struct pair *p, struct ibv_qp_init_attr_ex *init, int error,
		      const char *what)
{
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp_ex(p->ctx, init);
	if (qp)
		ibv_destroy_qp(qp);
	check(p, !qp && errno == error, "%s: %s", what, qp ? "made" : strerror(errno));
}

static void refuse_open(struct pair *p, struct ibv_xrcd *xrcd, uint32_t qpn,
			enum ibv_qp_type type)
{
	struct ibv_qp_open_attr which = {
		.qp_num = qpn, .qp_type = type, .xrcd = xrcd,
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE |
			     IBV_QP_OPEN_ATTR_XRCD,
	};
	struct ibv_qp *qp = ibv_open_qp(p->ctx, &which);

	check(p, !qp && errno == EINVAL, "ibv_open_qp of 0x%x: %s", qpn,
	      qp ? "opened" : strerror(errno));
}

static void refuse_queue(struct pair *p, struct ibv_srq_init_attr_ex init, int without, int error)
{
	struct ibv_srq *srq;

	init.comp_mask &= ~without;
	srq = ibv_create_srq_ex(p->ctx, &init);
	check(p, !srq && errno == error, "a queue without 0x%x: %s", without,
	      srq ? "made" : strerror(errno));
}

static void run_refusals(struct pair *p, const void *arg)
{
	struct domain *d = domain_new(p), *other = domain_new(p);
	struct queue *q = queue_new(p, 8, false, false);
	struct shared *s = shared_xrc(p, p->pd, 4, 2, d->xrcd, q), *basic = shared_new(p, p->pd, 4);
	struct ibv_qp_init_attr_ex init = {
		.send_cq = q->cq, .recv_cq = q->cq, .pd = p->pd, .qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 }, .comp_mask = IBV_QP_INIT_ATTR_PD, .srq = s->srq,
	};
	struct ibv_srq_init_attr_ex one = {
		.attr = { 4, 1, 0 }, .srq_type = IBV_SRQT_XRC, .pd = p->pd, .cq = q->cq,
		.xrcd = d->xrcd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
	};
	struct conn_attr attr = xrc_defaults(p);
	struct ibv_send_wr wr = wr_send(1, NULL, 0, 0);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct conn *target;
	uint32_t number;

	(void)arg;
	check(p, p->attr.device_cap_flags & IBV_DEVICE_XRC, "the device does not say that it can");
	refuse_qp(p, &init, EINVAL, "a connection that shares a queue of XRC");
	init.qp_type = IBV_QPT_XRC_SEND;
	refuse_qp(p, &init, EINVAL, "an initiator that shares a queue");
	init.srq = NULL;
	init.cap.max_send_wr = p->attr.max_qp_wr + 1;
	refuse_qp(p, &init, EINVAL, "an initiator too large");
	init.qp_type = IBV_QPT_XRC_RECV;
	refuse_qp(p, &init, EINVAL, "a target without a domain");
	refuse_queue(p, one, IBV_SRQ_INIT_ATTR_XRCD, EINVAL);
	refuse_queue(p, one, IBV_SRQ_INIT_ATTR_CQ, EINVAL);
	one.attr.max_wr = p->attr.max_srq_wr + 1;
	refuse_queue(p, one, 0, EINVAL);
	check(p, ibv_get_srq_num(basic->srq, &number) == EOPNOTSUPP, "a basic queue has a number");

	attr.type = IBV_QPT_XRC_RECV;
	attr.xrcd = d->xrcd;
	target = conn_make(p, &attr);
	check(p, conn_post(target, &wr) == EINVAL, "a target sends");
	refuse_open(p, d->xrcd, target->qp->qp_num ^ 1, IBV_QPT_XRC_RECV);
	refuse_open(p, other->xrcd, target->qp->qp_num, IBV_QPT_XRC_RECV);
	refuse_open(p, d->xrcd, target->qp->qp_num, IBV_QPT_RC);

	check(p, !domain_open(p->ctx, d->fd, O_CREAT | O_EXCL) && errno == EINVAL,
	      "a domain is made twice of one file");
	check(p, !domain_open(p->ctx, fd, 0) && errno == EAGAIN, "a domain that nobody made");
	close(fd);
	check(p, ibv_close_xrcd(d->xrcd) == EBUSY, "a domain with a queue and a target closes");
	undo_now(p, s->srq);
	check(p, ibv_close_xrcd(d->xrcd) == EBUSY, "a domain with a target closes");
	pair_sync(p);
}

/* The CQ and the protection domain of a queue cannot be destroyed before it. */
static void run_order(struct pair *p, const void *arg)
{
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);

	(void)arg;
	if (end_a(p))
		return;
	check(p, ibv_destroy_cq(g.s->recv->cq) == EBUSY, "its completion queue goes first");
	check(p, ibv_dealloc_pd(p->pd) == EBUSY, "its protection domain goes first");
	check(p, ibv_close_xrcd(g.d->xrcd) == EBUSY, "its XRC domain goes first");
	/* Targets need no queue. */
	undo_now(p, g.s->srq);
	conn_want_state(g.c[0], IBV_QPS_RTS);
	undo_now(p, g.s->recv);
	check(p, ibv_close_xrcd(g.d->xrcd) == EBUSY, "their XRC domain goes first");
	undo_now(p, g.c[0]);
	undo_now(p, g.c[1]);
	undo_now(p, g.d);
}

int main(int argc, char **argv)
{
	static const enum ibv_wr_opcode keyed[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	static const char *const names[] = { "WRITE", "READ", "atomic" };
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < ARRAY_SIZE(wrongs) && pair_wants(&p, "wrong"); i++)
		pair_case(&p, run_wrong, &wrongs[i], "a request is refused: %s", wrongs[i].what);
	for (i = 0; i < ARRAY_SIZE(keyed) && pair_wants(&p, "keys"); i++)
		pair_case(&p, run_keys, &keyed[i],
			  "keys belong to the protection domain of the queue: %s", names[i]);
	if (pair_wants(&p, "queues")) {
		pair_case(&p, run_long, NULL, "a message longer than its receive fails");
		pair_case(&p, run_invalidate, NULL, "SEND with invalidate of an invalid key fails");
		pair_case(&p, run_empty, NULL,
			  "an empty queue: the initiator retries, or fails by rnr_retry");
		pair_case(&p, run_limit, NULL,
			  "an XRC queue raises SRQ_LIMIT_REACHED, and is resized");
	}
	if (pair_wants(&p, "verbs")) {
		pair_case(&p, run_states, NULL, "states of initiators and targets");
		pair_case(&p, run_refusals, NULL, "invalid XRC objects and operations are refused");
		pair_case(&p, run_order, NULL, "XRC objects in use cannot be destroyed");
	}
	return pair_close(&p);
}
