// SPDX-License-Identifier: GPL-2.0
/*
 * plug - share trains between queue pairs
 *
 * The poller, and netrx for a train, plug while they run several queue pairs. A
 * train of small packets that stays in this kernel then waits for those of the
 * next queue pairs. It is sent when full, when one of them has another route,
 * or at the end. Its UDP source ports may differ (decision 0030). IPv4
 * identifications in a train are consecutive, so a plug has a counter.
 *
 * Softirqs stay off: no lock.
 */
#include <linux/percpu.h>

#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "tx/nettx.h"
#include "tx/plug.h"
#include "tx/shortcut.h"

/**
 * struct plug_state - plug of one CPU
 * @open: nesting of rover_plug_start()
 * @ip_id: counter of IPv4 identifications
 * @waiting: train with a reference to its last queue pair, and a route by RCU;
 *	do not use its path, which may change
 */
struct plug_state {
	unsigned int open;
	u16 ip_id;
	struct rover_train waiting;
};

static DEFINE_PER_CPU(struct plug_state, plug_states);

static void plug_flush(struct plug_state *plug)
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
	this_cpu_inc(plug_states.open);
}

void rover_plug_finish(void)
{
	struct plug_state *plug = this_cpu_ptr(&plug_states);

	plug->open--;
	plug_flush(plug);
	rcu_read_unlock();
}

static bool plug_peer_has_backlog(const struct rover_qp *qp)
{
	const struct rover_qp *peer = rover_affinity_peer(qp);

	return peer && READ_ONCE(peer->backlog.owner);
}

/*
 * A queue pair with losses (@max) must not lose packets of others. A shared
 * train would overtake a backlog (long messages), or wait in it as a whole.
 */
static bool plug_may_share(const struct rover_qp *qp, unsigned int max)
{
	return max == ROVER_TRAIN_MAX && qp->path.l3 != ROVER_L3_GRH &&
	       rover_transport_reliable(qp->transport) &&
	       !READ_ONCE(qp->req.long_wr) && !READ_ONCE(qp->rsp.long_tx) &&
	       !plug_peer_has_backlog(qp);
}

void rover_plug_begin(struct rover_train *train, struct rover_qp *qp,
		      u16 *ip_id, unsigned int max)
{
	struct plug_state *plug = this_cpu_ptr(&plug_states);
	struct rover_train *waiting = &plug->waiting;
	bool shares = plug->open && plug_may_share(qp, max);
	struct rover_qp *last_qp = waiting->qp;

	rover_train_begin(train, qp, shares ? &plug->ip_id : ip_id, max);
	if (!waiting->head)
		return;
	if (shares && last_qp->dev == qp->dev &&
	    rover_shortcut_same(last_qp, qp) &&
	    rover_nettx_same_route(&qp->path, waiting->head)) {
		rover_train_take_over(train, waiting);
		rover_qp_put(last_qp);
	} else {
		/* It may hold packets of @qp, which must stay in order. */
		plug_flush(plug);
	}
}

void rover_plug_send(struct rover_train *train)
{
	struct plug_state *plug = this_cpu_ptr(&plug_states);

	if (train->ip_id != &plug->ip_id || !rover_train_may_share(train) ||
	    (!train->head->dev &&
	     !rover_nettx_route(train->path, train->head))) {
		rover_train_send(train);
		return;
	}
	rover_train_trace(train);
	rover_qp_get(train->qp);
	plug->waiting = *train;
	plug->waiting.shared_packets = train->packets;
	train->head = NULL;
}
