// SPDX-License-Identifier: GPL-2.0
/*
 * rto - how long to wait for an answer
 *
 * The timeout follows the round trip (RFC 6298), up to four user timeouts, and
 * doubles until a packet sent only once is acknowledged, or any by a rover peer.
 * A probe is sent after two round trips without progress.  See decisions 0007
 * and 0047.
 */
#include <linux/math64.h>

#include "rc/cc.h"
#include "rc/rto.h"
#include "wire/psn.h"
#include "wire/rnr.h"

/*
 * A shorter timeout measures scheduling: ksoftirqd may wait for several time
 * slices.  Most losses are NAKed earlier.
 */
#define RTO_MIN		(48 * NSEC_PER_MSEC)
/* Probes of a rover peer come first, and it reports what was needless. */
#define RTO_MIN_SACK	(12 * NSEC_PER_MSEC)
#define RTO_FIRST	(64 * NSEC_PER_MSEC)
/* Shortest time without progress before a probe: the peer may be busy. */
#define PROBE_MIN	(1500 * NSEC_PER_USEC)
/* Likewise, if a packet is missing and has been sent again */
#define PROBE_MIN_GAP	(400 * NSEC_PER_USEC)
/* Before a round trip was measured */
#define PROBE_FIRST	(8 * NSEC_PER_MSEC)
/* Longest time that a probe waits for the peer to handle what is in flight */
#define MAX_BUSY	(8 * NSEC_PER_MSEC)
/* Weight of a new time between ACKs in the mean, inverse */
#define MEAN_OF		8

/* Times **********************************************************************/

u64 rover_rto_user_ns(const struct rover_qp *qp)
{
	u64 t = rover_timeout_ns(qp->attr.timeout);

	return t ? max_t(u64, t, ROVER_RTO_USER_MIN) : 0;
}

u64 rover_rto_ns(const struct rover_qp *qp)
{
	const struct rover_rtx *rtx = &qp->rtx;
	u64 rto = rtx->srtt ? rtx->srtt + 4 * rtx->rttvar : RTO_FIRST;
	u64 upper = ROVER_RTO_USER_TIMEOUTS * rover_rto_user_ns(qp);
	u64 lower = READ_ONCE(qp->peer_sack) ? RTO_MIN_SACK : RTO_MIN;

	rto = max3(rto, 4 * rtx->ack_gap, lower) << rtx->backoff;
	return upper ? min(rto, upper) : rto;
}

/*
 * Until the peer has answered, it is not known whether it sends selective ACKs.
 * A peer that does not may be slower than it was when it was measured.
 */
static bool rto_probes_peer(const struct rover_qp *qp)
{
	return READ_ONCE(qp->peer_sack) || !qp->rtx.answered;
}

u64 rover_rto_probe_ns(const struct rover_qp *qp)
{
	const struct rover_rtx *rtx = &qp->rtx;
	u64 rto = rover_rto_ns(qp);
	u64 t = PROBE_FIRST;

	if (rtx->srtt)
		t = max_t(u64, 2 * (rtx->srtt + rtx->rttvar),
			  qp->gaps.num ? PROBE_MIN_GAP : PROBE_MIN);
	/* A long burst waits longer for its ACKs than the packet timed. */
	t = max(t, 2 * rtx->ack_gap) << rtx->probes;
	if (!rto_probes_peer(qp) || !qp->attr.retry_cnt ||
	    rtx->probes >= ROVER_RTO_MAX_PROBES || rtx->backoff)
		return 0;
	if (t < rto)
		return t;
	return rtx->probes ? 0 : rto;
}

u64 rover_rto_wait_ns(const struct rover_qp *qp)
{
	return rover_rto_probe_ns(qp) ?: rover_rto_ns(qp);
}

u64 rover_rto_busy_ns(const struct rover_qp *qp)
{
	u64 gap = min_t(u64, qp->rtx.mean_gap, MEAN_OF * MAX_BUSY);
	u64 busy = div_u64(gap * rover_qp_unacked(qp),
			   max(qp->rtx.mean_packets, 1));

	return min_t(u64, busy - min(busy, qp->rtx.srtt), MAX_BUSY);
}

/* Round trips ****************************************************************/

static void rto_sample_rtt(struct rover_rtx *rtx, u64 rtt)
{
	s64 err = rtt - rtx->srtt;

	if (!rtx->srtt) {
		rtx->srtt = rtt;
		rtx->rttvar = rtt / 2;
		return;
	}
	rtx->rttvar += (abs(err) - (s64)rtx->rttvar) / 4;
	rtx->srtt += err / 8;
}

void rover_rto_take_sample(struct rover_qp *qp, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;

	rto_sample_rtt(rtx, now - rtx->sample_sent_at);
	rover_cc_rtt_sample(qp, now - rtx->sample_sent_at, now);
	rtx->sample_sent_at = 0;
	rtx->backoff = 0;
	rtx->ack_gap -= rtx->ack_gap / 8;
	rtx->late_ack = 0;
}

/* Test whether the timed packet has arrived behind a gap. */
static bool rto_sample_arrived(const struct rover_qp *qp)
{
	const struct rover_gaps *gaps = &qp->gaps;
	const struct rover_gap *gap;

	if (!gaps->num || rover_psn_diff(gaps->high, qp->rtx.sample_psn) <= 0)
		return false;
	gap = rover_gaps_find(gaps, qp->rtx.sample_psn);
	return !gap || gap->state == ROVER_GAP_ASKED;
}

/* Karn's rule: do not time a packet sent twice. */
void rover_rto_sample(struct rover_qp *qp, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;

	lockdep_assert_held(&qp->tx_lock);
	if (!rtx->sample_sent_at)
		return;
	if (rto_sample_arrived(qp))
		rover_rto_take_sample(qp, now);
	else if (rover_gaps_left(&qp->gaps, rtx->sample_psn))
		rtx->sample_sent_at = 0;
}

/*
 * A probe's answer is the only measure of the round trip if all packets were
 * sent twice.  It is no measure of the shortest one.
 */
void rover_rto_probe_answered(struct rover_qp *qp, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;

	lockdep_assert_held(&qp->tx_lock);
	if (!rtx->srtt || now - rtx->probe_at >= qp->cc.min_rtt * 3 / 4)
		rto_sample_rtt(rtx, now - rtx->probe_at);
	rtx->probe_at = 0;
}

/* Time between ACKs **********************************************************/

void rover_rto_acked(struct rover_qp *qp, u32 packets, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 gap = now - rtx->progress_at;

	lockdep_assert_held(&qp->tx_lock);
	if (rtx->probes || rtx->timeouts) {
		rtx->late_ack = gap;
		return;
	}
	if (qp->gaps.num)
		return;
	rtx->ack_gap = max(rtx->ack_gap, gap);
	rtx->mean_gap += gap - rtx->mean_gap / MEAN_OF;
	rtx->mean_packets += packets - rtx->mean_packets / MEAN_OF;
}

void rover_rto_needless(struct rover_qp *qp)
{
	struct rover_rtx *rtx = &qp->rtx;

	lockdep_assert_held(&qp->tx_lock);
	rtx->ack_gap = max(rtx->ack_gap, rtx->late_ack * 9 / 16);
	rtx->late_ack = 0;
}
