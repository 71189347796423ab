/* SPDX-License-Identifier: GPL-2.0 */
/* trace - tracepoints */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rover

#if !defined(ROVER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ROVER_TRACE_H

#include <linux/tracepoint.h>

#include "core/stats.h"

/**
 * rover_drop() - count and trace a dropped packet
 * @stats: counters of the device or queue pair; NULL if unknown
 * @why: counter of the reason
 * @qpn: destination, or source of an outgoing packet; 0 if unknown
 * @opcode: of the packet; 0 if unknown or for several packets
 * @psn: likewise
 * Context: any.
 */
void rover_drop(struct rover_stats __percpu *stats, enum rover_stat why,
		u32 qpn, u8 opcode, u32 psn);

TRACE_EVENT(rover_drop,
	TP_PROTO(const char *reason, u32 qpn, u8 opcode, u32 psn),
	TP_ARGS(reason, qpn, opcode, psn),
	TP_STRUCT__entry(
		__field(const char *, reason)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, opcode)
	),
	TP_fast_assign(
		__entry->reason = reason;
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->opcode = opcode;
	),
	TP_printk("%s qpn=%#x opcode=%#x psn=%u", __entry->reason,
		  __entry->qpn, __entry->opcode, __entry->psn)
);

DECLARE_EVENT_CLASS(rover_psn,
	TP_PROTO(u32 qpn, u32 psn, u32 arg),
	TP_ARGS(qpn, psn, arg),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, arg)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->arg = arg;
	),
	TP_printk("qpn=%#x psn=%u arg=%u", __entry->qpn, __entry->psn,
		  __entry->arg)
);

/* arg: packets in the train */
DEFINE_EVENT(rover_psn, rover_tx_train,
	TP_PROTO(u32 qpn, u32 psn, u32 arg), TP_ARGS(qpn, psn, arg));
/* arg: packets in the batch */
DEFINE_EVENT(rover_psn, rover_rx_train,
	TP_PROTO(u32 qpn, u32 psn, u32 arg), TP_ARGS(qpn, psn, arg));
/* arg: AETH syndrome */
DEFINE_EVENT(rover_psn, rover_ack_sent,
	TP_PROTO(u32 qpn, u32 psn, u32 arg), TP_ARGS(qpn, psn, arg));
/* arg: AETH syndrome */
DEFINE_EVENT(rover_psn, rover_ack_received,
	TP_PROTO(u32 qpn, u32 psn, u32 arg), TP_ARGS(qpn, psn, arg));
/* arg: first PSN never sent */
DEFINE_EVENT(rover_psn, rover_go_back,
	TP_PROTO(u32 qpn, u32 psn, u32 arg), TP_ARGS(qpn, psn, arg));
/* arg: enum rover_fault */
DEFINE_EVENT(rover_psn, rover_fault,
	TP_PROTO(u32 qpn, u32 psn, u32 arg), TP_ARGS(qpn, psn, arg));

/* arg: 1 when polling begins, 0 when it ends */
DEFINE_EVENT(rover_psn, rover_stream,
	TP_PROTO(u32 qpn, u32 psn, u32 arg), TP_ARGS(qpn, psn, arg));

TRACE_EVENT(rover_qp_state,
	TP_PROTO(u32 qpn, int from, int to),
	TP_ARGS(qpn, from, to),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("qpn=%#x %d -> %d", __entry->qpn, __entry->from, __entry->to)
);

#endif /* ROVER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
