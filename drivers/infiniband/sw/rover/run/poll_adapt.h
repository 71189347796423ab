/* SPDX-License-Identifier: GPL-2.0 */
/*
 * poll_adapt - is a kernel user better off with the poller?
 *
 * Pure: also compiled in user space.
 */
#ifndef ROVER_POLL_ADAPT_H
#define ROVER_POLL_ADAPT_H

#include <linux/types.h>

/* Posts whose end is remembered, a power of two. */
#define ROVER_POLL_ADAPT_ENDS	4

/**
 * enum rover_poll_adapt_told - what the other end of the connection says
 * @ROVER_POLL_ADAPT_NOTHING: no news
 * @ROVER_POLL_ADAPT_BEGINS: it is tried there
 * @ROVER_POLL_ADAPT_FAILS: it does not pay there
 */
enum rover_poll_adapt_told {
	ROVER_POLL_ADAPT_NOTHING,
	ROVER_POLL_ADAPT_BEGINS,
	ROVER_POLL_ADAPT_FAILS,
};

/**
 * struct rover_poll_adapt - of a kernel user's queue pair
 * @posts: its posts, free-running; under its producers' lock, as the next three
 * @worth: what they say for the poller, and against it, in sum; free-running
 * @ends: where the last of them ended in the ring, by their number
 * @cpu: from where the last one came
 * @posts_then: where @posts was when it was last concluded on; under the poller's lock,
 *	as what follows
 * @worth_then: and @worth
 * @credit: what may yet be said against the poller before it fails
 * @wait: posts until it is tried again
 * @tried: is what is posted left to the poller?
 * @paid: and did it ever have all the credit there is?
 * @told: enum rover_poll_adapt_told; written by the other end, cleared here
 * @told_wait: posts until it is tried again there; written there
 */
struct rover_poll_adapt {
	u32 posts;
	u32 worth;
	u32 ends[ROVER_POLL_ADAPT_ENDS];
	int cpu;
	u32 posts_then;
	u32 worth_then;
	u8 credit;
	u16 wait;
	bool tried;
	bool paid;
	u8 told;
	u16 told_wait;
};

/**
 * rover_poll_adapt_post() - there is one more post
 * @trial: under its producers' lock
 * @cpu: from where
 * @head: ring index of what was not done when it came
 * @tail: and after its last work request
 */
void rover_poll_adapt_post(struct rover_poll_adapt *trial, int cpu, u32 head, u32 tail);

/**
 * rover_poll_adapt_due() - is there something to be asked?
 * @trial: without a lock
 *
 * Return: false when rover_poll_adapt_pays() would return false and change nothing.
 */
bool rover_poll_adapt_due(const struct rover_poll_adapt *trial);

/**
 * rover_poll_adapt_pays() - is what is posted now to be left to the poller?
 * @trial: under the poller's lock
 *
 * Return: true while it is tried, which is for as long as that pays.
 */
bool rover_poll_adapt_pays(struct rover_poll_adapt *trial);

/**
 * rover_poll_adapt_fails() - it does not, whatever the posts say
 * @trial: under the poller's lock
 */
void rover_poll_adapt_fails(struct rover_poll_adapt *trial);

/**
 * rover_poll_adapt_tell() - let the other end begin, or end, as well
 * @peer: the trial there; without a lock
 * @trial: which has just begun or failed; under the poller's lock
 */
void rover_poll_adapt_tell(struct rover_poll_adapt *peer, const struct rover_poll_adapt *trial);

#endif /* ROVER_POLL_ADAPT_H */
