// SPDX-License-Identifier: GPL-2.0
/*
 * cc_window - the algorithm "window": a congestion window
 *
 * The window doubles in a round trip until packets wait in a queue.  Then it
 * grows by an eighth in a round trip without signs of congestion, and else by
 * the same number of bytes for all, which makes flows fair.  Signs are round
 * trips that are long, ECN marks, and losses when packets waited or when many
 * are lost: the network may lose some without being congested.  Each reduces
 * the window once in a round trip; marks by half of alpha, which grows in round
 * trips with marks and fades in others, as in DCTCP.
 *
 * Below a few packets, or on a long path, packets are paced: a window may be a
 * fraction of a packet.  See decisions 0048 and 0049.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sizes.h>

#include "rc/cc_ops.h"
#include "rc/pace.h"
#include "tx/train.h"
#include "wire/psn.h"

/* Unit of windows */
#define SHIFT		8
#define ONE		(1U << SHIFT)

/* First window in bytes, and in packets */
#define START_BYTES	SZ_16K
#define START_PACKETS	4
/* When the path proves to be long, it is paced. */
#define START_LONG	SZ_64K

/* Smallest windows: of all, after losses, after long round trips */
#define MIN_WINDOW	(ONE / 32)
#define MIN_LOSS	(ONE / 8)
#define MIN_DELAY	(ONE / 16)
/* A packet must not wait longer for the next one: see RTO_MIN. */
#define MAX_INTERVAL	(32 * NSEC_PER_MSEC)

/* Shorter queues are noise. */
#define QUEUED_NS	(20 * NSEC_PER_USEC)
/* Round trips without congestion until the window grows by an eighth */
#define CALM_ROUNDS	8

/* More losses than one packet in so many are congestion, even without delay. */
#define LOSS_PART	10
/* They are counted over about so many packets, or two windows. */
#define LOSS_MEMORY	64
/* A loss with queues leaves so much of the window. */
#define LOSS_TENTHS	7

/* Growth in a round trip with queues: bytes, more if it is long */
#define GROWTH_BYTES	512
#define GROWTH_BYTES_MS	128

/*
 * Longest round trip, unless the path is long: below the shortest timeout
 * (retransmit), above the time of two megabytes on a veth pair.
 */
#define MAX_RTT		(4 * NSEC_PER_MSEC)

/*
 * When round trips are long, and none was short for a while, the queue is
 * drained: a flow that came later may never have seen it empty.  If round trips
 * are as long as those queues, this is done from time to time, and seldom if it
 * does not help.
 */
#define DRAIN_NS	(100 * NSEC_PER_MSEC)
#define DRAIN_PART	4
#define DRAIN_FIRST	(8 * NSEC_PER_MSEC)
#define DRAIN_MIN_RTT	(MAX_RTT / 4)
#define DRAIN_MAX_RTT	(4 * MAX_RTT)
#define DRAIN_MAX_GAP	(10 * NSEC_PER_SEC)
#define DRAIN_RTTS	16

/* Unit and first value of alpha; divisor of its change per round trip. */
#define ALPHA_ONE	1024
#define ALPHA_GAIN	16
/* Least that counts: the window of many flows is a part of a packet. */
#define ALPHA_LEAST	(ALPHA_ONE / 4)

/* No packet is in flight for longer. */
#define MAX_INFLIGHT_NS	NSEC_PER_SEC

#define DEFAULT_RTT	(100 * NSEC_PER_USEC)

/* Windows are paced below so many packets, and round trips above this. */
#define PACED_PACKETS	4
#define PACED_RTT	NSEC_PER_MSEC

static u64 window_rtt(const struct rover_qp *qp)
{
	return qp->rtx.srtt ?: DEFAULT_RTT;
}

static u32 window_start(const struct rover_qp *qp)
{
	return max_t(u32, START_BYTES >> qp->mtu_shift, START_PACKETS) << SHIFT;
}

/* Window per round trip, in quarters: packets leave a bit faster than needed. */
static u32 window_gain(const struct rover_cc_win *win)
{
	return win->cwnd < PACED_PACKETS << SHIFT ? 4 : 5;
}

/* The next packet must not be late: it ends the draining. */
static u32 window_drained(const struct rover_cc_win *win)
{
	return max(win->cwnd / DRAIN_PART, min(win->cwnd, ONE));
}

/* Set the outputs. */
static void window_apply(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;
	u32 cwnd = win->draining ? window_drained(win) : win->cwnd;
	u64 bytes = (u64)cwnd << qp->mtu_shift >> SHIFT;

	cc->packets = DIV_ROUND_UP(cwnd, ONE);
	if (qp->rtx.srtt && (cwnd < PACED_PACKETS << SHIFT ||
			     cc->min_rtt >= PACED_RTT))
		rover_pace_set(qp, div64_u64(bytes * window_gain(win) *
					     (NSEC_PER_SEC / 4),
					     qp->rtx.srtt) ?: 1);
	else if (cc->rate)
		rover_pace_set(qp, 0);
}

