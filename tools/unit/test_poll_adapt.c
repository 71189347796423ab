// SPDX-License-Identifier: GPL-2.0
/*
 * test_poll_adapt - adaptive polling for users that keep a known number of
 * posts in flight
 *
 * A post is either executed at once, or left to the poller.  The poller
 * executes it when the user has posted all it can, or, if it is slow, one post
 * for each new one.
 */
#include "ktap.h"
#include "run/poll_adapt.h"

/* A user and its ring. */
struct user {
	struct rover_poll_adapt adapt;
	u32 head;
	u32 tail;
	/* maximum of posts in flight; WRs per post */
	u32 hand;
	u32 wrs;
	/* the poller executes one post per new post, not all at the end */
	bool trickles;
	/* posts before the user moves to the next CPU; 0: never */
	u32 stint;
	bool nowhere;
	struct user *peer;
};

static bool left(struct user *user)
{
	bool before = user->adapt.polling;
	bool pays = rover_poll_adapt_due(&user->adapt) && rover_poll_adapt_pays(&user->adapt);

	if (pays && user->nowhere) {
		rover_poll_adapt_fails(&user->adapt);
		pays = false;
	}
	if (user->peer && pays != before)
		rover_poll_adapt_tell(&user->peer->adapt, &user->adapt);
	return pays;
}

/* Post, and return whether it was left to the poller. */
static bool post(struct user *user)
{
	u32 head = user->head;

	user->tail += user->wrs;
	rover_poll_adapt_post(&user->adapt, user->stint ? user->adapt.posts / user->stint % 2 : 0,
			      head, user->tail);
	if (!left(user)) {
		user->head = user->tail;
		return false;
	}
	if (user->tail - user->head >= user->hand * user->wrs)
		user->head = user->trickles ? user->head + user->wrs : user->tail;
	return true;
}

/* Share of @n posts left to the poller, in thousandths. */
static u32 share(struct user *user, u32 n)
{
	u32 polled = 0;

	for (u32 i = 0; i < n; i++)
		polled += post(user);
	return polled * 1000ULL / n;
}

#define HAND(n)		.hand = n, .wrs = 1

static void few_in_hand(void)
{
	struct user one = { HAND(1) }, two = { HAND(2) }, three = { HAND(3) };

	ktap_ok(share(&one, 4000) < 25, "one in hand: of the first 4000 few are left");
	ktap_ok(share(&one, 40000) < 6, "one in hand: then hardly any");
	ktap_ok(share(&one, 10000) > 0, "one in hand: it is still tried");
	share(&two, 4000);
	share(&three, 4000);
	ktap_ok(share(&two, 40000) < 6 && share(&three, 40000) < 6, "two, three: as little");
}

static void many_in_hand(void)
{
	static const u32 hands[] = { 6, 8, 16, 32, 128 };
	bool all = true;

	for (size_t i = 0; i < sizeof(hands) / sizeof(*hands); i++) {
		struct user user = { HAND(hands[i]) };

		share(&user, 100);
		all &= share(&user, 20000) == 1000;
	}
	ktap_ok(all, "six in hand and more: all are left");
}

static void slow_poller(void)
{
	struct user user = { HAND(5), .trickles = true };

	share(&user, 100);
	ktap_eq(share(&user, 20000), 1000, "five that are done one by one: all are left");
}

/* A post may have several WRs, such as REG_MR and its use. */
static void chains(void)
{
	struct user two = { .hand = 2, .wrs = 8 }, many = { .hand = 8, .wrs = 8 };

	share(&two, 4000);
	share(&many, 100);
	ktap_ok(share(&two, 40000) < 6 && share(&many, 20000) == 1000,
		"what counts is posts, not work requests");
}

/* Threads of a server, one per CPU. */
static void several_processors(void)
{
	struct user turns = { HAND(16), .stint = 1 }, stints = { HAND(16), .stint = 8 };
	struct user moves = { HAND(16), .stint = 200 };

	share(&turns, 4000);
	share(&stints, 4000);
	share(&moves, 100);
	ktap_ok(share(&turns, 40000) < 6, "from two processors by turns: hardly any");
	ktap_ok(share(&stints, 40000) < 20, "some from one, some from the other: few");
	ktap_ok(share(&moves, 20000) > 990, "one that is moved now and then: nearly all");
}

static void learns(void)
{
	struct user user = { HAND(1) };

	share(&user, 20000);
	user.hand = 32;
	share(&user, 2200);
	ktap_ok(share(&user, 2000) == 1000, "from one to many: seen within 2200 posts");
	share(&user, 20000);
	user.hand = 1;
	share(&user, 64);
	ktap_ok(share(&user, 2000) < 25, "from many to one: seen within 64 posts");
}

/* A user with pauses, and few posts in flight for a while. */
static void lulls(void)
{
	struct user user = { HAND(32) };
	u32 polled = 0;

	share(&user, 400);
	for (int i = 0; i < 100; i++) {
		user.hand = 1;
		user.head = user.tail;
		polled += share(&user, 20);
		user.hand = 32;
		polled += share(&user, 200);
	}
	ktap_eq(polled / 200, 1000, "many, and few for a moment: all are left");
}

/* Both ends of a connection, posting in turn. */
static u32 both(struct user *one, struct user *other, u32 n)
{
	u32 polled = 0;

	for (u32 i = 0; i < n; i++) {
		polled += post(one);
		post(other);
	}
	return polled * 1000ULL / n;
}

static void ends_of_one(void)
{
	struct user one = { HAND(16) }, other = { HAND(16), .peer = &one };

	one.peer = &other;
	one.adapt.wait = 32;
	other.adapt.wait = 1000;
	both(&one, &other, 40);
	ktap_ok(one.adapt.polling && other.adapt.polling, "polling starts at both ends at once");
	ktap_eq(both(&one, &other, 20000), 1000, "many at both ends: all are left");
	other.hand = 1;
	both(&one, &other, 100);
	ktap_ok(!one.adapt.polling && !other.adapt.polling, "and fails at both");
	ktap_ok(both(&one, &other, 40000) < 20, "many at one end, and one at the other: few");
	share(&one, 2100);
	ktap_ok(share(&one, 2000) == 1000, "many at one end, and nothing at the other: left");
}

static void alone_here(void)
{
	struct user user = { HAND(16), .nowhere = true };
	u32 asked = 0;

	for (int i = 0; i < 20000; i++) {
		post(&user);
		asked += rover_poll_adapt_due(&user.adapt);
	}
	ktap_ok(asked < 20, "no other processor: it is hardly asked for");
}

/* Counters wrap around, and a ring is reset. */
static void round_and_again(void)
{
	struct user user = { HAND(16), .head = -300, .tail = -300 };

	user.adapt.posts = -200;
	user.adapt.posts_seen = -200;
	user.adapt.score = -100;
	user.adapt.score_seen = -100;
	share(&user, 100);
	ktap_eq(share(&user, 2000), 1000, "counters and ring go round");
	user.head = 0;
	user.tail = 0;
	ktap_eq(share(&user, 2000), 1000, "the ring begins anew");
}

int main(void)
{
	few_in_hand();
	many_in_hand();
	slow_poller();
	chains();
	several_processors();
	learns();
	lulls();
	ends_of_one();
	alone_here();
	round_and_again();
	return ktap_done();
}
