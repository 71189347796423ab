/* SPDX-License-Identifier: GPL-2.0 */
/*
 * shortcut - hand packets to a receiver on this host past the stack
 */
#ifndef ROVER_SHORTCUT_H
#define ROVER_SHORTCUT_H

#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "qp/qp.h"

/* Rest of rover_shortcut_note_arrival(), once in a tick. */
void rover_shortcut_check(struct rover_qp *qp, const struct sk_buff *skb);

/**
 * rover_shortcut_note_arrival() - let the peer use the shortcut if nothing observes it
 * @qp: receiver of @skb
 * @skb: from the peer; ignored without an interface (handed over, or from a
 *	backlog) or without a route (RoCE v1)
 *
 * Context: softirq, under rcu_read_lock().
 */
static inline void rover_shortcut_note_arrival(struct rover_qp *qp,
				       const struct sk_buff *skb)
{
	if (skb->dev && skb_dst(skb) &&
	    READ_ONCE(qp->shortcut.rx_checked) != (u32)jiffies)
		rover_shortcut_check(qp, skb);
}

/**
 * rover_shortcut_take() - hand over an skb, or queue it behind such skbs
 * @qp: sender, referenced by @skb
 * @skb: routed; data at the IP header
 *
 * Context: under rcu_read_lock(), softirqs off.
 * Return: true if it was taken; false if the stack can send it now.
 */
bool rover_shortcut_take(struct rover_qp *qp, struct sk_buff *skb);

/**
 * rover_shortcut_same() - test whether two senders may share a train
 * @one: sender
 * @other: sender
 *
 * They may not if only one uses the shortcut: packets would be overtaken.
 *
 * Context: any.
 */
static inline bool rover_shortcut_same(const struct rover_qp *one,
				       const struct rover_qp *other)
{
	return READ_ONCE(one->shortcut.out_dev) == READ_ONCE(other->shortcut.out_dev);
}

/**
 * rover_shortcut_full() - test whether this CPU's queue is too long
 * @qp: sender; false if it does not use the shortcut
 *
 * Context: softirqs off.
 */
bool rover_shortcut_full(const struct rover_qp *qp);

/**
 * rover_shortcut_pending() - test whether this CPU's queue has skbs
 *
 * If so, other CPUs must not send for their queue pairs.
 *
 * Context: softirqs off.
 */
bool rover_shortcut_pending(void);

/**
 * rover_shortcut_close() - stop using the shortcut: the path has changed
 * @qp: sender
 *
 * Context: any.
 */
static inline void rover_shortcut_close(struct rover_qp *qp)
{
	/*
	 * Pairs with smp_mb() in rover_shortcut_check(): remote_qpn is visible
	 * before ->via clears.
	 */
	smp_mb();
	WRITE_ONCE(qp->shortcut.out_dev, NULL);
}

/**
 * rover_shortcut_init() - at module load
 * @receive: in softirq, receives and consumes @skb, data at the IP header, for
 *	a queue pair in @rnet, which may be gone
 * @send: in softirq, sends @skb by the stack and consumes it
 */
void rover_shortcut_init(void (*receive)(struct sk_buff *skb,
					 const struct rover_net *rnet),
			 void (*send)(struct sk_buff *skb));

/**
 * rover_shortcut_exit() - at module unload, after the last send
 */
void rover_shortcut_exit(void);

#endif /* ROVER_SHORTCUT_H */
