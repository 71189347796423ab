// SPDX-License-Identifier: GPL-2.0
/* cc - congestion control: calls the algorithm of a queue pair */
#include <linux/indirect_call_wrapper.h>

#include "rc/cc.h"
#include "rc/cc_ops.h"
#include "tx/train.h"

void rover_cc_init(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;

	lockdep_assert_held(&qp->tx_lock);
	memset(cc, 0, sizeof(*cc));
	cc->train = ROVER_TRAIN_MAX;
	cc->ops = &rover_cc_window;
	cc->ops->init(qp);
}

void rover_cc_acked(struct rover_qp *qp, u32 packets)
{
	lockdep_assert_held(&qp->tx_lock);
	INDIRECT_CALL_1(qp->cc.ops->acked, rover_cc_window_acked, qp, packets);
}

void rover_cc_rtt_sample(struct rover_qp *qp, u64 rtt)
{
	struct rover_cc *cc = &qp->cc;

	lockdep_assert_held(&qp->tx_lock);
	if (!cc->min_rtt || rtt < cc->min_rtt)
		cc->min_rtt = rtt;
	INDIRECT_CALL_1(cc->ops->rtt_sample, rover_cc_window_rtt_sample, qp,
			rtt);
}

void rover_cc_flight(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.ops->flight(qp);
}

void rover_cc_lost(struct rover_qp *qp, u32 lost, u64 now)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.ops->lost(qp, lost, now);
}

void rover_cc_undo(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.ops->undo(qp);
}

void rover_cc_marked(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.ops->marked(qp);
}

void rover_cc_probe(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.ops->probe(qp);
}
