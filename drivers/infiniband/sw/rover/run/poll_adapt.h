/* SPDX-License-Identifier: GPL-2.0 */
/* poll_adapt - adaptive polling of kernel QPs; also compiled in userspace */
#ifndef ROVER_POLL_ADAPT_H
#define ROVER_POLL_ADAPT_H

#include <linux/types.h>

/* Posts whose end is remembered; a power of two. */
#define ROVER_POLL_ADAPT_ENDS	4

/**
 * enum rover_poll_adapt_report - message from the peer's end
 * @ROVER_POLL_ADAPT_NONE: none
 * @ROVER_POLL_ADAPT_BEGINS: polling has begun
 * @ROVER_POLL_ADAPT_FAILS: polling does not pay
 */
enum rover_poll_adapt_report {
	ROVER_POLL_ADAPT_NONE,
	ROVER_POLL_ADAPT_BEGINS,
	ROVER_POLL_ADAPT_FAILS,
};

/**
 * struct rover_poll_adapt - adaptive polling of a kernel QP
 * @posts: free-running; producers' lock, up to @cpu
 * @score: sum of scores, free-running
 * @ends: ring index after each of the last posts
 * @cpu: of the last post
 * @posts_seen: @posts at the last conclusion; poller's lock, from here on
 * @score_seen: @score at the last conclusion
 * @credit: score to lose until polling fails
 * @wait: posts until the next attempt
 * @polling: posts are left to the poller
 * @proven: @credit has reached its maximum
 * @peer_says: enum rover_poll_adapt_report; set by the peer's end, cleared here
 * @peer_wait: the peer's @wait, set with @peer_says
 */
struct rover_poll_adapt {
	u32 posts;
	u32 score;
	u32 ends[ROVER_POLL_ADAPT_ENDS];
	int cpu;
	u32 posts_seen;
	u32 score_seen;
	u8 credit;
	u16 wait;
	bool polling;
	bool proven;
	u8 peer_says;
	u16 peer_wait;
};

/**
 * rover_poll_adapt_post() - count a post
 * @adapt: producers' lock held
 * @cpu: posting CPU
 * @head: ring index of the oldest pending request
 * @tail: ring index after this post
 */
void rover_poll_adapt_post(struct rover_poll_adapt *adapt, int cpu, u32 head,
			   u32 tail);

/**
 * rover_poll_adapt_due() - test whether to call rover_poll_adapt_pays()
 * @adapt: lockless
 * Return: false if that would return false and change nothing.
 */
bool rover_poll_adapt_due(const struct rover_poll_adapt *adapt);

/**
 * rover_poll_adapt_pays() - decide whether posts are left to the poller
 * @adapt: poller's lock held
 * Return: true while polling pays.
 */
bool rover_poll_adapt_pays(struct rover_poll_adapt *adapt);

/**
 * rover_poll_adapt_fails() - end polling
 * @adapt: poller's lock held
 */
void rover_poll_adapt_fails(struct rover_poll_adapt *adapt);

/**
 * rover_poll_adapt_tell() - make the peer's end begin or fail
 * @peer: the peer's; lockless
 * @adapt: has just begun or failed; poller's lock held
 */
void rover_poll_adapt_tell(struct rover_poll_adapt *peer,
			   const struct rover_poll_adapt *adapt);

#endif /* ROVER_POLL_ADAPT_H */
