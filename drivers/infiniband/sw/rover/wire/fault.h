/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault - faults of requests and their consequences
 *
 * Only the table in fault.c maps an enum rover_fault to syndromes, completions
 * and events (IBTA 9.9, 11.6).  Pure: also compiled in userspace.
 */
#ifndef ROVER_FAULT_H
#define ROVER_FAULT_H

#include <linux/types.h>

enum rover_fault {
	ROVER_OK = 0,
	/* of a packet, found by the responder */
	ROVER_FAULT_OPCODE,		/* unknown, disabled, out of order */
	ROVER_FAULT_LENGTH,		/* does not fit opcode, MTU or RETH */
	ROVER_FAULT_TOO_LONG,		/* longer than the posted receive */
	ROVER_FAULT_RD_ATOMIC,		/* too many READs and atomics */
	ROVER_FAULT_UNALIGNED,		/* atomic on an unaligned address */
	ROVER_FAULT_XRCETH,		/* no such SRQ in this XRC domain */
	ROVER_FAULT_RNR,		/* no receive posted */
	ROVER_FAULT_RQ_CORRUPT,		/* invalid receive WQE */
	ROVER_FAULT_RQ_RING,		/* invalid receive ring */
	ROVER_FAULT_RECV_MEMORY,	/* SGL of a receive, see below */
	/* of memory, found by mr and sgl */
	ROVER_FAULT_KEY,		/* no such key, or of another PD */
	ROVER_FAULT_ACCESS,		/* missing access right */
	ROVER_FAULT_BOUNDS,		/* outside the region */
	ROVER_FAULT_MEMORY,		/* page gone or not obtainable */
	ROVER_FAULT_PAGE,		/* ODP page not present yet */
	ROVER_FAULT_REVOKED,		/* payload revoked by its sender */
	ROVER_FAULT_INVALIDATE,		/* key must not be invalidated */
	/* of a send WQE, found by the requester */
	ROVER_FAULT_WQE,		/* invalid WQE */
	ROVER_FAULT_SEND_LENGTH,	/* SGL too long */
	ROVER_FAULT_AH,			/* no such address handle in this PD */
	ROVER_FAULT_OPERATION,		/* registration, bind, invalidation */
	/* found by the completer */
	ROVER_FAULT_BAD_RESP,		/* response does not fit request */
	ROVER_FAULT_REM_INV_REQ,	/* received NAK: invalid request */
	ROVER_FAULT_REM_ACCESS,		/* received NAK: remote access */
	ROVER_FAULT_REM_OP,		/* received NAK: remote operation */
	ROVER_FAULT_RETRY,		/* transport retries used up */
	ROVER_FAULT_RNR_RETRY,		/* RNR retries used up */
	/* of the queue pair */
	ROVER_FAULT_FLUSH,		/* flushed: QP in error */
	ROVER_FAULT_CQ,			/* completion queue overflowed */
	ROVER_FAULTS
};

/* Asynchronous event of the queue pair that finds a fault. */
enum rover_event {
	ROVER_EVENT_NONE,
	ROVER_EVENT_QP_FATAL,
	ROVER_EVENT_QP_REQ_ERR,
	ROVER_EVENT_QP_ACCESS_ERR,
};

/**
 * struct rover_fault_info - consequences of a fault
 * @name: for traces
 * @syndrome: AETH syndrome of the responder's answer, without an RNR timer; 0
 *	for none
 * @resp_wc: enum ib_wc_status of the receive that the message had taken; 0 for
 *	none
 * @req_wc: enum ib_wc_status of the send, if found by requester or completer; 0
 *	if they never find it
 * @resp_event: enum rover_event of a responder whose message had taken no
 *	receive.  Requester and completer only raise that of ROVER_FAULT_CQ.
 *
 * All but RNR, PAGE and REVOKED put the queue pair into the error state.
 */
struct rover_fault_info {
	const char *name;
	u8 syndrome;
	u8 resp_wc;
	u8 req_wc;
	u8 resp_event;
};

extern const struct rover_fault_info rover_faults[ROVER_FAULTS];

/* Not an error: the packet counts as lost and is sent again. */
static inline bool rover_fault_is_loss(enum rover_fault fault)
{
	return fault == ROVER_FAULT_PAGE || fault == ROVER_FAULT_REVOKED;
}

/**
 * rover_fault_of_recv() - convert a fault in the SGL of a receive
 * @fault: returned by mr or sgl
 *
 * In a receive's memory a fault is not the peer's: it gets a remote operational
 * error, and the receive a local protection error.  A short SGL is a receive
 * too short for its message.
 *
 * Return: ROVER_OK for ROVER_OK.
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
