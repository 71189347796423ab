/* SPDX-License-Identifier: GPL-2.0 */
/*
 * conn - queue pairs and completion queues of a test case
 *
 * Everything made here belongs to the current case and is destroyed at its
 * end; that a destruction succeeds is part of every case.
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

/* Completions that are there now, at most n; as struct ibv_wc whatever the kind of queue. */
int queue_poll(struct queue *q, struct ibv_wc *wc, int n);

/* The next completion: waits for it, fails without it. */
void queue_next(struct queue *q, struct ibv_wc *wc);

/* The next completion has to be this one. */
void queue_want(struct queue *q, uint64_t wr_id, enum ibv_wc_status status);

/* There must be no completion within ms milliseconds. */
void queue_quiet(struct queue *q, unsigned int ms);

/* A completion event: waits ms milliseconds at most; was there one? */
bool queue_event(struct queue *q, unsigned int ms);

/* What a connection is to be like; conn_defaults() and then change what the case is about. */
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
	struct ibv_xrcd *xrcd;	/* of a target of XRC, whose receives go to srq */
	enum ibv_qp_type type;
	uint32_t qkey;
	uint32_t create_flags;	/* with extended only */
	uint64_t more_ops;	/* of ibv_wr_*(), beyond the usual ones */
};

struct conn_attr conn_defaults(struct pair *p);

/* The same for datagrams, where "the peer" is whom ah leads to, and no more than that. */
struct conn_attr dgram_defaults(struct pair *p);
#define GRH_BYTES 40

/* What one end tells the other of its queue pair. */
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
	uint32_t srqn;		/* XRC: whose the requests are that do not say it */
};

/* Make the queue pair only, in state RESET; meet the other one; make it ready. */
struct conn *conn_make(struct pair *p, const struct conn_attr *attr);
void conn_meet(struct conn *c);
void conn_ready(struct conn *c);

/* All of it, and both ends are ready when it returns. */
struct conn *conn_open(struct pair *p, const struct conn_attr *attr);

/* The attributes and the mask of the step to a state, for a connection that has met. */
int conn_step(struct conn *c, enum ibv_qp_state to, struct ibv_qp_attr *attr);

/* Take the step; the error number. */
int conn_modify(struct conn *c, enum ibv_qp_state to);

enum ibv_qp_state conn_state(struct conn *c);
void conn_want_state(struct conn *c, enum ibv_qp_state state);

/* Post a chain, classic or by ibv_wr_*() as the connection is; the error number. */
int conn_post(struct conn *c, struct ibv_send_wr *wr);

/* The same, and it has to succeed. */
void conn_send(struct conn *c, struct ibv_send_wr *wr);
int conn_post_recv(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n);
void conn_recv(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n);

/* Work requests in a line; flags are those of enum ibv_send_flags. */
struct ibv_send_wr wr_send(uint64_t wr_id, struct ibv_sge *sge, int n, unsigned int flags);
struct ibv_send_wr wr_rdma(uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge, int n,
			   unsigned int flags, uint64_t addr, uint32_t rkey);
struct ibv_send_wr wr_atomic(uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge,
			     uint64_t addr, uint32_t rkey, uint64_t compare_add, uint64_t swap);

/* Of windows: bind one of type 2 under a new key, take a key back. */
struct ibv_send_wr wr_bind(uint64_t wr_id, struct ibv_mw *mw, uint32_t rkey, unsigned int flags,
			   const struct ibv_mw_bind_info *info);
struct ibv_send_wr wr_local_inv(uint64_t wr_id, uint32_t key, unsigned int flags);

/* A datagram to the peer, and to anybody. */
struct ibv_send_wr wr_dgram(struct conn *c, uint64_t wr_id, struct ibv_sge *sge, int n,
			    unsigned int flags);
struct ibv_send_wr wr_dgram_to(struct ibv_ah *ah, uint32_t qpn, uint32_t qkey, uint64_t wr_id,
			       struct ibv_sge *sge, int n, unsigned int flags);

/* An address handle that belongs to the case; the attributes of one that leads to a GID. */
struct ibv_ah *ah_new(struct pair *p, struct ibv_pd *pd, struct ibv_ah_attr *attr);
struct ibv_ah_attr ah_attr_to(struct pair *p, const union ibv_gid *gid);

static inline struct ibv_sge sge_of(const struct region *region, size_t at, uint32_t len)
{
	return (struct ibv_sge){ (uintptr_t)region->buf + at, len, region->mr->lkey };
}

#endif /* ROVER_SELFTEST_CONN_H */
