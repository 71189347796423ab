// SPDX-License-Identifier: GPL-2.0
/*
 * test_trial - users of whom is known what is best for them
 *
 * Each posts again as soon as it has its answer: so long after a post that was done at
 * once, so long after one that was left to the poller.  The clock is ours.
 */
#include <stdlib.h>

#include <linux/time64.h>

#include "ktap.h"
#include "trial.h"

#define US	NSEC_PER_USEC
#define MS	NSEC_PER_MSEC

/* A user: the time from one post to the next, and what came of it. */
struct user {
	struct rover_trial trial;
	u64 now;
	u32 alone;
	u32 polled;
	u32 noise;
	bool nowhere;
	struct user *peer;
};

/* Of some posts, those that were left to the poller, in thousandths, and the time. */
struct outcome {
	u32 share;
	u64 time;
};

static bool left(struct user *user)
{
	bool news = false, pays = rover_trial_due(&user->trial) &&
				  rover_trial_pays(&user->trial, user->now, &news);

	if (news && user->peer)
		rover_trial_tell(&user->peer->trial, &user->trial);
	if (!pays)
		return false;
	if (user->nowhere)
		rover_trial_fails(&user->trial);
	return !user->nowhere;
}

static struct outcome post(struct user *user, u32 n)
{
	u64 began = user->now;
	u32 polled = 0;

	for (u32 i = 0; i < n; i++) {
		u32 took;

		rover_trial_post(&user->trial, user->now);
		took = left(user) ? polled++, user->polled : user->alone;
		if (user->noise)
			took += took / 100 * (rand() % (2 * user->noise) - user->noise);
		user->now += took;
	}
	return (struct outcome) { polled * 1000ULL / n, user->now - began };
}

/* One request under way: the poller is slow.  Many: it is fast. */
#define ONE	.alone = 200 * US, .polled = 500 * US
#define MANY	.alone = 180 * US, .polled = 60 * US

static void one_pays_little(void)
{
	struct user user = { ONE };
	struct outcome first = post(&user, 2000), then = post(&user, 20000);

	ktap_ok(first.time < 2000 * 200 * US * 110 / 100,
		"one under way: the first 2000 posts are no tenth slower");
	ktap_ok(then.time < 20000ULL * 200 * US * 102 / 100,
		"one under way: later ones not by a fiftieth");
	ktap_ok(then.share, "one under way: it is still tried");
}

static void many_are_left(void)
{
	struct user user = { MANY };

	post(&user, 400);
	ktap_ok(post(&user, 20000).share > 970, "many under way: they are left to the poller");
}

static void some_are_left(void)
{
	struct user user = { .alone = 190 * US, .polled = 110 * US };

	post(&user, 400);
	ktap_ok(post(&user, 20000).share > 950, "some under way: left, too");
}

static void no_difference(void)
{
	struct user user = { .alone = 200 * US, .polled = 200 * US };

	post(&user, 2000);
	ktap_ok(post(&user, 20000).share < 80, "no difference: alone");
}

static void not_much_by_noise(void)
{
	struct user user = { .alone = 200 * US, .polled = 200 * US, .noise = 60 };

	srand(1);
	post(&user, 2000);
	ktap_ok(post(&user, 50000).share < 100, "no difference, but noise: hardly");
}

static void many_in_noise(void)
{
	struct user user = { MANY, .noise = 60 };

	srand(1);
	post(&user, 400);
	ktap_ok(post(&user, 50000).share > 950, "many under way, and noise: left");
}

static void learns(void)
{
	struct user user = { ONE }, many = { MANY };

	post(&user, 20000);
	user.alone = many.alone;
	user.polled = many.polled;
	post(&user, 9000);
	ktap_ok(post(&user, 2000).share > 900, "from one to many: seen within 9000 posts");
	user = (struct user) { .trial = user.trial, .now = user.now, ONE };
	ktap_ok(post(&user, 2000).share < 100, "from many to one: seen at once");
	post(&user, 20000);
	user = (struct user) { .trial = user.trial, .now = user.now + 400 * MS, MANY };
	post(&user, 200);
	ktap_ok(post(&user, 2000).share > 900, "from one to many, pause: seen within 200 posts");
}

/* By what they took alone long ago the poller looks good. */
static void asks_again(void)
{
	struct user user = { .alone = 400 * US, .polled = 200 * US };

	post(&user, 20000);
	user.alone = 100 * US;
	user.polled = 150 * US;
	post(&user, 8000);
	ktap_ok(post(&user, 2000).share < 100, "alone now faster: seen within 8000 posts");
}

