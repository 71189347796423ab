// SPDX-License-Identifier: GPL-2.0
/*
 * pace - send at most at a rate
 *
 * A train is sent when the time of all bytes before it is over; a timer runs the
 * queue pair then.  If the timer was late, the queue pair sends the bytes of that
 * time without a pause, at most one quantum of them.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "rc/pace.h"
#include "tx/train.h"

/* A train takes a part of the round trip, within bounds. */
#define QUANTUM_PART	4
#define QUANTUM_MIN	(50 * NSEC_PER_USEC)
#define QUANTUM_MAX	NSEC_PER_MSEC

/* Ethernet, IP, UDP, BTH, ICRC */
#define OVERHEAD	86

/* cost is in ns per byte, times 1 << COST_SHIFT. */
#define COST_SHIFT	16

static u64 pace_quantum_ns(const struct rover_qp *qp)
{
	return clamp_t(u64, qp->rtx.srtt / QUANTUM_PART, QUANTUM_MIN,
		       QUANTUM_MAX);
}

/*
 * Change pace_at to the time that the bytes before it take at the new rate.  They
 * are less than a gigabyte: the product fits in 64 bits.
 */
static void pace_rescale(struct rover_cc *cc, u64 rate)
{
	u64 now = ktime_get_ns();

	if (cc->pace_at > now)
		cc->pace_at = now + div64_u64((cc->pace_at - now) * cc->rate,
					      rate);
}

void rover_pace_set(struct rover_qp *qp, u64 rate)
{
	struct rover_cc *cc = &qp->cc;
	u64 quantum;

	lockdep_assert_held(&qp->tx_lock);
	if (rate == cc->rate)
		return;
	/* pace_at is of a rate that has ended: the queue pair owes nothing. */
	if (!cc->rate)
		cc->pace_at = 0;
	else if (rate)
		pace_rescale(cc, rate);
	cc->rate = rate;
	cc->quantum = ROVER_TRAIN_MAX;
	if (!rate)
		return;
	cc->cost = div64_u64((u64)NSEC_PER_SEC << COST_SHIFT, rate) ?: 1;
	quantum = div64_u64(pace_quantum_ns(qp) << COST_SHIFT, cc->cost);
	cc->quantum = clamp_t(u64, quantum >> qp->mtu_shift, 1,
			      ROVER_TRAIN_MAX);
}

bool rover_pace_waits(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->tx_lock);
	if (now < cc->pace_at) {
		u64 wait = cc->pace_at - now;

		/* Each timer takes time: an administrator may set a short tick. */
		if (cc->tick)
			wait = min(wait, max(cc->tick, QUANTUM_MIN));
		hrtimer_start(&cc->timer, ns_to_ktime(now + wait),
			      HRTIMER_MODE_ABS_SOFT);
		return true;
	}
	cc->pace_at = max(cc->pace_at, now - pace_quantum_ns(qp));
	return false;
}

void rover_pace_sent(struct rover_qp *qp, u32 bytes, u32 packets)
{
	struct rover_cc *cc = &qp->cc;

	lockdep_assert_held(&qp->tx_lock);
	cc->sent += bytes;
	cc->pace_at += (bytes + (u64)packets * OVERHEAD) * cc->cost >>
		       COST_SHIFT;
}

void rover_pace_stop(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	hrtimer_try_to_cancel(&qp->cc.timer);
}
