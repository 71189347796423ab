// SPDX-License-Identifier: GPL-2.0
/*
 * retransmit - what was sent, and when to send it again
 *
 * Go-back-N is the wire's common language (IBTA 9.7.7): to go back is to set
 * the place of the requester to an older PSN; packets are made again from the
 * work requests.  The timeout adapts to the measured round trip (RFC 6298) and
 * doubles each time, until a packet that was sent only once is acknowledged:
 * acknowledges of others say nothing about a network or peer that has become
 * slow, and a timeout too short for it makes it slower.  The upper bound is
 * four of the queue pair's own timeout: IBTA 9.7.6.1.3 has one noticed after
 * no less than one of it and no more than four.  It is the queue pair's own
 * that counts retries: after retry_cnt + 1 of it without progress, and as many
 * tries, the peer is gone.
 * Seven retries are seven; only RNR 7 is without end.
 *
 * After a timeout a single packet probes: what the peer then acknowledges
 * says where to go on, so a lost ACK costs one packet and not a window.  When
 * it acknowledges what was not sent again, nothing was lost (or only its
 * acknowledge), and nothing more is sent again: all of it would be in vain, and
 * keep a peer that is slow from what is new (compare F-RTO, RFC 5682).
 *
 * Runs under tx_lock with softirqs off.
 */
#include <linux/ktime.h>

#include "core/trace.h"
#include "rc/cwnd.h"
#include "rc/retransmit.h"
#include "wire/psn.h"
#include "wire/rnr.h"

/*
 * Below these a timeout says more about scheduling than about the network: a
 * softirq that became a thread's waits for slices of others, several where the
 * queue pairs are many.  What is lost in the midst a NAK tells at once.
 */
#define RTO_MIN		(48 * NSEC_PER_MSEC)
#define RTO_FIRST	(64 * NSEC_PER_MSEC)
/* The shortest of the user's that is taken at its word. */
#define RETRY_MIN	(16 * NSEC_PER_MSEC)
#define MAX_BACKOFF	6
/* A word of receives that has not come by then is lost. */
#define HERALD_LATE	(20 * NSEC_PER_MSEC)
/* Of the user's, before one must have been noticed. */
#define RETRY_LATE	4

static u64 now_ns(void)
{
	return ktime_get_ns();
}

/* The user's timeout: what a retry is counted in; 0 is without end. */
static u64 retry_ns(const struct rover_qp *qp)
{
	u64 t = rover_timeout_ns(qp->attr.timeout);

	return t ? max_t(u64, t, RETRY_MIN) : 0;
}

static u64 rto_ns(const struct rover_qp *qp)
{
	const struct rover_rtx *rtx = &qp->rtx;
	u64 rto = rtx->srtt ? rtx->srtt + 4 * rtx->rttvar : RTO_FIRST;
	u64 most = RETRY_LATE * retry_ns(qp);

	rto = max_t(u64, rto, RTO_MIN) << rtx->backoff;
	return most ? min(rto, most) : rto;
}

/*
 * The timer is not moved for every ACK, nor for what is sent when all before it was
 * acknowledged: it goes off at the deadline it was started for, finds a later one,
 * and is started again.  Whoever starts it holds the lock, and so does what it calls.
 */
static void set_deadline(struct rover_qp *qp, u64 deadline)
{
	struct rover_rtx *rtx = &qp->rtx;

	rtx->deadline = deadline;
	if (!hrtimer_is_queued(&rtx->timer) ||
	    deadline < ktime_to_ns(hrtimer_get_expires(&rtx->timer)))
		hrtimer_start(&rtx->timer, ns_to_ktime(deadline),
			      HRTIMER_MODE_ABS_SOFT);
}

static void sample(struct rover_rtx *rtx, u64 rtt)
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
	/* With a deadline and a packet being timed there is nothing to add. */
	if (rtx->deadline && rtx->sample_at)
		return;
	now = now_ns();
	if (!rtx->sample_at && psn == rover_psn_add(qp->req.next_psn, -1)) {
		rtx->sample_at = now;
		rtx->sample_psn = psn;
	}
	if (!rtx->deadline) {
		rtx->since = now;
		set_deadline(qp, now + rto_ns(qp));
	}
}

/* Go to the request that @psn belongs to, and as far into it. */
static void seek(struct rover_qp *qp, u32 psn)
{
	struct rover_req *req = &qp->req;
	u32 i;

	for (i = req->acked; i != req->fetched; i++) {
		struct rover_sent *row = rover_retransmit_row(qp, i);
		s32 at = rover_psn_diff(psn, row->psn);

		/* It spans nothing, and is not done again. */
		if (rover_wrs[row->opcode].flags & ROVER_WR_LOCAL)
			continue;
		if (at >= 0 && at < (s32)rover_retransmit_packets(qp, row)) {
			req->sending = i;
			req->offset = at;
			return;
		}
	}
	req->sending = req->fetched;
	req->offset = 0;
}

/* READ requests and atomics that are on the wire when all was sent. */
static u16 count_answered(struct rover_qp *qp)
{
	u32 piece = rover_retransmit_piece(qp), i;
	struct rover_req *req = &qp->req;
	u16 n = 0;

	for (i = req->acked; i != req->fetched; i++) {
		struct rover_sent *row = rover_retransmit_row(qp, i);
		s32 from = max(rover_psn_diff(req->una, row->psn), 0);
		s32 to = min_t(s32, rover_psn_diff(req->next_psn, row->psn),
			       rover_retransmit_packets(qp, row));

		if (rover_retransmit_answered(row) && from < to)
			n += (to - 1) / piece - from / piece + 1;
	}
	return n;
}

