/* SPDX-License-Identifier: GPL-2.0 */
/*
 * req - requester and completer
 *
 * tx_lock protects all structs; for "hint" see qp.h.  Times are ns, 0 for none.
 */
#ifndef ROVER_REQ_H
#define ROVER_REQ_H

#include <linux/hrtimer.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <rdma/rover-abi.h>

#include "mem/fastreg.h"
#include "mem/sgl.h"
#include "wire/wr.h"

struct rover_ah;
struct rover_cc_ops;

/**
 * struct rover_sent - outstanding send request
 * @wr_id: for the completion
 * @length: payload bytes
 * @psn: first PSN
 * @opcode: enum rover_wqe_opcode
 * @flags: ROVER_WQE_*
 * @ssn: receives that earlier requests take from the peer (credit)
 *
 * A retransmit copies and validates the WQE again, and fails if it has changed.
 */
struct rover_sent {
	u64 wr_id;
	u32 length;
	u32 psn : 24;
	u32 opcode : 4;
	u32 flags : 4;
	u32 ssn;
};

static_assert(ROVER_WQE_OPCODES <= 1 << 4 && ROVER_WQE_FLAGS < 1 << 4);

/**
 * union rover_kernel_wqe - head of a send WQE in the ring of a kernel QP
 * @hdr: fields shared with user QPs
 * @before_ah: room of some of them
 * @ah: datagrams: address handle, instead of its number
 * @before_reg: room of some of them
 * @reg: REG_MR: registration
 *
 * Nothing else maps these rings.  Those of user QPs never hold a pointer.
 */
union rover_kernel_wqe {
	struct rover_send_wqe hdr;
	struct {
		u8 before_ah[offsetof(struct rover_send_wqe, reserved_28)];
		struct rover_ah *ah;
	};
	struct {
		u8 before_reg[offsetof(struct rover_send_wqe, remote_addr)];
		struct rover_fastreg reg;
	};
};

static_assert(sizeof(union rover_kernel_wqe) == ROVER_SEND_WQE_HDR);

/**
 * struct rover_wqe - validated copy of a send WQE
 * @hdr: head
 * @kernel: head, if of a kernel QP
 * @sge: gather or scatter entries
 * @index: free-running ring index
 * @valid: in use
 */
struct rover_wqe {
	union {
		struct rover_send_wqe hdr;
		union rover_kernel_wqe kernel;
	};
	struct rover_sge sge[ROVER_MAX_SGE];
	u32 index;
	bool valid;
};

/**
 * struct rover_req - requester and completer
 * @psn: next PSN to send, before @next_psn while retransmitting
 * @next_psn: first PSN never sent; hint
 * @una: oldest unacknowledged PSN; hint
 * @oldest: ring index of the oldest outstanding request
 * @sending: ring index of the request being sent
 * @fetched: ring index after the newest request in @sent
 * @sent: outstanding requests, by ring index modulo the ring's size
 * @wqe_psns: PSNs of @wqe
 * @wqe_psns_sent: how many of them are sent
 * @wqe: copy of request @sending
 * @sgl: payload of @wqe, at byte @wqe_psns_sent * mtu
 * @wqe_fault: @wqe sends nothing more, and fails once all earlier requests are
 *	done
 * @resp: copy of the READ or atomic being answered
 * @resp_sgl: destination of the response
 * @acked_psn: PSN after the newest one acknowledged, also behind a missing
 *	response
 * @dropped_psn: last response dropped for ODP or revoked payload; ~0 for none
 * @early_nak_psn: PSN that @early_nak refuses
 * @qd1_streak: successive requests up to ROVER_QD1_BYTES, each posted alone
 *	with nothing in flight; hint
 * @last_tx_cpu: CPU that sent last; hint
 * @resp_packets: response packets of this batch not yet counted as progress
 * @ssn: receives that all fetched requests take from the peer
 * @lsn: receives the peer has announced, free-running like @ssn
 * @rd_atomic: READ requests and atomics not answered completely
 * @since_ackreq: packets since the last AckReq
 * @ip_id: next IPv4 identification
 * @cnp_at: last CNP for a response
 * @rnr_retries: RNR retries left
 * @early_nak: fatal syndrome that overtook responses to earlier requests; 0 for
 *	none
 * @rnr_wait: the RNR timer runs; nothing is sent
 * @drained: all sends are complete in this stay in SQD; hint
 * @long_wr: the newest request is of ROVER_LONG_BYTES or more; hint
 * @long_tx: @long_wr for payload to send on a reliable connection; hint
 * @long_read: @long_wr for a READ; hint
 * @lsn_valid: the peer announces receives
 * @rnr_woken: announced receives have ended an RNR wait
 * @resp_page_wait: request a dropped response again when resp_pagein is not
 *	pending
 * @zcopy: packets refer to registered memory since the last revoke (zcopy)
 */
