/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault - everything that can be wrong with a request, and what follows
 *
 * The rooms that find a fault return one of these and know nothing of
 * syndromes, work completions or events.  The one table in fault.c knows what
 * IBTA 9.9 and 11.6 make of it at either end.  Pure: also compiled in user
 * space.
 */
#ifndef ROVER_FAULT_H
#define ROVER_FAULT_H

#include <linux/types.h>

enum rover_fault {
	ROVER_OK = 0,
	/* of a packet, found by the responder */
	ROVER_FAULT_OPCODE,		/* unknown, not enabled, or out of order */
	ROVER_FAULT_LENGTH,		/* payload does not fit opcode, path MTU or RETH */
	ROVER_FAULT_TOO_LONG,		/* longer than the posted receive */
	ROVER_FAULT_RD_ATOMIC,		/* more READs and atomics than agreed */
	ROVER_FAULT_UNALIGNED,		/* atomic on an address not a multiple of eight */
	ROVER_FAULT_XRCETH,		/* no such queue in this XRC domain */
	ROVER_FAULT_RNR,		/* no receive posted */
	ROVER_FAULT_RQ_CORRUPT,		/* receive work request makes no sense */
	ROVER_FAULT_RQ_RING,		/* nor does the ring that it should be in */
	ROVER_FAULT_RECV_MEMORY,	/* SGL of a receive; rover_fault_of_recv() */
	/* of memory, found by mr and sgl */
	ROVER_FAULT_KEY,		/* no such key, or of another protection domain */
	ROVER_FAULT_ACCESS,		/* right not given */
	ROVER_FAULT_BOUNDS,		/* outside of the region */
	ROVER_FAULT_MEMORY,		/* the page is gone or cannot be had */
	ROVER_FAULT_PAGE,		/* the page is not there yet: it will be, so wait */
	ROVER_FAULT_REVOKED,		/* of a packet's payload: not the sender's any more */
	ROVER_FAULT_INVALIDATE,		/* key that may not be invalidated */
	/* of a work request, found by the requester */
	ROVER_FAULT_WQE,		/* work request makes no sense */
	ROVER_FAULT_SEND_LENGTH,	/* sum of the SGL too long */
	ROVER_FAULT_AH,			/* no such address handle in this domain */
	ROVER_FAULT_OPERATION,		/* key cannot be registered, bound, invalidated */
	/* found by the completer */
	ROVER_FAULT_BAD_RESP,		/* response that does not answer the request */
	ROVER_FAULT_REM_INV_REQ,	/* the peer said: NAK invalid request */
	ROVER_FAULT_REM_ACCESS,		/* the peer said: NAK remote access */
	ROVER_FAULT_REM_OP,		/* the peer said: NAK remote operation */
	ROVER_FAULT_RETRY,		/* transport retries used up */
	ROVER_FAULT_RNR_RETRY,		/* RNR retries used up */
	/* of the queue pair as a whole */
	ROVER_FAULT_FLUSH,		/* flushed: the queue pair is in error */
	ROVER_FAULT_CQ,			/* its completion queue overflowed */
	ROVER_FAULTS
};

/* Asynchronous event a fault raises at its finder's queue pair. */
enum rover_event {
	ROVER_EVENT_NONE,
	ROVER_EVENT_QP_FATAL,
	ROVER_EVENT_QP_REQ_ERR,
	ROVER_EVENT_QP_ACCESS_ERR,
};

/**
 * struct rover_fault_info - what follows from a fault
 * @name: for traces
 * @syndrome: AETH syndrome the responder answers with, of an RNR NAK without
 *	its timer; 0 when it is silent
 * @resp_wc: enum ib_wc_status of the receive completion, where the message
 *	had taken a receive; IB_WC_SUCCESS (0) when there is none
 * @req_wc: enum ib_wc_status of the send completion, when this end's
 *	requester or completer found it; 0 for what these never find
 * @resp_event: enum rover_event at the responder, when no receive completion
 *	tells of the fault: the message had taken none.  Requester and completer
 *	raise none, but for ROVER_FAULT_CQ.
 *
 * All but RNR, PAGE and REVOKED move the queue pair that found them to the error state.
 */
struct rover_fault_info {
	const char *name;
	u8 syndrome;
	u8 resp_wc;
	u8 req_wc;
	u8 resp_event;
};

extern const struct rover_fault_info rover_faults[ROVER_FAULTS];

/* Not wrong: the packet counts as lost, and its sender sends it again. */
static inline bool rover_fault_is_loss(enum rover_fault fault)
{
	return fault == ROVER_FAULT_PAGE || fault == ROVER_FAULT_REVOKED;
}

/**
 * rover_fault_of_recv() - a fault of the SGL of a receive
 * @fault: what mr or sgl said of it
 *
 * The memory faults of the table speak of memory that the peer named.  Where
 * a receive names the memory, the peer is innocent: it hears of a remote
 * operational error, and the receive ends in a local protection error.
 * Likewise an SGL that ends too early is a receive too short for its message.
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
