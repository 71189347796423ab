// SPDX-License-Identifier: GPL-2.0
/*
 * retransmit - timeouts and go-back-N
 *
 * Going back (IBTA 9.7.7) sets the requester to an older PSN.  The timeout
 * follows the round trip (RFC 6298), up to four user timeouts (attr.timeout,
 * IBTA 9.7.6.1.3), and doubles until a packet sent only once is acknowledged.
 * The peer is gone after retry_cnt + 1 user timeouts without progress and
 * retry_cnt tries; unlike in rnr_retry, 7 is a limit.
 *
 * After a timeout one packet probes.  If the answer acknowledges packets not
 * sent again, retransmission ends (compare F-RTO, RFC 5682).  See decision
 * 0007.
 */
#include <linux/ktime.h>

#include "core/trace.h"
#include "rc/cwnd.h"
#include "rc/retransmit.h"
#include "wire/psn.h"
#include "wire/rnr.h"

/*
 * A shorter timeout measures scheduling: ksoftirqd may wait for several time
 * slices.  Most losses are NAKed earlier.
 */
#define RTO_MIN		(48 * NSEC_PER_MSEC)
#define RTO_FIRST	(64 * NSEC_PER_MSEC)
/* Shortest user timeout honoured. */
#define RETRY_MIN	(16 * NSEC_PER_MSEC)
#define MAX_BACKOFF	6
/* Longest wait for a peer that ends RNR waits by ACKs. */
#define CREDIT_WAIT	(20 * NSEC_PER_MSEC)
/* Upper bound of the timeout, in user timeouts. */
#define MAX_TIMEOUTS	4

static u64 retransmit_now(void)
{
	return ktime_get_ns();
}

/* User timeout; 0 is unlimited. */
static u64 retransmit_retry_ns(const struct rover_qp *qp)
{
	u64 t = rover_timeout_ns(qp->attr.timeout);

	return t ? max_t(u64, t, RETRY_MIN) : 0;
}

static u64 retransmit_rto_ns(const struct rover_qp *qp)
{
	const struct rover_rtx *rtx = &qp->rtx;
	u64 rto = rtx->srtt ? rtx->srtt + 4 * rtx->rttvar : RTO_FIRST;
	u64 upper = MAX_TIMEOUTS * retransmit_retry_ns(qp);

	rto = max_t(u64, rto, RTO_MIN) << rtx->backoff;
	return upper ? min(rto, upper) : rto;
}

/*
 * Do not move the timer to a later deadline: it expires early and is started
 * again, all under tx_lock.
 */
static void retransmit_set_deadline(struct rover_qp *qp, u64 deadline)
{
	struct rover_rtx *rtx = &qp->rtx;

	rtx->deadline = deadline;
	if (!hrtimer_is_queued(&rtx->timer) ||
	    deadline < ktime_to_ns(hrtimer_get_expires(&rtx->timer)))
		hrtimer_start(&rtx->timer, ns_to_ktime(deadline),
			      HRTIMER_MODE_ABS_SOFT);
}

static void retransmit_sample_rtt(struct rover_rtx *rtx, u64 rtt)
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

void rover_retransmit_sent(struct rover_qp *qp, u32 psn)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 now;

	lockdep_assert_held(&qp->tx_lock);
	if (rtx->deadline && rtx->sample_sent_at)
		return;
	now = retransmit_now();
	if (!rtx->sample_sent_at && psn == rover_psn_add(qp->req.next_psn, -1)) {
		rtx->sample_sent_at = now;
		rtx->sample_psn = psn;
	}
	if (!rtx->deadline) {
		rtx->progress_at = now;
		retransmit_set_deadline(qp, now + retransmit_rto_ns(qp));
	}
}

static void retransmit_seek_psn(struct rover_qp *qp, u32 psn)
{
	struct rover_req *req = &qp->req;
	u32 i;

	for (i = req->oldest; i != req->fetched; i++) {
		struct rover_sent *row = rover_retransmit_row(qp, i);
		s32 at = rover_psn_diff(psn, row->psn);

		/* A local operation has no PSN. */
		if (rover_wrs[row->opcode].flags & ROVER_WR_LOCAL)
			continue;
		if (at >= 0 && at < (s32)rover_retransmit_packets(qp, row)) {
			req->sending = i;
			req->wqe_psns_sent = at;
			return;
		}
	}
	req->sending = req->fetched;
	req->wqe_psns_sent = 0;
}

static u16 retransmit_count_rd_atomic(struct rover_qp *qp)
{
	u32 piece = rover_retransmit_piece(qp), i;
	struct rover_req *req = &qp->req;
	u16 n = 0;

	for (i = req->oldest; i != req->fetched; i++) {
		struct rover_sent *row = rover_retransmit_row(qp, i);
		s32 from = max(rover_psn_diff(req->una, row->psn), 0);
		s32 to = min_t(s32, rover_psn_diff(req->next_psn, row->psn),
			       rover_retransmit_packets(qp, row));

		if (rover_retransmit_is_rd_atomic(row) && from < to)
			n += (to - 1) / piece - from / piece + 1;
	}
	return n;
}

