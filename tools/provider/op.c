// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * op.c: the table of send operations.
 */
#include <ccan/array_size.h>

#include "compat.h"
#include "op.h"

#define RC	(1U << IBV_QPT_RC)
#define UC	(1U << IBV_QPT_UC)
#define UD	(1U << IBV_QPT_UD)
#define XRC	(1U << IBV_QPT_XRC_SEND)
#define RAW	(1U << IBV_QPT_RAW_PACKET)

static const struct rover_op ops[] = {
	[IBV_WR_SEND] = {
		ROVER_WQE_SEND, ROVER_OP_INLINE,
		RC | XRC | UC | UD | RAW, IBV_QP_EX_WITH_SEND },
	[IBV_WR_SEND_WITH_IMM] = {
		ROVER_WQE_SEND_IMM, ROVER_OP_INLINE | ROVER_OP_IMM,
		RC | XRC | UC | UD, IBV_QP_EX_WITH_SEND_WITH_IMM },
	[IBV_WR_SEND_WITH_INV] = {
		ROVER_WQE_SEND_INV, ROVER_OP_INLINE | ROVER_OP_IMM,
		RC | XRC, IBV_QP_EX_WITH_SEND_WITH_INV },
	[IBV_WR_RDMA_WRITE] = {
		ROVER_WQE_WRITE, ROVER_OP_INLINE | ROVER_OP_RDMA,
		RC | XRC | UC, IBV_QP_EX_WITH_RDMA_WRITE },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {
		ROVER_WQE_WRITE_IMM,
		ROVER_OP_INLINE | ROVER_OP_RDMA | ROVER_OP_IMM,
		RC | XRC | UC, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM },
	[IBV_WR_RDMA_READ] = {
		ROVER_WQE_READ, ROVER_OP_RDMA,
		RC | XRC, IBV_QP_EX_WITH_RDMA_READ },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {
		ROVER_WQE_CMP_SWAP, ROVER_OP_ATOMIC,
		RC | XRC, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {
		ROVER_WQE_FETCH_ADD, ROVER_OP_ATOMIC,
		RC | XRC, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD },
	[IBV_WR_LOCAL_INV] = {
		ROVER_WQE_LOCAL_INV, ROVER_OP_IMM | ROVER_OP_LOCAL,
		RC | XRC, IBV_QP_EX_WITH_LOCAL_INV },
	[IBV_WR_BIND_MW] = {
		ROVER_WQE_BIND_MW, ROVER_OP_BIND | ROVER_OP_LOCAL,
		RC | XRC, IBV_QP_EX_WITH_BIND_MW },
	[IBV_WR_FLUSH] = {
		ROVER_WQE_FLUSH, ROVER_OP_BUILT,
		RC | XRC, IBV_QP_EX_WITH_FLUSH },
	[IBV_WR_ATOMIC_WRITE] = {
		ROVER_WQE_ATOMIC_WRITE, ROVER_OP_BUILT,
		RC | XRC, IBV_QP_EX_WITH_ATOMIC_WRITE },
};

/* DRIVER has a number beyond any row's @types. */
static bool can(const struct rover_op *op, enum ibv_qp_type type)
{
	return (unsigned int)type < 16 && op->types & (1U << type);
}

const struct rover_op *rover_op_find(enum ibv_wr_opcode opcode,
				     enum ibv_qp_type type)
{
	if ((unsigned int)opcode >= ARRAY_SIZE(ops) || !can(&ops[opcode], type))
		return NULL;
	return &ops[opcode];
}

uint64_t rover_op_all(enum ibv_qp_type type)
{
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (can(&ops[i], type))
			all |= ops[i].ex;
	return all;
}
