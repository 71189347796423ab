// SPDX-License-Identifier: GPL-2.0
/*
 * rc_event - completion events, resizing of completion queues, queries
 *
 *	rc_event a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"

/* ---- events ---- */

/* One message from a to b; solicited or not. */
static void one_message(struct conn *c, uint64_t wr_id, bool solicited)
{
	struct pair *p = c->p;
	struct ibv_send_wr wr = wr_send(wr_id, NULL, 0, IBV_SEND_SIGNALED |
					(solicited ? IBV_SEND_SOLICITED : 0));

	if (end_b(p))
		conn_recv(c, wr_id, NULL, 0);
	pair_sync(p);
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, wr_id, IBV_WC_SUCCESS);
	}
	/* Its completion is there, or will be any moment. */
	pair_sync(p);
}

static void run_events(struct pair *p, const void *extended)
{
	struct conn_attr attr = conn_defaults(p);
	unsigned int soon = 3000 * p->slow, silence = 60;
	struct conn *c;
	int i;

	attr.extended = extended;
	attr.events = true;
	c = conn_open(p, &attr);
	/* Not armed: nothing. */
	one_message(c, 1, true);
	if (end_b(p)) {
		check(p, !queue_event(c->recv, silence), "event from a CQ that is not armed");
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
		check(p, !ibv_req_notify_cq(c->recv->cq, 0), "ibv_req_notify_cq fails");
		check(p, !queue_event(c->recv, silence), "event without a completion");
	}
	/* Armed once: one event, then none. */
	one_message(c, 2, false);
	if (end_b(p))
		check(p, queue_event(c->recv, soon), "no event from an armed CQ");
	one_message(c, 3, true);
	if (end_b(p)) {
		check(p, !queue_event(c->recv, silence), "a second event, armed once");
		queue_want(c->recv, 2, IBV_WC_SUCCESS);
		queue_want(c->recv, 3, IBV_WC_SUCCESS);
	}
	/* Again and again. */
	for (i = 0; i < 20; i++) {
		if (end_b(p))
			check(p, !ibv_req_notify_cq(c->recv->cq, 0), "ibv_req_notify_cq fails");
		one_message(c, 10 + i, false);
		if (end_b(p)) {
			check(p, queue_event(c->recv, soon), "no event at round %d", i);
			queue_want(c->recv, 10 + i, IBV_WC_SUCCESS);
		}
	}
	/* The sender's side has events too. */
	if (end_a(p))
		check(p, !ibv_req_notify_cq(c->send->cq, 0), "ibv_req_notify_cq fails");
	one_message(c, 40, false);
	if (end_a(p))
		check(p, queue_event(c->send, soon), "no event for a send completion");
}

static void run_solicited(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	unsigned int soon = 3000 * p->slow, silence = 60;
	struct conn *c;

	(void)arg;
	attr.events = true;
	c = conn_open(p, &attr);
	if (end_b(p))
		check(p, !ibv_req_notify_cq(c->recv->cq, 1), "ibv_req_notify_cq fails");
	one_message(c, 1, false);
	if (end_b(p)) {
		check(p, !queue_event(c->recv, silence), "event for a message not solicited");
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
	}
	one_message(c, 2, true);
	if (end_b(p)) {
		check(p, queue_event(c->recv, soon), "no event for a solicited message");
		queue_want(c->recv, 2, IBV_WC_SUCCESS);
		/* IBTA 11.4.2.2: "any" overrides "solicited only", not the other way. */
		check(p, !ibv_req_notify_cq(c->recv->cq, 0) && !ibv_req_notify_cq(c->recv->cq, 1),
		      "ibv_req_notify_cq fails");
	}
	one_message(c, 3, false);
	if (end_b(p)) {
		check(p, queue_event(c->recv, soon),
		      "armed for any, then for solicited only: no event for any");
		queue_want(c->recv, 3, IBV_WC_SUCCESS);
		check(p, !ibv_req_notify_cq(c->recv->cq, 1), "ibv_req_notify_cq fails");
		/* An unsuccessful completion counts as solicited. */
		conn_recv(c, 4, NULL, 0);
		check(p, !conn_modify(c, IBV_QPS_ERR), "ibv_modify_qp to ERR fails");
		check(p, queue_event(c->recv, soon), "no event for a flushed receive");
		queue_want(c->recv, 4, IBV_WC_WR_FLUSH_ERR);
	}
}