/* Long messages are posted past us, and are no measure of short ones. */
static void long_ones(void)
{
	struct user user = { .alone = 200 * US, .polled = 300 * US };
	u32 share = 0;

	for (int i = 0; i < 100; i++) {
		share += post(&user, 24).share;
		for (int j = 0; j < 100; j++) {
			rover_trial_post(&user.trial, user.now);
			user.now += 450 * US;
		}
	}
	ktap_ok(share < 5000, "long messages between short ones: no measure of them");
}

/* A pause is nothing that the poller is to blame for, nor to be praised for its end. */
static void pauses(void)
{
	struct user user = { ONE }, many = { MANY };
	u64 slow = 0;
	u32 share = 0;

	for (int i = 0; i < 20; i++) {
		slow += post(&user, 2000).time;
		share += post(&many, 2000).share;
		user.now += 3000ULL * MS;
		many.now += 3000ULL * MS;
	}
	ktap_ok(slow < 40000ULL * 200 * US * 104 / 100, "one under way, now and then: alone");
	ktap_ok(share / 20 > 900, "many under way, now and then: left");
}

/* Two ends of a connection, one that is waited for, and one that has as much to post. */
static void both_post(struct user *one, struct user *other, u32 n)
{
	while (n--) {
		post(one, 1);
		other->now = one->now;
		rover_trial_post(&other->trial, other->now);
		left(other);
	}
}

static void ends(void)
{
	struct user other = { MANY }, one = { MANY, .peer = &other };

	other.peer = &one;
	both_post(&one, &other, 400);
	ktap_ok(one.trial.stage == ROVER_TRIAL_TRIED && left(&other) &&
		other.trial.stage == ROVER_TRIAL_WAITS,
		"what is tried at one end is done at both, and tried at one");
	ktap_ok(post(&other, 100).share == 1000 && post(&other, 100).share < 500,
		"one end that posts no more is not followed for ever");
	both_post(&one, &other, 400);
	one.alone = 200 * US;
	one.polled = 500 * US;
	while (one.trial.stage == ROVER_TRIAL_TRIED)
		both_post(&one, &other, 1);
	ktap_ok(!rover_trial_due(&other.trial),
		"what fails at one end is not tried at the other then");
}

static void seldom(void)
{
	struct user user = { .alone = 900 * US, .polled = 100 * US };

	ktap_eq(post(&user, 20000).share, 0, "one post in 0.9 ms: never tried");
}

/* Four at once, and ten milliseconds of rest: long messages are asked for like that. */
static void rests(void)
{
	struct user user = { .alone = 100 * US, .polled = 50 * US };
	u32 share = 0;

	for (int i = 0; i < 5000; i++) {
		share += post(&user, 4).share;
		user.now += 10 * MS;
	}
	ktap_eq(share, 0, "more rest than posts: never tried");
}

static void alone_here(void)
{
	struct user user = { MANY, .nowhere = true };
	u32 asked = 0;

	for (int i = 0; i < 20000; i++) {
		rover_trial_post(&user.trial, user.now);
		asked += rover_trial_due(&user.trial);
		left(&user);
		user.now += user.alone;
	}
	ktap_ok(asked < 100, "no other processor: it is hardly asked for");
}

/* The counters go round, and a clock may be read before it is used. */
static void round_and_back(void)
{
	struct user user = { MANY, .now = (1ULL << 32) - 40 * MS };
	bool news;

	user.trial.posts = -300;
	user.trial.posts_then = -300;
	user.trial.busy = -(u32)(20 * MS);
	user.trial.busy_then = -(u32)(20 * MS);
	post(&user, 400);
	ktap_ok(post(&user, 2000).share > 950, "counters and clock go round");
	rover_trial_post(&user.trial, user.now - 5 * US);
	ktap_ok(rover_trial_pays(&user.trial, user.now - 10 * US, &news) &&
		post(&user, 2000).share > 950, "a clock that was read before");
}

int main(void)
{
	one_pays_little();
	many_are_left();
	some_are_left();
	no_difference();
	not_much_by_noise();
	many_in_noise();
	learns();
	asks_again();
	long_ones();
	pauses();
	ends();
	seldom();
	rests();
	alone_here();
	round_and_back();
	return ktap_done();
}
