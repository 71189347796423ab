// SPDX-License-Identifier: GPL-2.0
/*
 * poll_adapt - is a kernel user better off with the poller?
 *
 * A program shows what it is: it posts and reads completions when it likes to.  A
 * user in the kernel posts, and is told.  What goes to a peer of this machine is done
 * before its post returns, answer and completion included: with one request under way
 * nothing is faster, with many it keeps a single processor busy.  How many there are is
 * not to be seen from a queue that is always empty.  So it is tried: what it posts is
 * left to the poller on another processor, and then the queue shows it.
 *
 *	waits	longer after each time that it did not pay
 *	tried	for it: a post that finds a crowd before it, others that are not done
 *		against it: one that finds few, more if it finds none, and most of all
 *		one from another processor than the last: its user has several at work,
 *		and would only wait for one more
 *
 * No clock is asked: how long a post takes, either way, says more of the machine at that
 * moment (decision 0035).
 *
 * Both ends of a connection are tried together, since either alone gains little, and it
 * fails when it does not pay at one of them.
 *
 * Pure.  What is counted is under the lock of those who post, what is concluded under
 * that of the poller; a stale look costs one more.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "run/poll_adapt.h"

/* Posts not done that make a crowd: the oldest of them has to be remembered still. */
#define CROWD		3
static_assert(CROWD <= ROVER_POLL_ADAPT_ENDS);

/* What a post says that finds a crowd, fewer, nothing; and one from elsewhere. */
#define SAYS_CROWD	4
#define SAYS_SOME	(-1)
#define SAYS_NOTHING	(-2)
#define SAYS_MOVED	(-32)

/* What may be said against it at first, and when it has paid for long. */
#define CREDIT_FIRST	8
#define CREDIT_MOST	64

/* Posts between two trials. */
#define WAIT_LEAST	32
#define WAIT_MOST	2048

static u32 posts(const struct rover_poll_adapt *trial)
{
	return READ_ONCE(trial->posts) - READ_ONCE(trial->posts_then);
}

static int worth(const struct rover_poll_adapt *trial)
{
	return READ_ONCE(trial->worth) - trial->worth_then;
}

/* What comes from now on is to be looked at. */
static void look_on(struct rover_poll_adapt *trial)
{
	WRITE_ONCE(trial->posts_then, READ_ONCE(trial->posts));
	trial->worth_then = READ_ONCE(trial->worth);
}

static void begin(struct rover_poll_adapt *trial)
{
	look_on(trial);
	trial->credit = CREDIT_FIRST;
	trial->paid = false;
	WRITE_ONCE(trial->tried, true);
}

static void end(struct rover_poll_adapt *trial, u32 wait)
{
	look_on(trial);
	WRITE_ONCE(trial->wait, clamp_t(u32, wait, WAIT_LEAST, WAIT_MOST));
	WRITE_ONCE(trial->tried, false);
}

/* The end of one that has paid for long may be an accident. */
void rover_poll_adapt_fails(struct rover_poll_adapt *trial)
{
	end(trial, trial->paid ? trial->wait / 2 : trial->wait * 2);
}

static void heed(struct rover_poll_adapt *trial)
{
	u8 told = READ_ONCE(trial->told);

	if (!told)
		return;
	WRITE_ONCE(trial->told, ROVER_POLL_ADAPT_NOTHING);
	if (told == ROVER_POLL_ADAPT_FAILS)
		end(trial, max(trial->wait, READ_ONCE(trial->told_wait)));
	else if (!trial->tried)
		begin(trial);
}

/* Return true as long as there is credit. */
static bool conclude(struct rover_poll_adapt *trial)
{
	int credit = trial->credit + worth(trial);

	look_on(trial);
	if (credit <= 0)
		return false;
	trial->credit = min(credit, CREDIT_MOST);
	trial->paid |= trial->credit == CREDIT_MOST;
	return true;
}

/* Is the post that came so many before the next one not done? */
static bool in_hand(const struct rover_poll_adapt *trial, u32 before, u32 head)
{
	return (s32)(head - trial->ends[(trial->posts - before) % ROVER_POLL_ADAPT_ENDS]) < 0;
}

static int found(const struct rover_poll_adapt *trial, u32 head)
{
	if (in_hand(trial, CROWD, head))
		return SAYS_CROWD;
	return in_hand(trial, 1, head) ? SAYS_SOME : SAYS_NOTHING;
}

void rover_poll_adapt_post(struct rover_poll_adapt *trial, int cpu, u32 head, u32 tail)
{
	int says = cpu == trial->cpu ? found(trial, head) : SAYS_MOVED;

	trial->cpu = cpu;
	trial->ends[trial->posts % ROVER_POLL_ADAPT_ENDS] = tail;
	/* The poller looks without the lock. */
	WRITE_ONCE(trial->worth, trial->worth + says);
	WRITE_ONCE(trial->posts, trial->posts + 1);
}

void rover_poll_adapt_tell(struct rover_poll_adapt *peer, const struct rover_poll_adapt *trial)
{
	WRITE_ONCE(peer->told_wait, trial->wait);
	WRITE_ONCE(peer->told, trial->tried ? ROVER_POLL_ADAPT_BEGINS : ROVER_POLL_ADAPT_FAILS);
}

bool rover_poll_adapt_due(const struct rover_poll_adapt *trial)
{
	return READ_ONCE(trial->tried) || READ_ONCE(trial->told) ||
	       posts(trial) >= READ_ONCE(trial->wait);
}

bool rover_poll_adapt_pays(struct rover_poll_adapt *trial)
{
	heed(trial);
	if (!trial->tried) {
		if (posts(trial) < trial->wait)
			return false;
		begin(trial);
	} else if (!conclude(trial)) {
		rover_poll_adapt_fails(trial);
	}
	return trial->tried;
}