/* A ping-pong in which both ends sleep for each message: no wakeup may be lost. */
static void run_sleepers(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	int i, rounds = p->quick ? 30 : 300;
	struct ibv_send_wr wr = wr_send(7, NULL, 0, 0);
	struct ibv_wc wc;
	struct conn *c;

	attr.extended = arg;
	attr.events = true;
	c = conn_open(p, &attr);
	for (i = 0; i < 8; i++)
		conn_recv(c, i, NULL, 0);
	pair_sync(p);
	for (i = 0; i < rounds; i++) {
		if (end_a(p)) {
			wr.send_flags = i % 8 ? 0 : IBV_SEND_SIGNALED;
			conn_send(c, &wr);
		}
		check(p, !ibv_req_notify_cq(c->recv->cq, 0), "ibv_req_notify_cq fails");
		while (!queue_poll(c->recv, &wc, 1)) {
			check(p, queue_event(c->recv, 5000 * p->slow), "no event at round %d", i);
			check(p, !ibv_req_notify_cq(c->recv->cq, 0), "ibv_req_notify_cq fails");
		}
		check(p, !wc.status && wc.wr_id == (uint64_t)i % 8, "completion %llu: %s",
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
		conn_recv(c, wc.wr_id, NULL, 0);
		if (end_b(p)) {
			wr.send_flags = i % 8 ? 0 : IBV_SEND_SIGNALED;
			conn_send(c, &wr);
		}
		if (i % 8 == 7)
			queue_want(c->send, 7, IBV_WC_SUCCESS);
	}
}

/* ---- resizing ---- */

static void resize_to(struct conn *c, int entries)
{
	int error = ibv_resize_cq(c->send->cq, entries);

	if (error == EOPNOTSUPP)
		skip(c->p, "the device cannot resize a CQ");
	check(c->p, !error, "ibv_resize_cq to %d: %s", entries, strerror(error));
	check(c->p, c->send->cq->cqe >= entries, "a CQ resized to %d has room for %d", entries,
	      c->send->cq->cqe);
}

/* Completions in the queue stay, in order; a size too small for them is refused. */
static void run_resize(struct pair *p, const void *extended)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	int i, n = 30;
	struct conn *c;

	attr.extended = extended;
	attr.entries = 64;
	c = conn_open(p, &attr);
	region_swap(p, r);
	for (i = 0; i < n && end_a(p); i++) {
		struct ibv_send_wr wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
						r->peer_addr, r->peer_rkey);

		conn_send(c, &wr);
	}
	if (end_b(p))
		return;
	/* All 30 wait there after this one, which nobody polls either. */
	usleep(300000 * p->slow);
	for (i = 0; i < 10; i++)
		queue_want(c->send, i, IBV_WC_SUCCESS);
	resize_to(c, 1000);
	for (; i < 15; i++)
		queue_want(c->send, i, IBV_WC_SUCCESS);
	check(p, ibv_resize_cq(c->send->cq, 8) != 0 || c->send->cq->cqe >= n - i,
	      "a CQ with %d completions in it shrinks to %d", n - i, c->send->cq->cqe);
	resize_to(c, 40);
	for (; i < n; i++)
		queue_want(c->send, i, IBV_WC_SUCCESS);
	queue_quiet(c->send, 10);
}

struct resizer {
	struct conn *c;
	int failures;
	atomic_int rounds;
	atomic_bool stop;
};

static void *resize_all_the_time(void *arg)
{
	struct resizer *resizer = arg;
	unsigned int size = 0;

	while (!resizer->stop) {
		size = (size + 37) % 200;
		if (ibv_resize_cq(resizer->c->send->cq, 64 + size))
			resizer->failures++;
		resizer->rounds++;
		usleep(1000);
	}
	return NULL;
}

/* Another thread resizes the CQ while completions arrive, a few times at least. */
static void run_resize_traffic(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	struct resizer resizer = { .stop = false };
	int i, n = p->quick ? 100 : 3000, done = 0, got = 0, k = 0;
	bool enough = false;
	struct ibv_wc wc[8];
	pthread_t thread;
	struct conn *c;
	bool ok = true;

	(void)arg;
	attr.entries = 64;
	c = conn_open(p, &attr);
	region_swap(p, r);
	if (end_b(p))
		return;
	resize_to(c, 70);
	resizer.c = c;
	pthread_create(&thread, NULL, resize_all_the_time, &resizer);
	for (i = 0; !enough || done < i;) {
		struct ibv_send_wr wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
						r->peer_addr, r->peer_rkey);

		enough = i >= n && resizer.rounds > 2;
		if (!enough && i - done < 32 && !conn_post(c, &wr))
			i++;
		got = ibv_poll_cq(c->send->cq, 8, wc);
		for (k = 0; k < got && ok; k++, done++)
			ok = !wc[k].status && (int)wc[k].wr_id == done;
		if (got < 0 || !ok || now_ms() > p->deadline - 2000)
			break;
	}
	resizer.stop = true;
	pthread_join(thread, NULL);
	check(p, ok, "completion %d is number %llu, with \"%s\", after %d resizes", done - 1,
	      (unsigned long long)wc[k - 1].wr_id, ibv_wc_status_str(wc[k - 1].status),
	      resizer.rounds);
	check(p, enough && done == i,
	      "%d completions, %d posted, after %d resizes; the last poll: %d", done, i,
	      resizer.rounds, got);
	check(p, !resizer.failures, "%d of %d resizes failed",
	      resizer.failures, resizer.rounds);
}

/* ---- queries ---- */

