/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * op.h: one row for each kind of send work request, for both ways of posting.
 */
#ifndef PROVIDER_OP_H
#define PROVIDER_OP_H

#include "rover.h"

#define ROVER_OP_RDMA	(1U << 0)	/* wr.rdma holds */
#define ROVER_OP_ATOMIC	(1U << 1)	/* wr.atomic holds */
#define ROVER_OP_IMM	(1U << 2)	/* immediate data, or a key to invalidate */
#define ROVER_OP_INLINE	(1U << 3)	/* its data may be inline */
#define ROVER_OP_BIND	(1U << 4)	/* wr.bind_mw holds */
#define ROVER_OP_LOCAL	(1U << 5)	/* no data at all */
#define ROVER_OP_BUILT	(1U << 6)	/* only by ibv_wr_* */

/**
 * struct rover_op - a row of the table
 * @wqe: enum rover_wqe_opcode
 * @flags: ROVER_OP_*
 * @types: queue pair types that can do it, 1 << enum ibv_qp_type; 0 is no row
 * @ex: its IBV_QP_EX_WITH_* bit
 */
struct rover_op {
	uint8_t wqe;
	uint8_t flags;
	uint16_t types;
	uint32_t ex;
};

/**
 * rover_op_find() - the row of a work request
 * @opcode: as the program gave it
 * @type: of the queue pair
 *
 * Return: NULL when there is no such operation on such a queue pair.
 */
const struct rover_op *rover_op_find(enum ibv_wr_opcode opcode,
				     enum ibv_qp_type type);

/**
 * rover_op_all() - every IBV_QP_EX_WITH_* bit of a queue pair type
 * @type: of the queue pair
 */
uint64_t rover_op_all(enum ibv_qp_type type);

/**
 * rover_op_flags() - ROVER_WQE_* of a work request, IBV_SEND_INLINE left out
 * @send_flags: IBV_SEND_*
 *
 * Return: the flags, or -1 when one of them is not for us.
 */
static inline int rover_op_flags(unsigned int send_flags)
{
	if (send_flags & ~(IBV_SEND_FENCE | IBV_SEND_SIGNALED |
			   IBV_SEND_SOLICITED | IBV_SEND_INLINE))
		return -1;
	return (send_flags & IBV_SEND_SIGNALED ? ROVER_WQE_SIGNALED : 0) |
	       (send_flags & IBV_SEND_SOLICITED ? ROVER_WQE_SOLICITED : 0) |
	       (send_flags & IBV_SEND_FENCE ? ROVER_WQE_FENCE : 0);
}

/**
 * rover_may_send() - may send work requests be posted in this state?
 * @qp: its state is what the program last asked for: one that has gone to
 *	error by itself takes posts until the kernel flushes them
 */
static inline bool rover_may_send(const struct rover_qp *qp)
{
	return qp->vqp.qp.state >= IBV_QPS_RTS;
}

/**
 * rover_set_address() - where a datagram goes
 * @wqe: work request being built
 * @ah: address handle of the queue pair's protection domain
 * @qpn: queue pair there
 * @qkey: its Q_Key
 */
static inline void rover_set_address(struct rover_send_wqe *wqe,
				     struct ibv_ah *ah, uint32_t qpn,
				     uint32_t qkey)
{
	wqe->ah = to_ah(ah)->number;
	wqe->remote_qpn = qpn;
	wqe->remote_qkey = qkey;
}

/**
 * rover_set_binding() - what a window is to be bound to
 * @wqe: work request being built
 * @rkey: the window's new key
 * @info: the rest; without a region nothing
 */
static inline void rover_set_binding(struct rover_send_wqe *wqe, uint32_t rkey,
				     const struct ibv_mw_bind_info *info)
{
	wqe->rkey = rkey;
	wqe->bind_addr = info->addr;
	wqe->bind_length = info->length;
	wqe->bind_lkey = info->mr ? info->mr->lkey : 0;
	wqe->bind_access = info->mw_access_flags;
}

/* Numbers of shared receive queues have as many bits. */
#define ROVER_MAX_SRQN	0xffffff

/**
 * rover_set_srqn() - XRC: the shared receive queue that it is for
 * @wqe: work request being built
 * @op: its row
 * @srqn: number of the queue; what is done at this end is for none
 */
static inline void rover_set_srqn(struct rover_send_wqe *wqe,
				  const struct rover_op *op, uint32_t srqn)
{
	if (op->flags & ROVER_OP_ATOMIC)
		wqe->imm = srqn;
	else if (!(op->flags & ROVER_OP_LOCAL))
		wqe->remote_srqn = srqn;
}

static inline void *rover_send_payload(struct rover_send_wqe *wqe)
{
	return (char *)wqe + ROVER_SEND_WQE_HDR;
}

/* A gather entry is the same in verbs and in the ring. */
static_assert(sizeof(struct ibv_sge) == sizeof(struct rover_sge) &&
	      offsetof(struct ibv_sge, addr) == offsetof(struct rover_sge, addr) &&
	      offsetof(struct ibv_sge, length) ==
	      offsetof(struct rover_sge, length) &&
	      offsetof(struct ibv_sge, lkey) == offsetof(struct rover_sge, lkey),
	      "gather entries differ");

#endif /* PROVIDER_OP_H */
