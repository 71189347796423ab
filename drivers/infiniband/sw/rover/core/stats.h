/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stats - counters of a device, per CPU
 *
 * One list makes the enum and the names; names are mlx5's where mlx5 has the
 * counter, so that dashboards work.  Any context.
 */
#ifndef ROVER_STATS_H
#define ROVER_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#define ROVER_STATS(X)							\
	/* traffic */							\
	X(TX_PACKETS, "tx_packets")					\
	X(TX_BYTES, "tx_bytes")						\
	X(TX_TRAINS, "tx_trains")					\
	X(TX_SHORTCUT, "tx_shortcut")					\
	X(TX_SHORTCUT_FULL, "tx_shortcut_full")				\
	X(RX_PACKETS, "rx_packets")					\
	X(RX_BYTES, "rx_bytes")						\
	X(RX_TRAINS, "rx_trains")					\
	X(RX_ICRC_UNNECESSARY, "rx_icrc_unnecessary")				\
	X(TX_ACKS, "tx_acks")						\
	X(RX_MCAST, "rx_multicast_packets")				\
	X(TX_RAW, "tx_raw_frames")					\
	X(RX_RAW, "rx_raw_frames")					\
	X(RX_SEND, "rx_send_requests")					\
	X(RX_WRITE, "rx_write_requests")				\
	X(RX_READ, "rx_read_requests")					\
	X(RX_ATOMIC, "rx_atomic_requests")				\
	X(RX_FLUSH, "rx_flush_requests")				\
	X(DOORBELLS, "doorbells")					\
	X(CQ_EVENTS, "cq_events")					\
	/* memory on demand, in pages */				\
	X(PAGE_FAULTS, "page_faults")					\
	X(PAGE_INVALIDATIONS, "page_invalidations")			\
	X(PAGE_PREFETCH, "page_prefetch")				\
	/* the protocol at work */					\
	X(OUT_OF_SEQUENCE, "out_of_sequence")				\
	X(DUPLICATE_REQUEST, "duplicate_request")			\
	X(PACKET_SEQ_ERR, "packet_seq_err")				\
	X(RNR_NAK_SENT, "rnr_nak_sent")					\
	X(RNR_NAK_RETRY, "rnr_nak_retry_err")				\
	X(NAK_SENT, "nak_sent")						\
	X(ACK_TIMEOUT, "local_ack_timeout_err")				\
	X(IMPLIED_NAK, "implied_nak_seq_err")				\
	X(RETRANSMITTED, "tx_retransmitted_packets")			\
	X(ECN_MARKED, "np_ecn_marked_roce_packets")			\
	X(CNP_SENT, "np_cnp_sent")					\
	X(CNP_HANDLED, "rp_cnp_handled")				\
	X(CNP_IGNORED, "rp_cnp_ignored")				\
	X(RETRIES_EXCEEDED, "req_transport_retries_exceeded")		\
	X(RNR_RETRIES_EXCEEDED, "req_rnr_retries_exceeded")		\
	X(REQ_REMOTE_ACCESS, "req_remote_access_errors")		\
	X(REQ_REMOTE_INVALID, "req_remote_invalid_request")		\
	X(RESP_REMOTE_ACCESS, "resp_remote_access_errors")		\
	X(RESP_LOCAL_LENGTH, "resp_local_length_error")			\
	X(RESP_XRCETH, "resp_xrceth_errors")				\
	X(REQ_CQE_ERROR, "req_cqe_error")				\
	X(REQ_CQE_FLUSH, "req_cqe_flush_error")				\
	X(RESP_CQE_ERROR, "resp_cqe_error")				\
	X(RESP_CQE_FLUSH, "resp_cqe_flush_error")			\
	X(CQ_OVERFLOW, "cq_overflow")					\
	/* packets dropped, by reason */				\
	X(DROP_SHORT, "rx_drop_short")					\
	X(DROP_GSO, "rx_drop_foreign_gso")				\
	X(DROP_GRH, "rx_drop_grh")					\
	X(DROP_OPCODE, "rx_drop_opcode")				\
	X(DROP_LENGTH, "rx_drop_length")				\
	X(DROP_ICRC, "rx_icrc_encapsulated")				\
	X(DROP_QPN, "rx_drop_unknown_qp")				\
	X(DROP_NO_GROUP, "rx_drop_no_group")				\
	X(DROP_PEER, "rx_drop_wrong_peer")				\
	X(DROP_STATE, "rx_drop_qp_state")				\
	X(DROP_PKEY, "rx_drop_pkey")					\
	X(DROP_STALE_RESP, "rx_drop_stale_response")			\
	X(DROP_SEQ, "rx_drop_after_gap")				\
	X(DROP_RATE, "rx_drop_nak_limited")				\
	X(DROP_BACKLOG, "rx_drop_backlog")				\
	X(DROP_DOWN, "rx_drop_link_down")				\
	X(DROP_QKEY, "rx_drop_qkey")					\
	X(DROP_ADDRESS, "rx_drop_wrong_address")			\
	X(DROP_NO_RECV, "out_of_buffer")				\
	X(DROP_RECV_SHORT, "rx_drop_receive_short")			\
	X(DROP_PAGE, "rx_drop_page_fault")				\
	X(DROP_REVOKED, "rx_drop_revoked")				\
	X(TX_DROP_NOMEM, "tx_drop_no_memory")				\
	X(TX_DROP_ROUTE, "tx_drop_no_route")				\
	X(TX_DROP_LOCAL, "tx_drop_local")				\
	X(TX_DROP_FOREIGN, "tx_drop_foreign")				\
	X(TX_DROP_REVOKED, "tx_drop_revoked")

enum rover_stat {
#define X(id, name) ROVER_STAT_##id,
	ROVER_STATS(X)
#undef X
	ROVER_STAT_COUNT
};

struct rover_stats {
	u64 v[ROVER_STAT_COUNT];
};

extern const char * const rover_stat_names[ROVER_STAT_COUNT];

/**
 * rover_stat_add() - count
 * @stats: per-CPU counters of a device
 * @id: which
 * @n: how many
 *
 * Context: any.
 */
static inline void rover_stat_add(struct rover_stats __percpu *stats,
				  enum rover_stat id, u64 n)
{
	this_cpu_add(stats->v[id], n);
}

static inline void rover_stat_inc(struct rover_stats __percpu *stats,
				  enum rover_stat id)
{
	this_cpu_inc(stats->v[id]);
}

/**
 * rover_stat_read() - sum over all CPUs
 * @stats: per-CPU counters of a device
 * @id: which
 *
 * Context: any.
 * Return: the sum; other CPUs may be counting meanwhile.
 */
u64 rover_stat_read(struct rover_stats __percpu *stats, enum rover_stat id);

#endif /* ROVER_STATS_H */
