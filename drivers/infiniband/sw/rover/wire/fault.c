// SPDX-License-Identifier: GPL-2.0
/*
 * fault - table of faults and their consequences
 *
 * NAKs: IBTA 9.9.  Completion statuses: 11.6.2.  Events: 11.6.3, raised only if
 * no receive completion reports the fault.
 */
#include <rdma/ib_verbs.h>

#include "wire/fault.h"
#include "wire/wire.h"

/* Found by the responder in a packet or its receive. */
#define PACKET(fault, text, nak, wc, event)			\
	[ROVER_FAULT_##fault] = {				\
		.name = text,					\
		.syndrome = ROVER_##nak,			\
		.resp_wc = IB_WC_##wc,				\
		.resp_event = ROVER_EVENT_##event,		\
	}

/*
 * Found in memory named by the peer (responder) or by the request's SGL
 * (requester).  A receive taken by a WRITE with immediate data gets a local
 * access error.
 */
#define MEMORY(fault, text, nak)				\
	[ROVER_FAULT_##fault] = {				\
		.name = text,					\
		.syndrome = ROVER_NAK_##nak,			\
		.resp_wc = IB_WC_LOC_ACCESS_ERR,		\
		.req_wc = IB_WC_LOC_PROT_ERR,			\
		.resp_event = ROVER_EVENT_QP_ACCESS_ERR,	\
	}

/* Found by requester or completer. */
#define REQUEST(fault, text, wc)				\
	[ROVER_FAULT_##fault] = {				\
		.name = text,					\
		.req_wc = IB_WC_##wc,				\
	}

const struct rover_fault_info rover_faults[ROVER_FAULTS] = {
	[ROVER_OK] = { .name = "ok" },

	PACKET(OPCODE, "opcode", NAK_INV_REQ, REM_INV_REQ_ERR, QP_REQ_ERR),
	/* Also returned by sgl, at either end, for a short SGL. */
	[ROVER_FAULT_LENGTH] = {
		.name = "length",
		.syndrome = ROVER_NAK_INV_REQ,
		.resp_wc = IB_WC_LOC_LEN_ERR,
		.req_wc = IB_WC_LOC_LEN_ERR,
		.resp_event = ROVER_EVENT_QP_ACCESS_ERR,
	},
	PACKET(TOO_LONG, "longer than receive", NAK_INV_REQ, LOC_LEN_ERR, NONE),
	PACKET(RD_ATOMIC, "too many reads", NAK_INV_REQ, REM_INV_REQ_ERR,
	       QP_ACCESS_ERR),
	PACKET(UNALIGNED, "unaligned atomic", NAK_INV_REQ, REM_INV_REQ_ERR,
	       QP_ACCESS_ERR),
	PACKET(XRCETH, "shared receive queue", NAK_INV_REQ, REM_INV_REQ_ERR,
	       QP_REQ_ERR),
	/* Not an error: the peer retries.  The timer code is added later. */
	PACKET(RNR, "receiver not ready", AETH_RNR, SUCCESS, NONE),
	PACKET(RQ_CORRUPT, "corrupt receive", NAK_REM_OP, LOC_QP_OP_ERR, NONE),
	PACKET(RQ_RING, "corrupt receive ring", NAK_REM_OP, SUCCESS, QP_FATAL),
	PACKET(RECV_MEMORY, "memory of receive", NAK_REM_OP, LOC_PROT_ERR, NONE),

	MEMORY(KEY, "key", REM_ACCESS),
	MEMORY(ACCESS, "access", REM_ACCESS),
	MEMORY(BOUNDS, "bounds", REM_ACCESS),
	MEMORY(MEMORY, "memory", REM_OP),
	/* Not an error; peers that retry too early get an RNR NAK. */
	PACKET(PAGE, "page not there", AETH_RNR, SUCCESS, NONE),
	[ROVER_FAULT_REVOKED] = { .name = "payload revoked" },
	/* The SEND's data has arrived: its receive reports the fault. */
	PACKET(INVALIDATE, "invalidate", NAK_REM_ACCESS, REM_INV_REQ_ERR, NONE),

	REQUEST(WQE, "corrupt request", LOC_QP_OP_ERR),
	REQUEST(SEND_LENGTH, "request too long", LOC_LEN_ERR),
	REQUEST(AH, "address handle", LOC_QP_OP_ERR),
	/* IBTA 11.6.2: memory management operation error. */
	REQUEST(OPERATION, "memory operation", MW_BIND_ERR),

	REQUEST(BAD_RESP, "bad response", BAD_RESP_ERR),
	REQUEST(REM_INV_REQ, "remote invalid request", REM_INV_REQ_ERR),
	REQUEST(REM_ACCESS, "remote access", REM_ACCESS_ERR),
	REQUEST(REM_OP, "remote operation", REM_OP_ERR),
	REQUEST(RETRY, "retries exceeded", RETRY_EXC_ERR),
	REQUEST(RNR_RETRY, "RNR retries exceeded", RNR_RETRY_EXC_ERR),

	[ROVER_FAULT_FLUSH] = {
		.name = "flush",
		.resp_wc = IB_WC_WR_FLUSH_ERR,
		.req_wc = IB_WC_WR_FLUSH_ERR,
	},
	/* No CQE can be written: work queue catastrophic, as RQ_RING. */
	PACKET(CQ, "completion queue overflow", NAK_REM_OP, SUCCESS, QP_FATAL),
};