struct rover_req {
	u32 psn;
	u32 next_psn;
	u32 una;
	u32 oldest;
	u32 sending;
	u32 fetched;
	u32 wqe_psns;
	u32 wqe_psns_sent;
	struct rover_sent *sent;
	struct rover_wqe wqe;
	struct rover_sgl sgl;
	u8 wqe_fault;
	struct rover_wqe resp;
	struct rover_sgl resp_sgl;
	u32 acked_psn;
	u32 dropped_psn;
	u32 early_nak_psn;
	u32 qd1_streak;
	int last_tx_cpu;
	u32 resp_packets;
	u32 ssn;
	u32 lsn;
	u16 rd_atomic;
	u16 since_ackreq;
	u16 ip_id;
	u64 cnp_at;
	u8 rnr_retries;
	u8 early_nak;
	bool rnr_wait;
	bool drained;
	bool long_wr;
	bool long_tx;
	bool long_read;
	bool lsn_valid;
	bool rnr_woken;
	bool resp_page_wait;
	bool zcopy;
};

/**
 * struct rover_cc_win - state of the algorithm "window"
 *
 * Windows are in 256ths of a packet.
 *
 * @cwnd: the window
 * @max: its upper bound
 * @ssthresh: slow start threshold: below, the window doubles in a round trip
 * @growth: less than a 256th that the window has grown by, times the window
 * @undo_cwnd: window before the last losses or timeouts, reduced by marks since
 * @undo_ssthresh: @ssthresh then
 * @rtt_high: the last round trip was too long for the window to grow
 * @queued: it was longer than the shortest: packets wait in a queue
 * @alpha: congestion estimate from marks, in 1024ths (as in DCQCN)
 * @ecn_psn: next_psn at the last cut for marks: no other until una is there
 * @ecn_at: time of that cut
 * @cut_at: time of the last cut
 */
struct rover_cc_win {
	u32 cwnd;
	u32 max;
	u32 ssthresh;
	u32 undo_cwnd;
	u32 undo_ssthresh;
	bool rtt_high;
	bool queued;
	u16 alpha;
	u32 ecn_psn;
	u64 growth;
	u64 ecn_at;
	u64 cut_at;
};

/**
 * struct rover_cc_dcqcn - state of the algorithm "dcqcn"
 * @rate: current rate, bytes per second; 0 for none
 * @target: rate to which it increases
 * @alpha_at: when @alpha has faded last
 * @time_at: begin of the time that increases @rate next
 * @cut_at: last reduction
 * @bytes: acknowledged since the last of them increased @rate
 * @bound: window in packets
 * @undo_bound: @bound before the last losses or timeouts
 * @flight: most packets in flight lately
 * @alpha: how often CNPs come, in 1024ths
 * @time_stage: increases by time since the last CNP
 * @byte_stage: likewise, by bytes
 * @time_increased: there was one
 * @byte_increased: likewise
 */
struct rover_cc_dcqcn {
	u64 rate;
	u64 target;
	u64 alpha_at;
	u64 time_at;
	u64 cut_at;
	u64 bytes;
	u32 bound;
	u32 undo_bound;
	u32 flight;
	u16 alpha;
	u8 time_stage;
	u8 byte_stage;
	bool time_increased;
	bool byte_increased;
};

