/* SPDX-License-Identifier: GPL-2.0 */
/* fault - table of faults and their consequences */
#ifndef ROVER_FAULT_H
#define ROVER_FAULT_H

#include <linux/types.h>

enum rover_fault {
	ROVER_OK = 0,
	/* of a packet, found by the responder */
	ROVER_FAULT_OPCODE,		/* unknown, disabled, out of order */
	ROVER_FAULT_LENGTH,		/* does not fit opcode, MTU or RETH */
	ROVER_FAULT_TOO_LONG,
	ROVER_FAULT_RD_ATOMIC,
	ROVER_FAULT_UNALIGNED,
	ROVER_FAULT_XRCETH,		/* unknown in this XRC domain */
	ROVER_FAULT_RNR,
	ROVER_FAULT_RQ_CORRUPT,
	ROVER_FAULT_RQ_RING,
	ROVER_FAULT_RECV_MEMORY,	/* see rover_fault_of_recv() */
	/* of memory, found by mr and sgl */
	ROVER_FAULT_KEY,		/* unknown, or of another PD */
	ROVER_FAULT_ACCESS,
	ROVER_FAULT_BOUNDS,
	ROVER_FAULT_MEMORY,		/* page gone or not obtainable */
	ROVER_FAULT_PAGE,		/* ODP page not present yet */
	ROVER_FAULT_REVOKED,
	ROVER_FAULT_INVALIDATE,		/* key must not be invalidated */
	/* of a send WQE, found by the requester */
	ROVER_FAULT_WQE,
	ROVER_FAULT_SEND_LENGTH,
	ROVER_FAULT_AH,
	ROVER_FAULT_OPERATION,		/* registration, bind, invalidation */
	/* found by the completer; REM_*: received NAKs */
	ROVER_FAULT_BAD_RESP,
	ROVER_FAULT_REM_INV_REQ,
	ROVER_FAULT_REM_ACCESS,
	ROVER_FAULT_REM_OP,
	ROVER_FAULT_RETRY,
	ROVER_FAULT_RNR_RETRY,
	/* of the queue pair */
	ROVER_FAULT_FLUSH,
	ROVER_FAULT_CQ,
	ROVER_FAULTS
};

/* Asynchronous event of the QP that finds a fault. */
enum rover_event {
	ROVER_EVENT_NONE,
	ROVER_EVENT_QP_FATAL,
	ROVER_EVENT_QP_REQ_ERR,
	ROVER_EVENT_QP_ACCESS_ERR,
};

/**
 * struct rover_fault_info - consequences of a fault
 * @name: for traces
 * @syndrome: AETH syndrome of the answer, without RNR timer; 0 for none
 * @resp_wc: enum ib_wc_status of the receive taken; 0 for none
 * @req_wc: enum ib_wc_status of the send; 0 if requester and completer never
 *	find it
 * @resp_event: enum rover_event if no receive was taken.  Requester and
 *	completer only raise that of ROVER_FAULT_CQ.
 *
 * All but RNR, PAGE and REVOKED put the QP into the error state.
 */
struct rover_fault_info {
	const char *name;
	u8 syndrome;
	u8 resp_wc;
	u8 req_wc;
	u8 resp_event;
};

extern const struct rover_fault_info rover_faults[ROVER_FAULTS];

/* Not an error: the packet counts as lost. */
static inline bool rover_fault_is_loss(enum rover_fault fault)
{
	return fault == ROVER_FAULT_PAGE || fault == ROVER_FAULT_REVOKED;
}

/**
 * rover_fault_of_recv() - convert a fault of a receive's SGL
 * @fault: returned by mr or sgl
 *
 * The peer is not to blame: it gets a remote operational error, and the receive
 * a local protection error.
 * Return: fault to report, ROVER_OK for ROVER_OK.
 */
static inline enum rover_fault rover_fault_of_recv(enum rover_fault fault)
{
	switch (fault) {
	case ROVER_FAULT_LENGTH:
		return ROVER_FAULT_TOO_LONG;
	case ROVER_FAULT_KEY:
	case ROVER_FAULT_ACCESS:
	case ROVER_FAULT_BOUNDS:
	case ROVER_FAULT_MEMORY:
		return ROVER_FAULT_RECV_MEMORY;
	default:
		return fault;
	}
}

#endif /* ROVER_FAULT_H */
