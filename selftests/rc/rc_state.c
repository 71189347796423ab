// SPDX-License-Identifier: GPL-2.0
/*
 * rc_state - states of a reliable connection, transitions, retries, events
 *
 *	rc_state a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/pattern.h"

static const char *const state_names[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
};

static int dereg(void *mr)
{
	return ibv_dereg_mr(mr);
}

static struct conn *in_state(struct pair *p, enum ibv_qp_state state)
{
	static const enum ibv_qp_state path[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD,
	};
	struct conn_attr attr = conn_defaults(p);
	struct conn *c = conn_make(p, &attr);
	unsigned int i;

	conn_meet(c);
	if (state == IBV_QPS_ERR)
		check(p, !conn_modify(c, IBV_QPS_INIT) && !conn_modify(c, IBV_QPS_ERR),
		      "no way to ERR");
	for (i = 0; i < 4 && state != IBV_QPS_ERR && i < (unsigned int)state; i++)
		check(p, !conn_modify(c, path[i]), "no way to %s", state_names[path[i]]);
	conn_want_state(c, state);
	return c;
}

/* ---- work requests in every state ---- */

/* IBTA table 91 and 10.3.1: which requests may be posted in which state. */
static void run_post(struct pair *p, const void *arg)
{
	enum ibv_qp_state state = *(const enum ibv_qp_state *)arg;
	bool may_send = state >= IBV_QPS_RTS, may_recv = state != IBV_QPS_RESET;
	struct conn *c = in_state(p, state);
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);
	int error;

	error = conn_post(c, &wr);
	check(p, !error == may_send, "ibv_post_send: %s", strerror(error));
	error = conn_post_recv(c, 2, NULL, 0);
	check(p, !error == may_recv, "ibv_post_recv: %s", strerror(error));
	if (state == IBV_QPS_ERR) {
		queue_want(c->send, 1, IBV_WC_WR_FLUSH_ERR);
		queue_want(c->recv, 2, IBV_WC_WR_FLUSH_ERR);
	}
	queue_quiet(c->send, 5);
	queue_quiet(c->recv, 5);
	conn_want_state(c, state);
}

/* Receives posted in INIT, before the peer is known, are used later. */
static void run_early_receive(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct conn *c = conn_make(p, &attr);
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);

	(void)arg;
	check(p, !conn_modify(c, IBV_QPS_INIT), "no way to INIT");
	conn_recv(c, 5, NULL, 0);
	conn_meet(c);
	check(p, !conn_modify(c, IBV_QPS_RTR) && !conn_modify(c, IBV_QPS_RTS), "no way to RTS");
	pair_sync(p);
	conn_send(c, &wr);
	queue_want(c->send, 1, IBV_WC_SUCCESS);
	queue_want(c->recv, 5, IBV_WC_SUCCESS);
}

/* Modified to ERR: all requests are flushed, in order, signaled or not. */
static void run_flush(struct pair *p, const void *arg)
{
	const int n = *(const int *)arg;
	struct conn_attr attr = conn_defaults(p);
	struct ibv_send_wr wr;
	struct conn *c;
	int i;

	attr.rnr_retry = 7;
	attr.send_wr = n;
	attr.recv_wr = n;
	attr.entries = 2 * n;
	c = conn_open(p, &attr);
	/* Nobody receives, so these hang. */
	for (i = 0; i < n && end_a(p); i++) {
		wr = wr_send(i, NULL, 0, i % 2 ? IBV_SEND_SIGNALED : 0);
		conn_send(c, &wr);
		conn_recv(c, i, NULL, 0);
	}
	if (end_b(p))
		return;
	check(p, !conn_modify(c, IBV_QPS_ERR), "no way to ERR");
	for (i = 0; i < n; i++) {
		queue_want(c->send, i, IBV_WC_WR_FLUSH_ERR);
		queue_want(c->recv, i, IBV_WC_WR_FLUSH_ERR);
	}
	for (i = n; i < 2 * n; i++) {
		wr = wr_send(i, NULL, 0, i % 2 ? IBV_SEND_SIGNALED : 0);
		conn_send(c, &wr);
		conn_recv(c, i, NULL, 0);
	}
	for (i = n; i < 2 * n; i++) {
		queue_want(c->send, i, IBV_WC_WR_FLUSH_ERR);
		queue_want(c->recv, i, IBV_WC_WR_FLUSH_ERR);
	}
	queue_quiet(c->send, 5);
	queue_quiet(c->recv, 5);
}

