// SPDX-License-Identifier: GPL-2.0
/* dst - a cached route */
#include <linux/rcupdate.h>
#include <net/ip6_fib.h>

#include "addr/dst.h"

static u32 rdst_get_cookie(const struct dst_entry *dst)
{
	return dst && dst->ops->family == AF_INET6 ?
	       rt6_get_cookie(dst_rt6_info(dst)) : 0;
}

void rover_dst_set(struct rover_dst *rdst, struct dst_entry *dst, int iif)
{
	struct dst_entry *old;
	u32 cookie = rdst_get_cookie(dst);
	unsigned long flags;

	spin_lock_irqsave(&rdst->lock, flags);
	old = rcu_replace_pointer(rdst->dst, dst, lockdep_is_held(&rdst->lock));
	WRITE_ONCE(rdst->cookie, cookie);
	WRITE_ONCE(rdst->iif, iif);
	spin_unlock_irqrestore(&rdst->lock, flags);

	/* Freed after a grace period: RCU readers are safe. */
	dst_release(old);
}

void rover_dst_learn(struct rover_dst *rdst, const struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);

	if (dst_hold_safe(dst))
		rover_dst_set(rdst, dst, skb->skb_iif);
}
