// SPDX-License-Identifier: GPL-2.0
/*
 * credit - end-to-end credits: posted receives
 *
 * An ACK tells how many receives are posted beyond its message (IBTA 9.7.7.2),
 * which limits SENDs in flight.  Without credits one packet may probe (C9-159).
 *
 * The time in an RNR NAK is a guess.  So the responder then watches its receive
 * ring (K7) and repeats its last ACK, which ends the peer's wait, once enough
 * receives are posted: half of the unread completions, at most rsp.rq_seen_max,
 * and fewer after a retry that found receives.
 *
 * SRQs, and CQs of many queue pairs, have no credits.  See decision 0029.
 */
#include "qp/cq.h"
#include "qp/qp_state.h"
#include "rc/credit.h"
#include "wire/aeth.h"
#include "wire/wire.h"

/* Receiving ******************************************************************/

/*
 * Most queue pairs on a CQ with credits.  A slow program with more needs RNR
 * waits: peers woken all at once leave it no time to post.
 */
#define MAX_CQ_QPS	16

/* After this many wakes, wait for one receive more. */
#define WAKES_PER_PROBE	8

static bool credit_is_advertised(const struct rover_qp *qp)
{
	/* A QP counts twice: as sender and receiver. */
	return qp->rq.limit &&
	       atomic_read(&qp->rcq->ib.usecnt) <= 2 * MAX_CQ_QPS;
}

static bool credit_owns_cq(const struct rover_qp *qp)
{
	return atomic_read(&qp->rcq->ib.usecnt) <= 2;
}

/* A corrupt ring counts as empty; taking a receive reports it. */
static u32 credit_posted_recvs(const struct rover_qp *qp)
{
	return max(rover_ring_posted(&qp->rq, qp->rq.head), 0);
}

u8 rover_credit_syndrome(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 have;

	lockdep_assert_held(&qp->rx_lock);
	if (!credit_is_advertised(qp))
		return ROVER_AETH_ACK | ROVER_AETH_CREDITS_NONE;
	have = credit_posted_recvs(qp);
	rsp->rq_seen_max = max(rsp->rq_seen_max, have);
	return ROVER_AETH_ACK | rover_aeth_code(have);
}

void rover_credit_watch(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 wanted;

	lockdep_assert_held(&qp->rx_lock);
	if (!credit_is_advertised(qp))
		return;
	if (rsp->peer_waits) {
		/* A retry keeps the wait, unless it found receives. */
		if (!credit_owns_cq(qp) || qp->rq.head == rsp->wake_from)
			return;
		rsp->rq_seen_max = (rsp->wake_at - rsp->wake_from) / 4;
	}
	wanted = min3(rover_cq_unread(qp->rcq) / 2, rsp->rq_seen_max,
		      qp->rq.limit / 2);
	wanted = max(wanted, 1U);
	/* Unread completions may be of other queue pairs: wake early. */
	if (!credit_owns_cq(qp))
		rsp->rq_seen_max = 0;
	rsp->wake_from = qp->rq.head;
	rsp->wake_at = rsp->wake_from + wanted;
	WRITE_ONCE(rsp->peer_waits, true);
	rover_ring_watch(&qp->rq, rsp->wake_at);
	if (credit_posted_recvs(qp) >= wanted)
		rover_qp_set_work(qp, ROVER_WORK_RX);
}

bool rover_credit_wake_due(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	if (likely(!rsp->peer_waits) ||
	    (s32)(qp->rq.head + credit_posted_recvs(qp) - rsp->wake_at) < 0)
		return false;
	rover_credit_unwatch(qp);
	if (!(++rsp->rnr_wakes % WAKES_PER_PROBE))
		rsp->rq_seen_max++;
	return rover_qp_allows(qp, ROVER_MAY_RECEIVE);
}

void rover_credit_unwatch(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	if (!qp->rsp.peer_waits)
		return;
	WRITE_ONCE(qp->rsp.peer_waits, false);
	rover_ring_unwatch(&qp->rq);
}

/* Sending ********************************************************************/

bool rover_credit_update(struct rover_qp *qp, const struct rover_sent *row,
			 u8 code)
{
	struct rover_req *req = &qp->req;
	u32 limit = row ? row->ssn : req->ssn;
	bool wider;

	lockdep_assert_held(&qp->tx_lock);
	if (code > ROVER_AETH_CREDITS_MAX) {
		wider = req->lsn_valid;
		req->lsn_valid = false;
		return wider;
	}
	/* A partly acknowledged SEND has taken its receive. */
	limit += rover_aeth_credits(code) +
		 (row && row->psn != req->una &&
		  rover_credit_needs_recv(row, false));
	/* Ignore the limit of an older ACK. */
	if (req->lsn_valid && (s32)(limit - req->lsn) <= 0)
		return false;
	req->lsn_valid = true;
	req->lsn = limit;
	return true;
}
