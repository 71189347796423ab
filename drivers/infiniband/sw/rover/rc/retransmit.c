// SPDX-License-Identifier: GPL-2.0
/*
 * retransmit - timeouts, and what to send again
 *
 * The requester sends lost packets again (qp.gaps) before new ones.  Going back
 * (IBTA 9.7.7) counts all in flight as lost.  The times are measured (rto).  The
 * peer is gone after retry_cnt + 1 user timeouts (attr.timeout, IBTA 9.7.6.1.3)
 * without progress and retry_cnt tries; unlike in rnr_retry, 7 is a limit.
 *
 * Without progress for two round trips one packet is sent again, as a probe: a
 * tail loss costs no timeout (compare RFC 8985).  Its answer tells what else is
 * missing (recovery).
 *
 * After a timeout one packet is sent.  If the answer acknowledges packets not
 * sent again, retransmission ends (compare F-RTO, RFC 5682).  See decision
 * 0007.
 */
#include <linux/ktime.h>
#include <linux/string.h>

#include "core/trace.h"
#include "qp/affinity.h"
#include "rc/cc.h"
#include "rc/retransmit.h"
#include "rc/rto.h"
#include "wire/psn.h"
#include "wire/rnr.h"

#define MAX_BACKOFF	6
/* Longest wait for a peer that ends RNR waits by ACKs */
#define CREDIT_WAIT	(20 * NSEC_PER_MSEC)

/*
 * Do not move the timer to a later deadline: it expires early and is started
 * again, all under tx_lock.
 */
void rover_retransmit_start_timer(struct rover_qp *qp, u64 deadline)
{
	struct rover_rtx *rtx = &qp->rtx;

	lockdep_assert_held(&qp->tx_lock);
	if (!hrtimer_is_queued(&rtx->timer) ||
	    deadline < ktime_to_ns(hrtimer_get_expires(&rtx->timer)))
		hrtimer_start(&rtx->timer, ns_to_ktime(deadline),
			      HRTIMER_MODE_ABS_SOFT);
}

static void retransmit_set_deadline(struct rover_qp *qp, u64 deadline)
{
	qp->rtx.deadline = deadline;
	rover_retransmit_start_timer(qp, deadline);
}

void rover_retransmit_init(struct rover_qp *qp)
{
	struct rover_rtx *rtx = &qp->rtx;

	lockdep_assert_held(&qp->tx_lock);
	memset_startat(rtx, 0, deadline);
}

void rover_retransmit_resent(struct rover_qp *qp, u32 psn, u32 packets)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	qp->rtx.resent += packets;
	if (qp->rtx.probe_end == psn) {
		qp->rtx.probe_end = rover_psn_add(psn, packets);
		if (qp->rtx.probe_waits)
			rover_qp_count(qp, ROVER_STAT_PROBES);
		qp->rtx.probe_waits = false;
	}
	/* Karn: do not time a packet sent twice. */
	if (rover_psn_diff(qp->rtx.sample_psn, psn) >= 0 &&
	    rover_psn_diff(qp->rtx.sample_psn, psn) < (s32)packets)
		qp->rtx.sample_sent_at = 0;
	rover_gaps_resent(&qp->gaps, psn, rover_psn_add(psn, packets),
			  req->next_psn, ROVER_GAP_RESENT, ktime_get_ns());
	if (req->psn != req->next_psn && !rover_gaps_left(&qp->gaps, req->psn))
		rover_retransmit_resume(qp);
}

/*
 * Return the first PSN of the packet that has @psn: a READ request has those of
 * all its responses.  *@end is the PSN after the last one.
 */
static u32 retransmit_first_psn(struct rover_qp *qp, u32 psn, u32 *end)
{
	u32 piece = rover_retransmit_piece(qp), first, last;
	const struct rover_sent *row;
	u32 index;

	*end = rover_psn_add(psn, 1);
	if (!qp->req.rd_atomic)
		return psn;
	index = rover_retransmit_find(qp, psn);
	if (index == qp->req.fetched)
		return psn;
	row = rover_retransmit_row(qp, index);
	if (row->opcode != ROVER_WQE_READ)
		return psn;
	first = rounddown(rover_psn_diff(psn, row->psn), piece);
	last = min(first + piece, rover_retransmit_packets(qp, row));
	*end = rover_psn_add(row->psn, last);
	return rover_psn_add(row->psn, first);
}