/* Packets sent again were acknowledged by their first copy. */
static void retransmit_skip_acked(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (!qp->rtx.probing) {
		rover_retransmit_go_back(qp);
		return;
	}
	qp->rtx.probing = false;
	req->psn = req->next_psn;
	req->rd_atomic = retransmit_count_rd_atomic(qp);
	req->wqe.valid = false;
	req->wqe_fault = ROVER_OK;
	retransmit_seek_psn(qp, req->psn);
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

void rover_retransmit_progress(struct rover_qp *qp)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 now = retransmit_now();

	lockdep_assert_held(&qp->tx_lock);
	rtx->timeouts = 0;
	rtx->progress_at = now;
	qp->req.rnr_retries = qp->attr.rnr_retry;
	if (rtx->sample_sent_at &&
	    rover_psn_diff(qp->req.una, rtx->sample_psn) > 0) {
		retransmit_sample_rtt(rtx, now - rtx->sample_sent_at);
		rover_cwnd_rtt_sample(qp, now - rtx->sample_sent_at);
		rtx->sample_sent_at = 0;
		rtx->backoff = 0;
	}
	/*
	 * A late copy of a packet refused by RNR NAK may have arrived: end the wait,
	 * as going back stops its timer.
	 */
	qp->req.rnr_wait = false;
	if (rover_psn_diff(qp->req.psn, qp->req.una) < 0)
		retransmit_skip_acked(qp);
	if (rover_qp_inflight(qp)) {
		retransmit_set_deadline(qp, now + retransmit_rto_ns(qp));
	} else {
		rtx->deadline = 0;
		/* READs and atomics sent twice may be answered once. */
		qp->req.rd_atomic = 0;
	}
}

void rover_retransmit_go_back(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	trace_rover_go_back(qp->obj.key, req->una, req->next_psn);
	/* All READs and atomics are requested again. */
	req->rd_atomic = 0;
	req->psn = req->una;
	req->wqe.valid = false;
	req->wqe_fault = ROVER_OK;
	retransmit_seek_psn(qp, req->una);
	qp->rtx.probing = false;
	/* Karn: do not time a packet sent twice. */
	qp->rtx.sample_sent_at = 0;
	qp->rtx.deadline = 0;
	rover_qp_set_work(qp, ROVER_WORK_TX);
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
	retransmit_set_deadline(qp, retransmit_now() + t);
}

void rover_retransmit_rnr_done(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->req.rnr_wait = false;
	qp->rtx.deadline = 0;
	qp->rtx.progress_at = retransmit_now();
	rover_qp_set_work(qp, ROVER_WORK_TX);
}

void rover_retransmit_stop(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->rtx.deadline = 0;
	qp->rtx.sample_sent_at = 0;
	qp->req.rnr_wait = false;
	hrtimer_try_to_cancel(&qp->rtx.timer);
}

bool rover_retransmit_resend_last(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	u32 psn = rover_psn_add(req->next_psn, -1);
	u32 sending = req->sending, offset = req->wqe_psns_sent;

	lockdep_assert_held(&qp->tx_lock);
	retransmit_seek_psn(qp, psn);
	if (req->sending == req->fetched ||
	    rover_retransmit_is_rd_atomic(rover_retransmit_row(qp,
							       req->sending))) {
		req->sending = sending;
		req->wqe_psns_sent = offset;
		return false;
	}
	trace_rover_go_back(qp->obj.key, psn, req->next_psn);
	req->psn = psn;
	req->wqe.valid = false;
	req->wqe_fault = ROVER_OK;
	/* Karn's rule. */
	qp->rtx.sample_sent_at = 0;
	return true;
}

/*
 * With retry_cnt 0 nothing is sent again: the peer has one timeout.  Packets
 * that lacked memory are sent now.
 */
static bool retransmit_expired_no_retry(struct rover_qp *qp, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 retry = retransmit_retry_ns(qp);

	if (!rover_qp_inflight(qp)) {
		rtx->progress_at = now;
		rover_qp_set_work(qp, ROVER_WORK_TX);
	} else if (retry && now - rtx->progress_at >= retry) {
		return false;
	}
	if (retry)
		retransmit_set_deadline(qp, max(rtx->progress_at + retry,
						now + RETRY_MIN));
	else
		retransmit_set_deadline(qp, now + retransmit_rto_ns(qp));
	return true;
}

bool rover_retransmit_expired(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_rtx *rtx = &qp->rtx;
	u64 now = retransmit_now();
	u64 retry;

	lockdep_assert_held(&qp->tx_lock);
	if (!rtx->deadline)
		return true;
	if (now < rtx->deadline) {
		hrtimer_start(&rtx->timer, ns_to_ktime(rtx->deadline),
			      HRTIMER_MODE_ABS_SOFT);
		return true;
	}
	if (req->rnr_wait) {
		rover_retransmit_rnr_done(qp);
		return true;
	}
	/* Local ODP memory is missing: the peer is not to blame. */
	if (req->resp_page_wait && rover_pagein_pending(&qp->resp_pagein)) {
		rtx->progress_at = now;
		retransmit_set_deadline(qp, now + retransmit_rto_ns(qp));
		return true;
	}
	if (!qp->attr.retry_cnt)
		return retransmit_expired_no_retry(qp, now);
	retry = retransmit_retry_ns(qp);
	/* Time alone does not count: this machine may have stood still. */
	if (retry && now - rtx->progress_at >= (qp->attr.retry_cnt + 1) * retry &&
	    rtx->timeouts >= qp->attr.retry_cnt)
		return false;

	rover_qp_count(qp, ROVER_STAT_ACK_TIMEOUT);
	if (rtx->timeouts < U8_MAX)
		rtx->timeouts++;
	if (rtx->backoff < MAX_BACKOFF)
		rtx->backoff++;
	rover_retransmit_go_back(qp);
	rtx->probing = true;
	rover_cwnd_probe(qp);
	rover_path_lost(&qp->path);
	retransmit_set_deadline(qp, now + retransmit_rto_ns(qp));
	return true;
}
