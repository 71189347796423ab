// SPDX-License-Identifier: GPL-2.0
/*
 * flush - complete the requests of a ring with FLUSH_ERR, in portions
 *
 * rover_requester_flush() first completes the requests that it has begun,
 * rover_responder_flush() the receive that it has begun.  See decision 0043.
 */
#include "qp/flush.h"
#include "qp/qp_state.h"
#include "qp/wqe.h"
#include "wire/fault.h"

void rover_flush_sends(struct rover_qp *qp)
{
	int posted = rover_ring_posted(&qp->sq, qp->sq.head);

	lockdep_assert_held(&qp->tx_lock);
	if (posted > ROVER_FLUSH_PORTION)
		rover_qp_set_work(qp, ROVER_WORK_TX);
	for (posted = min(posted, ROVER_FLUSH_PORTION); posted > 0; posted--) {
		const struct rover_send_wqe *slot =
			rover_ring_slot(&qp->sq, qp->sq.head);
		u64 wr_id = READ_ONCE(slot->wr_id);
		u8 opcode = READ_ONCE(slot->opcode);

		rover_ring_retire(&qp->sq, 1);
		rover_wqe_fail(qp, wr_id, opcode, ROVER_FAULT_FLUSH);
	}
}

void rover_flush_receives(struct rover_qp *qp)
{
	int posted;

	lockdep_assert_held(&qp->rx_lock);
	if (qp->srq) {
		rover_qp_last_wqe(qp);
		return;
	}
	posted = rover_ring_posted(&qp->rq, qp->rq.head);
	if (posted > ROVER_FLUSH_PORTION)
		rover_qp_set_work(qp, ROVER_WORK_RX);
	for (posted = min(posted, ROVER_FLUSH_PORTION); posted > 0; posted--) {
		const struct rover_recv_wqe *slot =
			rover_ring_slot(&qp->rq, qp->rq.head);
		u64 wr_id = READ_ONCE(slot->wr_id);

		rover_ring_retire(&qp->rq, 1);
		rover_wqe_recv_fail(qp, wr_id, ROVER_FAULT_FLUSH,
				    rover_faults[ROVER_FAULT_FLUSH].req_wc);
	}
}