void rover_retransmit_sent(struct rover_qp *qp, u32 psn)
{
	struct rover_rtx *rtx = &qp->rtx;
	u32 end;
	u64 now;

	lockdep_assert_held(&qp->tx_lock);
	if (rtx->deadline && rtx->sample_sent_at)
		return;
	now = ktime_get_ns();
	if (!rtx->sample_sent_at && psn == rover_psn_add(qp->req.next_psn, -1)) {
		rtx->sample_sent_at = now;
		rtx->sample_psn = retransmit_first_psn(qp, psn, &end);
	}
	if (!rtx->deadline) {
		rtx->progress_at = now;
		retransmit_set_deadline(qp, now + rover_rto_wait_ns(qp));
	}
}

/* A local operation has no PSN, but that of the next request. */
static bool retransmit_is_local(struct rover_qp *qp, u32 index)
{
	return rover_wrs[rover_retransmit_row(qp, index)->opcode].flags &
	       ROVER_WR_LOCAL;
}

u32 rover_retransmit_find(struct rover_qp *qp, u32 psn)
{
	struct rover_req *req = &qp->req;
	u32 low = req->oldest, high = req->fetched;
	const struct rover_sent *row;

	lockdep_assert_held(&qp->tx_lock);
	/* The last request that begins at @psn or before it */
	while (low != high) {
		u32 mid = low + (high - low) / 2;

		row = rover_retransmit_row(qp, mid);
		if (rover_psn_diff(row->psn, psn) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	while (low != req->oldest && retransmit_is_local(qp, low - 1))
		low--;
	if (low == req->oldest)
		return req->fetched;
	row = rover_retransmit_row(qp, low - 1);
	return rover_psn_diff(psn, row->psn) <
	       (s32)rover_retransmit_packets(qp, row) ? low - 1 : req->fetched;
}

/* Send from @psn on; its request is fetched again. */
static void retransmit_seek_psn(struct rover_qp *qp, u32 psn)
{
	struct rover_req *req = &qp->req;
	const struct rover_sent *row;

	req->psn = psn;
	req->wqe.valid = false;
	req->wqe_fault = ROVER_OK;
	req->sending = rover_retransmit_find(qp, psn);
	req->wqe_psns_sent = 0;
	if (req->sending == req->fetched)
		return;
	row = rover_retransmit_row(qp, req->sending);
	req->wqe_psns_sent = rover_psn_diff(psn, row->psn);
}

/* Continue with the first lost packet, else with the first never sent. */
void rover_retransmit_resume(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	u32 psn = qp->gaps.lost ? rover_gaps_lost(&qp->gaps) : req->next_psn;

	lockdep_assert_held(&qp->tx_lock);
	if (psn == req->psn)
		return;
	retransmit_seek_psn(qp, psn);
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

/*
 * After a timeout: were packets acknowledged that were not sent again?  Then
 * nothing was lost.
 */
static void retransmit_check_spurious(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (!qp->rtx.probing || rover_psn_diff(req->psn, req->una) >= 0)
		return;
	qp->rtx.probing = false;
	rover_gaps_reset(&qp->gaps);
	rover_cc_undo(qp);
}

void rover_retransmit_progress(struct rover_qp *qp, u32 packets)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->tx_lock);
	rover_rto_acked(qp, packets, now);
	rtx->answered = true;
	rtx->silent = false;
	rtx->implied = false;
	/* Karn's rule is for others: a rover peer reports what was needless. */
	if (READ_ONCE(qp->peer_sack))
		rtx->backoff = 0;
	rtx->timeouts = 0;
	rtx->progress_at = now;
	qp->req.rnr_retries = qp->attr.rnr_retry;
	if (rtx->sample_sent_at &&
	    rover_psn_diff(qp->req.una, rtx->sample_psn) > 0)
		rover_rto_take_sample(qp, now);
	/*
	 * A late copy of a packet refused by RNR NAK may have arrived: end the wait,
	 * as going back stops its timer.
	 */
	qp->req.rnr_wait = false;
	rtx->probes = 0;
	if (rtx->probe_at && rover_psn_diff(qp->req.una, rtx->probe_next) >= 0)
		rover_rto_probe_answered(qp, now);
	retransmit_check_spurious(qp);
	if (unlikely(qp->gaps.num))
		rover_gaps_ack(&qp->gaps, qp->req.una, now);
	if (rtx->recovering &&
	    rover_psn_diff(qp->req.una, rtx->recover_psn) >= 0) {
		rtx->recovering = false;
		rtx->probing = false;
	}
	rover_retransmit_resume(qp);
	if (rover_qp_inflight(qp))
		retransmit_set_deadline(qp, now + rover_rto_wait_ns(qp));
	else
		rtx->deadline = 0;
}

void rover_retransmit_lose_all(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	trace_rover_go_back(qp->obj.key, req->una, req->next_psn);
	rover_gaps_ack(&qp->gaps, req->una, ktime_get_ns());
	if (rover_qp_inflight(qp))
		rover_gaps_lose(&qp->gaps, req->una, req->next_psn);
	/* A request at fault is fetched again, too. */
	req->wqe.valid = false;
	req->wqe_fault = ROVER_OK;
	rover_retransmit_resume(qp);
	qp->rtx.implied = false;
	qp->rtx.probing = false;
	qp->rtx.probe_at = 0;
	qp->rtx.probes = 0;
	/* Karn: do not time a packet sent twice. */
	qp->rtx.sample_sent_at = 0;
	qp->rtx.deadline = 0;
	qp->rtx.gap_deadline = 0;
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

void rover_retransmit_restart_timer(struct rover_qp *qp, u64 now)
{
	lockdep_assert_held(&qp->tx_lock);
	if (qp->rtx.deadline && !qp->req.rnr_wait)
		retransmit_set_deadline(qp, now + rover_rto_wait_ns(qp));
}

void rover_retransmit_go_back(struct rover_qp *qp)
{
	rover_gaps_reset(&qp->gaps);
	rover_retransmit_lose_all(qp);
}

/*
 * Wait as long as the peer asks, or longer if it ends RNR waits by ACKs: an
 * early retry takes time from its program.
 */
void rover_retransmit_rnr_wait(struct rover_qp *qp, u8 code, bool receive)
{
	u64 t = rover_rnr_ns(code);

	if (qp->req.rnr_woken && receive)
		t = max_t(u64, t, CREDIT_WAIT);
	rover_retransmit_go_back(qp);
	qp->req.rnr_wait = true;
	retransmit_set_deadline(qp, ktime_get_ns() + t);
}

void rover_retransmit_rnr_done(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->req.rnr_wait = false;
	qp->rtx.deadline = 0;
	qp->rtx.progress_at = ktime_get_ns();
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

void rover_retransmit_stop(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->rtx.deadline = 0;
	qp->rtx.gap_deadline = 0;
	qp->rtx.sample_sent_at = 0;
	qp->req.rnr_wait = false;
	hrtimer_try_to_cancel(&qp->rtx.timer);
}

/* Send packet @psn once more, then continue where the requester was. */
static void retransmit_resend_one(struct rover_qp *qp, u32 psn)
{
	trace_rover_go_back(qp->obj.key, psn, qp->req.next_psn);
	retransmit_seek_psn(qp, psn);
}

bool rover_retransmit_resend_last(struct rover_qp *qp)
{
	u32 psn = rover_psn_add(qp->req.next_psn, -1);
	u32 index = rover_retransmit_find(qp, psn);

	if (index == qp->req.fetched ||
	    rover_retransmit_is_rd_atomic(rover_retransmit_row(qp, index)))
		return false;
	retransmit_resend_one(qp, psn);
	return true;
}

/* Does the oldest packet belong to a READ or an atomic? */
static bool retransmit_awaits_response(struct rover_qp *qp)
{
	u32 index = rover_retransmit_find(qp, qp->req.una);

	return index != qp->req.fetched &&
	       rover_retransmit_is_rd_atomic(rover_retransmit_row(qp, index));
}

/* If nothing is known to be missing, perhaps the last packet alone is. */
static bool retransmit_probe_last(struct rover_qp *qp)
{
	if (qp->gaps.num || retransmit_awaits_response(qp) ||
	    !rover_retransmit_resend_last(qp))
		return false;
	qp->rtx.probe_end = qp->req.psn;
	rover_qp_set_work(qp, ROVER_WORK_TX);
	return true;
}

/* Send the last packet again, or the oldest packet or READ request. */
static void retransmit_probe(struct rover_qp *qp, u64 now)
{
	struct rover_req *req = &qp->req;
	u32 end;

	qp->rtx.probe_at = now;
	qp->rtx.probe_end = req->una;
	qp->rtx.probe_next = req->next_psn;
	qp->rtx.probe_gap = qp->gaps.num;
	qp->rtx.probe_waits = true;
	qp->rtx.probes++;
	retransmit_set_deadline(qp, now + rover_rto_wait_ns(qp));
	if (retransmit_probe_last(qp))
		return;
	/* One request asks for the missing part of a READ. */
	if (rover_gaps_find(&qp->gaps, req->una) &&
	    retransmit_awaits_response(qp)) {
		retransmit_first_psn(qp, req->una, &end);
		rover_gaps_lose(&qp->gaps, req->una, end);
		rover_retransmit_resume(qp);
		return;
	}
	retransmit_resend_one(qp, req->una);
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

/*
 * The oldest packet is not about to be sent.  Other lost packets wait for the
 * window: perhaps for an answer to packets that are lost again.
 */
static bool retransmit_may_probe(const struct rover_qp *qp)
{
	return rover_qp_inflight(qp) &&
	       !rover_gaps_left(&qp->gaps, qp->req.una) &&
	       (qp->gaps.lost || qp->req.psn == qp->req.next_psn);
}

/*
 * The time of a probe has come; without one the timeout is next.  The peer may
 * take longer for what has been sent since the timer was started.
 */
static void retransmit_probe_expired(struct rover_qp *qp, u64 now)
{
	u64 first = qp->rtx.progress_at + rover_rto_probe_ns(qp) +
		    rover_rto_busy_ns(qp);

	if (!qp->rtx.probes && now < first) {
		retransmit_set_deadline(qp, first);
		return;
	}
	/* The answer may be on this host already: wait, up to a timeout. */
	if (now - qp->rtx.progress_at < rover_rto_ns(qp) &&
	    rover_affinity_receives(qp)) {
		retransmit_set_deadline(qp, now + rover_rto_probe_ns(qp));
		return;
	}
	if (retransmit_may_probe(qp)) {
		retransmit_probe(qp, now);
		return;
	}
	qp->rtx.probes = ROVER_RTO_MAX_PROBES;
	retransmit_set_deadline(qp, now + rover_rto_wait_ns(qp));
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

/*
 * With retry_cnt 0 nothing is sent again: the peer has one timeout.  Packets
 * that lacked memory are sent now.
 */
static bool retransmit_expired_no_retry(struct rover_qp *qp, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 retry = rover_rto_user_ns(qp);

	if (!rover_qp_inflight(qp)) {
		rtx->progress_at = now;
		rover_qp_set_work(qp, ROVER_WORK_TX);
	} else if (retry && now - rtx->progress_at >= retry) {
		return false;
	}
	if (retry)
		retransmit_set_deadline(qp, max(rtx->progress_at + retry,
						now + ROVER_RTO_USER_MIN));
	else
		retransmit_set_deadline(qp, now + rover_rto_ns(qp));
	return true;
}

/*
 * The peer is not to blame for a timeout if the oldest packet has not been sent
 * since the last one, or if it or its answer may still be on this host: a CPU
 * that the work is left to may stand still, in particular a virtual one.  But a
 * netdev that keeps packets does not put off the error for ever.
 */
static bool retransmit_is_excused(const struct rover_qp *qp, u64 now, u64 retry)
{
	return now - qp->rtx.progress_at <
	       ROVER_RTO_USER_TIMEOUTS * (qp->attr.retry_cnt + 1) * retry &&
	       (rover_gaps_left(&qp->gaps, qp->req.una) ||
		rover_affinity_waits(qp));
}

bool rover_retransmit_expired(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_rtx *rtx = &qp->rtx;
	u64 now = ktime_get_ns();
	u64 retry;

	lockdep_assert_held(&qp->tx_lock);
	if (!rtx->deadline)
		return true;
	if (now < rtx->deadline) {
		rover_retransmit_start_timer(qp, rtx->deadline);
		return true;
	}
	if (req->rnr_wait) {
		rover_retransmit_rnr_done(qp);
		return true;
	}
	/* Local ODP memory is missing: the peer is not to blame. */
	if (req->resp_page_wait && rover_pagein_pending(&qp->resp_pagein)) {
		rtx->progress_at = now;
		retransmit_set_deadline(qp, now + rover_rto_ns(qp));
		return true;
	}
	if (!qp->attr.retry_cnt)
		return retransmit_expired_no_retry(qp, now);
	retry = rover_rto_user_ns(qp);
	/* Time alone does not count: this machine may have stood still. */
	if (retry && now - rtx->progress_at >= (qp->attr.retry_cnt + 1) * retry &&
	    rtx->timeouts >= qp->attr.retry_cnt &&
	    !retransmit_is_excused(qp, now, retry))
		return false;

	if (rover_rto_probe_ns(qp)) {
		retransmit_probe_expired(qp, now);
		return true;
	}
	rover_qp_count(qp, ROVER_STAT_ACK_TIMEOUT);
	if (rtx->timeouts < U8_MAX && !retransmit_is_excused(qp, now, retry))
		rtx->timeouts++;
	if (rtx->backoff < MAX_BACKOFF)
		rtx->backoff++;
	/* The peer may have dropped what it held. */
	if (qp->gaps.num && !rover_gaps_find(&qp->gaps, req->una))
		rover_gaps_reset(&qp->gaps);
	rover_retransmit_lose_all(qp);
	rtx->probing = true;
	rtx->recovering = true;
	rtx->recover_psn = req->next_psn;
	/* A second timeout in a row must not save the window of the first. */
	if (!rtx->silent)
		rover_cc_flight(qp);
	rtx->silent = true;
	rover_cc_probe(qp);
	rover_path_lost(&qp->path);
	retransmit_set_deadline(qp, now + rover_rto_ns(qp));
	return true;
}