static void check_attr(struct pair *p, struct conn *c, struct ibv_qp_attr *is)
{
	struct ibv_qp_attr want;

	conn_step(c, IBV_QPS_RTR, &want);
	check(p, is->path_mtu == want.path_mtu && is->dest_qp_num == want.dest_qp_num &&
	      is->max_dest_rd_atomic >= want.max_dest_rd_atomic &&
	      is->min_rnr_timer == want.min_rnr_timer &&
	      !memcmp(&is->ah_attr.grh.dgid, &want.ah_attr.grh.dgid, 16) &&
	      is->ah_attr.grh.sgid_index == want.ah_attr.grh.sgid_index &&
	      is->ah_attr.grh.hop_limit == 64 && is->ah_attr.is_global &&
	      is->ah_attr.port_num == 1,
	      "attributes of the step to RTR come back changed");
	conn_step(c, IBV_QPS_RTS, &want);
	check(p, is->timeout == want.timeout && is->retry_cnt == want.retry_cnt &&
	      is->rnr_retry == want.rnr_retry && is->max_rd_atomic >= want.max_rd_atomic,
	      "attributes of the step to RTS come back changed");
	conn_step(c, IBV_QPS_INIT, &want);
	check(p, is->qp_access_flags == want.qp_access_flags && is->port_num == 1 &&
	      is->pkey_index == 0, "attributes of the step to INIT come back changed");
}

static void run_query(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr is;
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);
	int mask = (1 << 21) - 1;
	struct conn *c;

	(void)arg;
	attr.rd_atomic = 3;
	attr.dest_rd_atomic = 3;
	attr.retry_cnt = 5;
	attr.rnr_retry = 4;
	c = conn_make(p, &attr);
	conn_want_state(c, IBV_QPS_RESET);
	conn_meet(c);
	conn_ready(c);
	pair_sync(p);
	check(p, !ibv_query_qp(c->qp, &is, mask, &init), "ibv_query_qp fails");
	check(p, is.qp_state == IBV_QPS_RTS && is.cur_qp_state == IBV_QPS_RTS,
	      "the state is %d, not RTS", is.qp_state);
	check_attr(p, c, &is);
	check(p, (is.sq_psn & 0xffffff) == c->own.psn && (is.rq_psn & 0xffffff) == c->peer.psn,
	      "the PSNs are 0x%x and 0x%x, not 0x%x and 0x%x", is.sq_psn, is.rq_psn, c->own.psn,
	      c->peer.psn);
	check(p, is.cap.max_send_wr == c->cap.max_send_wr &&
	      is.cap.max_recv_wr == c->cap.max_recv_wr &&
	      is.cap.max_send_sge == c->cap.max_send_sge &&
	      is.cap.max_recv_sge == c->cap.max_recv_sge &&
	      is.cap.max_inline_data == c->cap.max_inline_data, "the capacities have changed");
	check(p, init.qp_type == IBV_QPT_RC && init.send_cq == c->send->cq &&
	      init.recv_cq == c->recv->cq && !init.sq_sig_all, "what it was made with has changed");
	if (end_b(p))
		conn_recv(c, 1, NULL, 0);
	pair_sync(p);
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	check(p, !ibv_query_qp(c->qp, &is, mask, &init), "ibv_query_qp fails");
	check(p, is.sq_psn == c->own.psn && is.rq_psn == c->peer.psn,
	      "behind a message the PSNs are 0x%x and 0x%x, not 0x%x and 0x%x as they were set",
	      is.sq_psn, is.rq_psn, c->own.psn, c->peer.psn);
}

static void all_events(struct pair *p)
{
	pair_case(p, run_events, NULL, "an armed CQ raises one completion event");
	pair_case(p, run_events, p, "an armed CQ raises one completion event, ibv_cq_ex");
	pair_case(p, run_solicited, NULL, "solicited events");
	pair_case(p, run_sleepers, NULL, "a ping-pong by events loses no wakeup");
	pair_case(p, run_sleepers, p, "a ping-pong by events loses no wakeup, ibv_cq_ex");
}

/* Each is a processor; some of these are not where the messages are received. */
static void all_vectors(struct pair *p)
{
	for (p->vector = 1; p->vector < p->ctx->num_comp_vectors; p->vector++) {
		pair_case(p, run_events, NULL, "completion events of vector %d", p->vector);
		pair_case(p, run_sleepers, NULL,
			  "a ping-pong by events of all vectors loses no wakeup");
	}
	p->vector = 0;
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "events"))
		all_events(&p);
	if (pair_wants(&p, "vectors"))
		all_vectors(&p);
	if (pair_wants(&p, "resize")) {
		pair_case(&p, run_resize, NULL, "ibv_resize_cq keeps the completions");
		pair_case(&p, run_resize, &p, "ibv_resize_cq keeps the completions, ibv_cq_ex");
		pair_case(&p, run_resize_traffic, NULL, "ibv_resize_cq under traffic");
	}
	if (pair_wants(&p, "query"))
		pair_case(&p, run_query, NULL, "ibv_query_qp returns the attributes that were set");
	return pair_close(&p);
}
