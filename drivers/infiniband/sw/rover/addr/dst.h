/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dst - a cached route
 *
 * Saves a connection the route lookup for each packet, as in TCP sockets.
 */
#ifndef ROVER_DST_H
#define ROVER_DST_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/dst.h>

/**
 * struct rover_dst - cached route of one direction
 * @dst: the route; NULL if unknown
 * @cookie: for dst_check()
 * @iif: incoming interface; 0 for output
 * @lock: serializes writers; readers use RCU
 *
 * A reader may see an old route with a new cookie or interface: it repeats the
 * lookup, or uses the old route for one packet.
 */
struct rover_dst {
	struct dst_entry __rcu *dst;
	u32 cookie;
	int iif;
	spinlock_t lock;
};

/**
 * rover_dst_init() - initialize without a route
 * @rdst: all zero
 */
static inline void rover_dst_init(struct rover_dst *rdst)
{
	spin_lock_init(&rdst->lock);
}

/**
 * rover_dst_entry() - return the cached route if valid
 * @rdst: initialized, or all zero
 * @iif: incoming interface; 0 for output
 * Context: rcu_read_lock().
 * Return: a route without a reference, or NULL.
 */
static inline struct dst_entry *rover_dst_entry(const struct rover_dst *rdst,
						int iif)
{
	struct dst_entry *dst = rcu_dereference(rdst->dst);

	if (!dst || READ_ONCE(rdst->iif) != iif)
		return NULL;
	return dst_check(dst, READ_ONCE(rdst->cookie));
}

/**
 * rover_dst_set() - replace the cached route
 * @rdst: initialized
 * @dst: its reference is taken over; NULL to clear
 * @iif: incoming interface; 0 for output
 * Context: any.
 */
void rover_dst_set(struct rover_dst *rdst, struct dst_entry *dst, int iif);

/**
 * rover_dst_clear() - forget the cached route
 * @rdst: initialized
 * Context: any.
 */
static inline void rover_dst_clear(struct rover_dst *rdst)
{
	rover_dst_set(rdst, NULL, 0);
}

/* Slow path of rover_dst_note(). */
void rover_dst_learn(struct rover_dst *rdst, const struct sk_buff *skb);

/**
 * rover_dst_note() - cache the route of a received packet
 * @rdst: cache of the connection
 * @skb: verified to be the peer's; may have no route
 * Context: softirq, rcu_read_lock().
 */
static inline void rover_dst_note(struct rover_dst *rdst,
				  const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	if (dst && unlikely(rcu_access_pointer(rdst->dst) != dst ||
			    READ_ONCE(rdst->iif) != skb->skb_iif))
		rover_dst_learn(rdst, skb);
}

#endif /* ROVER_DST_H */
