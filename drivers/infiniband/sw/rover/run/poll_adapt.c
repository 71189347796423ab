// SPDX-License-Identifier: GPL-2.0
/*
 * poll_adapt - adaptive polling of kernel QPs
 *
 * With a local peer a request is done before its post returns. That is fastest
 * at queue depth 1; at more it keeps one CPU busy, and the empty ring hides the
 * depth. So posts are left to the poller on another CPU now and then. Each has
 * a score: positive if several earlier ones are pending, else negative, worst
 * after one on another CPU: a user of several CPUs would wait for one more.
 *
 * Each failure doubles the wait for the next attempt. Time is not measured
 * (decision 0035). Both ends of a connection poll together: one alone gains
 * little.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "run/poll_adapt.h"

/* Pending posts that make a crowd, all with a remembered end. */
#define POLL_ADAPT_CROWD	3
static_assert(POLL_ADAPT_CROWD <= ROVER_POLL_ADAPT_ENDS);

/* Score of a post that finds a crowd, few or none; from another CPU. */
#define SCORE_CROWD	4
#define SCORE_FEW	(-1)
#define SCORE_NONE	(-2)
#define SCORE_MOVED	(-32)

#define CREDIT_FIRST	8
#define CREDIT_MAX	64

/* Posts between two attempts. */
#define WAIT_MIN	32
#define WAIT_MAX	2048

static u32 poll_adapt_new_posts(const struct rover_poll_adapt *adapt)
{
	return READ_ONCE(adapt->posts) - READ_ONCE(adapt->posts_seen);
}

static int poll_adapt_new_score(const struct rover_poll_adapt *adapt)
{
	return READ_ONCE(adapt->score) - adapt->score_seen;
}

static void poll_adapt_restart(struct rover_poll_adapt *adapt)
{
	WRITE_ONCE(adapt->posts_seen, READ_ONCE(adapt->posts));
	adapt->score_seen = READ_ONCE(adapt->score);
}

static void poll_adapt_begin(struct rover_poll_adapt *adapt)
{
	poll_adapt_restart(adapt);
	adapt->credit = CREDIT_FIRST;
	adapt->proven = false;
	WRITE_ONCE(adapt->polling, true);
}

static void poll_adapt_end(struct rover_poll_adapt *adapt, u32 wait)
{
	poll_adapt_restart(adapt);
	WRITE_ONCE(adapt->wait, clamp_t(u32, wait, WAIT_MIN, WAIT_MAX));
	WRITE_ONCE(adapt->polling, false);
}

/* A proven success may have failed by accident: retry sooner. */
void rover_poll_adapt_fails(struct rover_poll_adapt *adapt)
{
	poll_adapt_end(adapt, adapt->proven ? adapt->wait / 2 : adapt->wait * 2);
}

static void poll_adapt_follow_peer(struct rover_poll_adapt *adapt)
{
	u8 report = READ_ONCE(adapt->peer_says);

	if (!report)
		return;
	WRITE_ONCE(adapt->peer_says, ROVER_POLL_ADAPT_NONE);
	if (report == ROVER_POLL_ADAPT_FAILS)
		poll_adapt_end(adapt,
			       max(adapt->wait, READ_ONCE(adapt->peer_wait)));
	else if (!adapt->polling)
		poll_adapt_begin(adapt);
}

static bool poll_adapt_keep(struct rover_poll_adapt *adapt)
{
	int credit = adapt->credit + poll_adapt_new_score(adapt);

	poll_adapt_restart(adapt);
	if (credit <= 0)
		return false;
	adapt->credit = min(credit, CREDIT_MAX);
	adapt->proven |= adapt->credit == CREDIT_MAX;
	return true;
}

/* True if the post @before posts ago is not done. */
static bool poll_adapt_pending(const struct rover_poll_adapt *adapt, u32 before,
			       u32 head)
{
	return (s32)(head - adapt->ends[(adapt->posts - before) %
					ROVER_POLL_ADAPT_ENDS]) < 0;
}

static int poll_adapt_score(const struct rover_poll_adapt *adapt, u32 head)
{
	if (poll_adapt_pending(adapt, POLL_ADAPT_CROWD, head))
		return SCORE_CROWD;
	return poll_adapt_pending(adapt, 1, head) ? SCORE_FEW : SCORE_NONE;
}

void rover_poll_adapt_post(struct rover_poll_adapt *adapt, int cpu, u32 head,
			   u32 tail)
{
	int score = cpu == adapt->cpu ? poll_adapt_score(adapt, head) :
					SCORE_MOVED;

	adapt->cpu = cpu;
	adapt->ends[adapt->posts % ROVER_POLL_ADAPT_ENDS] = tail;
	/* The poller reads these without the lock. */
	WRITE_ONCE(adapt->score, adapt->score + score);
	WRITE_ONCE(adapt->posts, adapt->posts + 1);
}

void rover_poll_adapt_tell(struct rover_poll_adapt *peer,
			   const struct rover_poll_adapt *adapt)
{
	WRITE_ONCE(peer->peer_wait, adapt->wait);
	WRITE_ONCE(peer->peer_says, adapt->polling ? ROVER_POLL_ADAPT_BEGINS :
						ROVER_POLL_ADAPT_FAILS);
}

bool rover_poll_adapt_due(const struct rover_poll_adapt *adapt)
{
	return READ_ONCE(adapt->polling) || READ_ONCE(adapt->peer_says) ||
	       poll_adapt_new_posts(adapt) >= READ_ONCE(adapt->wait);
}

bool rover_poll_adapt_pays(struct rover_poll_adapt *adapt)
{
	poll_adapt_follow_peer(adapt);
	if (!adapt->polling) {
		if (poll_adapt_new_posts(adapt) < adapt->wait)
			return false;
		poll_adapt_begin(adapt);
	} else if (!poll_adapt_keep(adapt)) {
		rover_poll_adapt_fails(adapt);
	}
	return adapt->polling;
}
