/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inlet - the route by which a connection's packets come in
 *
 * The stack asks its tables about each packet that arrives: is it for this host,
 * and may it come from there?  Of one connection that is the same answer again and
 * again, until a route, a rule or an address changes, and then the stack says so.
 * TCP's sockets keep it, too (early demux).
 */
#ifndef ROVER_INLET_H
#define ROVER_INLET_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <net/dst.h>

/**
 * struct rover_inlet - that answer
 * @dst: route of the last packet that was the peer's; NULL until one was
 * @cookie: for dst_check()
 * @iif: interface it came by
 * @lock: serialises replacing them; readers use RCU
 *
 * They are read without @lock: whoever finds an old route with a new interface
 * asks the tables, or gives one packet the route of the one before it.
 */
struct rover_inlet {
	struct dst_entry __rcu *dst;
	u32 cookie;
	int iif;
	spinlock_t lock;
};

/**
 * rover_inlet_init() - nothing is known
 * @in: all zero
 */
static inline void rover_inlet_init(struct rover_inlet *in)
{
	spin_lock_init(&in->lock);
}

/**
 * rover_inlet_give() - give a packet its route, if it is known and still valid
 * @in: of the connection that it seems to belong to
 * @skb: not routed yet
 *
 * Context: softirq, under rcu_read_lock().
 */
void rover_inlet_give(struct rover_inlet *in, struct sk_buff *skb);

/* What rover_inlet_note() does when it is another one. */
void rover_inlet_replace(struct rover_inlet *in, const struct sk_buff *skb);

/**
 * rover_inlet_note() - by which route the peer's packets come
 * @in: of the connection
 * @skb: it is the peer's; what was set aside, or has no IP header, has no route
 *
 * Context: softirq, under rcu_read_lock().
 */
static inline void rover_inlet_note(struct rover_inlet *in,
				    const struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	if (dst && unlikely(rcu_access_pointer(in->dst) != dst ||
			    READ_ONCE(in->iif) != skb->skb_iif))
		rover_inlet_replace(in, skb);
}

/**
 * rover_inlet_forget() - the peer is another one from now on, or none
 * @in: initialised
 *
 * Context: any.
 */
void rover_inlet_forget(struct rover_inlet *in);

#endif /* ROVER_INLET_H */
