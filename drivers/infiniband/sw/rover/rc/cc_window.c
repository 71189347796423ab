// SPDX-License-Identifier: GPL-2.0
/*
 * cc_window - the algorithm "window": a congestion window
 *
 * Without a cwnd, which RC lacks, packets queue at the receiver until timeouts.
 * cwnd doubles in a round trip until packets wait in a queue.  Then it grows by
 * an eighth while they do not, and by GROWTH_BYTES, which makes flows fair, while
 * they do.  Long round trips shrink it to the packets the peer handles in
 * MAX_QUEUEING.  Losses shrink it once in a round trip if packets waited or if
 * many are lost: the network may lose some without being congested.
 *
 * ECN marks shrink it earlier, by half of alpha, which grows in round trips
 * with marks and fades in others, as in DCQCN.  See decisions 0007 and 0015.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sizes.h>

#include "rc/cc_ops.h"
#include "tx/train.h"
#include "wire/psn.h"

/* First window in bytes; first and smallest in packets. */
#define START_BYTES	(64 * 1024)
#define START_PACKETS	16
#define MIN_PACKETS	8
#define LOSS_PACKETS	2

/* Largest window, and that of a path of 128 Gb/s if it is longer */
#define MAX_BYTES	SZ_2M
#define MAX_BYTES_MS	SZ_16M
#define MAX_PACKETS	(1U << 21)

/* Shorter queues are noise. */
#define QUEUED_NS	(20 * NSEC_PER_USEC)
/* More losses than one packet in so many are congestion, even without delay. */
#define LOSS_PART	10

/* Growth in a round trip with queues */
#define GROWTH_BYTES	4096

/* A loss with queues leaves so much of the window. */
#define LOSS_TENTHS	7

/*
 * Longest queueing at the peer: below the shortest timeout (retransmit), above
 * the time of two megabytes on a veth pair.
 */
#define MAX_QUEUEING	(8 * NSEC_PER_MSEC)

/* Unit and first value of alpha; divisor of its change per round trip. */
#define ALPHA_ONE	1024
#define ALPHA_GAIN	16

/* No packet is in flight for longer. */
#define MAX_INFLIGHT_NS	NSEC_PER_SEC

#define DEFAULT_RTT	(100 * NSEC_PER_USEC)

static void window_flight(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;

	win->undo_packets = cc->packets;
	win->undo_ssthresh = win->ssthresh;
}

static void window_init(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;

	cc->packets = max_t(u32, START_BYTES >> qp->mtu_shift, START_PACKETS);
	win->max_packets = max_t(u32, MAX_BYTES >> qp->mtu_shift, START_PACKETS);
	win->ssthresh = MAX_PACKETS;
	win->alpha = ALPHA_ONE;
	window_flight(qp);
}

/* Return by how many packets the window grows above ssthresh. */
static u32 window_growth(struct rover_qp *qp, u32 acked)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;
	u32 step = cc->packets, grown;

	if (win->queued)
		step = min(step, 8 * max_t(u32, GROWTH_BYTES >> qp->mtu_shift, 1));
	win->growth += (u64)acked * step;
	grown = div_u64(win->growth, 8 * cc->packets);
	win->growth -= (u64)grown * 8 * cc->packets;
	return grown;
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
		if (cc->packets >= win->ssthresh)
			packets = window_growth(qp, packets);
		cc->packets = min(cc->packets + packets, win->max_packets);
	}
	cc->train = min_t(u32, cc->train * 2, ROVER_TRAIN_MAX);
}

static u32 window_max_packets(const struct rover_qp *qp)
{
	u64 rtt = min_t(u64, qp->cc.min_rtt, NSEC_PER_SEC);
	u64 bytes = div_u64(MAX_BYTES_MS * rtt, NSEC_PER_MSEC);

	bytes = max_t(u64, bytes, MAX_BYTES);
	return clamp_t(u64, bytes >> qp->mtu_shift, START_PACKETS, MAX_PACKETS);
}

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

void rover_cc_window_rtt_sample(struct rover_qp *qp, u64 rtt)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;
	u64 limit;

	/* Slow with the smallest window: the path has become longer. */
	if (win->rtt_high && cc->packets <= MIN_PACKETS)
		cc->min_rtt = rtt;
	win->max_packets = window_max_packets(qp);
	win->queued = window_is_queued(qp);
	if (win->queued)
		win->ssthresh = min(win->ssthresh, cc->packets);
	limit = 2 * cc->min_rtt + MAX_QUEUEING;
	win->rtt_high = rtt > limit;
	if (win->rtt_high)
		cc->packets = max_t(u32, min(cc->packets, MIN_PACKETS),
				    div64_u64(cc->packets * limit, rtt));
}

/* Begin to count losses anew after a round trip. */
static void window_begin_round(struct rover_qp *qp, u64 now)
{
	struct rover_cc_win *win = &qp->cc.win;

	if (now - win->round_at < (qp->rtx.srtt ?: DEFAULT_RTT))
		return;
	win->round_at = now;
	win->round_lost = 0;
	win->round_cut = false;
}

static void window_lost(struct rover_qp *qp, u32 lost, u64 now)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;

	win->rtt_high = false;
	window_begin_round(qp, now);
	win->round_lost += lost;
	if (win->round_cut ||
	    (!win->queued &&
	     win->round_lost <= cc->packets / LOSS_PART + 1))
		return;
	win->round_cut = true;
	win->ssthresh = max(cc->packets * LOSS_TENTHS / 10, LOSS_PACKETS);
	cc->packets = min(cc->packets, win->ssthresh);
	cc->train = max(cc->train / 2, 4);
}

static void window_undo(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;

	cc->packets = max(cc->packets,
			  min(win->undo_packets, win->max_packets));
	win->ssthresh = max(win->ssthresh, win->undo_ssthresh);
}

/* Fade alpha for each round trip without a mark. */
static void window_fade_alpha(struct rover_qp *qp, u64 now)
{
	struct rover_cc_win *win = &qp->cc.win;
	u64 rtts;

	if (!win->ecn_at)
		return;
	rtts = div64_u64(now - win->ecn_at, qp->rtx.srtt ?: DEFAULT_RTT);
	while (rtts-- > 1 && win->alpha >= ALPHA_GAIN)
		win->alpha -= win->alpha / ALPHA_GAIN;
}

static void window_marked(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;
	u64 now = ktime_get_ns();

	/* Shrink once per window.  An old ecn_psn may have wrapped. */
	if (win->ecn_at && now - win->ecn_at < MAX_INFLIGHT_NS &&
	    rover_psn_diff(qp->req.una, win->ecn_psn) < 0)
		return;
	window_fade_alpha(qp, now);
	win->alpha += (ALPHA_ONE - win->alpha) / ALPHA_GAIN;
	cc->packets -= cc->packets * win->alpha / (2 * ALPHA_ONE);
	cc->packets = max(cc->packets, 1);
	win->ssthresh = cc->packets;
	win->ecn_psn = qp->req.next_psn;
	win->ecn_at = now;
}

static void window_probe(struct rover_qp *qp)
{
	struct rover_cc *cc = &qp->cc;
	struct rover_cc_win *win = &cc->win;

	window_flight(qp);
	win->rtt_high = false;
	if (cc->packets > MIN_PACKETS)
		win->ssthresh = max(cc->packets / 2, MIN_PACKETS);
	cc->packets = 1;
	cc->train = 1;
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
