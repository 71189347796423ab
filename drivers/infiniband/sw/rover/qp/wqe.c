// SPDX-License-Identifier: GPL-2.0
/*
 * wqe - copies and completions of WQEs
 *
 * Userspace may write to its rings at any time: validate only copies.
 */
#include "qp/cq.h"
#include "qp/qp_state.h"
#include "qp/rq.h"
#include "qp/srq.h"
#include "qp/wqe.h"
#include "qp/zcopy.h"
#include "wire/wire.h"

/* Send ***********************************************************************/

enum rover_fault rover_wqe_copy(struct rover_qp *qp, u32 index,
				struct rover_wqe *wqe, u64 *length)
{
	const void *slot = rover_ring_slot(&qp->sq, index);
	struct rover_send_wqe *hdr = &wqe->hdr;
	const struct rover_sge *sge;
	const struct rover_wr *wr;
	unsigned int i;

	lockdep_assert_held(&qp->tx_lock);
	memcpy(hdr, slot, sizeof(*hdr));
	barrier();
	wqe->index = index;
	if (hdr->opcode >= ROVER_WQE_OPCODES || hdr->flags & ~ROVER_WQE_FLAGS ||
	    hdr->num_sge > qp->max_send_sge || hdr->reserved_03)
		return ROVER_FAULT_WQE;
	wr = &rover_wrs[hdr->opcode];
	if (qp->transport == ROVER_TRANSPORT_XRC &&
	    rover_wr_srqn(hdr) & ~ROVER_24BIT)
		return ROVER_FAULT_WQE;
	if (hdr->flags & ROVER_WQE_INLINE) {
		if (!(wr->flags & ROVER_WR_INLINE_OK) || hdr->num_sge ||
		    hdr->inline_len > qp->max_inline)
			return ROVER_FAULT_WQE;
		*length = hdr->inline_len;
		return ROVER_OK;
	}
	/* Operations without local memory have no SGL. */
	if (hdr->num_sge && !(wr->flags & (ROVER_WR_GATHER | ROVER_WR_SCATTER)))
		return ROVER_FAULT_WQE;
	sge = slot + ROVER_SEND_WQE_HDR;
	for (i = 0; i < hdr->num_sge; i++)
		wqe->sge[i] = sge[i];
	barrier();
	for (i = 0, *length = 0; i < hdr->num_sge; i++)
		*length += wqe->sge[i].length;
	if (*length > ROVER_MAX_MSG)
		return ROVER_FAULT_SEND_LENGTH;
	if (wr->flags & ROVER_WR_ATOMIC && *length < sizeof(u64))
		return ROVER_FAULT_SEND_LENGTH;
	return ROVER_OK;
}

void rover_wqe_write_cqe(struct rover_qp *qp, const struct rover_sent *row,
			 enum rover_fault fault)
{
	struct rover_cqe cqe = {
		.wr_id = row->wr_id,
		.qpn = qp->obj.key,
		.byte_len = row->length,
		.opcode = rover_wrs[row->opcode].cqe_opcode,
		.status = rover_faults[fault].req_wc,
		.vendor_err = fault,
	};

	lockdep_assert_held(&qp->tx_lock);
	if (fault) {
		/* The completion returns the buffer to its owner. */
		rover_zcopy_revoke_send(qp);
		rover_qp_count(qp, fault == ROVER_FAULT_FLUSH ?
			    ROVER_STAT_REQ_CQE_FLUSH : ROVER_STAT_REQ_CQE_ERROR);
	}
	if (!rover_cq_post(qp->scq, qp->ib, &cqe, fault))
		rover_qp_fail(qp, ROVER_EVENT_QP_FATAL);
}

void rover_wqe_fail(struct rover_qp *qp, u64 wr_id, u8 opcode,
		    enum rover_fault fault)
{
	struct rover_sent row = {
		.wr_id = wr_id,
		.opcode = opcode < ROVER_WQE_OPCODES ? opcode : ROVER_WQE_SEND,
	};

	rover_wqe_complete(qp, &row, fault);
}

/* Receive ********************************************************************/

enum rover_fault rover_wqe_recv(struct rover_qp *qp, u32 need)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	lockdep_assert_held(&qp->rx_lock);
	if (qp->srq) {
		/* An SRQ event handler may close the key that @dst holds. */
		if (!qp->user)
			rover_sgl_release(&rsp->dst);
		fault = rover_srq_take(qp->srq, need, &rsp->wqe, rsp->sge);
	} else {
		fault = rover_rq_take(&qp->rq, qp->max_recv_sge, need,
				      &rsp->wqe, rsp->sge);
	}
	rsp->have_wqe = rover_rq_taken(fault);
	return fault;
}

void rover_wqe_recv_complete(struct rover_qp *qp, struct rover_cqe *cqe,
			     bool solicited)
{
	lockdep_assert_held(&qp->rx_lock);
	cqe->qpn = qp->obj.key;
	if (!rover_cq_post(qp->rcq, qp->ib, cqe, solicited))
		rover_qp_fail(qp, ROVER_EVENT_QP_FATAL);
}

void rover_wqe_recv_fail(struct rover_qp *qp, u64 wr_id, enum rover_fault fault,
			 u8 status)
{
	struct rover_cqe cqe = {
		.wr_id = wr_id,
		.opcode = ROVER_CQE_RECV,
		.status = status,
		.vendor_err = fault,
	};

	rover_qp_count(qp, fault == ROVER_FAULT_FLUSH ?
		    ROVER_STAT_RESP_CQE_FLUSH : ROVER_STAT_RESP_CQE_ERROR);
	rover_wqe_recv_complete(qp, &cqe, true);
}
