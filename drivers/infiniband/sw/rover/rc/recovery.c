// SPDX-License-Identifier: GPL-2.0
/*
 * recovery - find lost packets by what arrives
 *
 * A rover peer tells which packets it holds (sack); responses that are held
 * here tell the same.  What is missing before them is lost when it stays away
 * for longer than packets have been late (RACK, RFC 8985), and is sent again
 * alone.  Any other peer sends a NAK and drops all behind the gap: go back, at
 * most once in a round trip, and not for late responses to a READ that was sent
 * again.
 *
 * A reduction of the window is undone if the peer then reports each packet that
 * was sent again as a duplicate.
 */
#include <linux/ktime.h>
#include <linux/skbuff.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "rc/cc.h"
#include "rc/recovery.h"
#include "rc/retransmit.h"
#include "rc/rto.h"
#include "wire/psn.h"
#include "wire/sack.h"

/* Without measured lateness, a part of the shortest round trip */
#define REORDER_PART	4
/* Before a round trip was measured */
#define REORDER_FIRST	NSEC_PER_MSEC
/* Lateness fades by a part in each flight with losses. */
#define REORDER_FADE	16

/* Least time until the answer to a probe, if round trips are long */
#define PROBE_LEAST	(10 * NSEC_PER_USEC)

/* Ranges read at a time */
#define RANGES		16

static u64 recovery_rtt(const struct rover_qp *qp)
{
	return qp->cc.min_rtt ?: qp->rtx.srtt;
}

/* A resent packet takes nearly the shortest round trip at least. */
static u64 recovery_least_ns(const struct rover_qp *qp)
{
	return recovery_rtt(qp) * 3 / 4;
}

static u64 recovery_reorder_ns(const struct rover_qp *qp)
{
	u64 reorder = max(qp->rtx.reorder, recovery_rtt(qp) / REORDER_PART);

	if (!qp->rtx.srtt)
		return REORDER_FIRST;
	return min(reorder, max(qp->rtx.srtt, recovery_rtt(qp)));
}

static void recovery_widen(struct rover_qp *qp, u64 reorder)
{
	qp->rtx.reorder = max(qp->rtx.reorder, min(reorder, qp->rtx.srtt));
}

/* A flight with losses begins. */
static void recovery_enter(struct rover_qp *qp)
{
	struct rover_rtx *rtx = &qp->rtx;

	if (rtx->recovering)
		return;
	rtx->recovering = true;
	rtx->recover_psn = qp->req.next_psn;
	rtx->resent = 0;
	rtx->duplicates_before = rtx->duplicates;
	rtx->reorder -= rtx->reorder / REORDER_FADE;
	rover_path_lost(&qp->path);
	rover_cc_flight(qp);
}

/* The requester is at the first lost packet. */
static void recovery_count(struct rover_qp *qp, u32 lost)
{
	const struct rover_req *req = &qp->req;
	const struct rover_sent *row;

	rover_stat_add(READ_ONCE(qp->stats), ROVER_STAT_TX_LOST, lost);
	if (req->sending == req->fetched)
		return;
	row = rover_retransmit_row(qp, req->sending);
	rover_qp_count(qp, rover_retransmit_is_rd_atomic(row) ?
		       ROVER_STAT_IMPLIED_NAK : ROVER_STAT_PACKET_SEQ_ERR);
}

