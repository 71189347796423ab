/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kick - run an owner's function later, in softirq context
 *
 * For lower folders, and contexts that must not run the protocol: skb
 * destructors, posts with interrupts off.
 */
#ifndef ROVER_KICK_H
#define ROVER_KICK_H

#include <linux/llist.h>

/**
 * struct rover_kick - list entry embedded in an owner
 * @node: on a CPU's list
 * @queued: bit 0: on a list, or about to be taken off
 */
struct rover_kick {
	struct llist_node node;
	unsigned long queued;
};

/**
 * struct rover_kick_list - owners with work
 * @fresh: added, latest first
 * @oldest: taken from @fresh, oldest first; only for the draining context
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

/* For the draining context, and for others once it has ended. */
static inline bool rover_kick_list_empty(const struct rover_kick_list *list)
{
	return !list->oldest && llist_empty(&list->fresh);
}

/* Test whether the owner's function is still to be called. */
static inline bool rover_kick_queued(const struct rover_kick *kick)
{
	return READ_ONCE(kick->queued);
}

/**
 * rover_kick_add() - add an owner to a list
 * @kick: embedded in the owner; for one kind of list only
 * @list: emptied with rover_kick_drain()
 *
 * Context: any.
 * Return: true if added; false if already queued.
 */
bool rover_kick_add(struct rover_kick *kick, struct rover_kick_list *list);

/**
 * rover_kick_drain() - call a function for the owners on a list
 * @list: drained by one context at a time
 * @most: maximum number of calls
 * @run: may free the owner, or queue it again
 *
 * Owners added meanwhile come after all that were on the list.
 *
 * Context: that of the list.
 * Return: true if owners of this batch are left.
 */
bool rover_kick_drain(struct rover_kick_list *list, unsigned int most,
		      void (*run)(struct rover_kick *kick));

/**
 * rover_kick() - have the owner's function called soon, on this CPU
 * @kick: its owner must live until the call: it carries a reference
 *
 * Context: any.
 * Return: true if added to the list; false if already queued.
 */
bool rover_kick(struct rover_kick *kick);

/**
 * rover_kick_init() - set up at module load
 * @run: called in softirq context for each kicked owner
 */
void rover_kick_init(void (*run)(struct rover_kick *kick));

/**
 * rover_kick_exit() - wait for the tasklets at module unload
 */
void rover_kick_exit(void);

#endif /* ROVER_KICK_H */
