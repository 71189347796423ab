// SPDX-License-Identifier: GPL-2.0
/*
 * plug - what several queue pairs send in one go leaves in one train
 *
 * A trip through the stack costs as much as twenty small packets, and queue pairs
 * that are many have few packets each.  Whoever runs several of them in one go, to
 * look for what was posted (poller) or to receive what came in one train (netrx),
 * plugs: then a train of small packets that goes where memory carries it is not
 * sent at once, but waits for the next queue pair's, which are added to it.  It is
 * sent when it is full, when the next one's have to go another way, or at the end.
 *
 * Such packets differ in UDP source port and QPN, and not in what the stack decides
 * by: addresses, traffic class, priority and route.  A rule that asks for the source
 * port sees the first one's (decision 0030).  IPv4 identifications are in
 * order in a train (gso_segment), so a plug has a counter of its own.
 *
 * Softirqs are off from start to finish: the plug is its processor's, without a
 * lock.  What waits holds a reference to the queue pair that was last to add to it,
 * and the route by RCU.
 */
#include <linux/percpu.h>

#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "tx/nettx.h"
#include "tx/plug.h"
#include "tx/shortcut.h"

/**
 * struct plug - of one processor
 * @open: how often it was started and not finished
 * @ip_id: counter of IPv4 identifications
 * @waiting: a train, aimed, with a reference to its queue pair; its path is not
 *	looked at any more, as that may change
 */
struct plug {
	unsigned int open;
	u16 ip_id;
	struct rover_train waiting;
};

static DEFINE_PER_CPU(struct plug, plugs);

/* The train that waits, if one does, leaves. */
static void pull(struct plug *plug)
{
	struct rover_qp *qp = plug->waiting.qp;

	if (!plug->waiting.head)
		return;
	rover_train_send(&plug->waiting);
	rover_qp_put(qp);
}

void rover_plug_start(void)
{
	rcu_read_lock();
	this_cpu_inc(plugs.open);
}

void rover_plug_finish(void)
{
	struct plug *plug = this_cpu_ptr(&plugs);

	plug->open--;
	pull(plug);
	rcu_read_unlock();
}

/*
 * Does what comes to the peer wait in a line of its own?  A shared train would stand
 * in that with all that is in it, or pass it.
 */
static bool stands_in_line(const struct rover_qp *qp)
{
	const struct rover_qp *peer = rover_affinity_peer(qp);

	return peer && READ_ONCE(peer->backlog.owner);
}

/*
 * Who has lost something sends less at a time, and should not have the others'
 * packets lost with its own.  What is heavy has ways of its own (ingress), and must
 * not be passed on them by what it sends with others.
 */
static bool may_share(const struct rover_qp *qp, unsigned int max)
{
	return max == ROVER_TRAIN_MAX && qp->path.l3 != ROVER_L3_GRH &&
	       rover_transport_reliable(qp->transport) &&
	       !READ_ONCE(qp->req.long_wr) && !READ_ONCE(qp->rsp.long_tx) &&
	       !stands_in_line(qp);
}

void rover_plug_begin(struct rover_train *train, struct rover_qp *qp,
		      u16 *ip_id, unsigned int max)
{
	struct plug *plug = this_cpu_ptr(&plugs);
	struct rover_train *waiting = &plug->waiting;
	bool shares = plug->open && may_share(qp, max);
	struct rover_qp *last = waiting->qp;

	rover_train_begin(train, qp, shares ? &plug->ip_id : ip_id, max);
	if (!waiting->head)
		return;
	if (shares && last->dev == qp->dev && rover_shortcut_alike(last, qp) &&
	    rover_nettx_goes(&qp->path, waiting->head)) {
		rover_train_resume(train, waiting);
		rover_qp_put(last);
	} else {
		/* Perhaps this queue pair's own: they are not to be passed. */
		pull(plug);
	}
}

void rover_plug_send(struct rover_train *train)
{
	struct plug *plug = this_cpu_ptr(&plugs);

	if (train->ip_id != &plug->ip_id || !rover_train_may_wait(train) ||
	    (!train->head->dev && !rover_nettx_aim(train->path, train->head))) {
		rover_train_send(train);
		return;
	}
	rover_train_trace(train);
	rover_qp_get(train->qp);
	plug->waiting = *train;
	plug->waiting.others = train->packets;
	train->head = NULL;
}