/* Send what is lost by now. */
static void recovery_update(struct rover_qp *qp, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;
	u32 lost = qp->gaps.lost;

	rover_rto_sample(qp, now);
	if (rtx->probe_at && qp->gaps.num && qp->gaps.high == rtx->probe_end)
		rover_rto_probe_answered(qp, now);
	if (qp->gaps.late) {
		recovery_widen(qp, qp->gaps.late * 5 / 4);
		qp->gaps.late = 0;
	}
	if (qp->gaps.late_resent) {
		recovery_widen(qp, (recovery_reorder_ns(qp) +
				    qp->gaps.late_resent) * 5 / 4);
		qp->gaps.late_resent = 0;
	}
	rtx->gap_deadline = rover_gaps_expire(&qp->gaps, now,
					      recovery_reorder_ns(qp),
					      recovery_least_ns(qp));
	if (rtx->gap_deadline)
		rover_retransmit_start_timer(qp, rtx->gap_deadline);
	lost = qp->gaps.lost - min(qp->gaps.lost, lost);
	if (lost) {
		recovery_enter(qp);
		/* With the request of a READ all its responses are lost. */
		rover_cc_lost(qp, qp->req.rd_atomic ? qp->gaps.losses : lost,
			      now);
		qp->gaps.losses = 0;
	}
	rover_retransmit_resume(qp);
	if (lost)
		recovery_count(qp, lost);
	/* The peer is alive, and a gap may need another round trip. */
	if (qp->rtx.fresh || lost)
		rover_retransmit_restart_timer(qp, now);
	qp->rtx.fresh = false;
	/* Packets that have arrived leave room in the window. */
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

/*
 * The peer has received the probe.  All sent before it and not known to have
 * arrived counts as late.  Return false if the answer comes too soon after the
 * probe: it is to an earlier packet.
 */
static bool recovery_probe_arrived(struct rover_qp *qp, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 sent_at = rtx->probe_at;

	if (!sent_at || !rover_qp_inflight(qp) ||
	    now - sent_at < min_t(u64, recovery_rtt(qp) / 4, PROBE_LEAST))
		return false;
	rover_rto_probe_answered(qp, now);
	rover_gaps_overtake(&qp->gaps, sent_at, now);
	return !rover_gaps_pass(&qp->gaps, qp->req.una, rtx->probe_next, now);
}

/* Selective acknowledgments **************************************************/

typedef void recovery_fn(struct rover_qp *qp, const struct rover_sent *row,
			 u32 psn, u32 end, u64 now);

/* Without memory nothing is noted: it is sent again in vain. */
static void recovery_note(struct rover_qp *qp, u32 psn, u32 end, u64 now)
{
	if (rover_gaps_deliver(&qp->gaps, qp->req.una, psn, end, now) > 0)
		qp->rtx.fresh = true;
}

/*
 * The peer has executed a request.  SENDs and WRITEs have arrived; a READ is
 * complete when its responses are here.
 */
static void recovery_executed(struct rover_qp *qp, const struct rover_sent *row,
			      u32 psn, u32 end, u64 now)
{
	if (rover_retransmit_is_rd_atomic(row))
		rover_gaps_pass(&qp->gaps, qp->req.una, psn, now);
	else
		recovery_note(qp, psn, end, now);
}

/* The peer holds a request, and answers a READ when its turn comes. */
static void recovery_held(struct rover_qp *qp, const struct rover_sent *row,
			  u32 psn, u32 end, u64 now)
{
	recovery_executed(qp, row, psn, end, now);
	if (!rover_retransmit_is_rd_atomic(row) ||
	    rover_gaps_pass(&qp->gaps, qp->req.una, end, now))
		return;
	rover_gaps_resent(&qp->gaps, psn, end, qp->req.next_psn,
			  ROVER_GAP_ASKED, now);
}

/*
 * Call @fn for the parts of requests from @psn to @end.  *@index moves to the
 * last of them.
 */
static void recovery_walk(struct rover_qp *qp, u32 *index, u32 psn, u32 end,
			  u64 now, recovery_fn *fn)
{
	for (; *index != qp->req.fetched; ++*index) {
		const struct rover_sent *row = rover_retransmit_row(qp, *index);
		u32 row_end = rover_psn_add(row->psn,
					    rover_retransmit_packets(qp, row));
		u32 from = rover_psn_diff(psn, row->psn) > 0 ? psn : row->psn;
		u32 to = rover_psn_diff(end, row_end) < 0 ? end : row_end;

		if (rover_psn_diff(row->psn, end) >= 0)
			return;
		if (!(rover_wrs[row->opcode].flags & ROVER_WR_LOCAL) &&
		    rover_psn_diff(to, from) > 0)
			fn(qp, row, from, to, now);
		if (rover_psn_diff(end, row_end) < 0)
			return;
	}
}

/* Is the range one of packets in flight? */
static bool recovery_range_good(const struct rover_qp *qp, u32 psn, u32 end)
{
	return rover_psn_diff(end, psn) > 0 &&
	       rover_psn_diff(psn, qp->req.una) > 0 &&
	       rover_psn_diff(end, qp->req.next_psn) <= 0;
}

/* Note the ranges of a selective ACK that are of packets in flight. */
static void recovery_read_ranges(struct rover_qp *qp,
				 const struct rover_packet *pkt, u64 now)
{
	struct rover_sack_range ranges[RANGES];
	u32 at = sizeof(struct rover_sack), i, num;
	u32 left = rover_sack_max(qp->mtu);
	u32 index = qp->req.oldest;

	for (; left && at < pkt->payload; at += num * sizeof(ranges[0])) {
		num = min3((u32)((pkt->payload - at) / sizeof(ranges[0])),
			   left, (u32)RANGES);
		left -= num;
		if (!num || skb_copy_bits(pkt->skb, pkt->payload_at + at, ranges,
					  num * sizeof(ranges[0])))
			return;
		for (i = 0; i < num; i++) {
			u32 psn = be32_to_cpu(ranges[i].psn) & ROVER_PSN_MASK;
			u32 end = be32_to_cpu(ranges[i].end) & ROVER_PSN_MASK;

			if (recovery_range_good(qp, psn, end))
				recovery_walk(qp, &index, psn, end, now,
					      recovery_held);
		}
	}
}

/*
 * The peer has received packets twice: a probe that was needless, if there was
 * one.  If those are all that were sent again, nothing was lost, only late.
 */
static void recovery_learn_duplicates(struct rover_qp *qp, u32 duplicates,
				      u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;
	u32 fresh = duplicates - rtx->duplicates;

	if ((s32)fresh <= 0)
		return;
	rtx->duplicates = duplicates;
	rover_stat_add(READ_ONCE(qp->stats), ROVER_STAT_SPURIOUS, fresh);
	recovery_widen(qp, rtx->reorder + recovery_rtt(qp) / REORDER_PART);
	if (rtx->recovering && rtx->resent &&
	    duplicates - rtx->duplicates_before >= rtx->resent)
		rover_cc_undo(qp);
	if (rover_psn_diff(qp->req.una, rtx->probe_next) >= 0)
		rover_rto_needless(qp);
	recovery_probe_arrived(qp, now);
}

void rover_recovery_ack(struct rover_qp *qp, const struct rover_packet *pkt)
{
	u64 now = ktime_get_ns();
	struct rover_sack head;

	lockdep_assert_held(&qp->tx_lock);
	if (pkt->payload < sizeof(head) ||
	    skb_copy_bits(pkt->skb, pkt->payload_at, &head, sizeof(head)))
		return;
	recovery_learn_duplicates(qp, be32_to_cpu(head.duplicates), now);
	recovery_read_ranges(qp, pkt, now);
	recovery_update(qp, now);
}

/* Other events ***************************************************************/

void rover_recovery_passed(struct rover_qp *qp, u32 psn)
{
	u32 index = qp->req.oldest;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->tx_lock);
	recovery_walk(qp, &index, qp->req.una, psn, now, recovery_executed);
	recovery_update(qp, now);
}

