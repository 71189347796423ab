/* SPDX-License-Identifier: GPL-2.0 */
/* rsp - responder.  rx_lock protects all structs; for "hint" see qp.h. */
#ifndef ROVER_RSP_H
#define ROVER_RSP_H

#include <linux/types.h>
#include <rdma/rover-abi.h>

#include "mem/sgl.h"
#include "wire/wr.h"

/**
 * struct rover_res - READ or atomic to be answered
 * @atomic: answer with @orig, else with READ responses
 * @repeat: the request is a duplicate
 * @psn: of the request and the first response
 * @npsn: responses
 * @rkey: remote key
 * @length: bytes of a READ
 * @srqn: READ of an XRC target: its SRQ
 * @msn: of the responses
 * @next: READ: responses already sent
 * @va: remote address
 * @orig: atomic: original value
 */
struct rover_res {
	bool atomic;
	bool repeat;
	u32 psn;
	u32 npsn;
	u32 rkey;
	u32 length;
	u32 srqn;
	u32 msn;
	u32 next;
	u64 va;
	u64 orig;
};

/**
 * struct rover_saved - result of an atomic, for duplicates
 * @psn: of the request; ~0 in an empty row
 * @msn: of the response
 * @orig: original value
 */
struct rover_saved {
	u32 psn;
	u32 msn;
	u64 orig;
};

/**
 * struct rover_rsp - responder
 * @psn: expected PSN
 * @msn: completed messages; hint
 * @class: enum rover_op_class of the message
 * @in_message: between FIRST and LAST
 * @nak_sent: a NAK was sent; no other until this gap is filled
 * @duplicates: packets received twice, free-running
 * @duplicates_told: of these, told by the last selective ACK
 * @ack_due: send an ACK at the end of this batch
 * @nak_due: syndrome to send instead; 0 for none
 * @have_wqe: @wqe is taken
 * @comm_est: COMM_EST was raised
 * @last_wqe: LAST_WQE_REACHED was raised in this stay in ERR
 * @long_tx: a READ of ROVER_LONG_BYTES or more is pending; hint
 * @peer_waits: after an RNR NAK: send an ACK when @rq has receives (credit);
 *	hint
 * @zcopy: packets refer to registered memory since the last revoke (zcopy)
 * @srqn: XRC target: SRQ of the message
 * @srq_gen: its rover_srq.gen, since numbers are reused
 * @page_wait: ODP fault of the expected request: send a NAK after rx_pagein
 * @page_retries: how often the peer sent that request again meanwhile
 * @received: payload bytes of the message
 * @length: WRITE: bytes announced in the RETH
 * @dst: destination of the message
 * @wqe: copy of the receive WQE
 * @sge: its scatter entries
 * @res: ring of READs and atomics to be answered, by PSN
 * @saved: ring of the results of atomics
 * @res_max: rows of @res and @saved: max_dest_rd_atomic rounded up
 * @res_tail: index after the newest row of @res
 * @res_send: row of @res to answer next; @res_tail for none
 * @saved_tail: next row of @saved to write
 * @rq_seen_max: most receives seen posted; a wait asks for no more (credit)
 * @wake_at: index of @rq whose post ends the wait of @peer_waits
 * @wake_from: head of @rq when that wait began
 * @rnr_wakes: waits ended by an ACK
 * @ip_id: next IPv4 identification
 * @cnp_at: last CNP for a request, ns; 0 for none
 */
struct rover_rsp {
	u32 psn;
	u32 msn;
	u8 class;
	bool in_message;
	bool nak_sent;
	u32 duplicates;
	u32 duplicates_told;
	bool ack_due;
	u8 nak_due;
	bool have_wqe;
	bool comm_est;
	bool last_wqe;
	bool long_tx;
	bool peer_waits;
	bool zcopy;
	u32 srqn;
	u64 srq_gen;
	bool page_wait;
	u8 page_retries;
	u32 received;
	u32 length;
	struct rover_sgl dst;
	struct rover_recv_wqe wqe;
	struct rover_sge sge[ROVER_MAX_SGE];
	struct rover_res *res;
	struct rover_saved *saved;
	u32 res_max;
	u32 res_tail;
	u32 res_send;
	u32 saved_tail;
	u32 rq_seen_max;
	u32 wake_at;
	u32 wake_from;
	u32 rnr_wakes;
	u16 ip_id;
	u64 cnp_at;
};

#endif /* ROVER_RSP_H */
