// SPDX-License-Identifier: GPL-2.0
/*
 * credit - how many receives the peer has, and what we tell it of ours
 *
 * An acknowledge says how many receives are posted behind the message it
 * acknowledges (IBTA 9.7.7.2), and a requester sends no more SENDs than that: what
 * a slow program has no receive for would be refused, with all that was sent
 * after it, and sent again.  When there is none left one packet may still go, to ask
 * (C9-159): it is acknowledged, or refused with a time to wait.
 *
 * That time is a guess.  So who refused looks after its receives from then on,
 * and says so when there are some: an acknowledge of what was acknowledged
 * before, which ends the wait at once.  A program that has fallen behind has
 * completions to read, and posts a receive for each: half of them are waited for,
 * since with the first alone one message would come, and the next wait; but no more
 * than it was seen to have.  The program enters the kernel for the one receive that
 * makes them enough (K7).  A peer that comes back by itself, and finds fewer, shows that
 * it was too much.
 *
 * Receives that are shared are nobody's: of those nothing is said; nor of those of
 * many queue pairs that one program is behind with.
 *
 * Under rx_lock what is ours, under tx_lock what is the peer's; softirqs off.
 */
#include "qp/cq.h"
#include "qp/qp_table.h"
#include "rc/credit.h"
#include "wire/aeth.h"
#include "wire/wire.h"

/* Receiving ******************************************************************/

/*
 * Whose receives, in @usecnt, a program still sees to in time.  Where one is behind for
 * many queue pairs the waits of those refused are what it lives on: told of
 * receives they all come back at once, and take from it the time to post more.
 */
#define QPS_MOST	16

/* After so many waits that were ended it is tried whether there would be one more. */
#define ENDED_MORE	8

/* Has it receives of its own, and a program that is there for it? */
static bool tells(const struct rover_qp *qp)
{
	/* Each is counted where it sends and where it receives, here twice as a rule. */
	return qp->rq.limit && atomic_read(&qp->rcq->ib.usecnt) <= 2 * QPS_MOST;
}

/* Are the completions that its program has not read all its own? */
static bool alone(const struct rover_qp *qp)
{
	return atomic_read(&qp->rcq->ib.usecnt) <= 2;
}

/* A ring that makes no sense has none: whoever takes one finds out. */
static u32 posted(const struct rover_qp *qp)
{
	return max(rover_ring_posted(&qp->rq, qp->rq.head), 0);
}

u8 rover_credit_offer(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 have;

	lockdep_assert_held(&qp->rx_lock);
	if (!tells(qp))
		return ROVER_AETH_ACK | ROVER_AETH_CREDITS_NONE;
	have = posted(qp);
	rsp->rq_high = max(rsp->rq_high, have);
	return ROVER_AETH_ACK | rover_aeth_code(have);
}

void rover_credit_await(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 enough;

	lockdep_assert_held(&qp->rx_lock);
	if (!tells(qp))
		return;
	if (rsp->peer_waits) {
		/* Who asks again still waits for the same, but for one that has found some. */
		if (!alone(qp) || qp->rq.head == rsp->wait_from)
			return;
		rsp->rq_high = (rsp->wait_until - rsp->wait_from) / 4;
	}
	enough = min3(rover_cq_unread(qp->rcq) / 2, rsp->rq_high, qp->rq.limit / 2);
	enough = max(enough, 1U);
	/* Of several each is told soon, or it waits for what the program does for others. */
	if (!alone(qp))
		rsp->rq_high = 0;
	rsp->wait_from = qp->rq.head;
	rsp->wait_until = rsp->wait_from + enough;
	WRITE_ONCE(rsp->peer_waits, true);
	rover_ring_await(&qp->rq, rsp->wait_until);
	if (posted(qp) >= enough)
		set_bit(ROVER_WORK_RX, &qp->work);
}

bool rover_credit_restocked(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	if (likely(!rsp->peer_waits) ||
	    (s32)(qp->rq.head + posted(qp) - rsp->wait_until) < 0)
		return false;
	rover_credit_forget(qp);
	if (!(++rsp->waits_ended % ENDED_MORE))
		rsp->rq_high++;
	return rover_qp_allows(qp, ROVER_MAY_RECEIVE);
}

void rover_credit_forget(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	if (!qp->rsp.peer_waits)
		return;
	WRITE_ONCE(qp->rsp.peer_waits, false);
	rover_ring_content(&qp->rq);
}

/* Sending ********************************************************************/

bool rover_credit_told(struct rover_qp *qp, const struct rover_sent *row,
		       u8 code)
{
	struct rover_req *req = &qp->req;
	u32 limit = row ? row->ssn : req->ssn;
	bool wider;

	lockdep_assert_held(&qp->tx_lock);
	if (code > ROVER_AETH_CREDITS_MOST) {
		wider = req->lsn_valid;
		req->lsn_valid = false;
		return wider;
	}
	/* What has begun has taken its receive, if it is one of those. */
	limit += rover_aeth_credits(code) +
		 (row && row->psn != req->una && rover_credit_needs(row, false));
	/* What was told once is there, whatever overtook it. */
	if (req->lsn_valid && (s32)(limit - req->lsn) <= 0)
		return false;
	req->lsn_valid = true;
	req->lsn = limit;
	return true;
}