/* What is being sent again has been overtaken by what was sent before. */
static void overtaken(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	if (!qp->rtx.probing) {
		rover_retransmit_go_back(qp);
		return;
	}
	qp->rtx.probing = false;
	req->psn = req->next_psn;
	req->rd_atomic = count_answered(qp);
	req->wqe.valid = false;
	req->fault = ROVER_OK;
	seek(qp, req->psn);
	set_bit(ROVER_WORK_TX, &qp->work);
}

void rover_retransmit_progress(struct rover_qp *qp)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 now = now_ns();

	lockdep_assert_held(&qp->tx_lock);
	rtx->tries = 0;
	rtx->since = now;
	qp->req.rnr_retries = qp->attr.rnr_retry;
	if (rtx->sample_at &&
	    rover_psn_diff(qp->req.una, rtx->sample_psn) > 0) {
		sample(rtx, now - rtx->sample_at);
		rover_cwnd_measured(qp, now - rtx->sample_at);
		rtx->sample_at = 0;
		rtx->backoff = 0;
	}
	/*
	 * What the peer was not ready for has arrived all the same, by a copy
	 * that came late: the wait is for nothing, and to go back takes its timer.
	 */
	qp->req.rnr_wait = false;
	if (rover_psn_diff(qp->req.psn, qp->req.una) < 0)
		overtaken(qp);
	if (rover_qp_inflight(qp)) {
		set_deadline(qp, now + rto_ns(qp));
	} else {
		rtx->deadline = 0;
		/* Were some asked for twice, not all answers have counted. */
		qp->req.rd_atomic = 0;
	}
}

void rover_retransmit_go_back(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	trace_rover_go_back(qp->obj.key, req->una, req->next_psn);
	/* Every READ and atomic not yet answered is asked for again. */
	req->rd_atomic = 0;
	req->psn = req->una;
	req->wqe.valid = false;
	req->fault = ROVER_OK;
	seek(qp, req->una);
	qp->rtx.probing = false;
	/* Karn: a packet sent twice is not timed. */
	qp->rtx.sample_at = 0;
	qp->rtx.deadline = 0;
	set_bit(ROVER_WORK_TX, &qp->work);
}

/*
 * No less than the peer asks for.  One that was heard to say when it has receives
 * will say so again, and to ask before takes from its program the time to post them.
 */
void rover_retransmit_not_ready(struct rover_qp *qp, u8 code, bool receive)
{
	u64 t = rover_rnr_ns(code);

	if (qp->req.rnr_woken && receive)
		t = max_t(u64, t, HERALD_LATE);
	rover_retransmit_go_back(qp);
	qp->req.rnr_wait = true;
	set_deadline(qp, now_ns() + t);
}

void rover_retransmit_ready(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->req.rnr_wait = false;
	qp->rtx.deadline = 0;
	qp->rtx.since = now_ns();
	set_bit(ROVER_WORK_TX, &qp->work);
}

void rover_retransmit_stop(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	qp->rtx.deadline = 0;
	qp->rtx.sample_at = 0;
	qp->req.rnr_wait = false;
	hrtimer_try_to_cancel(&qp->rtx.timer);
}

bool rover_retransmit_last(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	u32 psn = rover_psn_add(req->next_psn, -1);
	u32 sending = req->sending, offset = req->offset;

	lockdep_assert_held(&qp->tx_lock);
	seek(qp, psn);
	if (req->sending == req->fetched ||
	    rover_retransmit_answered(rover_retransmit_row(qp, req->sending))) {
		req->sending = sending;
		req->offset = offset;
		return false;
	}
	trace_rover_go_back(qp->obj.key, psn, req->next_psn);
	req->psn = psn;
	req->wqe.valid = false;
	req->fault = ROVER_OK;
	/* Karn, as in rover_retransmit_go_back(). */
	qp->rtx.sample_at = 0;
	return true;
}

/*
 * With retry_cnt 0 nothing is sent again: the peer has one timeout, from when the
 * oldest packet was sent, and what was not sent for want of memory is sent now.
 */
static bool retransmit_expired_once(struct rover_qp *qp, u64 now)
{
	struct rover_rtx *rtx = &qp->rtx;
	u64 retry = retry_ns(qp);

	if (!rover_qp_inflight(qp)) {
		rtx->since = now;
		set_bit(ROVER_WORK_TX, &qp->work);
	} else if (retry && now - rtx->since >= retry) {
		return false;
	}
	if (retry)
		set_deadline(qp, max(rtx->since + retry, now + RETRY_MIN));
	else
		set_deadline(qp, now + rto_ns(qp));
	return true;
}

bool rover_retransmit_expired(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_rtx *rtx = &qp->rtx;
	u64 now = now_ns();
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
		rover_retransmit_ready(qp);
		return true;
	}
	/* What is missing is memory of ours for what it said, and the peer not to blame. */
	if (req->page_wait && rover_demand_waits(&qp->resp_demand)) {
		rtx->since = now;
		set_deadline(qp, now + rto_ns(qp));
		return true;
	}
	if (!qp->attr.retry_cnt)
		return retransmit_expired_once(qp, now);
	retry = retry_ns(qp);
	/* Both: where this machine stood still, time has passed without tries. */
	if (retry && now - rtx->since >= (qp->attr.retry_cnt + 1) * retry &&
	    rtx->tries >= qp->attr.retry_cnt)
		return false;

	rover_qp_count(qp, ROVER_STAT_ACK_TIMEOUT);
	if (rtx->tries < U8_MAX)
		rtx->tries++;
	if (rtx->backoff < MAX_BACKOFF)
		rtx->backoff++;
	rover_retransmit_go_back(qp);
	/* One packet, then what the peer says. */
	rtx->probing = true;
	rover_cwnd_probe(qp);
	rover_path_lost(&qp->path);
	set_deadline(qp, now + rto_ns(qp));
	return true;
}
