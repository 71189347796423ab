// SPDX-License-Identifier: GPL-2.0
/*
 * trial - is a kernel user better off with the poller?
 *
 * A program shows what it is: it posts and reads completions when it likes to.  A
 * user in the kernel posts, and is told.  What goes to a peer of this machine is done
 * before its post returns, answer and completion included: with one request under way
 * nothing is faster, with many it keeps a single processor busy.  How many there are is
 * not to be seen from a queue that is always empty.  So it is tried: for a while what
 * it posts is left to the poller on another processor, and if it then posts more in the
 * same time it stays so.
 *
 *	waits	longer after each time that it did not pay
 *	alone	how long does a post take, done at once?
 *	tried	more in that time: go on, now and then from "alone"
 *		fewer: wait
 *
 * Time passes from one post to the next, and where that is long it is the user who had
 * nothing to ask: then it counts as a short while.  The other end of the connection, if it
 * has something to post as well, comes along: either of the two alone gains little.
 *
 * Pure.  What is counted is under the lock of those who post, what is concluded under
 * that of the poller; a stale look costs one more.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "trial.h"

/* Posts that tell how long one takes, and as many as there must be in their time. */
#define WINDOW		32
#define PAYS		40

/* Posts between two trials. */
#define WAIT_LEAST	32
#define WAIT_MOST	8192

/* Windows for which it is believed, and after which a bad one is a mere accident. */
#define STAY_LEAST	8
#define STAY_MOST	128
#define SURE		4

/* The other end comes along for so many posts, if this one posts nothing more. */
#define ALONG		(4 * WINDOW)

/* A pause that is longer is the user's, who had nothing to ask for, and counts as one. */
#define PAUSE_MOST	((u32)NSEC_PER_MSEC)

/* After one that is so long it may be at something else: it is tried anew. */
#define PAUSE_LONG	(256 * (u32)NSEC_PER_MSEC)

/* Who posts more seldom than this has no use for it. */
#define PACE_MOST	((u32)NSEC_PER_MSEC / 2)

/* The clock may have been read before @last was, by another processor. */
static u32 gap(u32 last, u64 now, u32 most)
{
	u32 ns = (u32)now - last;

	return ns > -(u32)NSEC_PER_MSEC ? 0 : min(ns, most);
}

static u32 posts(const struct rover_trial *trial)
{
	return READ_ONCE(trial->posts) - READ_ONCE(trial->posts_then);
}

/* What they took, and what has passed since the last one. */
static u32 took(const struct rover_trial *trial, u64 now)
{
	return READ_ONCE(trial->busy) - trial->busy_then +
	       gap(READ_ONCE(trial->last), now, PAUSE_MOST);
}

static void begin(struct rover_trial *trial, enum rover_trial_stage stage, u64 now)
{
	WRITE_ONCE(trial->stage, stage);
	WRITE_ONCE(trial->posts_then, READ_ONCE(trial->posts));
	trial->busy_then = READ_ONCE(trial->busy) +
			   gap(READ_ONCE(trial->last), now, PAUSE_MOST);
	trial->idle_then = READ_ONCE(trial->idle);
}

/* Stages *********************************************************************/

static bool waits(struct rover_trial *trial, u64 now)
{
	if (READ_ONCE(trial->anew)) {
		WRITE_ONCE(trial->anew, false);
		WRITE_ONCE(trial->wait, WAIT_LEAST);
		begin(trial, ROVER_TRIAL_WAITS, now);
	}
	if (posts(trial) >= trial->wait)
		begin(trial, ROVER_TRIAL_ALONE, now);
	return false;
}

/* More posts than were asked for were of another kind, and in rests is nothing to gain. */
static bool tells(const struct rover_trial *trial, u32 n, u32 took)
{
	return n < 2 * WINDOW && READ_ONCE(trial->idle) - trial->idle_then < took &&
	       trial->pace && trial->pace <= PACE_MOST;
}

