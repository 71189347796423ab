/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dst - a route that is known
 *
 * The stack asks its tables about each packet: where to, or, of one that arrives,
 * is it for this host and may it come from there?  Of one connection that is the
 * same answer again and again, until a route, a rule or an address changes, and
 * then the stack says so.  TCP's sockets keep both, too.
 */
#ifndef ROVER_DST_H
#define ROVER_DST_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/dst.h>

/**
 * struct rover_dst - that answer, for one direction
 * @dst: the route; NULL until it is known
 * @cookie: for dst_check()
 * @iif: interface by which packets come in; 0 for a way out
 * @lock: serialises replacing them; readers use RCU
 *
 * They are read without @lock.  A reader may check an old route against a new
 * cookie or interface: then it asks the tables, or the route is as good as the new
 * one, or one packet gets that of the one before it.
 */
struct rover_dst {
	struct dst_entry __rcu *dst;
	u32 cookie;
	int iif;
	spinlock_t lock;
};

/**
 * rover_dst_init() - nothing is known
 * @way: all zero
 */
static inline void rover_dst_init(struct rover_dst *way)
{
	spin_lock_init(&way->lock);
}

/**
 * rover_dst_entry() - the route, if it is known and still valid
 * @way: initialised, or all zero
 * @iif: interface that the packet came by; 0 on its way out
 *
 * Context: under rcu_read_lock().
 * Return: a route without a reference, or NULL.
 */
static inline struct dst_entry *rover_dst_entry(const struct rover_dst *way,
					      int iif)
{
	struct dst_entry *dst = rcu_dereference(way->dst);

	if (!dst || READ_ONCE(way->iif) != iif)
		return NULL;
	return dst_check(dst, READ_ONCE(way->cookie));
}

/**
 * rover_dst_set() - this is the route from now on
 * @way: initialised
 * @dst: with a reference, which goes over to @way; NULL to forget the one it had
 * @iif: interface that its packets come by; 0 on their way out
 *
 * Of two at once both are right, and the later one stays.
 *
 * Context: any.
 */
void rover_dst_set(struct rover_dst *way, struct dst_entry *dst, int iif);

/**
 * rover_dst_clear() - ask the tables before the next packet
 * @way: initialised
 *
 * Context: any.
 */
static inline void rover_dst_clear(struct rover_dst *way)
{
	rover_dst_set(way, NULL, 0);
}

/* What rover_dst_note() does when it is another one. */
void rover_dst_learn(struct rover_dst *way, const struct sk_buff *skb);

/**
 * rover_dst_note() - by which route the peer's packets come
 * @way: of the connection
 * @skb: it is the peer's; what was set aside, or has no IP header, has no route
 *
 * Context: softirq, under rcu_read_lock().
 */
static inline void rover_dst_note(struct rover_dst *way,
				  const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	if (dst && unlikely(rcu_access_pointer(way->dst) != dst ||
			    READ_ONCE(way->iif) != skb->skb_iif))
		rover_dst_learn(way, skb);
}

#endif /* ROVER_DST_H */