void rover_recovery_response(struct rover_qp *qp, u32 psn, u32 end)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->tx_lock);
	recovery_note(qp, psn, end, now);
	recovery_update(qp, now);
}

/* Will req.una be sent again, or was it less than a round trip ago? */
static bool recovery_is_under_way(const struct rover_qp *qp, u64 now)
{
	const struct rover_gap *gap = rover_gaps_find(&qp->gaps, qp->req.una);

	return gap && (gap->state == ROVER_GAP_LOST ||
		       (gap->state == ROVER_GAP_RESENT &&
			now - gap->at < recovery_least_ns(qp)));
}

/* Return false if that has been done already. */
static bool recovery_go_back(struct rover_qp *qp, enum rover_stat why, u64 now)
{
	if (recovery_is_under_way(qp, now))
		return false;
	rover_qp_count(qp, why);
	recovery_enter(qp);
	/* All behind the gap is lost with it. */
	rover_cc_lost(qp, qp->cc.packets, now);
	rover_retransmit_go_back(qp);
	rover_retransmit_sent(qp, qp->req.una);
	return true;
}

void rover_recovery_nak(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	recovery_go_back(qp, ROVER_STAT_PACKET_SEQ_ERR, ktime_get_ns());
}

/*
 * A peer responds in the order of requests.  After a READ was sent again, the
 * rest of the first responses still comes, for longer than a round trip if the
 * READ is long: their PSNs rise, up to what had been sent by then.  Each further
 * READ would cost the peer as many responses.  A PSN that does not rise is of a
 * response to the READ sent again, and a higher one of a request sent after it:
 * then it was lost, or its first response.
 */
static bool recovery_is_first_answer(const struct rover_qp *qp, u32 psn)
{
	const struct rover_gap *gap = rover_gaps_find(&qp->gaps, qp->req.una);

	return qp->rtx.implied && gap && gap->state == ROVER_GAP_RESENT &&
	       rover_psn_diff(psn, qp->rtx.implied_psn) > 0 &&
	       rover_psn_diff(psn, gap->passed) < 0;
}

void rover_recovery_implied_nak(struct rover_qp *qp, u32 psn)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->tx_lock);
	if (recovery_is_first_answer(qp, psn))
		rover_retransmit_restart_timer(qp, now);
	else if (!recovery_go_back(qp, ROVER_STAT_IMPLIED_NAK, now))
		return;
	qp->rtx.implied = true;
	qp->rtx.implied_psn = psn;
}

/*
 * If the probe alone is acknowledged, it was needed, and its answer is there.
 * An ACK that was merely late acknowledges more.  If the probe has filled a gap,
 * all up to the next one is acknowledged.
 */
void rover_recovery_progress(struct rover_qp *qp)
{
	s32 more;
	u64 now;

	lockdep_assert_held(&qp->tx_lock);
	more = rover_psn_diff(qp->req.una, qp->rtx.probe_end);
	if (more < 0 || (more && !qp->rtx.probe_gap) ||
	    !READ_ONCE(qp->peer_sack))
		return;
	now = ktime_get_ns();
	if (recovery_probe_arrived(qp, now))
		recovery_update(qp, now);
}

void rover_recovery_expired(struct rover_qp *qp)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->tx_lock);
	if (!qp->rtx.gap_deadline)
		return;
	if (now < qp->rtx.gap_deadline)
		rover_retransmit_start_timer(qp, qp->rtx.gap_deadline);
	else
		recovery_update(qp, now);
}
