// SPDX-License-Identifier: GPL-2.0
/*
 * flush - full rings end in FLUSH_ERR, each request once and in order, while the
 * queue pair is reset or destroyed
 *
 *	flush a|b PORT [GROUP...]	see main() for the groups
 *
 * End a flushes; end b is only the peer.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rover-abi.h>

#include "lib/conn.h"
#include "lib/hostile.h"

#define CHAIN 256
#define BAD_ID UINT64_MAX

/* A ring as long as there are; shorter where all is slow, or goes quickly. */
static uint32_t depth_of(struct pair *p)
{
	uint32_t depth = p->slow > 1 ? 2048 : p->quick ? 8192 : 32768;

	return depth < (uint32_t)p->attr.max_qp_wr ? depth : (uint32_t)p->attr.max_qp_wr;
}

static struct conn *open_deep(struct pair *p, enum ibv_qp_type type)
{
	struct conn_attr attr = type == IBV_QPT_UD ? dgram_defaults(p) : conn_defaults(p);

	attr.type = type;
	attr.inline_data = 0;
	if (end_a(p)) {
		attr.send_wr = depth_of(p);
		attr.recv_wr = depth_of(p);
		attr.entries = 2 * depth_of(p);
	}
	return conn_open(p, &attr);
}

/* Requests of no bytes, numbered from first on; the error number. */
static int post_sends(struct conn *c, uint64_t first, uint32_t n)
{
	struct ibv_send_wr wr[CHAIN], *bad;
	uint32_t i, chain;
	int error = 0;

	for (; n && !error; n -= chain, first += chain) {
		chain = n < CHAIN ? n : CHAIN;
		for (i = 0; i < chain; i++) {
			wr[i] = c->attr.type == IBV_QPT_UD ?
				wr_dgram(c, first + i, NULL, 0, IBV_SEND_SIGNALED) :
				wr_send(first + i, NULL, 0, 0);
			wr[i].next = i + 1 < chain ? &wr[i + 1] : NULL;
		}
		error = ibv_post_send(c->qp, wr, &bad);
	}
	return error;
}

static void post_all(struct conn *c, uint32_t sends, uint32_t receives)
{
	uint32_t i;
	int error;

	for (i = 0; i < receives; i++)
		conn_recv(c, i, NULL, 0);
	error = post_sends(c, 0, sends);
	check(c->p, !error, "ibv_post_send: %s", strerror(error));
}

/* From first on, n completions in the order of their numbers. */
static void want_flushed(struct queue *q, uint64_t first, uint32_t n)
{
	struct ibv_wc wc;
	uint32_t i;

	for (i = 0; i < n; i++) {
		queue_next(q, &wc);
		check(q->p, wc.wr_id == first + i && wc.status == IBV_WC_WR_FLUSH_ERR,
		      "completion %u is of request %llu: %s", i, (unsigned long long)wc.wr_id,
		      ibv_wc_status_str(wc.status));
	}
}

/* Nothing posted to the send queue starts any more. */
static void stop_sending(struct conn *c)
{
	int error = conn_modify(c, IBV_QPS_SQD);

	check(c->p, !error, "no way to SQD: %s", strerror(error));
}

static void run_error(struct pair *p, const void *arg)
{
	struct conn *c = open_deep(p, IBV_QPT_RC);
	uint32_t n = depth_of(p);
	int error;

	(void)arg;
	if (end_a(p)) {
		stop_sending(c);
		post_all(c, n, n);
		error = conn_modify(c, IBV_QPS_ERR);
		check(p, !error, "no way to ERR: %s", strerror(error));
		want_flushed(c->send, 0, n);
		want_flushed(c->recv, 0, n);
		/* And then one more of each, which is flushed as it is posted. */
		post_all(c, 1, 1);
		want_flushed(c->send, 0, 1);
		want_flushed(c->recv, 0, 1);
		queue_quiet(c->send, 5);
		queue_quiet(c->recv, 5);
	}
	pair_sync(p);
}

/* A packet of the peer moves the queue pair to ERR, in softirq. */
static void run_packet(struct pair *p, const void *arg)
{
	struct conn *c = open_deep(p, IBV_QPT_RC);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct ibv_send_wr wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, 0,
					0xdead00);
	uint32_t n = depth_of(p);

	(void)arg;
	if (end_a(p)) {
		stop_sending(c);
		post_all(c, n, n);
	}
	pair_sync(p);
	if (end_b(p)) {
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_REM_ACCESS_ERR);
	} else {
		want_flushed(c->recv, 0, n);
		want_flushed(c->send, 0, n);
		queue_quiet(c->send, 5);
		queue_quiet(c->recv, 5);
	}
	pair_sync(p);
}

/* Flags of the send ring, which the program shares with the kernel: it is the one that is set. */
static uint32_t *send_flags_of(struct pair *p, const struct maps *before)
{
	static uint8_t *page[4096];
	struct rover_ring_hdr *hdr;
	struct maps now;
	int i, n;

	list_maps(p, &now);
	n = fresh_pages(before, &now, page, 4096);
	for (i = 0; i < n; i++) {
		hdr = (void *)page[i];
		if (load(&hdr->flags) == ROVER_RING_NEED_WAKEUP && !load(&hdr->tail))
			return &hdr->flags;
	}
	fail(p, "no send ring among %d pages", n);
}

struct poster {
	struct conn *c;
	uint32_t first, n;
	int error;
};