/**
 * struct rover_cc - congestion control
 * @timer: when to send the next train (pace)
 * @ops: the algorithm
 * @packets: may be in flight
 * @train: limit of packets in a train, few after loss
 * @ask_often: @packets is small at first, or after losses or marks
 * @quantum: limit of packets in a train, by @rate
 * @active: jiffies of the last progress
 * @rate: bytes per second; 0: not paced
 * @tick: longest time until the algorithm may change @rate; 0: it does not
 * @cost: time that a byte takes at @rate (pace)
 * @sent: bytes of payload sent at a rate and not yet counted by the algorithm
 * @pace_at: when the next train may be sent
 * @min_rtt: shortest round trip
 * @acked: packets acknowledged lately
 * @lost: packets lost lately
 * @win: state of the algorithm
 * @dcqcn: likewise
 */
struct rover_cc {
	struct hrtimer timer;
	const struct rover_cc_ops *ops;
	u32 packets;
	u16 train;
	u16 quantum;
	bool ask_often;
	u32 active;
	u64 rate;
	u64 tick;
	u64 cost;
	u64 sent;
	u64 pace_at;
	u64 min_rtt;
	u32 acked;
	u32 lost;
	union {
		struct rover_cc_win win;
		struct rover_cc_dcqcn dcqcn;
	};
};

/**
 * struct rover_rtx - retransmit timer, and the times that it takes (rto)
 * @timer: for retransmit and RNR wait
 * @deadline: of the oldest unacknowledged packet or the RNR wait
 * @gap_deadline: when a gap becomes a loss
 * @reorder: ns that packets may be late before they count as lost
 * @srtt: smoothed round trip
 * @rttvar: its mean deviation
 * @ack_gap: longest time between ACKs lately, without losses
 * @mean_gap: mean time between ACKs, without losses, times 8
 * @late_ack: time between ACKs if a timer expired between them; 0 for none
 * @sample_sent_at: when @sample_psn was sent
 * @progress_at: last progress, or first transmission of what is in flight
 * @probe_at: when the last probe was sent; 0 if none since the last progress
 * @sample_psn: the timed packet
 * @probe_end: PSN after the probe
 * @probe_next: req.next_psn then
 * @recover_psn: req.next_psn at the first loss of this flight
 * @implied_psn: newest response while one before it is missing, if @implied
 * @mean_packets: mean number of packets that they acknowledge, times 8
 * @resent: packets sent again in this flight
 * @duplicates: packets that the peer has received twice
 * @duplicates_before: of these, before this flight
 * @backoff: doublings of the timeout since the last measured round trip
 * @timeouts: since the last progress
 * @probes: sent since the last progress
 * @probe_gap: the probe is for a gap
 * @probe_waits: the probe is not sent yet
 * @probing: a timeout has set req.psn back
 * @implied: una was sent again because of such a response, since the last
 *	progress and timeout
 * @recovering: una is before @recover_psn
 * @fresh: packets were told to have arrived
 * @answered: the peer has acknowledged something
 * @silent: it has acknowledged nothing since the last timeout
 */
struct rover_rtx {
	struct hrtimer timer;
	u64 deadline;
	u64 gap_deadline;
	u64 reorder;
	u64 srtt;
	u64 rttvar;
	u64 ack_gap;
	u64 mean_gap;
	u64 late_ack;
	u64 sample_sent_at;
	u64 progress_at;
	u64 probe_at;
	u32 sample_psn;
	u32 probe_end;
	u32 probe_next;
	u32 recover_psn;
	u32 implied_psn;
	u32 mean_packets;
	u32 resent;
	u32 duplicates;
	u32 duplicates_before;
	u8 backoff;
	u8 timeouts;
	u8 probes;
	bool probe_gap;
	bool probe_waits;
	bool probing;
	bool implied;
	bool recovering;
	bool fresh;
	bool answered;
	bool silent;
};

#endif /* ROVER_REQ_H */
