/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stats - counters of a device, per CPU
 *
 * X(ID, name, meaning).  tools/counters writes Documentation/counters.rst from
 * this; comments are headings.  Names are those of mlx5 where it counts alike.
 */
#ifndef ROVER_STATS_H
#define ROVER_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#define ROVER_STATS(X)							\
	/* packets and bytes */						\
	X(TX_PACKETS, "tx_packets",					\
	  "RoCE packets sent, acknowledgments and retransmissions "	\
	  "included, and those that a tx_drop counter counts "		\
	  "afterwards")							\
	X(TX_BYTES, "tx_bytes",						\
	  "bytes of these packets from the IP header (RoCE v1: GRH) "	\
	  "to the ICRC, and of raw frames from the Ethernet header "	\
	  "on")								\
	X(TX_TRAINS, "tx_trains",					\
	  "GSO packets sent, each of two or more RoCE packets; few "	\
	  "beside tx_packets: messages are small or posted one at a "	\
	  "time")							\
	X(TX_SHORTCUT, "tx_shortcut",					\
	  "packets and trains handed directly to a receiver on this "	\
	  "host, without IP and the virtual netdev")			\
	X(TX_SHORTCUT_FULL, "tx_shortcut_full",				\
	  "times a queue pair stopped sending because the shortcut "	\
	  "queue of its CPU was full; rising: the receiver is "		\
	  "slower than the sender")					\
	X(RX_PACKETS, "rx_packets",					\
	  "RoCE packets that passed all checks up to the queue "	\
	  "pair's state and were given to it; a multicast packet "	\
	  "counts once")						\
	X(RX_BYTES, "rx_bytes",						\
	  "bytes of RoCE packets that reached the transport checks, "	\
	  "counted as in tx_bytes; also of those then dropped")		\
	X(RX_TRAINS, "rx_trains",					\
	  "GSO packets of several RoCE packets received in one "	\
	  "piece")							\
	X(RX_ICRC_UNNECESSARY, "rx_icrc_unnecessary",			\
	  "packets accepted without an ICRC over their payload, "	\
	  "since the payload came by reference from this host; "	\
	  "their headers are verified")					\
	X(TX_ACKS, "tx_acks",						\
	  "acknowledgments sent, those of atomics included; READ "	\
	  "responses are not counted")					\
	X(RX_MCAST, "rx_multicast_packets",				\
	  "multicast datagrams for a group that has queue pairs of "	\
	  "this device attached")					\
	X(TX_RAW, "tx_raw_frames",					\
	  "Ethernet frames sent by raw packet queue pairs")		\
	X(RX_RAW, "rx_raw_frames",					\
	  "Ethernet frames delivered to raw packet queue pairs, "	\
	  "once for each queue pair")					\
	/* requests executed by the responder */			\
	X(RX_SEND, "rx_send_requests",					\
	  "SEND messages received completely, and datagrams "		\
	  "delivered")							\
	X(RX_WRITE, "rx_write_requests",				\
	  "RDMA WRITE messages received completely")			\
	X(RX_READ, "rx_read_requests",					\
	  "new RDMA READ requests accepted, without duplicates; "	\
	  "rover's requester reads long messages by several "		\
	  "requests")							\
	X(RX_ATOMIC, "rx_atomic_requests",				\
	  "atomic operations executed: compare and swap, fetch and "	\
	  "add, ATOMIC WRITE")						\
	X(RX_FLUSH, "rx_flush_requests",				\
	  "FLUSH requests executed")					\
	/* calls and events */						\
	X(DOORBELLS, "doorbells",					\
	  "system calls of the provider that announce posted "		\
	  "requests; rising as fast as requests: each post enters "	\
	  "the kernel")							\
	X(CQ_EVENTS, "cq_events",					\
	  "completion events raised for armed completion queues")	\
	X(CQ_EVENTS_DELAYED, "cq_events_delayed",			\
	  "times a completion event had to wait because the program "	\
	  "had left 64 events of its completion queue unread; rising: "	\
	  "a program arms a completion queue again and again, and "	\
	  "does not read its completion channel")			\
	/* on-demand paging, in pages */				\
	X(PAGE_FAULTS, "page_faults",					\
	  "pages brought in because a packet or work request needed "	\
	  "them; rising: prefetch or pin the memory")			\
	X(PAGE_INVALIDATIONS, "page_invalidations",			\
	  "pages taken from ODP regions by the memory management of "	\
	  "their process: unmapped, migrated, swapped out")		\
	X(PAGE_PREFETCH, "page_prefetch",				\
	  "pages brought in by ibv_advise_mr()")			\
	/* sequence errors, retries and NAKs */				\
	X(OUT_OF_SEQUENCE, "out_of_sequence",				\
	  "gaps before a request: on reliable connections one for "	\
	  "each sequence NAK, on unreliable ones each gap; rising: "	\
	  "packets to this host are lost or reordered")			\
	X(DUPLICATE_REQUEST, "duplicate_request",			\
	  "request packets received again; rising: acknowledgments "	\
	  "or responses are lost or late")				\
	X(PACKET_SEQ_ERR, "packet_seq_err",				\
	  "sequence error NAKs received; rising: packets of this "	\
	  "host are lost or reordered, or the peer waits for an ODP "	\
	  "page")							\
	X(RNR_NAK_SENT, "rnr_nak_sent",					\
	  "RNR NAKs sent: a request found no receive, or waits for "	\
	  "an ODP page; rising: receives are posted too late")		\
	X(RNR_NAK_RETRY, "rnr_nak_retry_err",				\
	  "RNR NAKs received; rising: the peer posts its receives "	\
	  "too late")							\
	X(NAK_SENT, "nak_sent",						\
	  "NAKs sent except RNR NAKs: sequence error, invalid "		\
	  "request, remote access, remote operation")			\
	X(ACK_TIMEOUT, "local_ack_timeout_err",				\
	  "ACK timeouts that led to a retransmission; rising: the "	\
	  "last packets of a burst or acknowledgments are lost, or "	\
	  "the peer is slow")						\
	X(IMPLIED_NAK, "implied_nak_seq_err",				\
	  "lost responses of READs and atomics that a later "		\
	  "response or acknowledgment revealed; rising: packets to "	\
	  "this host are lost or reordered")				\
	X(TX_LOST, "tx_lost_packets",					\
	  "packets of this host, or responses to it, that were found "	\
	  "missing before later ones; those lost before a timeout or "	\
	  "a sequence NAK are not counted")				\
	X(SPURIOUS, "tx_spurious_packets",				\
	  "request packets that rover peers report to have received "	\
	  "twice; rising as fast as tx_retransmitted_packets: the "	\
	  "network reorders or delays packets, and loses none")		\
	X(PROBES, "tx_probes",						\
	  "packets sent again because for two round trips nothing "	\
	  "was acknowledged; rising: the last packets of a burst or "	\
	  "acknowledgments are lost, or the peer is slow")		\
	X(RX_EARLY, "rx_early_packets",					\
	  "packets that arrived before their turn and were held "	\
	  "until then; rising: the network loses or reorders packets")	\
	X(RETRANSMITTED, "tx_retransmitted_packets",			\
	  "request packets sent again, whatever the reason; compare "	\
	  "with tx_packets")						\
	/* congestion notification */					\
	X(ECN_MARKED, "np_ecn_marked_roce_packets",			\
	  "data packets of reliable connections received with a "	\
	  "congestion mark (ECN CE)")					\
	X(CNP_SENT, "np_cnp_sent",					\
	  "congestion notification packets sent for such marks, at "	\
	  "most one in 50 us for each connection and direction")	\
	X(CNP_HANDLED, "rp_cnp_handled",				\
	  "congestion notification packets received that reduced a "	\
	  "congestion window; rising: the network towards the peer "	\
	  "is congested")						\
	X(CNP_IGNORED, "rp_cnp_ignored",				\
	  "congestion notification packets for queue pairs that are "	\
	  "not in a state to send")					\
	/* errors of requests and completions */			\
	X(RETRIES_EXCEEDED, "req_transport_retries_exceeded",		\
	  "queue pairs that failed because their transport retries "	\
	  "were used up; the peer or the path is gone")			\
	X(RNR_RETRIES_EXCEEDED, "req_rnr_retries_exceeded",		\
	  "queue pairs that failed because their RNR retries were "	\
	  "used up; the peer posts no receives")			\
	X(REQ_REMOTE_ACCESS, "req_remote_access_errors",		\
	  "remote access NAKs received: wrong rkey, address, length "	\
	  "or rights in a local request; the queue pair fails")		\
	X(REQ_REMOTE_INVALID, "req_remote_invalid_request",		\
	  "invalid request NAKs received; the queue pair fails")	\
	X(RESP_REMOTE_ACCESS, "resp_remote_access_errors",		\
	  "requests refused with a remote access NAK: wrong rkey, "	\
	  "address, length or rights in a request of the peer; also "	\
	  "packets of unreliable connections dropped for it")		\
	X(RESP_LOCAL_LENGTH, "resp_local_length_error",			\
	  "messages of reliable connections longer than the receive "	\
	  "that they took")						\
	X(RESP_XRCETH, "resp_xrceth_errors",				\
	  "XRC requests for a shared receive queue that does not "	\
	  "exist in the queue pair's XRC domain")			\
	X(REQ_CQE_ERROR, "req_cqe_error",				\
	  "send completions with an error, flushes excepted")		\
	X(REQ_CQE_FLUSH, "req_cqe_flush_error",				\
	  "send requests flushed because their queue pair was in "	\
	  "error")							\
	X(RESP_CQE_ERROR, "resp_cqe_error",				\
	  "receive completions with an error, flushes excepted")	\
	X(RESP_CQE_FLUSH, "resp_cqe_flush_error",			\
	  "receive requests flushed because their queue pair was in "	\
	  "error")							\
	X(CQ_OVERFLOW, "cq_overflow",					\
	  "completions lost because the completion queue was full; "	\
	  "its queue pairs fail: create a larger one, or poll more "	\
	  "often")							\
	/* received packets dropped */					\
	X(DROP_SHORT, "rx_drop_short",					\
	  "packets too short for their headers, with IP options or "	\
	  "extension headers, or impossible to linearize for lack "	\
	  "of memory")							\
	X(DROP_GSO, "rx_drop_foreign_gso",				\
	  "GSO packets that cannot be taken apart: no train of RoCE "	\
	  "packets, or no memory to segment one for a raw packet "	\
	  "queue pair")							\
	X(DROP_GRH, "rx_drop_grh",					\
	  "RoCE v1 frames without a valid GRH")				\
	X(DROP_OPCODE, "rx_drop_opcode",				\
	  "packets with an unknown opcode or transport version, or "	\
	  "with the opcode of another service than the queue pair's")	\
	X(DROP_LENGTH, "rx_drop_length",				\
	  "packets whose length does not fit their headers, opcode, "	\
	  "padding or path MTU; datagrams to queue pair 1 that are "	\
	  "no MAD")							\
	X(DROP_ICRC, "rx_icrc_encapsulated",				\
	  "packets with a wrong ICRC; rising: something alters "	\
	  "packets on the way")						\
	X(DROP_QPN, "rx_drop_unknown_qp",				\
	  "packets for a queue pair that does not exist; some are "	\
	  "normal after a queue pair is destroyed")			\
	X(DROP_NO_GROUP, "rx_drop_no_group",				\
	  "multicast datagrams for a group that no queue pair is "	\
	  "attached to")						\
	X(DROP_PEER, "rx_drop_wrong_peer",				\
	  "packets that came from or to another address than those "	\
	  "of the connection, or in the other RoCE version: check "	\
	  "the GID index at both ends")					\
	X(DROP_STATE, "rx_drop_qp_state",				\
	  "packets and frames for a queue pair that is not in a "	\
	  "state to receive them")					\
	X(DROP_PKEY, "rx_drop_pkey",					\
	  "packets with another partition key than the default one")	\
	X(DROP_STALE_RESP, "rx_drop_stale_response",			\
	  "acknowledgments and responses that belong to nothing in "	\
	  "flight; some are normal after a retransmission")		\
	X(DROP_EARLY, "rx_drop_early",					\
	  "packets after a missing one that could not be held: "	\
	  "too much memory is held already")				\
	X(DROP_SEQ, "rx_drop_after_gap",				\
	  "requests after a lost packet: on reliable connections "	\
	  "until it is sent again, on unreliable ones the rest of "	\
	  "its message")						\
	X(DROP_UNANSWERED, "rx_drop_unanswered",				\
	  "requests dropped without an answer: duplicate READs and "	\
	  "atomics whose result or memory is gone, and READs and "	\
	  "atomics while duplicates take all responder resources; "	\
	  "the peer sends them again")					\
	X(DROP_BACKLOG, "rx_drop_backlog",				\
	  "packets and trains dropped because the backlog of their "	\
	  "queue pair was full (8 MiB); the peer sends without a "	\
	  "congestion window")						\
	X(DROP_QKEY, "rx_drop_qkey",					\
	  "datagrams with another Q_Key than the queue pair's")		\
	X(DROP_ADDRESS, "rx_drop_wrong_address",			\
	  "datagrams to an address that is no GID of the device")	\
	X(DROP_NO_RECV, "out_of_buffer",				\
	  "datagrams, raw frames and messages of unreliable "		\
	  "connections that found no receive (reliable ones: "		\
	  "rnr_nak_sent); rising: receives are posted too late")	\
	X(DROP_RECV_SHORT, "rx_drop_receive_short",			\
	  "datagrams, raw frames and messages of unreliable "		\
	  "connections that were longer than their receive")		\
	X(DROP_PAGE, "rx_drop_page_fault",				\
	  "packets dropped because an ODP page was not present; on "	\
	  "reliable connections they are sent again")			\
	X(DROP_REVOKED, "rx_drop_revoked",				\
	  "packets dropped because their sender, on this host, "	\
	  "revoked the payload before it was copied; they are sent "	\
	  "again if still needed")					\
	/* packets not sent */						\
	X(TX_DROP_NOMEM, "tx_drop_no_memory",				\
	  "packets and raw frames not made for lack of memory; "	\
	  "reliable connections try again")				\
	X(TX_DROP_ROUTE, "tx_drop_no_route",				\
	  "packets and trains without a usable route or interface")	\
	X(TX_DROP_LOCAL, "tx_drop_local",				\
	  "packets, trains and frames refused by this host: by the "	\
	  "firewall, a full queue of the netdev, or an interface "	\
	  "that is down")						\
	X(TX_DROP_FOREIGN, "tx_drop_foreign",				\
	  "packets to UDP port 4791 dropped because a socket that "	\
	  "is not raw sent them, or they were forwarded with a "	\
	  "source address of this host")				\
	X(TX_DROP_REVOKED, "tx_drop_revoked",				\
	  "packets that leave without a valid ICRC because their "	\
	  "payload was revoked; the peer drops them")

enum rover_stat {
#define X(id, name, text) ROVER_STAT_##id,
	ROVER_STATS(X)
#undef X
	ROVER_STAT_COUNT
};

struct rover_stats {
	u64 v[ROVER_STAT_COUNT];
};

extern const char * const rover_stat_names[ROVER_STAT_COUNT];

/**
 * rover_stat_add() - add to a counter
 * @stats: per-CPU counters
 * @id: counter
 * @n: added to it
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
 * rover_stat_read() - return the sum over all CPUs
 * @stats: per-CPU counters
 * @id: counter
 * Context: any.
 */
u64 rover_stat_read(struct rover_stats __percpu *stats, enum rover_stat id);

#endif /* ROVER_STATS_H */
