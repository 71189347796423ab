/* SPDX-License-Identifier: GPL-2.0 */
/* shortcut - hand packets to a receiver on this host past the stack */
#ifndef ROVER_SHORTCUT_H
#define ROVER_SHORTCUT_H

#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "qp/qp.h"

/* Slow path of rover_shortcut_note_arrival(), once per tick. */
void rover_shortcut_check(struct rover_qp *qp, const struct sk_buff *skb);

/**
 * rover_shortcut_note_arrival() - open the peer's shortcut if not observed
 * @qp: receiver of @skb
 * @skb: verified to be the peer's; ignored if it came by the shortcut, as it
 *	has no skb_iif then
 * Context: softirqs off, under rcu_read_lock().
 */
static inline void rover_shortcut_note_arrival(struct rover_qp *qp,
					       const struct sk_buff *skb)
{
	if (skb->skb_iif &&
	    READ_ONCE(qp->shortcut.rx_checked) != (u32)jiffies)
		rover_shortcut_check(qp, skb);
}

/**
 * rover_shortcut_take() - hand over an skb, or queue it
 * @qp: sender, referenced by @skb
 * @skb: routed; data at the IP header
 * Context: under rcu_read_lock(), softirqs off.
 * Return: false if the stack can send it now.
 */
bool rover_shortcut_take(struct rover_qp *qp, struct sk_buff *skb);

/**
 * rover_shortcut_same() - test whether two senders may share a train
 * @one: sender
 * @other: sender
 *
 * Not if only one uses the shortcut: packets would be overtaken.
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
 * rover_shortcut_close() - stop using the shortcut
 * @qp: sender whose path has changed
 * Context: any.
 */
static inline void rover_shortcut_close(struct rover_qp *qp)
{
	/*
	 * Pairs with smp_mb() in rover_shortcut_check(): remote_qpn is visible
	 * before ->out_dev clears.
	 */
	smp_mb();
	WRITE_ONCE(qp->shortcut.out_dev, NULL);
}

/**
 * rover_shortcut_init() - set up at module load
 * @receive: softirq; consumes @skb, data at the IP header; @rnet may be gone
 * @send: softirq; sends @skb by the stack
 */
void rover_shortcut_init(void (*receive)(struct sk_buff *skb,
					 const struct rover_net *rnet),
			 void (*send)(struct sk_buff *skb));

/**
 * rover_shortcut_exit() - at module unload, after the last send
 */
void rover_shortcut_exit(void);

#endif /* ROVER_SHORTCUT_H */
