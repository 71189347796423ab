// SPDX-License-Identifier: GPL-2.0
/*
 * cc_window - the algorithm "window": a congestion window
 *
 * The window doubles in a round trip until packets wait in a queue.  Then it
 * grows by an eighth in a round trip, or with queues or after a reduction by at
 * most 4 KiB, which makes flows fair.
 *
 * Long round trips reduce the window to the packets that the peer handles in
 * MAX_QUEUEING, but leave eight: the peer may be slow, or busy.  Losses reduce
 * it once in a round trip if packets waited or if many are lost, but leave two:
 * the network may lose some without being congested.  ECN marks reduce it by
 * half of alpha, which grows in round trips with marks and fades in others, as
 * in DCTCP.  They come from a queue for certain, and may leave a part of a
 * packet; packets are paced then.
 *
 * See decisions 0048 and 0049.
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

/* Smallest windows: after marks, losses, long round trips, and timeouts */
#define MIN_WINDOW	(ONE / 32)
#define MIN_LOSS	(2 * ONE)
#define MIN_DELAY	(8 * ONE)
/* A window of so many packets opens by few ACKs: see ask_often. */
#define LARGE		32
/* A packet must not wait longer for the next one: see RTO_MIN. */
#define MAX_INTERVAL	(32 * NSEC_PER_MSEC)

/* Shorter queues are noise. */
#define QUEUED_NS	(20 * NSEC_PER_USEC)
/* Round trips after a reduction until the window grows by an eighth again */
#define CALM_ROUNDS	8

/* A loss with queues leaves so much of the window. */
#define LOSS_TENTHS	7

/*
 * Growth in a round trip with queues; after a reduction an eighth of the window,
 * within these bounds: bytes
 */
#define GROWTH_BYTES	4096
#define GROWTH_LEAST	512

/*
 * Longest queueing at the peer: below the shortest timeout (rto), above
 * the time of two megabytes on a veth pair.
 */
#define MAX_QUEUEING	(8 * NSEC_PER_MSEC)

/* Unit and first value of alpha; divisor of its change per round trip. */
#define ALPHA_ONE	1024
#define ALPHA_GAIN	16
/* Least that counts: the window of many flows is a part of a packet. */
#define ALPHA_LEAST	(ALPHA_ONE / 4)

/* No packet is in flight for longer. */
#define MAX_INFLIGHT_NS	NSEC_PER_SEC

#define DEFAULT_RTT	(100 * NSEC_PER_USEC)

static u64 window_rtt(const struct rover_qp *qp)
{
	return qp->rtx.srtt ?: DEFAULT_RTT;
}

static u32 window_start(const struct rover_qp *qp)
{
	return max_t(u32, START_BYTES >> qp->mtu_shift, START_PACKETS) << SHIFT;
}

/* Return the least window with which MAX_INTERVAL is kept. */
static u32 window_least(const struct rover_qp *qp)
{
	u64 least = div64_u64(window_rtt(qp) * ONE, MAX_INTERVAL);

	return clamp_t(u64, least, MIN_WINDOW, ONE);
}

/* Set the window and the outputs. */
static void window_set(struct rover_qp *qp, u32 cwnd)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;
	u64 bytes;

	if (cwnd < ONE)
		cwnd = max(cwnd, window_least(qp));
	win->cwnd = min(cwnd, win->max);
	cc->packets = max(win->cwnd >> SHIFT, 1);
	if (cc->packets >= LARGE)
		cc->ask_often = false;
	if (win->cwnd < ONE) {
		bytes = (u64)win->cwnd << qp->mtu_shift >> SHIFT;
		rover_pace_set(qp, div64_u64(bytes * NSEC_PER_SEC,
					     window_rtt(qp)) ?: 1);
	} else if (cc->rate) {
		rover_pace_set(qp, 0);
	}
}

/* One event of congestion may show in several ways. */
static bool window_may_reduce(const struct rover_qp *qp, u64 now)
{
	const struct rover_cc_win *win = &qp->cc.win;

	return !win->cut_at || now - win->cut_at >= window_rtt(qp);
}