/* Reset with work in both queues, and connected again, many times. */
static void run_reset(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 5000);
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	struct conn *c;
	int i, k;

	(void)arg;
	attr.rnr_retry = 7;
	c = conn_make(p, &attr);
	for (i = 0; i < 6; i++) {
		c->own.psn = mix(i + end_b(p)) & 0xffffff;
		conn_meet(c);
		conn_ready(c);
		pair_sync(p);
		if (end_b(p))
			conn_recv(c, i, &sge, 1);
		pattern_fill(r->buf, 5000, end_a(p) ? i : 99);
		pair_sync(p);
		wr = wr_send(i, &sge, 1, IBV_SEND_SIGNALED);
		if (end_a(p)) {
			conn_send(c, &wr);
			queue_want(c->send, i, IBV_WC_SUCCESS);
			/* Left over: nobody receives these. */
			for (k = 0; k < 5; k++)
				conn_send(c, &wr);
		} else {
			queue_want(c->recv, i, IBV_WC_SUCCESS);
			pattern_fill(r->buf + 8192, 5000, i);
			check(p, !memcmp(r->buf, r->buf + 8192, 5000), "wrong data in round %d", i);
		}
		pair_sync(p);
		check(p, !conn_modify(c, IBV_QPS_RESET), "no way to RESET");
		conn_want_state(c, IBV_QPS_RESET);
		while (queue_poll(c->send, &wc, 1) || queue_poll(c->recv, &wc, 1))
			;
		pair_sync(p);
	}
}

/* ---- transitions ---- */

struct transition {
	enum ibv_qp_state from, to;
	int required, optional;
};

/* IBTA table 91 for RC, as far as RoCE has it; all else is illegal. */
static const struct transition transitions[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_INIT, IBV_QPS_RTR,
	  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_RTR, IBV_QPS_RTS,
	  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	  IBV_QP_MAX_QP_RD_ATOMIC,
	  IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0,
	  IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0,
	  IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	  IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
	  IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0,
	  IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
};

static const struct transition *find_transition(enum ibv_qp_state from, enum ibv_qp_state to)
{
	static struct transition any;
	unsigned int i;

	any = (struct transition){ from, to, 0, 0 };
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return &any;
	for (i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++)
		if (transitions[i].from == from && transitions[i].to == to)
			return &transitions[i];
	return NULL;
}

/* Sensible values for everything a mask can name. */
static void all_values(struct conn *c, enum ibv_qp_state from, enum ibv_qp_state to,
		       struct ibv_qp_attr *attr)
{
	struct ibv_qp_attr init, rtr;

	conn_step(c, IBV_QPS_INIT, &init);
	conn_step(c, IBV_QPS_RTR, &rtr);
	conn_step(c, IBV_QPS_RTS, attr);
	attr->qp_state = to;
	attr->cur_qp_state = from;
	attr->port_num = 1;
	attr->qp_access_flags = init.qp_access_flags;
	attr->path_mtu = rtr.path_mtu;
	attr->dest_qp_num = rtr.dest_qp_num;
	attr->rq_psn = rtr.rq_psn;
	attr->max_dest_rd_atomic = rtr.max_dest_rd_atomic;
	attr->min_rnr_timer = rtr.min_rnr_timer;
	attr->ah_attr = rtr.ah_attr;
}

static void want_refused(struct conn *c, enum ibv_qp_state from, struct ibv_qp_attr *attr,
			 int mask, const char *what, int bit)
{
	int error = ibv_modify_qp(c->qp, attr, mask);

	/* ENODATA is what the core says of a GID that is not there. */
	check(c->p, error == EINVAL || error == ENODATA, "to %s %s 0x%x: %s, not EINVAL",
	      state_names[attr->qp_state], what, bit, error ? strerror(error) : "accepted");
	conn_want_state(c, from);
}

/* From one state to another: refused without what is required, or with what is not allowed. */
static void try_transition(struct conn *c, enum ibv_qp_state from, enum ibv_qp_state to)
{
	const struct transition *t = find_transition(from, to);
	/* Not the alternate path, which a device may refuse anywhere. */
	int known = IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_ACCESS_FLAGS |
		    IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV | IBV_QP_PATH_MTU |
		    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN |
		    IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN |
		    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_DEST_QPN;
	struct ibv_qp_attr attr;
	int bit, error, mask;

	all_values(c, from, to, &attr);
	if (!t) {
		mask = IBV_QP_STATE | conn_step(c, to, &(struct ibv_qp_attr){ 0 });
		want_refused(c, from, &attr, mask, "which is illegal, with", mask);
		return;
	}
	mask = IBV_QP_STATE | t->required;
	for (bit = 1; bit <= known; bit <<= 1) {
		if (!(bit & known))
			continue;
		if (t->required & bit)
			want_refused(c, from, &attr, mask & ~bit, "without", bit);
		else if (!(t->optional & bit) && bit != IBV_QP_CUR_STATE)
			want_refused(c, from, &attr, mask | bit, "with", bit);
	}
	error = ibv_modify_qp(c->qp, &attr, mask | (t->optional & ~IBV_QP_CUR_STATE));
	check(c->p, !error, "to %s with all that is allowed: %s", state_names[to],
	      strerror(error));
	conn_want_state(c, to);
}

