// SPDX-License-Identifier: GPL-2.0
/* cc - congestion control: calls the algorithm of a queue pair */
#include <linux/indirect_call_wrapper.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/string.h>

#include "rc/cc.h"
#include "rc/cc_ops.h"
#include "tx/train.h"

static const struct rover_cc_ops * const cc_all[] = {
	&rover_cc_window,
	&rover_cc_dcqcn,
};

const struct rover_cc_ops * const rover_cc_default = &rover_cc_window;

const struct rover_cc_ops *rover_cc_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cc_all); i++)
		if (!strcmp(cc_all[i]->name, name))
			return cc_all[i];
	return NULL;
}

const char *rover_cc_name(const struct rover_cc_ops *ops)
{
	return ops->name;
}

void rover_cc_names(char *buf, size_t size)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < ARRAY_SIZE(cc_all); i++)
		len += scnprintf(buf + len, size - len, "%s%s", i ? " " : "",
				 cc_all[i]->name);
}

void rover_cc_config_init(struct rover_cc_config *config)
{
	unsigned int i;

	WRITE_ONCE(config->ops, NULL);
	for (i = 0; i < ROVER_DCQCN_KNOB_COUNT; i++)
		WRITE_ONCE(config->dcqcn[i], rover_dcqcn_knobs[i].value);
}

/* UC has no ACKs, which algorithms need; nothing limits it. */
static const struct rover_cc_ops *cc_choose(const struct rover_qp *qp)
{
	if (qp->transport == ROVER_TRANSPORT_UC)
		return &rover_cc_window;
	return READ_ONCE(qp->dev->cc.ops) ?: READ_ONCE(qp->dev->rnet->cc_ops);
}

void rover_cc_init(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;

	lockdep_assert_held(&qp->tx_lock);
	memset_startat(cc, 0, ops);
	cc->train = ROVER_TRAIN_MAX;
	cc->quantum = ROVER_TRAIN_MAX;
	cc->active = jiffies;
	cc->ops = cc_choose(qp);
	cc->ops->init(qp);
}

void rover_cc_acked(struct rover_qp *qp, u32 packets)
{
	struct rover_cc *cc = &qp->cc;

	lockdep_assert_held(&qp->tx_lock);
	cc->active = jiffies;
	cc->acked += packets;
	if (cc->acked > ROVER_CC_LOSS_MEMORY + 2 * cc->packets) {
		cc->acked /= 2;
		cc->lost /= 2;
	}
	INDIRECT_CALL_1(cc->ops->acked, rover_cc_window_acked, qp, packets);
}

void rover_cc_rtt_sample(struct rover_qp *qp, u64 rtt, u64 now)
{
	struct rover_cc *cc = &qp->cc;

	lockdep_assert_held(&qp->tx_lock);
	if (!cc->min_rtt || rtt < cc->min_rtt)
		cc->min_rtt = rtt;
	INDIRECT_CALL_1(cc->ops->rtt_sample, rover_cc_window_rtt_sample, qp,
			rtt, now);
}

void rover_cc_flight(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.ops->flight(qp);
}

void rover_cc_lost(struct rover_qp *qp, u32 lost, u64 now)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.lost += lost;
	qp->cc.ops->lost(qp, lost, now);
}

void rover_cc_undo(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.ops->undo(qp);
}

void rover_cc_marked(struct rover_qp *qp, bool cnp)
{
	lockdep_assert_held(&qp->tx_lock);
	/* XRC targets and queue pairs before RTS send nothing. */
	if (qp->cc.ops)
		qp->cc.ops->marked(qp, cnp);
}

void rover_cc_tick(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	if (qp->cc.ops->tick)
		qp->cc.ops->tick(qp, ktime_get_ns());
}

void rover_cc_idle(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.active = jiffies;
	if (qp->cc.ops->idle)
		qp->cc.ops->idle(qp);
}

void rover_cc_probe(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->cc.ops->probe(qp);
}
