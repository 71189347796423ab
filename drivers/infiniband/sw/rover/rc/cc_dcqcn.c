// SPDX-License-Identifier: GPL-2.0
/*
 * cc_dcqcn - the algorithm "dcqcn": rates that follow CNPs
 *
 * As in "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM 2015),
 * with the knobs of mlx5 (cc_config.h).  A CNP makes the current rate the target
 * and reduces it by a part of alpha, which tells how often CNPs come.  Then the
 * rate increases with time and with bytes: half way to the target at first, and
 * then the target increases, too.
 *
 * There is no rate before the first CNP, and none again when it has reached the
 * maximum.  A window bounds what is in flight on a path that is dead or drops
 * packets.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "core/cc_config.h"
#include "rc/cc_ops.h"
#include "rc/pace.h"
#include "tx/train.h"
#include "wire/psn.h"

#define START_PACKETS	16

#define MBITS		125000ULL	/* bytes per second */
/* Above this, a flow is not limited. */
#define MAX_RATE	(1000000 * MBITS)

#define ALPHA_ONE	1024

/* Increases per call: more time is forgotten. */
#define MAX_STEPS	64

/* Before a round trip was measured */
#define FIRST_RTT	NSEC_PER_MSEC

/*
 * A window takes what the rate sends in so many round trips, and this time.  It
 * has START_PACKETS more, or what the rate sends in SLACK_US if that is less:
 * ACKs must come before the shortest timeout (rto).
 */
#define WINDOW_RTTS	2
#define WINDOW_NS	(100 * NSEC_PER_USEC)
#define SLACK_US	(8 * USEC_PER_MSEC)

const struct rover_dcqcn_knob_info
	rover_dcqcn_knobs[ROVER_DCQCN_KNOB_COUNT] = {
#define X(name, value, least, greatest) { #name, value, least, greatest },
	ROVER_DCQCN_KNOBS(X)
#undef X
};

#define KNOB(qp, name)	READ_ONCE((qp)->dev->cc.dcqcn[ROVER_DCQCN_##name])

static u64 dcqcn_max_rate(const struct rover_qp *qp)
{
	u32 max = KNOB(qp, rpg_max_rate);

	return max ? max * MBITS : MAX_RATE;
}

/* If the minimum is set to more, a CNP still leaves half of the maximum. */
static u64 dcqcn_min_rate(const struct rover_qp *qp)
{
	return min(KNOB(qp, rpg_min_rate) * MBITS, dcqcn_max_rate(qp) / 2);
}

/* Return the packets that the rate sends in @us, at most ten seconds. */
static u64 dcqcn_packets_in(const struct rover_qp *qp, u64 us)
{
	u64 rate = min(qp->cc.dcqcn.rate, MAX_RATE);

	return div64_u64(rate * min_t(u64, us, 10 * USEC_PER_SEC),
			 (u64)USEC_PER_SEC << qp->mtu_shift);
}

static u32 dcqcn_window(const struct rover_qp *qp)
{
	u64 time = div_u64(WINDOW_RTTS * qp->rtx.srtt + WINDOW_NS,
			   NSEC_PER_USEC);
	u64 packets = dcqcn_packets_in(qp, time) + 1;

	packets += min_t(u64, dcqcn_packets_in(qp, SLACK_US),
			 START_PACKETS);
	return min_t(u64, packets, qp->cc.dcqcn.bound);
}

/* Set the outputs. */
static void dcqcn_apply(struct rover_qp *qp)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;

	qp->cc.packets = max(d->rate ? dcqcn_window(qp) : d->bound, 1);
	qp->cc.tick = KNOB(qp, rpg_time_reset) * NSEC_PER_USEC;
	if (d->rate || qp->cc.rate)
		rover_pace_set(qp, d->rate);
}

static void dcqcn_init(struct rover_qp *qp)
{
	qp->cc.dcqcn.bound = START_PACKETS;
	dcqcn_apply(qp);
}

/* Alpha **********************************************************************/