static void run_transitions(struct pair *p, const void *arg)
{
	static const enum ibv_qp_state to[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR,
		IBV_QPS_RESET,
	};
	enum ibv_qp_state from = *(const enum ibv_qp_state *)arg;
	unsigned int i;

	for (i = 0; i < sizeof(to) / sizeof(to[0]); i++)
		/* The kernel's table has no way from RESET to ERR, IBTA's has. */
		if (from != IBV_QPS_RESET || to[i] != IBV_QPS_ERR)
			try_transition(in_state(p, from), from, to[i]);
}

/* Values out of range: EINVAL, and the state unchanged. */
static void run_bad_values(struct pair *p, const void *arg)
{
	struct conn *c = in_state(p, IBV_QPS_RESET);
	struct ibv_qp_attr attr, good;
	int mask, i;

	(void)arg;
	mask = conn_step(c, IBV_QPS_INIT, &good);
	for (i = 0; i < 3; i++) {
		attr = good;
		if (i == 0)
			attr.port_num = 2;
		if (i == 1)
			attr.port_num = 0;
		if (i == 2)
			attr.pkey_index = 7;
		want_refused(c, IBV_QPS_RESET, &attr, mask, "with bad value number", i);
	}
	check(p, !ibv_modify_qp(c->qp, &good, mask), "no way to INIT");
	mask = conn_step(c, IBV_QPS_RTR, &good);
	for (i = 0; i < 5; i++) {
		attr = good;
		if (i == 0)
			attr.path_mtu = 6;
		if (i == 1)
			attr.path_mtu = 0;
		if (i == 2)
			attr.ah_attr.grh.sgid_index = 250;
		if (i == 3)
			attr.ah_attr.is_global = 0;
		if (i == 4)
			attr.max_dest_rd_atomic = 255;
		if (i == 4 && p->attr.max_qp_rd_atom >= 255)
			continue;
		want_refused(c, IBV_QPS_INIT, &attr, mask, "with bad value number", i);
	}
	check(p, !ibv_modify_qp(c->qp, &good, mask), "no way to RTR");
}

/* ---- the peer does not answer ---- */

struct patience {
	uint8_t timeout, retry_cnt;
	unsigned int at_least, at_most;
};

/*
 * IBTA 9.9.2.1.1: the requester gives up after retry_cnt retries, each after 4.096 us *
 * 2^timeout or more.
 */
static void run_gone(struct pair *p, const void *arg)
{
	const struct patience *patience = arg;
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct ibv_send_wr wr;
	uint64_t start, took;
	struct conn *c;
	int i;

	attr.timeout = patience->timeout;
	attr.retry_cnt = patience->retry_cnt;
	c = conn_open(p, &attr);
	region_swap(p, r);
	if (end_b(p))
		undo_now(p, c);
	pair_sync(p);
	if (end_b(p))
		return;
	start = now_ms();
	for (i = 0; i < 3; i++) {
		wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			     r->peer_rkey);
		conn_send(c, &wr);
	}
	conn_recv(c, 5, NULL, 0);
	queue_want(c->send, 0, IBV_WC_RETRY_EXC_ERR);
	took = now_ms() - start;
	queue_want(c->send, 1, IBV_WC_WR_FLUSH_ERR);
	queue_want(c->send, 2, IBV_WC_WR_FLUSH_ERR);
	queue_want(c->recv, 5, IBV_WC_WR_FLUSH_ERR);
	conn_want_state(c, IBV_QPS_ERR);
	check(p, took >= patience->at_least, "given up after %llu ms, not %u or more",
	      (unsigned long long)took, patience->at_least);
	check(p, took <= patience->at_most * p->slow, "given up after %llu ms, more than %u",
	      (unsigned long long)took, patience->at_most);
}

/* ---- receiver not ready ---- */

