// SPDX-License-Identifier: GPL-2.0
/*
 * mpe - memory placement extensions: ATOMIC WRITE, FLUSH (annex A19)
 *
 * Both are answered by an empty READ response.  They come between messages and
 * use rsp.dst, which the responder releases.
 */
#include "mem/mw.h"
#include "mem/sgl.h"
#include "rc/mpe.h"

enum rover_fault rover_mpe_store(struct rover_qp *qp,
				 const struct rover_packet *pkt)
{
	const struct rover_reth *reth = &pkt->hdr.awrite.reth;
	struct rover_sgl *sgl = &qp->rsp.dst;
	u64 word;

	lockdep_assert_held(&qp->rx_lock);
	if (be32_to_cpu(reth->length) != sizeof(word))
		return ROVER_FAULT_LENGTH;
	memcpy(&word, pkt->hdr.awrite.word.bytes, sizeof(word));
	rover_sgl_set_remote(sgl, qp->pd, qp->obj.key, be64_to_cpu(reth->va),
			     sizeof(word), be32_to_cpu(reth->rkey),
			     IB_ACCESS_REMOTE_WRITE, &qp->rx_pagein);
	return rover_sgl_store(sgl, word);
}

static enum rover_fault mpe_check_flush(struct rover_qp *qp,
					const struct rover_packet *pkt)
{
	const struct rover_reth *reth = &pkt->hdr.flush.reth;
	u32 what = be32_to_cpu(pkt->hdr.flush.feth.what);
	u32 len = be32_to_cpu(reth->length);
	struct rover_sgl *sgl = &qp->rsp.dst;
	int access = 0;

	if (what & ROVER_FLUSH_GLOBAL)
		access |= IB_ACCESS_FLUSH_GLOBAL;
	if (what & ROVER_FLUSH_PERSISTENT)
		access |= IB_ACCESS_FLUSH_PERSISTENT;
	if (!access || access & ~qp->access)
		return ROVER_FAULT_OPCODE;
	switch (FIELD_GET(ROVER_FLUSH_SELECTIVITY, what)) {
	case ROVER_FLUSH_MR:
		return rover_mw_grants(qp->pd, qp->obj.key,
				       be32_to_cpu(reth->rkey), access);
	case ROVER_FLUSH_RANGE:
		if (!len)
			return ROVER_OK;
		rover_sgl_set_remote(sgl, qp->pd, qp->obj.key,
				     be64_to_cpu(reth->va), len,
				     be32_to_cpu(reth->rkey), access, NULL);
		return rover_sgl_check(sgl);
	default:
		return ROVER_FAULT_OPCODE;
	}
}

/* Caches are coherent: only order earlier writes before the response. */
enum rover_fault rover_mpe_flush(struct rover_qp *qp,
				 const struct rover_packet *pkt)
{
	enum rover_fault fault = mpe_check_flush(qp, pkt);

	lockdep_assert_held(&qp->rx_lock);
	if (!fault)
		smp_mb();	/* Pairs with reads of the peer after the response. */
	return fault;
}
