/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kick - "this queue pair has work": data that travels upward
 *
 * Rooms low in the order, and contexts that must not run the protocol
 * themselves (skb destructors, posts with interrupts off), put a queue pair on
 * their CPU's list; a tasklet hands each to the one function that motion
 * installed.  Any context.
 */
#ifndef ROVER_KICK_H
#define ROVER_KICK_H

#include <linux/llist.h>

/**
 * struct rover_kick - a place on the list
 * @node: on a CPU's list
 * @queued: bit 0: is on a list, or about to be taken off one
 */
struct rover_kick {
	struct llist_node node;
	unsigned long queued;
};

/**
 * struct rover_kick_list - who has work
 * @fresh: latest first
 * @oldest: taken from there and put in order; of who drains it alone
 */
struct rover_kick_list {
	struct llist_head fresh;
	struct llist_node *oldest;
};

static inline void rover_kick_list_init(struct rover_kick_list *list)
{
	init_llist_head(&list->fresh);
	list->oldest = NULL;
}

/* For who drains it, and for others once nobody does. */
static inline bool rover_kick_list_empty(const struct rover_kick_list *list)
{
	return !list->oldest && llist_empty(&list->fresh);
}

/* Is its function still to be called? */
static inline bool rover_kick_queued(const struct rover_kick *kick)
{
	return READ_ONCE(kick->queued);
}

/**
 * rover_kick_add() - put an owner on a list
 * @kick: embedded in the owner, and for one kind of list only
 * @list: emptied with rover_kick_drain()
 *
 * Context: any.
 * Return: true when it was put there now; false when it is on one already, and
 *	its function is still to be called.
 */
bool rover_kick_add(struct rover_kick *kick, struct rover_kick_list *list);

/**
 * rover_kick_drain() - call a function for what is on a list now
 * @list: drained by one context at a time
 * @most: after so many it is the turn of others
 * @run: may free the owner, or put it on the list again
 *
 * Those that are put on the list meanwhile come after all that were on it.
 *
 * Context: the list's.
 * Return: true when some of those are left.
 */
bool rover_kick_drain(struct rover_kick_list *list, unsigned int most,
		      void (*run)(struct rover_kick *kick));

/**
 * rover_kick() - see to it that the owner runs soon
 * @kick: embedded in the owner; the caller guarantees that the owner lives
 *	until its function has run (an owner reference goes with it)
 *
 * Context: any.
 * Return: true when it was put on a list now; false when it was there already.
 */
bool rover_kick(struct rover_kick *kick);

/**
 * rover_kick_init() - at module load
 * @run: called in softirq context for each owner that was kicked
 */
void rover_kick_init(void (*run)(struct rover_kick *kick));

/**
 * rover_kick_exit() - at module unload: wait for what still runs
 */
void rover_kick_exit(void);

#endif /* ROVER_KICK_H */
