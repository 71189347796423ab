/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dst - a cached route
 *
 * Saves the lookup of the output or input route for each packet of a
 * connection, as in TCP sockets.  dst_check() tells when a route is obsolete.
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
 * @iif: interface that packets come in by; 0 for output
 * @lock: serializes writers; readers use RCU
 *
 * A lockless reader may combine an old route with a new cookie or interface: it
 * repeats the lookup, or uses the old route for one packet.
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
 * @iif: interface that the packet came in by; 0 for output
 * Context: under rcu_read_lock().
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
 * @iif: interface that packets come in by; 0 for output
 *
 * Of concurrent calls the last one wins; each route is valid.
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

/* Slow path of rover_dst_note(): the route has changed. */
void rover_dst_learn(struct rover_dst *rdst, const struct sk_buff *skb);

/**
 * rover_dst_note() - cache the route that a received packet has
 * @rdst: cache of the connection
 * @skb: verified to be the peer's; packets from the backlog and those without
 *	IP header have no route
 * Context: softirq, under rcu_read_lock().
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
