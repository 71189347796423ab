// SPDX-License-Identifier: GPL-2.0
/* wr - table of send work requests */
#include "wire/wr.h"

/* Messages, messages to a remote address, and reads from one. */
#define MESSAGE	(ROVER_WR_GATHER | ROVER_WR_INLINE_OK)
#define PUT	(ROVER_WR_REMOTE | MESSAGE)
#define GET	(ROVER_WR_REMOTE | ROVER_WR_SCATTER | ROVER_WR_RD_ATOMIC)

#define ROW(wqe, cqe, bits, op_first, op_middle, op_last, op_only, ...) \
	[ROVER_WQE_##wqe] = {			\
		.flags = (bits),		\
		.cqe_opcode = ROVER_CQE_##cqe,	\
		.first = ROVER_RC_##op_first,	\
		.middle = ROVER_RC_##op_middle,	\
		.last = ROVER_RC_##op_last,	\
		.only = ROVER_RC_##op_only,	\
		__VA_ARGS__			\
	}

#define LOCAL_ROW(wqe, bits)			\
	[ROVER_WQE_##wqe] = {			\
		.flags = ROVER_WR_LOCAL | (bits), \
		.cqe_opcode = ROVER_CQE_##wqe,	\
	}

const struct rover_wr rover_wrs[ROVER_WQE_OPCODES] = {
	ROW(SEND, SEND, MESSAGE | ROVER_WR_RECV | ROVER_WR_RAW,
	    SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY,
	    .datagram = ROVER_UD_SEND_ONLY),
	ROW(SEND_IMM, SEND, MESSAGE | ROVER_WR_RECV | ROVER_WR_IMM,
	    SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM, SEND_ONLY_IMM,
	    .datagram = ROVER_UD_SEND_ONLY_IMM),
	ROW(SEND_INV, SEND, MESSAGE | ROVER_WR_RECV | ROVER_WR_INV,
	    SEND_FIRST, SEND_MIDDLE, SEND_LAST_INV, SEND_ONLY_INV),
	ROW(WRITE, WRITE, PUT,
	    WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY),
	ROW(WRITE_IMM, WRITE, PUT | ROVER_WR_RECV | ROVER_WR_IMM,
	    WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM, WRITE_ONLY_IMM),
	/* One request packet, however long the response. */
	ROW(READ, READ, GET,
	    READ_REQUEST, READ_REQUEST, READ_REQUEST, READ_REQUEST),
	/* Answered by an empty READ response. */
	ROW(ATOMIC_WRITE, ATOMIC_WRITE, ROVER_WR_REMOTE | ROVER_WR_RD_ATOMIC,
	    ATOMIC_WRITE, ATOMIC_WRITE, ATOMIC_WRITE, ATOMIC_WRITE),
	ROW(FLUSH, FLUSH, ROVER_WR_REMOTE | ROVER_WR_RD_ATOMIC,
	    FLUSH, FLUSH, FLUSH, FLUSH),
	ROW(CMP_SWAP, CMP_SWAP, GET | ROVER_WR_ATOMIC,
	    CMP_SWAP, CMP_SWAP, CMP_SWAP, CMP_SWAP),
	ROW(FETCH_ADD, FETCH_ADD, GET | ROVER_WR_ATOMIC,
	    FETCH_ADD, FETCH_ADD, FETCH_ADD, FETCH_ADD),
	LOCAL_ROW(LOCAL_INV, ROVER_WR_INV),
	LOCAL_ROW(REG_MR, 0),
	LOCAL_ROW(BIND_MW, 0),
};
