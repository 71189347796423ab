// SPDX-License-Identifier: GPL-2.0
/*
 * cnp - congestion notifications, in both directions
 *
 * Where a queue builds up, a router marks packets (CE in the IP header) that say
 * they can be marked, instead of losing them later.  Who receives marked data
 * tells the sender with a CNP (RoCEv2, annex A17.9.3), and that one sends less
 * (cwnd).  Answers to READs are marked as well, and the CNP is for a responder
 * that regulates them; ours sends what it is asked for, so that it is the
 * requester who asks for less.
 *
 * Softirq, or a thread that receives, under one of the queue pair's locks.
 */
#include <linux/ktime.h>

#include "qp/qp_table.h"
#include "rc/cnp.h"
#include "rc/cwnd.h"
#include "tx/train.h"

/* Time between two CNPs of a connection, in either direction. */
#define PAUSE	(50 * NSEC_PER_USEC)

static void send(struct rover_qp *qp, u16 *ip_id)
{
	static const u8 reserved[ROVER_CNP_SIZE];
	struct rover_outgoing out = {
		.opcode = ROVER_CNP,
		.data = reserved,
		.len = sizeof(reserved),
	};
	enum rover_fault fault;
	struct rover_train train;

	rover_train_begin(&train, qp, ip_id, 1);
	/* What makes it a notification is BECN, next to the number. */
	rover_train_aim(&train, &qp->path, qp->remote_qpn | ROVER_BTH_BECN);
	if (!rover_train_add(&train, &out, &fault))
		rover_qp_count(qp, ROVER_STAT_CNP_SENT);
	rover_train_send(&train);
}

void rover_cnp_marked(struct rover_qp *qp, bool response)
{
	u64 *last = response ? &qp->req.cnp_at : &qp->rsp.cnp_at;
	u64 now = ktime_get_ns();

	if (response)
		rover_cwnd_marked(qp);
	if (*last && now - *last < PAUSE)
		return;
	*last = now;
	send(qp, response ? &qp->req.ip_id : &qp->rsp.ip_id);
}

void rover_cnp_receive(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	rover_qp_count(qp, ROVER_STAT_CNP_HANDLED);
	rover_cwnd_marked(qp);
}
