/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trial - is a kernel user better off with the poller?
 *
 * Pure: also compiled in user space.
 */
#ifndef ROVER_TRIAL_H
#define ROVER_TRIAL_H

#include <linux/types.h>

/**
 * enum rover_trial_stage - what its posts tell
 * @ROVER_TRIAL_WAITS: nothing, until there were enough of them
 * @ROVER_TRIAL_ALONE: how long they take when they are done at once
 * @ROVER_TRIAL_TRIED: how long when they are left to the poller
 */
enum rover_trial_stage {
	ROVER_TRIAL_WAITS,
	ROVER_TRIAL_ALONE,
	ROVER_TRIAL_TRIED,
};

/**
 * struct rover_trial - of a kernel user's queue pair
 * @posts: its posts, free-running; with the next four under its producers' lock
 * @busy: time that passed from each to the next, ns, free-running
 * @idle: and that is left out there, where it was long
 * @last: when the last one was, ns
 * @anew: there was a pause; cleared under the poller's lock
 * @posts_then: where @posts was when the stage began; under the poller's lock, as what
 *	follows
 * @busy_then: and @busy
 * @idle_then: and @idle
 * @pace: what each took alone, ns
 * @wait: posts until it is tried again
 * @rounds: times that it has paid
 * @stay: as many, and it is asked anew what they take alone
 * @stage: enum rover_trial_stage
 * @along: posts that are left to the poller, too, as the other end is tried; written
 *	there as well
 * @along_wait: and until it is tried itself, should that fail; written there
 */
struct rover_trial {
	u32 posts;
	u32 busy;
	u32 idle;
	u32 last;
	bool anew;
	u32 posts_then;
	u32 busy_then;
	u32 idle_then;
	u32 pace;
	u16 wait;
	u8 rounds;
	u8 stay;
	u8 stage;
	u16 along;
	u16 along_wait;
};

/**
 * rover_trial_post() - there is one more post
 * @trial: under its producers' lock
 * @now: time, ns; any clock that does not go back
 */
void rover_trial_post(struct rover_trial *trial, u64 now);

/**
 * rover_trial_due() - is there something to be asked?
 * @trial: without a lock
 *
 * Return: false when rover_trial_pays() would return false and change nothing.
 */
bool rover_trial_due(const struct rover_trial *trial);

/**
 * rover_trial_pays() - is what is posted now to be left to the poller?
 * @trial: under the poller's lock
 * @now: time, of the same clock
 * @news: for rover_trial_tell()
 *
 * Return: true while it is tried, and for as long as that pays.
 */
bool rover_trial_pays(struct rover_trial *trial, u64 now, bool *news);

/**
 * rover_trial_tell() - let the other end come along, or end that
 * @peer: the trial there; without a lock
 * @trial: of which there are news; under the poller's lock
 */
void rover_trial_tell(struct rover_trial *peer, const struct rover_trial *trial);

/**
 * rover_trial_fails() - it does not, whatever the posts tell
 * @trial: under the poller's lock
 */
void rover_trial_fails(struct rover_trial *trial);

#endif /* ROVER_TRIAL_H */