static bool alone(struct rover_trial *trial, u64 now)
{
	u32 n = posts(trial), ns = took(trial, now);

	if (n < WINDOW)
		return false;
	trial->pace = ns / n;
	if (!tells(trial, n, ns)) {
		begin(trial, ROVER_TRIAL_WAITS, now);
		return false;
	}
	trial->rounds = 0;
	trial->stay = max_t(u8, trial->stay, STAY_LEAST);
	begin(trial, ROVER_TRIAL_TRIED, now);
	return true;
}

/* Should it fail. */
static u16 next_wait(const struct rover_trial *trial)
{
	u32 wait = trial->rounds < SURE ? 2 * trial->wait : trial->wait / 2;

	return clamp_t(u32, wait, WAIT_LEAST, WAIT_MOST);
}

void rover_trial_fails(struct rover_trial *trial)
{
	trial->stay /= 2;
	WRITE_ONCE(trial->wait, next_wait(trial));
	WRITE_ONCE(trial->posts_then, READ_ONCE(trial->posts));
	WRITE_ONCE(trial->stage, ROVER_TRIAL_WAITS);
}

/* Or may it, as far as is known yet? */
static bool tried(struct rover_trial *trial, u64 now)
{
	u32 n = posts(trial), alone = took(trial, now) / trial->pace;

	if (n >= PAYS) {
		if (++trial->rounds >= trial->stay) {
			trial->stay = min_t(u8, 2 * trial->stay, STAY_MOST);
			begin(trial, ROVER_TRIAL_ALONE, now);
			return false;
		}
		begin(trial, ROVER_TRIAL_TRIED, now);
		return true;
	}
	if (alone < WINDOW / 2 || (alone < WINDOW && n > alone / 2))
		return true;
	rover_trial_fails(trial);
	return false;
}

/* Not tried itself, and not as soon as that has failed. */
static bool comes_along(struct rover_trial *trial, u16 along, u64 now)
{
	WRITE_ONCE(trial->along, along - 1);
	WRITE_ONCE(trial->wait, max(trial->wait, READ_ONCE(trial->along_wait)));
	begin(trial, ROVER_TRIAL_WAITS, now);
	return true;
}

static bool (* const stages[])(struct rover_trial *trial, u64 now) = {
	[ROVER_TRIAL_WAITS] = waits,
	[ROVER_TRIAL_ALONE] = alone,
	[ROVER_TRIAL_TRIED] = tried,
};

/* Doors **********************************************************************/

void rover_trial_post(struct rover_trial *trial, u64 now)
{
	u32 pause = gap(trial->last, now, PAUSE_LONG);

	/* The poller looks without the lock. */
	WRITE_ONCE(trial->posts, trial->posts + 1);
	WRITE_ONCE(trial->busy, trial->busy + min(pause, PAUSE_MOST));
	WRITE_ONCE(trial->idle, trial->idle + pause - min(pause, PAUSE_MOST));
	if (pause == PAUSE_LONG)
		WRITE_ONCE(trial->anew, true);
	WRITE_ONCE(trial->last, now);
}

void rover_trial_tell(struct rover_trial *peer, const struct rover_trial *trial)
{
	WRITE_ONCE(peer->along_wait, next_wait(trial));
	WRITE_ONCE(peer->along, trial->stage == ROVER_TRIAL_TRIED ? ALONG : 0);
}

bool rover_trial_due(const struct rover_trial *trial)
{
	if (READ_ONCE(trial->along))
		return true;
	switch (READ_ONCE(trial->stage)) {
	case ROVER_TRIAL_WAITS:
		return READ_ONCE(trial->anew) ||
		       posts(trial) >= READ_ONCE(trial->wait);
	case ROVER_TRIAL_ALONE:
		return posts(trial) >= WINDOW;
	default:
		return true;
	}
}

bool rover_trial_pays(struct rover_trial *trial, u64 now, bool *news)
{
	u16 along = READ_ONCE(trial->along);
	u8 stage = trial->stage, rounds = trial->rounds;
	bool pays;

	*news = false;
	if (along && stage != ROVER_TRIAL_TRIED)
		return comes_along(trial, along, now);
	pays = stages[stage](trial, now);
	*news = trial->stage != stage || trial->rounds != rounds;
	return pays;
}
