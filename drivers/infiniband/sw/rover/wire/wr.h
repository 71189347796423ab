/* SPDX-License-Identifier: GPL-2.0 */
/* wr - table of send work requests */
#ifndef ROVER_WR_H
#define ROVER_WR_H

#include <linux/types.h>
#include <rdma/rover-abi.h>

#include "wire/opcode.h"

#define ROVER_MAX_SGE		32
#define ROVER_MAX_INLINE	512
#define ROVER_MAX_MSG		(1U << 31)

#define ROVER_WR_REMOTE		(1U << 0)	/* remote address and rkey */
#define ROVER_WR_GATHER		(1U << 1)	/* its SGL is read and sent */
#define ROVER_WR_SCATTER	(1U << 2)	/* a response writes its SGL */
#define ROVER_WR_INLINE_OK	(1U << 3)
#define ROVER_WR_RD_ATOMIC	(1U << 4)	/* limited by max_rd_atomic */
#define ROVER_WR_ATOMIC		(1U << 5)	/* exactly eight bytes */
#define ROVER_WR_IMM		(1U << 6)
#define ROVER_WR_INV		(1U << 7)
#define ROVER_WR_LOCAL		(1U << 8)	/* sends nothing: see localop */
#define ROVER_WR_RAW		(1U << 9)	/* may be an Ethernet frame */
#define ROVER_WR_RECV		(1U << 10)	/* takes a receive of the peer */

/**
 * struct rover_wr - a row of the table
 * @flags: ROVER_WR_*
 * @cqe_opcode: enum rover_cqe_opcode
 * @first: RC opcode of the first packet of several
 * @middle: of the middle packets
 * @last: of the last packet of several
 * @only: of the only packet, or of the request
 * @datagram: UD opcode; 0 if not possible
 */
struct rover_wr {
	u16 flags;
	u8 cqe_opcode;
	u8 first;
	u8 middle;
	u8 last;
	u8 only;
	u8 datagram;
};

extern const struct rover_wr rover_wrs[ROVER_WQE_OPCODES];

static inline bool rover_wr_fits(const struct rover_wr *wr, u8 transport)
{
	if (transport == ROVER_TRANSPORT_UD)
		return wr->datagram;
	if (transport == ROVER_TRANSPORT_RAW)
		return wr->flags & ROVER_WR_RAW;
	if (wr->flags & ROVER_WR_LOCAL)
		return rover_transport_reliable(transport);
	return rover_opcode_get(rover_opcode_in(wr->only, transport));
}

/*
 * SRQ number of an XRC WQE from userspace; above 24 bits if invalid, 0 for a
 * local operation.
 */
static inline u32 rover_wr_srqn(const struct rover_send_wqe *wqe)
{
	u16 flags = rover_wrs[wqe->opcode].flags;

	if (flags & ROVER_WR_LOCAL)
		return 0;
	if (flags & ROVER_WR_ATOMIC)
		return wqe->imm;
	return wqe->reserved_2c ? ~0U : wqe->remote_srqn;
}

#endif /* ROVER_WR_H */
