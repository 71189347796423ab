/* SPDX-License-Identifier: GPL-2.0 */
/* backlog - packets that another context is to receive */
#ifndef ROVER_BACKLOG_H
#define ROVER_BACKLOG_H

#include <linux/skbuff.h>

#include "qp/qp.h"

/**
 * rover_backlog_queue() - queue a packet for another context, if need be
 * @qp: addressed queue pair
 * @skb: packet or train
 * @response: goes to the requester
 *
 * Full backlogs drop and count.
 * Context: softirq, under rcu_read_lock().
 * Return: true if @skb was queued or dropped; false: receive it here.
 */
bool rover_backlog_queue(struct rover_qp *qp, struct sk_buff *skb,
			 bool response);

/**
 * rover_backlog_doorbell() - run a user QP after its doorbell
 * @qp: found under RCU, work bits set
 * Context: process, under rcu_read_lock().
 */
void rover_backlog_doorbell(struct rover_qp *qp);

/* Callback of rover_affinity_init(). */
void rover_backlog_worker(struct rover_kick *heavy);

#endif /* ROVER_BACKLOG_H */
