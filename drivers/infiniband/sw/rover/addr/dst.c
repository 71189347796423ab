// SPDX-License-Identifier: GPL-2.0
/*
 * dst - a route that is known
 *
 * Any context.
 */
#include <linux/rcupdate.h>
#include <net/ip6_fib.h>

#include "addr/dst.h"

static u32 cookie_of(const struct dst_entry *dst)
{
	return dst && dst->ops->family == AF_INET6 ?
	       rt6_get_cookie(dst_rt6_info(dst)) : 0;
}

void rover_dst_set(struct rover_dst *way, struct dst_entry *dst, int iif)
{
	struct dst_entry *old;
	u32 cookie = cookie_of(dst);
	unsigned long flags;

	spin_lock_irqsave(&way->lock, flags);
	old = rcu_replace_pointer(way->dst, dst, lockdep_is_held(&way->lock));
	WRITE_ONCE(way->cookie, cookie);
	WRITE_ONCE(way->iif, iif);
	spin_unlock_irqrestore(&way->lock, flags);

	/* Freed after a grace period, so readers of @old are safe. */
	dst_release(old);
}

void rover_dst_learn(struct rover_dst *way, const struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);

	if (dst_hold_safe(dst))
		rover_dst_set(way, dst, skb->skb_iif);
}