/* Return @x, with 16 bits after the point, to the power of @n. */
static u32 dcqcn_power(u32 x, u64 n)
{
	u64 result = 1 << 16;

	for (; n && result; n >>= 1) {
		if (n & 1)
			result = result * x >> 16;
		x = (u64)x * x >> 16;
	}
	return result;
}

/* Alpha fades in each period without a CNP. */
static void dcqcn_fade_alpha(struct rover_qp *qp, u64 now)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;
	u64 period = KNOB(qp, dce_tcp_rtt) * NSEC_PER_USEC;
	u64 periods = div64_u64(now - d->alpha_at, period);
	u32 left = KNOB(qp, dce_tcp_g) << 6;

	d->alpha_at += periods * period;
	d->alpha = (u64)d->alpha * dcqcn_power(left, periods) >> 16;
}

static void dcqcn_raise_alpha(struct rover_qp *qp)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;
	u32 g = KNOB(qp, dce_tcp_g);

	d->alpha = (d->alpha * g >> 10) + ALPHA_ONE - g;
}

/* Increase *******************************************************************/

static void dcqcn_increase(struct rover_qp *qp)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;
	u32 threshold = KNOB(qp, rpg_threshold);

	if (min(d->time_stage, d->byte_stage) > threshold)
		d->target += KNOB(qp, rpg_hai_rate) * MBITS;
	else if (max(d->time_stage, d->byte_stage) > threshold)
		d->target += KNOB(qp, rpg_ai_rate) * MBITS;
	d->rate = (d->rate + d->target) / 2;
}

static void dcqcn_note_time(struct rover_qp *qp, u64 now)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;
	u64 period = KNOB(qp, rpg_time_reset) * NSEC_PER_USEC;
	u64 steps = div64_u64(now - d->time_at, period);

	d->time_at += steps * period;
	d->time_increased |= steps;
	for (steps = min_t(u64, steps, MAX_STEPS); steps; steps--) {
		d->time_stage = min(d->time_stage + 1, U8_MAX);
		dcqcn_increase(qp);
	}
}

/* Bytes count when they are acknowledged; not all packets are full. */
static void dcqcn_note_bytes(struct rover_qp *qp, u32 packets)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;
	u64 acked = min(qp->cc.sent, (u64)packets << qp->mtu_shift);
	u32 period = KNOB(qp, rpg_byte_reset), steps;

	qp->cc.sent -= acked;
	d->bytes += acked;
	for (steps = 0; d->bytes >= period && steps < MAX_STEPS; steps++) {
		d->bytes -= period;
		d->byte_stage = min(d->byte_stage + 1, U8_MAX);
		d->byte_increased = true;
		dcqcn_increase(qp);
	}
	if (steps == MAX_STEPS)
		d->bytes = 0;
	/* Packets that were sent twice are acknowledged once. */
	if (!rover_qp_unacked(qp))
		qp->cc.sent = 0;
}

static void dcqcn_acked(struct rover_qp *qp, u32 packets)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;

	d->bound = min(d->bound + packets, rover_cc_max_packets(qp));
	d->flight = max(d->flight - d->flight / 8,
			rover_qp_unacked(qp) + packets);
	qp->cc.train = min_t(u32, qp->cc.train * 2, ROVER_TRAIN_MAX);
	if (d->rate)
		dcqcn_note_bytes(qp, packets);
	dcqcn_apply(qp);
}

static void dcqcn_tick(struct rover_qp *qp, u64 now)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;

	if (!d->rate)
		return;
	dcqcn_note_time(qp, now);
	if (d->rate >= dcqcn_max_rate(qp))
		d->rate = 0;
	dcqcn_apply(qp);
}

static void dcqcn_rtt_sample(struct rover_qp *qp, u64 rtt, u64 now)
{
	dcqcn_apply(qp);
}

/* Reduction ******************************************************************/

/*
 * The rate until now, which nothing limited.  A CNP may come before the first
 * ACK, or behind the last one of a burst.
 */
