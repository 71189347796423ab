// SPDX-License-Identifier: GPL-2.0
/*
 * rc_queues - the queues of a reliable connection: depth, signaling, bursts,
 * chains, threads
 *
 *	rc_queues a|b PORT [GROUP...]	see main() for the groups
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

#include "lib/conn.h"
#include "lib/pattern.h"

/* ---- depth and signaling ---- */

/*
 * As many requests as the queue holds, and no more. The peer posts no receives meanwhile, so
 * that no request completes.
 */
static void run_depth(struct pair *p, const void *extended)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct ibv_send_wr wr;
	struct conn *c;
	uint32_t i, deep;

	attr.extended = extended;
	attr.send_wr = 20;
	attr.rnr_retry = 7;
	attr.recv_wr = 300;
	c = conn_open(p, &attr);
	pair_swap(p, &c->cap.max_send_wr, &deep, sizeof(deep));
	if (end_a(p)) {
		deep = c->cap.max_send_wr;
		for (i = 0; i < deep; i++) {
			wr = wr_send(i, &sge, 1, i == deep - 1 ? IBV_SEND_SIGNALED : 0);
			check(p, !conn_post(c, &wr), "only %u of %u requests can be posted", i,
			      deep);
		}
		wr = wr_send(i, &sge, 1, IBV_SEND_SIGNALED);
		check(p, conn_post(c, &wr), "more than %u requests can be posted", deep);
	}
	pair_sync(p);
	check(p, deep <= c->cap.max_recv_wr, "the test's receive queue is too short");
	for (i = 0; i < deep && end_b(p); i++)
		conn_recv(c, i, &sge, 1);
	for (i = 0; i < deep && end_b(p); i++)
		queue_want(c->recv, i, IBV_WC_SUCCESS);
	if (end_a(p)) {
		queue_want(c->send, deep - 1, IBV_WC_SUCCESS);
		/* The whole queue is free again. */
		for (i = 0; i < deep; i++) {
			wr = wr_send(1000 + i, &sge, 0, IBV_SEND_SIGNALED);
			conn_send(c, &wr);
		}
	}
	pair_sync(p);
	for (i = 0; i < deep && end_b(p); i++)
		conn_recv(c, i, &sge, 1);
	for (i = 0; i < deep && end_a(p); i++)
		queue_want(c->send, 1000 + i, IBV_WC_SUCCESS);
	queue_quiet(c->send, 10);
}

/*
 * A receive is posted while the sender waits after an RNR NAK. Where the network duplicates and
 * delays packets, the ACK arrives during the wait, and ends it.
 */
static void run_ready(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 64, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	struct ibv_send_wr wr;
	struct conn *c;
	int i;

	(void)arg;
	attr.rnr_retry = 7;
	/* 30 ms, each time. */
	attr.min_rnr_timer = 23;
	c = conn_open(p, &attr);
	for (i = 0; i < (p->quick ? 24 : 60); i++) {
		if (end_a(p)) {
			wr = wr_send(i, &sge, 1, IBV_SEND_SIGNALED);
			conn_send(c, &wr);
			queue_want(c->send, i, IBV_WC_SUCCESS);
		} else {
			usleep(4000);
			conn_recv(c, i, &sge, 1);
			queue_want(c->recv, i, IBV_WC_SUCCESS);
		}
	}
}

/* A receive queue takes max_recv_wr receives. */
static void run_recv_depth(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct conn *c;
	uint32_t i;

	(void)arg;
	attr.recv_wr = 20;
	c = conn_open(p, &attr);
	for (i = 0; i < c->cap.max_recv_wr; i++)
		check(p, !conn_post_recv(c, i, NULL, 0), "only %u of %u receives can be posted", i,
		      c->cap.max_recv_wr);
	check(p, conn_post_recv(c, i, NULL, 0), "more than %u receives can be posted", i);
}

/* One of eight requests is signaled, or all by sq_sig_all; many times around the ring. */
static void run_unsignaled(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	int i, rounds = p->quick ? 64 : 800, every = arg ? 1 : 8;
	struct conn *c;

	attr.send_wr = 16;
	attr.sq_sig_all = arg;
	c = conn_open(p, &attr);
	region_swap(p, r);
	for (i = 0; i < rounds && end_a(p); i++) {
		struct ibv_sge sge = sge_of(r, i % 1000, 8);
		bool signal = !attr.sq_sig_all && i % every == every - 1;
		struct ibv_send_wr wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1,
						signal ? IBV_SEND_SIGNALED : 0,
						r->peer_addr + i, r->peer_rkey);

		conn_send(c, &wr);
		/* Never more than the queue holds, and one in flight when the next is posted. */
		if (i % every == every - 1 && i >= every)
			queue_want(c->send, i - every, IBV_WC_SUCCESS);
	}
	if (end_a(p))
		queue_want(c->send, rounds - 1, IBV_WC_SUCCESS);
	pair_sync(p);
	queue_quiet(c->send, 10);
}