static void run_rnr_error(struct pair *p, const void *arg)
{
	uint8_t retries = *(const uint8_t *)arg;
	struct conn_attr attr = conn_defaults(p);
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);
	uint64_t start, took;
	struct conn *c;

	attr.rnr_retry = retries;
	/* 81.92 ms, IBTA table 45. */
	attr.min_rnr_timer = 26;
	c = conn_open(p, &attr);
	if (end_a(p)) {
		start = now_ms();
		conn_send(c, &wr);
		wr.wr_id = 2;
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_RNR_RETRY_EXC_ERR);
		took = now_ms() - start;
		queue_want(c->send, 2, IBV_WC_WR_FLUSH_ERR);
		conn_want_state(c, IBV_QPS_ERR);
		check(p, took >= retries * 81U && took < (retries * 82U + 1500) * p->slow,
		      "given up after %llu ms, with %u retries of 82 ms",
		      (unsigned long long)took, retries);
	}
	pair_sync(p);
	if (end_b(p)) {
		/* The responder has done nothing wrong. */
		conn_want_state(c, IBV_QPS_RTS);
		queue_quiet(c->recv, 5);
		check(p, event_next(p, NULL, 0) < 0, "an event at the responder");
	}
}

/* rnr_retry 7 is infinite. */
static void run_rnr_wait(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 5000);
	struct ibv_send_wr wr = wr_send(1, &sge, 1, IBV_SEND_SIGNALED);
	struct conn *c;
	int i;

	(void)arg;
	attr.rnr_retry = 7;
	/* 0.01 ms, so that it asks hundreds of times. */
	attr.min_rnr_timer = 1;
	c = conn_open(p, &attr);
	pattern_fill(r->buf, 5000, end_a(p));
	if (end_a(p)) {
		for (i = 0; i < 3; i++) {
			wr.wr_id = i;
			conn_send(c, &wr);
		}
		queue_quiet(c->send, 400);
	}
	pair_sync(p);
	if (end_b(p))
		for (i = 0; i < 3; i++)
			conn_recv(c, i, &sge, 1);
	for (i = 0; i < 3; i++)
		queue_want(end_a(p) ? c->send : c->recv, i, IBV_WC_SUCCESS);
	pattern_fill(r->buf + 8192, 5000, 1);
	check(p, !memcmp(r->buf, r->buf + 8192, 5000), "wrong data");
}

/* ---- events ---- */

/* IBTA 11.6.3.1: a message that arrives in RTR raises COMM_EST. */
static void run_established(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct conn *c = conn_make(p, &attr);
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);

	(void)arg;
	conn_meet(c);
	check(p, !conn_modify(c, IBV_QPS_INIT) && !conn_modify(c, IBV_QPS_RTR), "no way to RTR");
	if (end_a(p))
		check(p, !conn_modify(c, IBV_QPS_RTS), "no way to RTS");
	conn_recv(c, 1, NULL, 0);
	pair_sync(p);
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	} else {
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
		check(p, event_wait(p, IBV_EVENT_COMM_EST, c->qp, 3000 * p->slow),
		      "no event IBV_EVENT_COMM_EST");
		check(p, !conn_modify(c, IBV_QPS_RTS), "no way to RTS");
	}
}

/* IBTA 10.3.1.6: in SQD started requests are completed, posted ones wait. */
static void run_drain(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct ibv_qp_attr sqd = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);
	struct conn *c;
	int event;

	(void)arg;
	attr.rnr_retry = 7;
	c = conn_open(p, &attr);
	if (end_a(p)) {
		conn_send(c, &wr);
		/* It has been sent, and is refused now and then. */
		queue_quiet(c->send, 50);
		check(p, !ibv_modify_qp(c->qp, &sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		      "no way to SQD");
		wr.wr_id = 2;
		conn_send(c, &wr);
		event = event_next(p, NULL, 50);
		check(p, event < 0, "event \"%s\" while a request is outstanding",
		      ibv_event_type_str(event));
	}
	pair_sync(p);
	if (end_b(p)) {
		conn_recv(c, 1, NULL, 0);
		conn_recv(c, 2, NULL, 0);
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
		queue_quiet(c->recv, 50);
	} else {
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		check(p, event_wait(p, IBV_EVENT_SQ_DRAINED, c->qp, 3000 * p->slow),
		      "no event IBV_EVENT_SQ_DRAINED");
		queue_quiet(c->send, 50);
		conn_want_state(c, IBV_QPS_SQD);
	}
	pair_sync(p);
	if (end_a(p))
		check(p, !conn_modify(c, IBV_QPS_RTS) ||
		      !ibv_modify_qp(c->qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS },
				     IBV_QP_STATE), "no way back to RTS");
	queue_want(end_a(p) ? c->send : c->recv, 2, IBV_WC_SUCCESS);
}

