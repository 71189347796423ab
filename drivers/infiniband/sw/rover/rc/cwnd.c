// SPDX-License-Identifier: GPL-2.0
/*
 * cwnd - congestion window and packets per train
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

#include "rc/cwnd.h"
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

void rover_cwnd_init(struct rover_qp *qp)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	memset(cwnd, 0, sizeof(*cwnd));
	cwnd->packets = max_t(u32, START_BYTES >> qp->mtu_shift, START_PACKETS);
	cwnd->max_packets = max_t(u32, MAX_BYTES >> qp->mtu_shift, START_PACKETS);
	cwnd->ssthresh = MAX_PACKETS;
	cwnd->train = ROVER_TRAIN_MAX;
	cwnd->alpha = ALPHA_ONE;
	rover_cwnd_flight(qp);
}

/* Return by how many packets the window grows above ssthresh. */
static u32 cwnd_growth(struct rover_qp *qp, u32 acked)
{
	struct rover_cwnd *cwnd = &qp->cwnd;
	u32 step = cwnd->packets, grown;

	if (cwnd->queued)
		step = min(step, 8 * max_t(u32, GROWTH_BYTES >> qp->mtu_shift, 1));
	cwnd->growth += (u64)acked * step;
	grown = div_u64(cwnd->growth, 8 * cwnd->packets);
	cwnd->growth -= (u64)grown * 8 * cwnd->packets;
	return grown;
}

/* Without more in flight the window is not what limits the flow. */
static bool cwnd_is_used(const struct rover_qp *qp, u32 acked)
{
	return 2 * (rover_psn_diff(qp->req.next_psn, qp->req.una) + acked) >=
	       qp->cwnd.packets;
}

void rover_cwnd_acked(struct rover_qp *qp, u32 packets)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	if (!cwnd->rtt_high && cwnd_is_used(qp, packets)) {
		if (cwnd->packets >= cwnd->ssthresh)
			packets = cwnd_growth(qp, packets);
		cwnd->packets = min(cwnd->packets + packets, cwnd->max_packets);
	}
	cwnd->train = min_t(u32, cwnd->train * 2, ROVER_TRAIN_MAX);
}

static u32 cwnd_max_packets(const struct rover_qp *qp)
{
	u64 rtt = min_t(u64, qp->cwnd.min_rtt, NSEC_PER_SEC);
	u64 bytes = div_u64(MAX_BYTES_MS * rtt, NSEC_PER_MSEC);

	bytes = max_t(u64, bytes, MAX_BYTES);
	return clamp_t(u64, bytes >> qp->mtu_shift, START_PACKETS, MAX_PACKETS);
}

/*
 * Test whether packets wait in a queue: round trips are longer than the
 * shortest by more than half and than they usually differ.
 */
static bool cwnd_is_queued(const struct rover_qp *qp)
{
	u64 min_rtt = qp->cwnd.min_rtt;

	return qp->rtx.srtt > min_rtt + min_rtt / 2 + 2 * qp->rtx.rttvar +
			      QUEUED_NS;
}

void rover_cwnd_rtt_sample(struct rover_qp *qp, u64 rtt)
{
	struct rover_cwnd *cwnd = &qp->cwnd;
	u64 limit;

	lockdep_assert_held(&qp->tx_lock);
	/* Slow with the smallest window: the path has become longer. */
	if (!cwnd->min_rtt || rtt < cwnd->min_rtt ||
	    (cwnd->rtt_high && cwnd->packets <= MIN_PACKETS))
		cwnd->min_rtt = rtt;
	cwnd->max_packets = cwnd_max_packets(qp);
	cwnd->queued = cwnd_is_queued(qp);
	if (cwnd->queued)
		cwnd->ssthresh = min(cwnd->ssthresh, cwnd->packets);
	limit = 2 * cwnd->min_rtt + MAX_QUEUEING;
	cwnd->rtt_high = rtt > limit;
	if (cwnd->rtt_high)
		cwnd->packets = max_t(u32, min(cwnd->packets, MIN_PACKETS),
				      div64_u64(cwnd->packets * limit, rtt));
}

/* Begin to count losses anew after a round trip. */
static void cwnd_begin_round(struct rover_qp *qp, u64 now)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	if (now - cwnd->round_at < (qp->rtx.srtt ?: DEFAULT_RTT))
		return;
	cwnd->round_at = now;
	cwnd->round_lost = 0;
	cwnd->round_cut = false;
}

void rover_cwnd_lost(struct rover_qp *qp, u32 lost, u64 now)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	cwnd->rtt_high = false;
	cwnd_begin_round(qp, now);
	cwnd->round_lost += lost;
	if (cwnd->round_cut ||
	    (!cwnd->queued &&
	     cwnd->round_lost <= cwnd->packets / LOSS_PART + 1))
		return;
	cwnd->round_cut = true;
	cwnd->ssthresh = max(cwnd->packets * LOSS_TENTHS / 10, LOSS_PACKETS);
	cwnd->packets = min(cwnd->packets, cwnd->ssthresh);
	cwnd->train = max(cwnd->train / 2, 4);
}

void rover_cwnd_flight(struct rover_qp *qp)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	cwnd->undo_packets = cwnd->packets;
	cwnd->undo_ssthresh = cwnd->ssthresh;
}

void rover_cwnd_undo(struct rover_qp *qp)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	cwnd->packets = max(cwnd->packets,
			    min(cwnd->undo_packets, cwnd->max_packets));
	cwnd->ssthresh = max(cwnd->ssthresh, cwnd->undo_ssthresh);
}

/* Fade alpha for each round trip without a mark. */
static void cwnd_fade_alpha(struct rover_qp *qp, u64 now)
{
	struct rover_cwnd *cwnd = &qp->cwnd;
	u64 rtts;

	if (!cwnd->ecn_at)
		return;
	rtts = div64_u64(now - cwnd->ecn_at, qp->rtx.srtt ?: DEFAULT_RTT);
	while (rtts-- > 1 && cwnd->alpha >= ALPHA_GAIN)
		cwnd->alpha -= cwnd->alpha / ALPHA_GAIN;
}

void rover_cwnd_marked(struct rover_qp *qp)
{
	struct rover_cwnd *cwnd = &qp->cwnd;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->tx_lock);
	/* Shrink once per window.  An old ecn_psn may have wrapped. */
	if (cwnd->ecn_at && now - cwnd->ecn_at < MAX_INFLIGHT_NS &&
	    rover_psn_diff(qp->req.una, cwnd->ecn_psn) < 0)
		return;
	cwnd_fade_alpha(qp, now);
	cwnd->alpha += (ALPHA_ONE - cwnd->alpha) / ALPHA_GAIN;
	cwnd->packets -= cwnd->packets * cwnd->alpha / (2 * ALPHA_ONE);
	cwnd->packets = max(cwnd->packets, 1);
	cwnd->ssthresh = cwnd->packets;
	cwnd->ecn_psn = qp->req.next_psn;
	cwnd->ecn_at = now;
}

void rover_cwnd_probe(struct rover_qp *qp)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	rover_cwnd_flight(qp);
	cwnd->rtt_high = false;
	if (cwnd->packets > MIN_PACKETS)
		cwnd->ssthresh = max(cwnd->packets / 2, MIN_PACKETS);
	cwnd->packets = 1;
	cwnd->train = 1;
}