/* ---- streams ---- */

#define STREAM_DEPTH 200
#define STREAM_PLACES 512

/* Until the last of them, which is signaled, is done. */
static void post_burst(struct conn *c, struct region *r, uint64_t first, uint64_t last)
{
	uint64_t i;

	for (i = first; i <= last; i++) {
		size_t at = i % STREAM_PLACES * 8;
		struct ibv_sge sge = sge_of(r, at, 8);
		struct ibv_send_wr wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1,
						i == last ? IBV_SEND_SIGNALED : 0,
						r->peer_addr + at, r->peer_rkey);

		memcpy(r->buf + at, &i, 8);
		conn_send(c, &wr);
	}
	queue_want(c->send, last, IBV_WC_SUCCESS);
}

/*
 * Bursts and pauses of any length: the kernel polls the ring for a while after a burst, and a
 * request posted when it stops polling must still be sent.
 */
static void run_bursts(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, STREAM_PLACES * 8, ALL_ACCESS);
	unsigned int seed = 1, rounds = p->quick ? 100 : 2000, longest = *(const int *)arg;
	uint64_t last = 0, word, end;
	struct conn *c;
	int i;

	attr.send_wr = STREAM_DEPTH;
	c = conn_open(p, &attr);
	region_swap(p, r);
	while (rounds-- && end_a(p)) {
		uint64_t first = last + 1;

		last += 1 + rand_r(&seed) % longest;
		post_burst(c, r, first, last);
		for (end = now_us() + rand_r(&seed) % 500; now_us() < end;)
			;
	}
	pair_swap(p, &last, &word, sizeof(last));
	for (i = 0; i < STREAM_PLACES && end_b(p); i++) {
		uint64_t want = word - (word - i) % STREAM_PLACES, got;

		memcpy(&got, r->buf + 8 * i, 8);
		check(p, (int64_t)want <= 0 || got == want,
		      "place %d: message %llu was written last, not %llu", i,
		      (unsigned long long)got, (unsigned long long)want);
	}
}

/* ---- chains ---- */

static void fill_chain(struct region *r, struct ibv_send_wr *wr, struct ibv_sge *sge, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		sge[i] = sge_of(r, i * 200, 100);
		wr[i] = wr_rdma(i, i % 3 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM, &sge[i],
				1, IBV_SEND_SIGNALED, r->peer_addr + 65536 + i * 200,
				r->peer_rkey);
		wr[i].imm_data = htonl(i);
		wr[i].next = i < n - 1 ? &wr[i + 1] : NULL;
	}
}

/* One call posts many requests, of which number `bad' is invalid. */
static void run_chain(struct pair *p, const void *arg)
{
	const int bad = *(const int *)arg, n = 32;
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 128 << 10, ALL_ACCESS);
	struct ibv_send_wr wr[32], *at = NULL;
	struct ibv_sge sge[32];
	struct conn *c;
	int i, error;

	attr.send_wr = n;
	c = conn_open(p, &attr);
	region_swap(p, r);
	pattern_fill(r->buf, 65536, 9);
	memset(r->buf + 65536, 0, 65536);
	fill_chain(r, wr, sge, n);
	for (i = 0; i < n && end_b(p); i++)
		conn_recv(c, i, NULL, 0);
	pair_sync(p);
	if (end_a(p)) {
		if (bad < n)
			wr[bad].num_sge = c->cap.max_send_sge + 1;
		error = ibv_post_send(c->qp, wr, &at);
		check(p, !error == (bad >= n), "ibv_post_send of the chain: %s", strerror(error));
		check(p, bad >= n || at == &wr[bad], "bad_wr is request %td, not %d", at - wr,
		      bad);
		for (i = 0; i < bad && i < n; i++)
			queue_want(c->send, i, IBV_WC_SUCCESS);
		queue_quiet(c->send, 10);
		conn_want_state(c, IBV_QPS_RTS);
	}
	pair_sync(p);
	for (i = 0; i < n && end_b(p); i++) {
		const uint8_t *target = r->buf + 65536 + i * 200;

		/* Between any two targets lie 100 bytes that nobody writes to. */
		check(p, !memcmp(target, i < bad ? r->buf + i * 200 : target + 100, 100),
		      "request %d: %s", i, i < bad ? "its data is missing" : "was carried out");
	}
	for (i = 0; i < n && i < bad && end_b(p); i += 3)
		queue_want(c->recv, i / 3, IBV_WC_SUCCESS);
}

/* ---- threads ---- */

#define THREADS 4

struct poster {
	struct conn *c;
	struct region *r;
	pthread_t thread;
	int number, rounds, failures;
};

