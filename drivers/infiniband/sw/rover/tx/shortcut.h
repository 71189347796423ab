/* SPDX-License-Identifier: GPL-2.0 */
/*
 * shortcut - what would only come back to this kernel is handed over
 */
#ifndef ROVER_SHORTCUT_H
#define ROVER_SHORTCUT_H

#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "qp/qp.h"

/* What rover_shortcut_came() does, once in a tick. */
void rover_shortcut_show(struct rover_qp *qp, const struct sk_buff *skb);

/**
 * rover_shortcut_came() - the peer's packet has come by the stack
 * @qp: addressee, whose peer it is
 * @skb: the packet or train; what was handed over or set aside has no interface
 *	any more, and a frame has no route
 *
 * If nobody stands on that way the peer may hand over what it sends next.
 *
 * Context: softirq, under rcu_read_lock().
 */
static inline void rover_shortcut_came(struct rover_qp *qp,
				       const struct sk_buff *skb)
{
	if (skb->dev && skb_dst(skb) &&
	    READ_ONCE(qp->shortcut.shown) != (u32)jiffies)
		rover_shortcut_show(qp, skb);
}

/**
 * rover_shortcut_take() - hand it over, if that may be
 * @qp: sender, whom it holds a reference to
 * @skb: aimed; data at its IP header
 *
 * It is received when this processor has let go of its locks and softirqs, or
 * else sent by the stack then, behind what was handed over before.
 *
 * Context: under rcu_read_lock(), softirqs off.
 * Return: true when it was taken; false when it is to go by the stack now.
 */
bool rover_shortcut_take(struct rover_qp *qp, struct sk_buff *skb);

/**
 * rover_shortcut_alike() - are packets of these two in one line?
 * @one: sender
 * @other: sender
 *
 * What one of them has sent must not be passed by a train that it shares.
 *
 * Context: any.
 */
static inline bool rover_shortcut_alike(const struct rover_qp *one,
					const struct rover_qp *other)
{
	return READ_ONCE(one->shortcut.via) == READ_ONCE(other->shortcut.via);
}

/**
 * rover_shortcut_full() - is this processor's line too long for more of this?
 * @qp: sender; what goes by the stack does not wait in the line
 *
 * Context: softirqs off.
 */
bool rover_shortcut_full(const struct rover_qp *qp);

/**
 * rover_shortcut_waiting() - is something in this processor's line?
 *
 * Perhaps of a queue pair whose packets another processor must not send meanwhile.
 *
 * Context: softirqs off.
 */
bool rover_shortcut_waiting(void);

/**
 * rover_shortcut_close() - its packets go another way from now on
 * @qp: sender
 *
 * Context: any.
 */
static inline void rover_shortcut_close(struct rover_qp *qp)
{
	/* Whom it talks to was set before: who opens it meanwhile sees that. */
	smp_mb();
	WRITE_ONCE(qp->shortcut.via, NULL);
}

/**
 * rover_shortcut_init() - at module load
 * @receive: what to do with a packet or train, data at its IP header, that is for
 *	a queue pair in namespace @rnet, which may have ended; consumes @skb; softirq
 * @send: sends by the stack what has waited for its turn; consumes @skb; softirq
 */
void rover_shortcut_init(void (*receive)(struct sk_buff *skb,
					 const struct rover_net *rnet),
			 void (*send)(struct sk_buff *skb));

/**
 * rover_shortcut_exit() - at module unload, when nobody sends any more
 */
void rover_shortcut_exit(void);

#endif /* ROVER_SHORTCUT_H */
