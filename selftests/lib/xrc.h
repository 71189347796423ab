/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xrc - XRC domains, and connections from an initiator to a target
 *
 * Requests go one way: one end has the initiator, the other one the target and
 * shared receive queues (shared_xrc()).
 */
#ifndef ROVER_SELFTEST_XRC_H
#define ROVER_SELFTEST_XRC_H

#include "conn.h"
#include "shared.h"

/**
 * struct domain - an XRC domain
 * @xrcd: the domain as opened by this program
 * @fd: file by which programs share it
 */
struct domain {
	struct ibv_xrcd *xrcd;
	int fd;
};

/* Create a domain with a new file. */
struct domain *domain_new(struct pair *p);

/* Open a domain by its file, in any context; return NULL and set errno on error. */
struct ibv_xrcd *domain_open(struct ibv_context *ctx, int fd, int oflags);

/* Attributes for either end of a connection */
struct conn_attr xrc_defaults(struct pair *p);

/*
 * If @asks, open an initiator; its requests name the queue @s of the other end unless
 * they name another.  Else open a target in domain @d.  Both are ready on return.
 */
struct conn *xrc_open(struct pair *p, const struct conn_attr *attr, bool asks, struct domain *d,
		      struct shared *s);

/* The same in two steps, without the transition to RTS. */
struct conn *xrc_make(struct pair *p, const struct conn_attr *attr, bool asks, struct domain *d,
		      struct shared *s);
void xrc_meet(struct conn *c, struct shared *s);

/* ---- two connections, for cases in which one fails ---- */

#define STAGE_ROOM 8192

/**
 * struct stage - two connections to two targets of one domain, with one queue
 * @d, @s: domain and queue of end b, with 16 receives
 * @c: connection that is to fail, and one that must keep working
 * @r: STAGE_ROOM bytes of memory for both
 */
struct stage {
	struct pair *p;
	struct domain *d;
	struct shared *s;
	struct conn *c[2];
	struct region *r;
};

struct stage stage_new(struct pair *p, const struct conn_attr *attr);

/* End b sends a number to end a. */
uint32_t stage_tell(struct pair *p, uint32_t number);

/* End a: post a request on the first connection; it completes with @status. */
void stage_ask(struct stage *g, struct ibv_send_wr wr, enum ibv_wc_status status);

/* End b: the target of the first connection is in error, and raised this event. */
void stage_event(struct stage *g, enum ibv_event_type type);

/* Both ends: the second connection works, and takes the oldest receive. */
void stage_well(struct stage *g);

/* Set the SRQ that a request names. */
static inline struct ibv_send_wr wr_for(struct ibv_send_wr wr, uint32_t srqn)
{
	wr.qp_type.xrc.remote_srqn = srqn;
	return wr;
}

#endif /* ROVER_SELFTEST_XRC_H */