/* WRITEs a count to a place of its own, over and over. */
static void *post_all(void *arg)
{
	struct poster *poster = arg;
	struct region *r = poster->r;
	int i, error;

	for (i = 0; i < poster->rounds; i++) {
		struct ibv_sge sge = sge_of(r, 65536 + (poster->number * 1000 + i) * 8, 8);
		struct ibv_send_wr wr = wr_rdma(poster->number * 1000 + i, IBV_WR_RDMA_WRITE, &sge,
						1, IBV_SEND_SIGNALED,
						r->peer_addr + poster->number * 64, r->peer_rkey);
		uint64_t deadline = now_ms() + 10000 * poster->c->p->slow;

		do {
			error = conn_post(poster->c, &wr);
			if (error == ENOMEM || error == ENOSPC)
				sched_yield();
		} while ((error == ENOMEM || error == ENOSPC) && now_ms() < deadline);
		poster->failures += !!error;
	}
	return NULL;
}

/* Many threads post to one queue pair: each request completes once, in the order of its thread. */
static void run_threads(struct pair *p, const void *arg)
{
	int i, rounds = p->quick ? 50 : 300, next[THREADS] = {}, failures = 0;
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 1 << 17, ALL_ACCESS);
	struct poster poster[THREADS];
	struct ibv_wc wc = {};
	bool ok = true;
	uint64_t word;

	attr.extended = arg;
	attr.entries = THREADS * rounds;
	poster[0].c = conn_open(p, &attr);
	region_swap(p, r);
	for (i = 0; i < 8000; i++) {
		word = i % 1000;
		memcpy(r->buf + 65536 + 8 * i, &word, 8);
	}
	pair_sync(p);
	for (i = 0; i < THREADS && end_a(p); i++) {
		poster[i] = (struct poster){ poster[0].c, r, 0, i, rounds, 0 };
		pthread_create(&poster[i].thread, NULL, post_all, &poster[i]);
	}
	for (i = 0; i < THREADS * rounds && end_a(p) && ok; i++) {
		queue_next(poster[0].c->send, &wc);
		ok = !wc.status && wc.wr_id / 1000 < THREADS &&
		     (int)(wc.wr_id % 1000) == next[wc.wr_id / 1000]++;
	}
	for (i = 0; i < THREADS && end_a(p); i++) {
		pthread_join(poster[i].thread, NULL);
		failures += poster[i].failures;
	}
	check(p, ok, "completion %llu: %s, or out of order", (unsigned long long)wc.wr_id,
	      ibv_wc_status_str(wc.status));
	check(p, !failures, "%d requests could not be posted", failures);
	pair_sync(p);
	for (i = 0; i < THREADS && end_b(p); i++) {
		memcpy(&word, r->buf + i * 64, 8);
		check(p, word == (uint64_t)rounds - 1, "thread %d: %llu was written last, not %d",
		      i, (unsigned long long)word, rounds - 1);
	}
	if (end_a(p))
		queue_quiet(poster[0].c->send, 10);
}

static void all_queues(struct pair *p)
{
	pair_case(p, run_depth, NULL, "a send queue takes max_send_wr requests, and no more");
	pair_case(p, run_depth, p,
		  "a send queue takes max_send_wr requests, and no more, by ibv_wr_*()");
	pair_case(p, run_recv_depth, NULL,
		  "a receive queue takes max_recv_wr receives, and no more");
	pair_case(p, run_unsignaled, NULL,
		  "one of eight requests is signaled, many times around the ring");
	pair_case(p, run_unsignaled, p, "sq_sig_all signals every request");
}

static void all_streams(struct pair *p)
{
	static const int longest[] = { STREAM_DEPTH, 20 };
	unsigned int i;

	for (i = 0; i < 2; i++)
		pair_case(p, run_bursts, &longest[i], "bursts of up to %d requests, with pauses",
			  longest[i]);
}

static void all_chains(struct pair *p)
{
	static const int bad[] = { 32, 31, 5, 0 };
	unsigned int i;

	for (i = 0; i < 4; i++)
		pair_case(p, run_chain, &bad[i],
			  bad[i] < 32 ? "a chain of 32 requests, of which number %d is invalid" :
			  "a chain of %d in one call", bad[i]);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "queues"))
		all_queues(&p);
	if (pair_wants(&p, "streams"))
		all_streams(&p);
	if (pair_wants(&p, "chains"))
		all_chains(&p);
	if (pair_wants(&p, "threads")) {
		pair_case(&p, run_threads, NULL, "%d threads post to one queue pair", THREADS);
		pair_case(&p, run_threads, &p, "%d threads post by ibv_wr_*()", THREADS);
	}
	if (pair_wants(&p, "ready"))
		pair_case(&p, run_ready, NULL,
			  "receives are posted while the sender waits after an RNR NAK");
	return pair_close(&p);
}
