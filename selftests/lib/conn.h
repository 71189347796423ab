/* SPDX-License-Identifier: GPL-2.0 */
/*
 * conn - queue pairs and completion queues of a test case
 *
 * All objects created here belong to the current case and are destroyed at its
 * end; the case fails if a destruction fails.
 */
#ifndef ROVER_SELFTEST_CONN_H
#define ROVER_SELFTEST_CONN_H

#include "region.h"

/* A completion queue, classic or extended, with or without a channel for events. */
struct queue {
	struct pair *p;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cqx;
	struct ibv_comp_channel *channel;
	unsigned int unacked;
};

struct queue *queue_new(struct pair *p, int entries, bool extended, bool events);

/* Poll at most @n completions, in struct ibv_wc for both kinds of queue. */
int queue_poll(struct queue *q, struct ibv_wc *wc, int n);

/* Wait for the next completion; fail if none comes. */
void queue_next(struct queue *q, struct ibv_wc *wc);

/* Wait for the next completion; fail if it is another one. */
void queue_want(struct queue *q, uint64_t wr_id, enum ibv_wc_status status);

/* Fail if a completion comes within @ms milliseconds. */
void queue_quiet(struct queue *q, unsigned int ms);

/* Wait at most @ms milliseconds for a completion event; return true if one came. */
bool queue_event(struct queue *q, unsigned int ms);

/* Attributes of a connection: those of conn_defaults(), changed by the case. */
struct conn_attr {
	enum ibv_mtu mtu;
	uint32_t send_wr, recv_wr, send_sge, recv_sge, inline_data;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer, rd_atomic, dest_rd_atomic;
	int access;
	bool sq_sig_all, extended, events;
	uint32_t entries;
	struct queue *send, *recv;
	struct ibv_pd *pd;
	struct ibv_srq *srq;
	struct ibv_xrcd *xrcd;	/* domain of an XRC target */
	enum ibv_qp_type type;
	uint32_t qkey;
	uint32_t create_flags;	/* only if @extended */
	uint64_t more_ops;	/* additional operations for ibv_wr_*() */
};

struct conn_attr conn_defaults(struct pair *p);

/* The same for UD queue pairs; the peer is only the destination of conn.ah. */
struct conn_attr dgram_defaults(struct pair *p);
#define GRH_BYTES 40

/* Data about a queue pair that the ends exchange */
struct conn_id {
	uint32_t qpn, psn;
	union ibv_gid gid;
};

struct conn {
	struct pair *p;
	struct conn_attr attr;
	struct ibv_qp_cap cap;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct ibv_ah *ah;
	struct queue *send, *recv;
	struct conn_id own, peer;
	uint32_t srqn;		/* XRC: SRQ of requests that name none */
};

/* Create the queue pair, in RESET; exchange data with the other end; modify it to RTS. */
struct conn *conn_make(struct pair *p, const struct conn_attr *attr);
void conn_meet(struct conn *c);
void conn_ready(struct conn *c);

/* All three; when it returns, both ends are ready. */
struct conn *conn_open(struct pair *p, const struct conn_attr *attr);

/* Set the attributes for the transition to a state, after conn_meet(); return the mask. */
int conn_step(struct conn *c, enum ibv_qp_state to, struct ibv_qp_attr *attr);

/* Modify to a state; return the error number. */
int conn_modify(struct conn *c, enum ibv_qp_state to);

enum ibv_qp_state conn_state(struct conn *c);
void conn_want_state(struct conn *c, enum ibv_qp_state state);

/* Post a list by ibv_post_send(), or by ibv_wr_*() if extended; return the error number. */
int conn_post(struct conn *c, struct ibv_send_wr *wr);

/* Post a list; fail on error. */
void conn_send(struct conn *c, struct ibv_send_wr *wr);
int conn_post_recv(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n);
void conn_recv(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n);

/* Make a work request; @flags: enum ibv_send_flags. */
struct ibv_send_wr wr_send(uint64_t wr_id, struct ibv_sge *sge, int n, unsigned int flags);
struct ibv_send_wr wr_rdma(uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge, int n,
			   unsigned int flags, uint64_t addr, uint32_t rkey);
struct ibv_send_wr wr_atomic(uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge,
			     uint64_t addr, uint32_t rkey, uint64_t compare_add, uint64_t swap);

/* Bind a memory window of type 2 with a new key; invalidate a key. */
struct ibv_send_wr wr_bind(uint64_t wr_id, struct ibv_mw *mw, uint32_t rkey, unsigned int flags,
			   const struct ibv_mw_bind_info *info);
struct ibv_send_wr wr_local_inv(uint64_t wr_id, uint32_t key, unsigned int flags);

/* A datagram to the peer; a datagram to any queue pair. */
struct ibv_send_wr wr_dgram(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n,
			    unsigned int flags);
struct ibv_send_wr wr_dgram_to(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, uint64_t wr_id,
			       struct ibv_sge *sge, int n, unsigned int flags);

/* Create an address handle for the case; return the attributes for a GID. */
struct ibv_ah *ah_new(struct pair *p, struct ibv_pd *pd, struct ibv_ah_attr *attr);
struct ibv_ah_attr ah_attr_to(struct pair *p, const union ibv_gid *gid);

static inline struct ibv_sge sge_of(const struct region *region, size_t at, uint32_t len)
{
	return (struct ibv_sge){ (uintptr_t)region->buf + at, len, region->mr->lkey };
}

#endif /* ROVER_SELFTEST_CONN_H */