static u64 dcqcn_measure(const struct rover_qp *qp)
{
	u64 packets = max(rover_qp_unacked(qp), qp->cc.dcqcn.flight) ?:
		      START_PACKETS;

	return div64_u64((packets << qp->mtu_shift) * NSEC_PER_SEC,
			 qp->rtx.srtt ?: FIRST_RTT);
}

/* Return true if the first rate is one that an administrator has set. */
static bool dcqcn_limit(struct rover_qp *qp, u64 now)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;
	u64 first = KNOB(qp, rate_to_set_on_first_cnp) * MBITS;
	u64 max = dcqcn_max_rate(qp);

	d->rate = clamp(first ?: dcqcn_measure(qp), dcqcn_min_rate(qp), max);
	d->target = d->rate;
	d->alpha = KNOB(qp, initial_alpha_value);
	d->alpha_at = now;
	return first && d->rate < max;
}

static void dcqcn_reduce(struct rover_qp *qp)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;
	u64 cut = d->rate * d->alpha >> KNOB(qp, rpg_gd);
	u64 least = div_u64(d->rate * KNOB(qp, rpg_min_dec_fac), 100);

	if (KNOB(qp, clamp_tgt_rate) || d->byte_increased ||
	    (KNOB(qp, clamp_tgt_rate_after_time_inc) && d->time_increased))
		d->target = d->rate;
	least = max(least, dcqcn_min_rate(qp));
	d->rate = min(d->rate, max(d->rate - min(cut, d->rate), least));
}

static void dcqcn_cnp(struct rover_qp *qp, u64 now)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;
	u64 period = KNOB(qp, rate_reduce_monitor_period) * NSEC_PER_USEC;

	if (!d->rate) {
		if (!dcqcn_limit(qp, now))
			dcqcn_reduce(qp);
	} else {
		dcqcn_fade_alpha(qp, now);
		dcqcn_raise_alpha(qp);
		if (now - d->cut_at < period)
			return;
		dcqcn_reduce(qp);
	}
	d->cut_at = now;
	d->time_at = now;
	d->bytes = 0;
	d->time_stage = 0;
	d->byte_stage = 0;
	d->time_increased = false;
	d->byte_increased = false;
	dcqcn_apply(qp);
}

static void dcqcn_marked(struct rover_qp *qp, bool cnp)
{
	if (cnp)
		dcqcn_cnp(qp, ktime_get_ns());
}

/* Losses are none of DCQCN's signs, but many of them show a full queue. */
static void dcqcn_lost(struct rover_qp *qp, u32 lost, u64 now)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;

	if (now - d->cut_at < qp->rtx.srtt || !rover_cc_lost_many(qp))
		return;
	rover_cc_forget_losses(qp);
	d->bound = max(d->bound / 2, 1);
	qp->cc.train = max(qp->cc.train / 2, 4);
	dcqcn_cnp(qp, now);
}

static void dcqcn_flight(struct rover_qp *qp)
{
	qp->cc.dcqcn.undo_bound = qp->cc.dcqcn.bound;
}

static void dcqcn_undo(struct rover_qp *qp)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;

	d->bound = max(d->bound, d->undo_bound);
	dcqcn_apply(qp);
}

static void dcqcn_probe(struct rover_qp *qp)
{
	qp->cc.dcqcn.bound = 1;
	qp->cc.train = 1;
	dcqcn_apply(qp);
}

/* The rate stays, as in hardware. */
static void dcqcn_idle(struct rover_qp *qp)
{
	struct rover_cc_dcqcn *d = &qp->cc.dcqcn;

	d->bound = min(d->bound, START_PACKETS);
	dcqcn_apply(qp);
}

const struct rover_cc_ops rover_cc_dcqcn = {
	.name = "dcqcn",
	.init = dcqcn_init,
	.acked = dcqcn_acked,
	.rtt_sample = dcqcn_rtt_sample,
	.flight = dcqcn_flight,
	.lost = dcqcn_lost,
	.undo = dcqcn_undo,
	.marked = dcqcn_marked,
	.tick = dcqcn_tick,
	.idle = dcqcn_idle,
	.probe = dcqcn_probe,
};