static void window_reduce(struct rover_qp *qp, u32 cwnd, u64 now)
{
	struct rover_cc_win *win = &qp->cc.win;

	win->cut_at = now;
	qp->cc.ask_often = true;
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
	qp->cc.ask_often = true;
	window_set(qp, window_start(qp));
	window_flight(qp);
}

/* Growth ********************************************************************/

static bool window_was_reduced(const struct rover_qp *qp)
{
	const struct rover_cc_win *win = &qp->cc.win;

	return win->cut_at && ktime_get_ns() - win->cut_at <=
			      CALM_ROUNDS * window_rtt(qp);
}

/* Return the growth above ssthresh for a packet per window. */
static u32 window_step(const struct rover_qp *qp)
{
	u32 cwnd = qp->cc.win.cwnd;
	u32 least = GROWTH_LEAST << SHIFT >> qp->mtu_shift;
	u32 most = GROWTH_BYTES << SHIFT >> qp->mtu_shift;

	if (window_was_reduced(qp))
		most = clamp(cwnd / 8, least, most);
	else if (!qp->cc.win.queued)
		most = max(cwnd / 8, least);
	return min(cwnd, most);
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
	return 2 * (rover_qp_unacked(qp) + acked) >= qp->cc.packets;
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
	cc->train = min_t(u32, cc->train * 2, ROVER_TRAIN_MAX);
}

/* Delay **********************************************************************/

/*
 * Test whether packets wait in a queue: round trips are longer than the
 * shortest by more than half and than they usually differ.
 */
static bool window_is_queued(const struct rover_qp *qp)
{
	u64 min_rtt = qp->cc.min_rtt;

	return qp->rtx.srtt > min_rtt + min_rtt / 2 + 2 * qp->rtx.rttvar +
			      QUEUED_NS;
}

void rover_cc_window_rtt_sample(struct rover_qp *qp, u64 rtt, u64 now)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;
	u64 limit;

	/* Slow with the smallest window: the path has become longer. */
	if (win->rtt_high && win->cwnd <= MIN_DELAY)
		cc->min_rtt = rtt;
	win->max = rover_cc_max_packets(qp) << SHIFT;
	win->queued = window_is_queued(qp);
	if (win->queued)
		win->ssthresh = min(win->ssthresh, win->cwnd);
	limit = 2 * cc->min_rtt + MAX_QUEUEING;
	win->rtt_high = rtt > limit;
	if (win->rtt_high)
		window_set(qp, max_t(u32, min(win->cwnd, MIN_DELAY),
				     div64_u64(win->cwnd * limit, rtt)));
	else if (cc->rate)
		window_set(qp, win->cwnd);
}

/* Losses *********************************************************************/

static void window_lost(struct rover_qp *qp, u32 lost, u64 now)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;
	u32 cwnd = win->cwnd / 10 * LOSS_TENTHS;

	win->rtt_high = false;
	if (!window_may_reduce(qp, now) ||
	    (!win->queued && !rover_cc_lost_many(qp)))
		return;
	window_reduce(qp, max(cwnd, min(win->cwnd, MIN_LOSS)), now);
	rover_cc_forget_losses(qp);
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

	win->rtt_high = false;
	if (win->cwnd > MIN_DELAY)
		win->ssthresh = max(win->cwnd / 2, MIN_DELAY);
	window_set(qp, min(win->cwnd, ONE));
	cc->train = 1;
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

/* Return @cwnd without half of @alpha. */
static u32 window_less(u32 cwnd, u32 alpha)
{
	return cwnd - (u64)cwnd * alpha / (2 * ALPHA_ONE);
}

static void window_marked(struct rover_qp *qp, bool cnp)
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
	if (window_may_reduce(qp, now)) {
		window_reduce(qp, window_less(win->cwnd, alpha), now);
		/* If losses turn out to be none, the mark still counts. */
		win->undo_cwnd = window_less(win->undo_cwnd, alpha);
		win->undo_ssthresh = min(win->undo_ssthresh, win->undo_cwnd);
	}
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
	.probe = window_probe,
};