static void *post_on(void *arg)
{
	struct poster *poster = arg;
	uint32_t i;

	for (i = 0; i < poster->n && !poster->error; i++)
		poster->error = post_sends(poster->c, poster->first + i, 1);
	return NULL;
}

/* A request that fails, and its completion: then the queue pair is in SQE. */
static void fail_one(struct conn *c)
{
	struct ibv_sge sge = { 0, 8, 0xdead00 };
	struct ibv_send_wr wr = wr_dgram(c, BAD_ID, &sge, 1, IBV_SEND_SIGNALED);

	conn_send(c, &wr);
	queue_want(c->send, BAD_ID, IBV_WC_LOC_PROT_ERR);
	conn_want_state(c, IBV_QPS_SQE);
}

/* Out of SQE, with all of a ring posted and not flushed; more posted by a thread meanwhile. */
static void leave_sqe(struct conn *c, uint32_t *flags, uint32_t more)
{
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE };
	uint32_t n = depth_of(c->p) - more, i, good = 0;
	struct poster poster = { .c = c, .first = n, .n = more };
	struct pair *p = c->p;
	pthread_t thread;
	struct ibv_wc wc;
	int error;

	fail_one(c);
	/* As if somebody looked after the ring: nothing enters the kernel. */
	store(flags, 0);
	post_all(c, n, 0);
	store(flags, ROVER_RING_NEED_WAKEUP);
	if (more)
		pthread_create(&thread, NULL, post_on, &poster);
	error = ibv_modify_qp(c->qp, &rts, IBV_QP_STATE | IBV_QP_CUR_STATE);
	if (more)
		pthread_join(thread, NULL);
	check(p, !error && !poster.error, "to RTS: %s; posting: %s", strerror(error),
	      strerror(poster.error));
	want_flushed(c->send, 0, n);
	for (i = n; i < n + more; i++) {
		queue_next(c->send, &wc);
		check(p, wc.wr_id == i && (wc.status == IBV_WC_SUCCESS ||
					   (!good && wc.status == IBV_WC_WR_FLUSH_ERR)),
		      "completion %u, after %u that were sent, is of request %llu: %s", i, good,
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
		good += wc.status == IBV_WC_SUCCESS;
	}
	queue_quiet(c->send, 5);
	conn_want_state(c, IBV_QPS_RTS);
	error = post_sends(c, 1, 1);
	check(p, !error, "ibv_post_send in RTS: %s", strerror(error));
	queue_want(c->send, 1, IBV_WC_SUCCESS);
}

static void run_sqe(struct pair *p, const void *more)
{
	struct maps before;
	uint32_t *flags;
	struct conn *c;

	list_maps(p, &before);
	c = open_deep(p, IBV_QPT_UD);
	if (end_a(p)) {
		flags = send_flags_of(p, &before);
		leave_sqe(c, flags, more ? depth_of(p) / 4 : 0);
	}
	pair_sync(p);
}

/* The queue pair is reset during a flush, and used again. */
static void run_reset(struct pair *p, const void *arg)
{
	struct conn *c = open_deep(p, IBV_QPT_RC);
	int i, error, rounds = pair_once(p) ? 3 : 10;
	uint32_t n = depth_of(p) / 4;
	struct ibv_wc wc;

	(void)arg;
	for (i = 0; i < rounds && end_a(p); i++) {
		stop_sending(c);
		post_all(c, n, n);
		error = conn_modify(c, IBV_QPS_ERR);
		error = error ?: conn_modify(c, IBV_QPS_RESET);
		check(p, !error, "no way to RESET: %s", strerror(error));
		check(p, !queue_poll(c->send, &wc, 1) && !queue_poll(c->recv, &wc, 1),
		      "completions after RESET");
		conn_ready(c);
	}
	pair_sync(p);
	/* It destroys what it still has in the midst of another one. */
	if (end_a(p)) {
		stop_sending(c);
		post_all(c, n, n);
		conn_modify(c, IBV_QPS_ERR);
	}
}

/* The device is deleted, not by the program. */
static void run_gone(struct pair *p, const void *arg)
{
	struct conn *c = open_deep(p, IBV_QPT_RC);
	uint32_t n = depth_of(p);
	char command[80];

	(void)arg;
	if (end_a(p)) {
		stop_sending(c);
		post_all(c, n, n);
		snprintf(command, sizeof(command), "rdma link delete %s", p->dev);
		check(p, !system(command), "%s", command);
		want_flushed(c->send, 0, n);
		want_flushed(c->recv, 0, n);
		queue_quiet(c->send, 5);
		queue_quiet(c->recv, 5);
	}
	pair_sync(p);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "error"))
		pair_case(&p, run_error, NULL, "a queue pair is modified to ERR");
	if (pair_wants(&p, "packet"))
		pair_case(&p, run_packet, NULL, "a received packet moves a queue pair to ERR");
	if (pair_wants(&p, "sqe"))
		pair_case(&p, run_sqe, NULL, "a queue pair goes from SQE to RTS");
	if (pair_wants(&p, "posting"))
		pair_case(&p, run_sqe, &p,
			  "a queue pair goes from SQE to RTS while a thread posts");
	if (pair_wants(&p, "reset"))
		pair_case(&p, run_reset, NULL,
			  "a queue pair is reset and destroyed during a flush");
	if (pair_wants(&p, "gone"))
		pair_case(&p, run_gone, NULL, "the device is deleted with full queues");
	return pair_close(&p);
}
