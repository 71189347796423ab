// SPDX-License-Identifier: GPL-2.0
/* fake_cq - qp/cq.c, qp/srq.c, qp/zcopy.c: the model reads completions at once */
#include <stdio.h>

#include "load.h"
#include "model.h"
#include "options.h"
#include "pair.h"
#include "qp/srq.h"
#include "qp/zcopy.h"

bool rover_cq_post(struct rover_cq *cq, struct ib_qp *qp,
		   const struct rover_cqe *cqe, bool solicited)
{
	struct end *end = container_of(qp, struct end, ib.ib);

	if (opts.ladder)
		printf("%12.3f us %-5s %s %llu complete, status %u\n",
		       (double)(clock_now - NSEC_PER_SEC) / 1000, end->name,
		       cq == &end->scq ? "message" : "receive",
		       (unsigned long long)cqe->wr_id, cqe->status);
	if (cq == &end->scq)
		model_send_done(end, cqe);
	else
		model_recv_done(end, cqe);
	end->unread++;
	load_wake(end);
	return true;
}

u32 rover_cq_unread(struct rover_cq *cq)
{
	return container_of(cq, struct end, rcq)->unread;
}

void rover_cq_forget(struct rover_cq *cq, const struct ib_qp *qp)
{
}

enum rover_fault rover_srq_take(struct rover_srq *srq, u32 need,
				struct rover_recv_wqe *wqe,
				struct rover_sge *sge)
{
	sim_assert(false);
	return ROVER_OK;
}

enum rover_fault rover_zcopy_write(struct rover_sgl *sgl,
				   const struct sk_buff *skb, int from, u32 len,
				   const struct rover_zcopy *zcopy)
{
	return rover_sgl_write(sgl, skb, from, len);
}

void rover_zcopy_revoke_send(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
}

void rover_zcopy_revoke(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	lockdep_assert_held(&qp->tx_lock);
}