static void window_set(struct rover_qp *qp, u32 cwnd)
{
	struct rover_cc_win *win = &qp->cc.win;
	u64 min = div64_u64(window_rtt(qp) * ONE, MAX_INTERVAL);

	min = clamp_t(u64, min, MIN_WINDOW, ONE);
	win->cwnd = clamp_t(u32, cwnd, min, win->max);
	window_apply(qp);
}

/* One event of congestion may show in several ways. */
static bool window_may_reduce(const struct rover_qp *qp, u64 now)
{
	const struct rover_cc_win *win = &qp->cc.win;

	return !win->cut_at || now - win->cut_at >= window_rtt(qp);
}

static void window_drain(struct rover_qp *qp)
{
	qp->cc.win.draining = true;
	qp->cc.win.drain_rtt = qp->cc.min_rtt;
}

static void window_reduce(struct rover_qp *qp, u32 cwnd, u64 now)
{
	struct rover_cc_win *win = &qp->cc.win;

	if (!win->cut_at)
		window_drain(qp);
	win->cut_at = now;
	win->ssthresh = min(cwnd, win->cwnd);
	window_set(qp, win->ssthresh);
}

static void window_flight(struct rover_qp *qp)
{
	struct rover_cc_win *win = &qp->cc.win;

	win->undo_cwnd = win->cwnd;
	win->undo_ssthresh = win->ssthresh;
}

static void window_init(struct rover_qp *qp)
{
	struct rover_cc_win *win = &qp->cc.win;

	win->max = rover_cc_max_packets(qp) << SHIFT;
	win->ssthresh = ROVER_CC_MAX_PACKETS << SHIFT;
	win->alpha = ALPHA_ONE;
	win->drain_gap = DRAIN_FIRST;
	window_set(qp, window_start(qp));
	window_flight(qp);
}

/* Growth ********************************************************************/

/* Were there signs of congestion lately? */
static bool window_is_calm(const struct rover_qp *qp)
{
	const struct rover_cc_win *win = &qp->cc.win;

	return !win->queued &&
	       (!win->cut_at || ktime_get_ns() - win->cut_at >
				CALM_ROUNDS * window_rtt(qp));
}

/* Return the growth above ssthresh for a packet per window. */
static u32 window_step(const struct rover_qp *qp)
{
	u32 cwnd = qp->cc.win.cwnd;
	u64 bytes;

	if (window_is_calm(qp))
		return max(cwnd / 8, 1);
	bytes = max_t(u64, GROWTH_BYTES,
		      div_u64(GROWTH_BYTES_MS * window_rtt(qp), NSEC_PER_MSEC));
	return clamp_t(u64, bytes << SHIFT >> qp->mtu_shift, 1,
		       max(cwnd, 1));
}

/* Return by how much the window grows above ssthresh. */
static u32 window_growth(struct rover_qp *qp, u32 acked)
{
	struct rover_cc_win *win = &qp->cc.win;
	u32 grown;

	win->growth += (u64)acked * ONE * window_step(qp);
	grown = div_u64(win->growth, win->cwnd);
	win->growth -= (u64)grown * win->cwnd;
	return min(grown, win->cwnd);
}

/* Without more in flight the window is not what limits the flow. */
static bool window_is_used(const struct rover_qp *qp, u32 acked)
{
	return 2 * (rover_psn_diff(qp->req.next_psn, qp->req.una) + acked) >=
	       qp->cc.packets;
}

void rover_cc_window_acked(struct rover_qp *qp, u32 packets)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;

	if (!win->rtt_high && window_is_used(qp, packets)) {
		if (win->cwnd >= win->ssthresh)
			window_set(qp, win->cwnd + window_growth(qp, packets));
		else
			window_set(qp, win->cwnd +
				       packets * min(win->cwnd, ONE));
	}
	win->acked += packets;
	if (win->acked > LOSS_MEMORY + 2 * cc->packets) {
		win->acked /= 2;
		win->lost /= 2;
	}
	cc->train = min_t(u32, cc->train * 2, ROVER_TRAIN_MAX);
}

/* Delay **********************************************************************/

/*
 * Test whether packets wait in a queue: round trips are longer than the
 * shortest by more than half and than they usually differ, also the last one.
 */
static bool window_is_queued(const struct rover_qp *qp, u64 rtt)
{
	u64 limit = qp->cc.min_rtt + qp->cc.min_rtt / 2 + QUEUED_NS;

	return rtt > limit && qp->rtx.srtt > limit + 2 * qp->rtx.rttvar;
}

/*
 * The limit is the same for all flows of a short path, also for those that have
 * never seen its queue empty.
 */
static u64 window_max_rtt(const struct rover_qp *qp)
{
	return max_t(u64, MAX_RTT, qp->cc.min_rtt + qp->cc.min_rtt / 4);
}

/* The last round trip was too long. */
static void window_shorten(struct rover_qp *qp, u64 rtt, u64 limit, u64 now)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;
	u64 unseen = now - cc->min_rtt_at;
	u32 cwnd = win->cwnd / 4 * 3;

	if (unseen > DRAIN_NS + DRAIN_RTTS * cc->min_rtt)
		window_drain(qp);
	if (rtt > 2 * limit)
		cwnd = win->cwnd / 2;
	window_reduce(qp, max(cwnd, min(win->cwnd, MIN_DELAY)), now);
}

