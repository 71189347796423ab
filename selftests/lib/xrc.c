// SPDX-License-Identifier: GPL-2.0
/*
 * xrc - XRC domains, and connections from an initiator to a target
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xrc.h"

static int undo_domain(void *what)
{
	struct domain *d = what;
	int error = ibv_close_xrcd(d->xrcd);

	close(d->fd);
	return error;
}

struct ibv_xrcd *domain_open(struct ibv_context *ctx, int fd, int oflags)
{
	struct ibv_xrcd_init_attr init = {
		.fd = fd, .oflags = oflags,
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
	};

	return ibv_open_xrcd(ctx, &init);
}

struct domain *domain_new(struct pair *p)
{
	struct domain *d = pair_alloc(p, sizeof(*d));

	d->fd = memfd_create("domain", MFD_CLOEXEC);
	check(p, d->fd >= 0, "memfd_create: %s", strerror(errno));
	d->xrcd = domain_open(p->ctx, d->fd, O_CREAT);
	check(p, d->xrcd, "ibv_open_xrcd: %s", strerror(errno));
	undo_later(p, undo_domain, d, "ibv_close_xrcd");
	return d;
}

struct conn_attr xrc_defaults(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	attr.type = IBV_QPT_XRC_SEND;
	attr.recv_wr = 0;
	attr.recv_sge = 0;
	/* Unlimited RNR retries, at short intervals */
	attr.rnr_retry = 7;
	attr.min_rnr_timer = 1;
	return attr;
}

struct conn *xrc_make(struct pair *p, const struct conn_attr *common, bool asks, struct domain *d,
		      struct shared *s)
{
	struct conn_attr attr = *common;

	if (!asks) {
		attr.type = IBV_QPT_XRC_RECV;
		attr.xrcd = d->xrcd;
		attr.srq = s->srq;
		attr.recv = s->recv;
	}
	return conn_make(p, &attr);
}

void xrc_meet(struct conn *c, struct shared *s)
{
	uint32_t mine = c->attr.xrcd ? s->srqn : 0;

	conn_meet(c);
	pair_swap(c->p, &mine, &c->srqn, sizeof(mine));
}

struct conn *xrc_open(struct pair *p, const struct conn_attr *attr, bool asks, struct domain *d,
		      struct shared *s)
{
	struct conn *c = xrc_make(p, attr, asks, d, s);

	xrc_meet(c, s);
	conn_ready(c);
	pair_sync(p);
	return c;
}

/* ---- two connections, for cases in which one fails ---- */

struct stage stage_new(struct pair *p, const struct conn_attr *attr)
{
	struct stage g = { .p = p };
	int i;

	if (end_b(p)) {
		g.d = domain_new(p);
		g.s = shared_xrc(p, p->pd, 16, 2, g.d->xrcd, queue_new(p, 32, false, false));
	}
	g.r = region_new(p, STAGE_ROOM, ALL_ACCESS);
	region_swap(p, g.r);
	for (i = 0; i < 2; i++)
		g.c[i] = xrc_open(p, attr, end_a(p), g.d, g.s);
	return g;
}

uint32_t stage_tell(struct pair *p, uint32_t number)
{
	uint32_t theirs;

	pair_swap(p, &number, &theirs, sizeof(number));
	return end_a(p) ? theirs : number;
}

void stage_ask(struct stage *g, struct ibv_send_wr wr, enum ibv_wc_status status)
{
	conn_send(g->c[0], &wr);
	queue_want(g->c[0]->send, wr.wr_id, status);
	if (status)
		conn_want_state(g->c[0], IBV_QPS_ERR);
}

void stage_event(struct stage *g, enum ibv_event_type type)
{
	check(g->p, event_wait(g->p, type, g->c[0]->qp, SOON(g->p)), "no %s",
	      ibv_event_type_str(type));
	conn_want_state(g->c[0], IBV_QPS_ERR);
}

void stage_well(struct stage *g)
{
	struct ibv_send_wr wr = wr_send(9, NULL, 0, IBV_SEND_SIGNALED);
	struct ibv_wc wc;

	if (end_b(g->p))
		shared_fill(g->s, 15, 16);
	pair_sync(g->p);
	if (end_a(g->p)) {
		conn_send(g->c[1], &wr);
		queue_want(g->c[1]->send, 9, IBV_WC_SUCCESS);
	} else {
		queue_next(g->s->recv, &wc);
		check(g->p, !wc.status && wc.qp_num == g->c[1]->qp->qp_num,
		      "the other connection: %s", ibv_wc_status_str(wc.status));
	}
	pair_sync(g->p);
}
