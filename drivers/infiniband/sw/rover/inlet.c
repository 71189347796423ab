// SPDX-License-Identifier: GPL-2.0
/*
 * inlet - the route by which a connection's packets come in
 *
 * Softirq, but for forgetting it.
 */
#include <net/ip6_fib.h>

#include "inlet.h"

void rover_inlet_give(struct rover_inlet *in, struct sk_buff *skb)
{
	struct dst_entry *dst = rcu_dereference(in->dst);

	if (dst && READ_ONCE(in->iif) == skb->skb_iif)
		dst = dst_check(dst, READ_ONCE(in->cookie));
	else
		dst = NULL;
	if (dst)
		skb_dst_set_noref(skb, dst);
}

static void replace(struct rover_inlet *in, struct dst_entry *dst, u32 cookie,
		    int iif)
{
	struct dst_entry *old;
	unsigned long flags;

	spin_lock_irqsave(&in->lock, flags);
	old = rcu_replace_pointer(in->dst, dst, lockdep_is_held(&in->lock));
	WRITE_ONCE(in->cookie, cookie);
	WRITE_ONCE(in->iif, iif);
	spin_unlock_irqrestore(&in->lock, flags);

	/* Freed after a grace period, so readers of @old are safe. */
	dst_release(old);
}

void rover_inlet_replace(struct rover_inlet *in, const struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);
	u32 cookie = 0;

	if (!dst_hold_safe(dst))
		return;
	if (skb->protocol == htons(ETH_P_IPV6))
		cookie = rt6_get_cookie(dst_rt6_info(dst));
	replace(in, dst, cookie, skb->skb_iif);
}

void rover_inlet_forget(struct rover_inlet *in)
{
	replace(in, NULL, 0, 0);
}
