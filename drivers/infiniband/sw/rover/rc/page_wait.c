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

void rover_page_wait_begin(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	/* Do not NAK packets behind this one. */
	rsp->nak_sent = true;
	if (pkt->op->flags & ROVER_OP_START)
		rsp->in_message = false;
	/* Retried before its memory is there: make the peer wait. */
	if (rsp->page_wait && page_wait_rnr_unlimited(qp))
		rsp->nak_due = rover_faults[ROVER_FAULT_PAGE].syndrome |
			       qp->attr.min_rnr_timer;
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
