// SPDX-License-Identifier: GPL-2.0
/*
 * timer - timers of a queue pair: ACK timeout and RNR wait, pacing
 *
 * Calls completer and run, which retransmit may not. Softirq; takes tx_lock.
 */
#include "rc/completer.h"
#include "rc/recovery.h"
#include "rc/retransmit.h"
#include "run/run.h"
#include "run/timer.h"

static enum hrtimer_restart timer_rtx_expired(struct hrtimer *timer)
{
	struct rover_qp *qp = container_of(timer, struct rover_qp, rtx.timer);

	spin_lock(&qp->tx_lock);
	if (qp->alive) {
		rover_recovery_expired(qp);
		if (!rover_retransmit_expired(qp))
			rover_completer_dead(qp);
	}
	spin_unlock(&qp->tx_lock);
	rover_run(qp);
	return HRTIMER_NORESTART;
}

/* The next train may be sent. */
static enum hrtimer_restart timer_pace_expired(struct hrtimer *timer)
{
	struct rover_qp *qp = container_of(timer, struct rover_qp, cc.timer);

	rover_qp_set_work(qp, ROVER_WORK_TX);
	rover_run(qp);
	return HRTIMER_NORESTART;
}

void rover_timer_init(struct rover_qp *qp)
{
	hrtimer_setup(&qp->rtx.timer, timer_rtx_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&qp->cc.timer, timer_pace_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

void rover_timer_stop(struct rover_qp *qp)
{
	hrtimer_cancel(&qp->rtx.timer);
	hrtimer_cancel(&qp->cc.timer);
}
