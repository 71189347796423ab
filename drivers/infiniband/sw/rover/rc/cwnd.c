// SPDX-License-Identifier: GPL-2.0
/*
 * cwnd - congestion window and packets per train
 *
 * Without a cwnd, which RC lacks, packets queue at the receiver until timeouts.
 * cwnd doubles in a short round trip, or grows by an eighth after a loss; long
 * round trips shrink it to the packets the peer handles in MAX_QUEUEING, and a
 * loss halves it.
 *
 * ECN marks shrink it earlier, by half of alpha, which grows in round trips
 * with marks and fades in others, as in DCQCN.  See decisions 0007 and 0015.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "rc/cwnd.h"
#include "tx/train.h"
#include "wire/psn.h"

/* First and largest window in bytes; first and smallest in packets. */
#define START_BYTES	(64 * 1024)
#define MAX_BYTES	(2 * 1024 * 1024)
#define START_PACKETS	16
#define MIN_PACKETS		8

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
	cwnd->ssthresh = cwnd->max_packets;
	cwnd->train = ROVER_TRAIN_MAX;
	cwnd->alpha = ALPHA_ONE;
}

void rover_cwnd_acked(struct rover_qp *qp, u32 packets)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	if (cwnd->packets >= cwnd->ssthresh) {
		cwnd->growth_eighths += packets;
		packets = cwnd->growth_eighths / 8;
		cwnd->growth_eighths %= 8;
	}
	if (!cwnd->rtt_high)
		cwnd->packets = min(cwnd->packets + packets, cwnd->max_packets);
	cwnd->train = min_t(u32, cwnd->train * 2, ROVER_TRAIN_MAX);
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
	limit = 2 * cwnd->min_rtt + MAX_QUEUEING;
	cwnd->rtt_high = rtt > limit;
	if (cwnd->rtt_high)
		cwnd->packets = max_t(u32, min(cwnd->packets, MIN_PACKETS),
				      div64_u64(cwnd->packets * limit, rtt));
}

void rover_cwnd_lost(struct rover_qp *qp)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	cwnd->rtt_high = false;
	cwnd->ssthresh = max(cwnd->packets / 2, MIN_PACKETS);
	cwnd->packets = min(cwnd->packets, cwnd->ssthresh);
	cwnd->train = max(cwnd->train / 2, 4);
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
	u32 least;

	lockdep_assert_held(&qp->tx_lock);
	/* Shrink once per window.  An old ecn_psn may have wrapped. */
	if (cwnd->ecn_at && now - cwnd->ecn_at < MAX_INFLIGHT_NS &&
	    rover_psn_diff(qp->req.una, cwnd->ecn_psn) < 0)
		return;
	cwnd_fade_alpha(qp, now);
	cwnd->alpha += (ALPHA_ONE - cwnd->alpha) / ALPHA_GAIN;
	least = min(cwnd->packets, MIN_PACKETS);
	cwnd->packets -= cwnd->packets * cwnd->alpha / (2 * ALPHA_ONE);
	cwnd->packets = max(cwnd->packets, least);
	cwnd->ssthresh = max(cwnd->packets, MIN_PACKETS);
	cwnd->ecn_psn = qp->req.next_psn;
	cwnd->ecn_at = now;
}

void rover_cwnd_probe(struct rover_qp *qp)
{
	struct rover_cwnd *cwnd = &qp->cwnd;

	lockdep_assert_held(&qp->tx_lock);
	cwnd->rtt_high = false;
	if (cwnd->packets > MIN_PACKETS)
		cwnd->ssthresh = max(cwnd->packets / 2, MIN_PACKETS);
	cwnd->packets = 1;
	cwnd->train = 1;
}
