// SPDX-License-Identifier: GPL-2.0
/*
 * rq - take receive WQEs from a ring
 *
 * Userspace may write to it at any time: validate only the copy.
 */
#include "qp/rq.h"
#include "wire/wr.h"

u32 rover_rq_stride(u32 *max_sge)
{
	u32 bytes = *max_sge * sizeof(struct rover_sge);
	u32 stride = ALIGN(ROVER_RECV_WQE_HDR + bytes, ROVER_SLOT_SIZE);

	bytes = stride - ROVER_RECV_WQE_HDR;
	*max_sge = min_t(u32, bytes / sizeof(struct rover_sge), ROVER_MAX_SGE);
	return stride;
}

static u64 rq_sge_bytes(const struct rover_sge *sge, u32 n)
{
	u64 bytes = 0;

	while (n)
		bytes += sge[--n].length;
	return bytes;
}

enum rover_fault rover_rq_take(struct rover_ring *ring, u32 max_sge, u32 need,
			       struct rover_recv_wqe *wqe,
			       struct rover_sge *sge)
{
	int posted = rover_ring_posted(ring, ring->head);
	const void *slot;

	if (!posted)
		return ROVER_FAULT_RNR;
	if (posted < 0)
		return ROVER_FAULT_RQ_RING;
	slot = rover_ring_slot(ring, ring->head);
	memcpy(wqe, slot, sizeof(*wqe));
	barrier();
	if (wqe->num_sge > max_sge) {
		rover_ring_retire(ring, 1);
		return ROVER_FAULT_RQ_CORRUPT;
	}
	memcpy(sge, slot + ROVER_RECV_WQE_HDR, wqe->num_sge * sizeof(*sge));
	barrier();
	if (need && rq_sge_bytes(sge, wqe->num_sge) < need)
		return ROVER_FAULT_TOO_LONG;
	rover_ring_retire(ring, 1);
	return ROVER_OK;
}
