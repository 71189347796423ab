/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kick - deferred calls in softirq
 *
 * For contexts that must not run the protocol: lower folders, skb destructors,
 * posts with interrupts off.
 */
#ifndef ROVER_KICK_H
#define ROVER_KICK_H

#include <linux/llist.h>

/**
 * struct rover_kick - list entry embedded in an owner
 * @node: on a list
 * @queued: bit 0: on a list, or about to be called
 */
struct rover_kick {
	struct llist_node node;
	unsigned long queued;
};

/**
 * struct rover_kick_list - owners with work
 * @fresh: latest first
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

/* For the draining context, or once that has ended. */
static inline bool rover_kick_list_empty(const struct rover_kick_list *list)
{
	return !list->oldest && llist_empty(&list->fresh);
}

static inline bool rover_kick_queued(const struct rover_kick *kick)
{
	return READ_ONCE(kick->queued);
}

/**
 * rover_kick_add() - add an owner to a list
 * @kick: always for the same kind of list
 * @list: emptied with rover_kick_drain()
 * Context: any.
 * Return: false if already queued.
 */
bool rover_kick_add(struct rover_kick *kick, struct rover_kick_list *list);

/**
 * rover_kick_drain() - call a function for the owners on a list
 * @list: drained by one context at a time
 * @max_calls: limit of calls
 * @run: may free the owner, or queue it again behind the others
 * Context: that of the list.
 * Return: true if owners of this batch are left.
 */
bool rover_kick_drain(struct rover_kick_list *list, unsigned int max_calls,
		      void (*run)(struct rover_kick *kick));

/**
 * rover_kick() - call the owner's function later on this CPU
 * @kick: its owner must live until the call: take a reference
 * Context: any.
 * Return: false if already queued.
 */
bool rover_kick(struct rover_kick *kick);

/**
 * rover_kick_init() - set up at module load
 * @run: called in softirq for each kicked owner
 */
void rover_kick_init(void (*run)(struct rover_kick *kick));

/**
 * rover_kick_exit() - wait for the tasklets
 */
void rover_kick_exit(void);

#endif /* ROVER_KICK_H */
