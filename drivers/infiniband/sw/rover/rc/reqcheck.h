/* SPDX-License-Identifier: GPL-2.0 */
/* reqcheck - checks of request packets, in the order of IBTA figure 89 */
#ifndef ROVER_REQCHECK_H
#define ROVER_REQCHECK_H

#include "qp/packet.h"
#include "qp/qp.h"
#include "wire/fault.h"

/**
 * rover_reqcheck_order() - check the place in the message (IBTA 9.7.4.1.3)
 * @qp: alive; rx_lock held
 * @pkt: expected request
 */
static inline enum rover_fault
rover_reqcheck_order(struct rover_qp *qp, const struct rover_packet *pkt)
{
	const struct rover_rsp *rsp = &qp->rsp;

	if (pkt->op->flags & ROVER_OP_START)
		return rsp->in_message ? ROVER_FAULT_OPCODE : ROVER_OK;
	return rsp->in_message && rsp->class == pkt->op->class ?
	       ROVER_OK : ROVER_FAULT_OPCODE;
}

/**
 * rover_reqcheck_access() - check the rights of the peer
 * @qp: alive
 * @pkt: request
 */
static inline enum rover_fault
rover_reqcheck_access(const struct rover_qp *qp,
		      const struct rover_packet *pkt)
{
	static const int need[ROVER_CLASS_READ_RESP] = {
		[ROVER_CLASS_WRITE] = IB_ACCESS_REMOTE_WRITE,
		[ROVER_CLASS_READ] = IB_ACCESS_REMOTE_READ,
		[ROVER_CLASS_ATOMIC] = IB_ACCESS_REMOTE_ATOMIC,
		[ROVER_CLASS_ATOMIC_WRITE] = IB_ACCESS_REMOTE_WRITE,
		[ROVER_CLASS_RESERVED] = ~0,	/* never granted */
	};
	int right = need[pkt->op->class];

	return right & ~qp->access ? ROVER_FAULT_OPCODE : ROVER_OK;
}

/**
 * rover_reqcheck_length() - check the payload's length (IBTA 9.7.4.1.6)
 * @qp: alive
 * @pkt: request
 *
 * FIRST and MIDDLE are full, LAST is not empty.
 */
static inline enum rover_fault
rover_reqcheck_length(const struct rover_qp *qp, const struct rover_packet *pkt)
{
	u16 flags = pkt->op->flags;

	if (!(flags & ROVER_OP_PAYLOAD))
		return pkt->payload ? ROVER_FAULT_LENGTH : ROVER_OK;
	if (!(flags & ROVER_OP_END))
		return pkt->payload == pkt->packets << qp->mtu_shift ?
		       ROVER_OK : ROVER_FAULT_LENGTH;
	return pkt->payload <= qp->mtu &&
	       (flags & ROVER_OP_START || pkt->payload) ?
	       ROVER_OK : ROVER_FAULT_LENGTH;
}

/**
 * rover_reqcheck_read() - check key, rights and bounds of a READ
 * @qp: alive; rx_lock held
 * @pkt: READ request
 * @sgl: set; references the region, as after rover_sgl_check()
 * @npsn: set to the number of responses
 */
static inline enum rover_fault
rover_reqcheck_read(struct rover_qp *qp, const struct rover_packet *pkt,
		    struct rover_sgl *sgl, u32 *npsn)
{
	const struct rover_reth *reth = &pkt->hdr.reth;
	u32 len = be32_to_cpu(reth->length);

	if (len > ROVER_MAX_MSG)
		return ROVER_FAULT_LENGTH;
	*npsn = rover_qp_packets(qp, len);
	if (!len)
		return ROVER_OK;
	rover_sgl_set_remote(sgl, qp->pd, qp->obj.key, be64_to_cpu(reth->va),
			     len, be32_to_cpu(reth->rkey),
			     IB_ACCESS_REMOTE_READ, NULL);
	return rover_sgl_check(sgl);
}

#endif /* ROVER_REQCHECK_H */
