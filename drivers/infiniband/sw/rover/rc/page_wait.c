// SPDX-License-Identifier: GPL-2.0
/*
 * page_wait - requests waiting for the responder's ODP memory
 *
 * The request is dropped.  When its memory is there, an RNR NAK with the
 * shortest time makes the peer send again, which is no loss but uses up an RNR
 * retry.  If the local rnr_retry is limited, the peer's may be, too: send a
 * sequence NAK instead.  See decision 0042.
 */
#include "qp/qp_table.h"
#include "rc/credit.h"
#include "rc/page_wait.h"
#include "rc/retransmit.h"
#include "wire/fault.h"
#include "wire/psn.h"
#include "wire/rnr.h"
#include "wire/wire.h"

/* 7 means unlimited (IBTA 9.7.5.2.8). */
static bool page_wait_rnr_unlimited(const struct rover_qp *qp)
{
	return qp->attr.rnr_retry == 7;
}

/*
 * The peer may send again before the memory is there.  The time that it waits
 * doubles: each retry takes processor time from the thread that pages in, and
 * from the peer if it runs here, too.
 */
static u8 page_wait_syndrome(struct rover_qp *qp)
{
	u8 code = min(ROVER_RNR_1MS + 2 * qp->rsp.page_retries, ROVER_RNR_31MS);

	if (code < ROVER_RNR_31MS)
		qp->rsp.page_retries++;
	if (rover_rnr_ns(code) < rover_rnr_ns(qp->attr.min_rnr_timer))
		code = qp->attr.min_rnr_timer;
	return rover_faults[ROVER_FAULT_PAGE].syndrome | code;
}

void rover_page_wait_begin(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	/* Do not NAK packets behind this one. */
	rsp->nak_sent = true;
	if (pkt->op->flags & ROVER_OP_START)
		rsp->in_message = false;
	if (!rsp->page_wait)
		rsp->page_retries = 0;
	else if (page_wait_rnr_unlimited(qp))
		rsp->nak_due = page_wait_syndrome(qp);
	rsp->page_wait = true;
	rover_packet_drop(qp, pkt, ROVER_STAT_DROP_PAGE);
}

void rover_page_wait_end(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	rsp->page_wait = false;
	rsp->nak_due = page_wait_rnr_unlimited(qp) ?
		       rover_faults[ROVER_FAULT_PAGE].syndrome |
		       ROVER_RNR_SHORTEST : ROVER_NAK_PSN_SEQ;
}

bool rover_page_wait_is_remote(const struct rover_qp *qp,
			       const struct rover_sent *row)
{
	u32 at = rover_psn_diff(qp->req.una, row->psn);
	bool end = at + 1 == rover_retransmit_packets(qp, row);

	lockdep_assert_held(&qp->tx_lock);
	if (!rover_credit_needs_recv(row, end))
		return true;
	if (at && row->opcode != ROVER_WQE_WRITE_IMM)
		return true;
	return qp->req.lsn_valid && rover_credit_available(qp, row, end);
}