/* A round trip after draining, or after none. */
static void window_check_drained(struct rover_qp *qp, u64 rtt, u64 now)
{
	struct rover_cc_win *win = &qp->cc.win;
	u64 min_rtt = qp->cc.min_rtt;

	if (win->draining) {
		win->drain_gap = rtt < win->drain_rtt - win->drain_rtt / 8 ?
				 DRAIN_NS :
				 min_t(u64, 2 * win->drain_gap, DRAIN_MAX_GAP);
		win->drain_at = 0;
		win->draining = false;
	}
	if (!win->drain_at)
		win->drain_at = now + win->drain_gap + DRAIN_RTTS * min_rtt;
	if (now >= win->drain_at && min_rtt >= DRAIN_MIN_RTT &&
	    min_rtt <= DRAIN_MAX_RTT)
		window_drain(qp);
}

void rover_cc_window_rtt_sample(struct rover_qp *qp, u64 rtt, u64 now)
{
	struct rover_cc_win *win = &qp->cc.win;
	u64 limit = window_max_rtt(qp);

	win->max = rover_cc_max_packets(qp) << SHIFT;
	win->queued = window_is_queued(qp, rtt);
	if (win->queued)
		win->ssthresh = min(win->ssthresh, win->cwnd);
	window_check_drained(qp, rtt, now);
	if (!win->cut_at && rtt > DRAIN_MAX_RTT)
		win->cwnd = max(win->cwnd, START_LONG >> qp->mtu_shift << SHIFT);
	win->rtt_high = rtt > limit;
	if (win->rtt_high && window_may_reduce(qp, now))
		window_shorten(qp, rtt, limit, now);
	else
		window_apply(qp);
}

/* Losses *********************************************************************/

static void window_lost(struct rover_qp *qp, u32 lost, u64 now)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;

	win->rtt_high = false;
	win->lost += lost;
	if (!window_may_reduce(qp, now) ||
	    (!win->queued &&
	     win->lost <= max(win->acked, cc->packets) / LOSS_PART + 1))
		return;
	window_reduce(qp, max(win->cwnd / 10 * LOSS_TENTHS, MIN_LOSS), now);
	win->lost = 0;
	win->acked = 0;
	cc->train = max(cc->train / 2, 4);
}

static void window_undo(struct rover_qp *qp)
{
	struct rover_cc_win *win = &qp->cc.win;

	win->ssthresh = max(win->ssthresh, win->undo_ssthresh);
	window_set(qp, max(win->cwnd, win->undo_cwnd));
}

static void window_probe(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;

	window_flight(qp);
	win->rtt_high = false;
	win->ssthresh = max(win->cwnd / 2, MIN_LOSS);
	window_set(qp, min(win->ssthresh, ONE));
	cc->train = 1;
}

/* What was learned about the path is forgotten in part. */
static void window_idle(struct rover_qp *qp)
{
	struct rover_cc_win *win = &qp->cc.win;

	win->rtt_high = false;
	win->ssthresh = max(win->ssthresh, win->cwnd / 4 * 3);
	window_set(qp, min(win->cwnd, window_start(qp)));
}

/* Marks **********************************************************************/

/* Fade alpha for each round trip without a mark. */
static void window_fade_alpha(struct rover_qp *qp, u64 now)
{
	struct rover_cc_win *win = &qp->cc.win;
	u64 rtts;

	if (!win->ecn_at)
		return;
	rtts = div64_u64(now - win->ecn_at, window_rtt(qp));
	while (rtts-- > 1 && win->alpha >= ALPHA_GAIN)
		win->alpha -= win->alpha / ALPHA_GAIN;
}

static void window_marked(struct rover_qp *qp)
{
	struct rover_cc_win *win = &qp->cc.win;
	u64 now = ktime_get_ns();
	u32 alpha;

	/* Reduce once per window.  An old ecn_psn may have wrapped. */
	if (win->ecn_at && now - win->ecn_at < MAX_INFLIGHT_NS &&
	    rover_psn_diff(qp->req.una, win->ecn_psn) < 0)
		return;
	window_fade_alpha(qp, now);
	win->alpha += (ALPHA_ONE - win->alpha) / ALPHA_GAIN;
	alpha = max(win->alpha, ALPHA_LEAST);
	if (window_may_reduce(qp, now))
		window_reduce(qp, win->cwnd - (u64)win->cwnd * alpha /
				  (2 * ALPHA_ONE), now);
	win->ecn_psn = qp->req.next_psn;
	win->ecn_at = now;
}

const struct rover_cc_ops rover_cc_window = {
	.name = "window",
	.init = window_init,
	.acked = rover_cc_window_acked,
	.rtt_sample = rover_cc_window_rtt_sample,
	.flight = window_flight,
	.lost = window_lost,
	.undo = window_undo,
	.marked = window_marked,
	.idle = window_idle,
	.probe = window_probe,
};