/* A region is deregistered while the peer writes to it. */
static void run_dereg(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 1 << 20, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 1 << 18);
	struct ibv_mr *mr = ibv_reg_mr(p->pd, r->buf, r->len, ALL_ACCESS);
	uint32_t rkey, peer_rkey;
	unsigned int count = 0;
	struct ibv_wc wc = {};
	struct conn *c;
	int i, posted = 0, done = 0;

	(void)arg;
	check(p, mr, "ibv_reg_mr: %s", strerror(errno));
	undo_later(p, dereg, mr, "ibv_dereg_mr");
	attr.mtu = p->port.active_mtu;
	c = conn_open(p, &attr);
	region_swap(p, r);
	rkey = mr->rkey;
	pair_swap(p, &rkey, &peer_rkey, sizeof(rkey));
	if (end_b(p)) {
		usleep(30000 * p->slow);
		undo_now(p, mr);
		pattern_fill(r->buf, r->len, 3);
		pair_sync(p);
		i = memcmp(r->buf + 8, &(uint64_t){ mix(3 + 8) }, 8);
		check(p, !i, "memory changes after it has been taken away");
		return;
	}
	memset(r->buf, 0, r->len);
	while (!wc.status) {
		struct ibv_send_wr wr = wr_rdma(posted, IBV_WR_RDMA_WRITE, &sge, 1,
						IBV_SEND_SIGNALED, r->peer_addr, peer_rkey);

		if (posted - done < 4 && !conn_post(c, &wr))
			posted++;
		if (queue_poll(c->send, &wc, 1))
			done++;
		else
			relax(p, &count);
	}
	check(p, wc.status == IBV_WC_REM_ACCESS_ERR, "the request ends with \"%s\"",
	      ibv_wc_status_str(wc.status));
	pair_sync(p);
}

static void all_states(struct pair *p)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR,
	};
	static const int many[] = { 10, 5000 };
	unsigned int i;

	for (i = 0; i < 6; i++)
		if (states[i] != IBV_QPS_RTS && states[i] != IBV_QPS_SQD)
			pair_case(p, run_post, &states[i],
				  "posting in state %s is accepted or refused as IBTA says",
				  state_names[states[i]]);
	pair_case(p, run_early_receive, NULL, "a receive posted in INIT takes a message later");
	for (i = 0; i < 2; i++)
		pair_case(p, run_flush, &many[i], "in ERR all %d requests are flushed in order",
			  many[i]);
	pair_case(p, run_reset, NULL, "a queue pair with posted work is reset and connected again");
	for (i = 0; i < 6; i++)
		pair_case(p, run_transitions, &states[i],
			  "all transitions from %s, with and without each attribute",
			  state_names[states[i]]);
	pair_case(p, run_bad_values, NULL, "attributes out of range are refused");
}

static void all_gone(struct pair *p)
{
	/* A retry takes 4 ms with timeout 10, 33 ms with 13 and 134 ms with 15. */
	static const struct patience gone[] = {
		{ 10, 0, 0, 2000 }, { 10, 3, 12, 3000 }, { 13, 3, 99, 4000 }, { 10, 7, 29, 6000 },
		/* Twice 134 ms, and the last wait, which lasts four of them at most. */
		{ 15, 1, 268, 2000 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		pair_case(p, run_gone, &gone[i],
			  "a vanished peer is given up by retry_cnt %u and timeout %u",
			  gone[i].retry_cnt, gone[i].timeout);
}

static void all_rnr(struct pair *p)
{
	static const uint8_t rnr[] = { 0, 2 };
	unsigned int i;

	for (i = 0; i < 2; i++)
		pair_case(p, run_rnr_error, &rnr[i],
			  "RNR NAKs end a connection after rnr_retry %u", rnr[i]);
	pair_case(p, run_rnr_wait, NULL, "rnr_retry 7 retries without limit");
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "states"))
		all_states(&p);
	if (pair_wants(&p, "gone"))
		all_gone(&p);
	if (pair_wants(&p, "rnr"))
		all_rnr(&p);
	if (pair_wants(&p, "events")) {
		pair_case(&p, run_established, NULL, "a packet in RTR raises IBV_EVENT_COMM_EST");
		pair_case(&p, run_drain, NULL,
			  "a drained queue pair in SQD raises IBV_EVENT_SQ_DRAINED");
		pair_case(&p, run_dereg, NULL, "a region is deregistered under traffic");
	}
	return pair_close(&p);
}
