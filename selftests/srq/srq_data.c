// SPDX-License-Identifier: GPL-2.0
/*
 * srq_data - one shared receive queue takes data of many queue pairs, also while it
 * is resized, or queue pairs are destroyed
 *
 *	srq_data a|b PORT [GROUP...]	see main() for the groups
 *
 * End b shares its receives, end a sends.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/pattern.h"
#include "lib/shared.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* How many queue pairs of each service; whether by ibv_wr_*() and ibv_cq_ex. */
struct kinds {
	const char *what;
	int rc, ud;
	bool extended;
};

/* ---- data ---- */

/* Rounds with a receive for each message, as datagrams need. */
static void run_data(struct pair *p, const void *data)
{
	const struct kinds *kinds = data;
	struct group *g = group_new(p, kinds->rc, kinds->ud, kinds->extended);
	int round, rounds = p->quick ? 4 : 25;

	if (end_b(p))
		shared_fill(g->s, 0, SLOTS);
	pair_sync(p);
	for (round = 1; round <= rounds; round++) {
		group_go(g, round * (SLOTS / g->n));
		pair_sync(p);
	}
	if (end_b(p))
		queue_quiet(g->recv, 10);
}

/* Connections that need more receives than there are: no message is lost or delivered twice. */
static void run_stream(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, MAX_QPS, 0, false);

	(void)arg;
	/* Fewer than the queue pairs can hold at a time. */
	if (end_b(p))
		shared_fill(g->s, 0, MAX_QPS - 1);
	pair_sync(p);
	group_go(g, p->quick ? 15 : 100);
}

/* No receive is posted: the sender retries, or fails by rnr_retry; others are not affected. */
static void run_empty(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct ibv_send_wr wr = wr_send(9, NULL, 0, IBV_SEND_SIGNALED);
	struct group *g = group_new(p, 2, 0, false);
	struct conn *hasty;
	struct ibv_wc wc;
	int i;

	(void)arg;
	attr.srq = end_b(p) ? g->s->srq : NULL;
	attr.rnr_retry = 0;
	hasty = conn_open(p, &attr);
	if (end_a(p)) {
		conn_send(hasty, &wr);
		queue_want(hasty->send, 9, IBV_WC_RNR_RETRY_EXC_ERR);
		for (i = 0; i < 2; i++)
			group_send(g, i);
		queue_quiet(g->send, 30);
	}
	pair_sync(p);
	if (end_b(p)) {
		queue_quiet(g->recv, 1);
		shared_fill(g->s, 0, 2);
		for (i = 0; i < 2; i++) {
			queue_next(g->recv, &wc);
			group_judge(g, &wc);
		}
		conn_want_state(hasty, IBV_QPS_RTS);
	} else {
		for (i = 0; i < 2; i++)
			queue_next(g->send, &wc);
	}
	pair_sync(p);
}

/* ---- what changes meanwhile ---- */

struct resizer {
	struct shared *s;
	pthread_t thread;
	atomic_bool stop;
	atomic_int rounds;
	int failures;
};

static void *resize_all_the_time(void *arg)
{
	struct resizer *resizer = arg;
	uint64_t seed = 17;

	while (!atomic_load(&resizer->stop)) {
		resizer->failures += !!shared_modify(resizer->s, IBV_SRQ_MAX_WR,
						     draw(&seed, SLOTS, 300), 0);
		resizer->rounds++;
		usleep(500);
	}
	return NULL;
}

static int stop_resizer(void *what)
{
	struct resizer *resizer = what;

	atomic_store(&resizer->stop, true);
	return pthread_join(resizer->thread, NULL);
}

/* Another thread resizes the queue, three times at least, while messages arrive. */
static void run_resize_traffic(struct pair *p, const void *arg)
{
	static struct resizer resizer;
	struct group *g = group_new(p, 3, 0, false);
	int part = p->quick ? 25 : 150, messages = 0, rounds, theirs;

	(void)arg;
	if (end_b(p)) {
		shared_fill(g->s, 0, SLOTS);
		resizer = (struct resizer){ g->s };
		pthread_create(&resizer.thread, NULL, resize_all_the_time, &resizer);
		undo_later(p, stop_resizer, &resizer, "pthread_join");
	}
	pair_sync(p);
	do {
		messages += part;
		group_go(g, messages);
		rounds = atomic_load(&resizer.rounds);
		pair_swap(p, &rounds, &theirs, sizeof(rounds));
	} while (rounds + theirs <= 2);
	if (end_b(p)) {
		undo_now(p, &resizer);
		check(p, resizer.rounds > 2 && !resizer.failures, "%d of %d resizes failed",
		      resizer.failures, resizer.rounds);
	}
}

/*
 * The receiver destroys all queue pairs but the last while messages for all of them are in
 * flight. A receive that one of them had taken is lost with it.
 */
static void run_destroy(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, MAX_QPS, 0, false);
	int i, last = MAX_QPS - 1, messages = p->quick ? 24 : 120;

	(void)arg;
	for (i = 0; i < last; i++)
		g->doomed[i] = true;
	if (end_b(p))
		shared_fill(g->s, 0, SLOTS);
	pair_sync(p);
	for (i = 0; i < last && end_b(p); i++) {
		group_go(g, (i + 1) * messages / MAX_QPS);
		check(p, g->came[i] > 0, "queue pair %d is not in the midst of anything", i);
		undo_now(p, g->c[i]);
	}
	group_go(g, messages);
}

static void all_data(struct pair *p)
{
	static const struct kinds kinds[] = {
		{ "4 connections", 4, 0 },
		{ "4 connections, by ibv_wr_*() and ibv_cq_ex", 4, 0, true },
		{ "3 queue pairs of datagrams", 0, 3 },
		{ "2 connections and 2 queue pairs of datagrams", 2, 2 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		pair_case(p, run_data, &kinds[i], "one shared receive queue for %s", kinds[i].what);
	pair_case(p, run_stream, NULL, "connections that need more receives than are posted");
	pair_case(p, run_empty, NULL, "an empty queue: the sender retries, or fails by rnr_retry");
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "data"))
		all_data(&p);
	if (pair_wants(&p, "resize"))
		pair_case(&p, run_resize_traffic, NULL,
			  "a shared receive queue is resized under traffic");
	if (pair_wants(&p, "destroy"))
		pair_case(&p, run_destroy, NULL,
			  "queue pairs are destroyed under traffic, others go on");
	return pair_close(&p);
}
