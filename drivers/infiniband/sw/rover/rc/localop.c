// SPDX-License-Identifier: GPL-2.0
/*
 * localop - work requests without packets
 *
 * They change memory keys, are executed once, in send queue order, and complete
 * in turn by a row in req.sent.
 */
#include "mem/mw.h"
#include "qp/wqe.h"
#include "rc/localop.h"

static enum rover_fault localop_invalidate(struct rover_qp *qp,
					   struct rover_wqe *wqe)
{
	return rover_mw_invalidate(qp->pd, qp->obj.key, wqe->hdr.imm, false);
}

static enum rover_fault localop_bind_mw(struct rover_qp *qp,
					struct rover_wqe *wqe)
{
	const struct rover_send_wqe *hdr = &wqe->hdr;
	struct rover_bind bind = {
		.key = hdr->rkey,
		.lkey = hdr->bind_lkey,
		.access = hdr->bind_access,
		.addr = hdr->bind_addr,
		.length = hdr->bind_length,
	};

	return rover_mw_bind(qp->pd, qp->obj.key, &bind);
}

static enum rover_fault localop_reg_mr(struct rover_qp *qp,
				       struct rover_wqe *wqe)
{
	/* Userspace has no pages to register. */
	if (qp->user)
		return ROVER_FAULT_WQE;
	return rover_fastreg_register(qp->pd, &wqe->kernel.reg);
}

static enum rover_fault (*const localop_handlers[ROVER_WQE_OPCODES])
	(struct rover_qp *qp, struct rover_wqe *wqe) = {
	[ROVER_WQE_LOCAL_INV] = localop_invalidate,
	[ROVER_WQE_BIND_MW] = localop_bind_mw,
	[ROVER_WQE_REG_MR] = localop_reg_mr,
};

bool rover_localop_waits(struct rover_qp *qp, const struct rover_wqe *wqe)
{
	const struct rover_send_wqe *hdr = &wqe->hdr;

	if (qp->req.oldest == qp->req.fetched)
		return false;
	return hdr->flags & ROVER_WQE_FENCE ||
	       (hdr->opcode == ROVER_WQE_LOCAL_INV &&
		rover_mkey_zcopy_sent(&qp->dev->mrs, hdr->imm));
}

enum rover_fault rover_localop_run(struct rover_qp *qp, struct rover_wqe *wqe)
{
	lockdep_assert_held(&qp->tx_lock);
	if (wqe->hdr.num_sge)
		return ROVER_FAULT_WQE;
	return localop_handlers[wqe->hdr.opcode](qp, wqe);
}

void rover_localop_retire(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;

	lockdep_assert_held(&qp->tx_lock);
	while (req->oldest != req->fetched) {
		struct rover_sent *row = rover_retransmit_row(qp, req->oldest);

		if (!rover_localop_is(row->opcode))
			break;
		/* Retransmission continues behind it. */
		if (req->sending == req->oldest)
			req->sending++;
		req->oldest++;
		rover_ring_retire(&qp->sq, 1);
		rover_wqe_complete(qp, row, ROVER_OK);
	}
}
