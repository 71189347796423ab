// SPDX-License-Identifier: GPL-2.0
/*
 * page_wait - requests that wait for memory on demand at the responder
 *
 * A request whose memory is not there is dropped.  When the memory has come,
 * the peer gets an RNR NAK with the shortest time to wait and sends the request
 * again.  Devices with page faults in hardware send the RNR NAK at once; but
 * then the wait is a guess, and mostly far too long.  To a peer an RNR NAK is no
 * loss: its window and its view of the path stay as they are.
 *
 * An RNR NAK uses up one of the peer's RNR retries, where these are counted.
 * How many the peer has is not known; ours are the only sign.  Where ours are
 * counted the peer is told of a gap instead, as after a loss.
 */
#include "qp/qp_table.h"
#include "rc/credit.h"
#include "rc/page_wait.h"
#include "rc/retransmit.h"
#include "wire/fault.h"
#include "wire/psn.h"
#include "wire/rnr.h"
#include "wire/wire.h"

/* Seven is without end (IBTA 9.7.5.2.8). */
static bool retries_without_end(const struct rover_qp *qp)
{
	return qp->attr.rnr_retry == 7;
}

void rover_page_wait_begin(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	/* Packets behind this one are out of sequence until it comes again: no NAK for them. */
	rsp->nak_sent = true;
	if (pkt->op->flags & ROVER_OP_START)
		rsp->in_message = false;
	/* It has come again before its memory: the peer is to wait. */
	if (rsp->page_wait && retries_without_end(qp))
		rsp->nak_due = rover_faults[ROVER_FAULT_PAGE].syndrome |
			       qp->attr.min_rnr_timer;
	rsp->page_wait = true;
	rover_qp_drop(qp, ROVER_STAT_DROP_PAGE, pkt->opcode, pkt->psn);
}

void rover_page_wait_end(struct rover_qp *qp)
{
	struct rover_rsp *rsp = &qp->rsp;

	lockdep_assert_held(&qp->rx_lock);
	rsp->page_wait = false;
	rsp->nak_due = retries_without_end(qp) ?
		       rover_faults[ROVER_FAULT_PAGE].syndrome |
		       ROVER_RNR_SHORTEST : ROVER_NAK_PSN_SEQ;
}

bool rover_page_wait_is_peers(const struct rover_qp *qp,
			     const struct rover_sent *row)
{
	u32 at = rover_psn_diff(qp->req.una, row->psn);
	bool end = at + 1 == rover_retransmit_packets(qp, row);

	lockdep_assert_held(&qp->tx_lock);
	if (!rover_credit_needs(row, end))
		return true;
	/* A SEND takes its receive with the first packet. */
	if (at && row->opcode != ROVER_WQE_WRITE_IMM)
		return true;
	return qp->req.lsn_valid && rover_credit_left(qp, row, end);
}
