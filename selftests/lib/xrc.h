/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xrc - XRC domains, and connections from an initiator to a target
 *
 * Requests go one way.  The end that asks has the initiator, the other one the
 * target and, apart from it, shared receive queues (shared_xrc()).
 */
#ifndef ROVER_SELFTEST_XRC_H
#define ROVER_SELFTEST_XRC_H

#include "conn.h"
#include "shared.h"

/**
 * struct domain - an XRC domain
 * @xrcd: as this program has opened it
 * @fd: the file it is shared by
 */
struct domain {
	struct ibv_xrcd *xrcd;
	int fd;
};

/* A new one, of a file that nobody else has. */
struct domain *domain_new(struct pair *p);

/* Open one by its file, in any context; NULL and errno. */
struct ibv_xrcd *domain_open(struct ibv_context *ctx, int fd, int oflags);

/* What either end of a connection is to be like. */
struct conn_attr xrc_defaults(struct pair *p);

/*
 * The asking end: an initiator; its requests are for the queue s of the other end
 * unless they say otherwise.  The other: a target in domain d.  Both are ready then.
 */
struct conn *xrc_open(struct pair *p, const struct conn_attr *attr, bool asks, struct domain *d,
		      struct shared *s);

/* The same in two steps, without making it ready. */
struct conn *xrc_make(struct pair *p, const struct conn_attr *attr, bool asks, struct domain *d,
		      struct shared *s);
void xrc_meet(struct conn *c, struct shared *s);

/* ---- a stage for what goes wrong ---- */

#define STAGE_ROOM 8192

/**
 * struct stage - two connections to two targets of one domain, with one queue
 * @d, @s: b's domain and queue, of 16 receives
 * @c: the one that suffers, and one that has to go on
 * @r: memory of so many bytes that either may name
 */
struct stage {
	struct pair *p;
	struct domain *d;
	struct shared *s;
	struct conn *c[2];
	struct region *r;
};

struct stage stage_new(struct pair *p, const struct conn_attr *attr);

/* b tells a a number. */
uint32_t stage_tell(struct pair *p, uint32_t number);

/* a: a request of the one that suffers, which ends like this. */
void stage_ask(struct stage *g, struct ibv_send_wr wr, enum ibv_wc_status status);

/* b: its target has gone to error, and this is heard of it. */
void stage_event(struct stage *g, enum ibv_event_type type);

/* Both: the other connection works; whatever was posted first is taken. */
void stage_well(struct stage *g);

/* Which queue a request is for. */
static inline struct ibv_send_wr wr_for(struct ibv_send_wr wr, uint32_t srqn)
{
	wr.qp_type.xrc.remote_srqn = srqn;
	return wr;
}

#endif /* ROVER_SELFTEST_XRC_H */
