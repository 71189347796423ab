// SPDX-License-Identifier: GPL-2.0
/*
 * window - memory, connection and memory window of a case
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "demand.h"
#include "pattern.h"
#include "window.h"

static int dealloc_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static int dealloc_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

static int dereg(void *mr)
{
	return ibv_dereg_mr(mr);
}

struct ibv_pd *stage_pd(struct pair *p)
{
	struct ibv_pd *pd = ibv_alloc_pd(p->ctx);

	check(p, pd, "ibv_alloc_pd: %s", strerror(errno));
	undo_later(p, dealloc_pd, pd, "ibv_dealloc_pd");
	return pd;
}

struct ibv_mw *stage_mw(struct pair *p, struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, type);

	check(p, mw, "ibv_alloc_mw of type %d: %s", type, strerror(errno));
	undo_later(p, dealloc_mw, mw, "ibv_dealloc_mw");
	return mw;
}

struct ibv_mr *stage_mr(struct stage *s, struct ibv_pd *pd, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, s->r->buf, SIZE,
				       access | (demand_wanted() ? IBV_ACCESS_ON_DEMAND : 0));

	check(s->p, mr, "ibv_reg_mr: %s", strerror(errno));
	undo_later(s->p, dereg, mr, "ibv_dereg_mr");
	return mr;
}

void stage_open(struct pair *p, struct stage *s, enum ibv_mw_type type, bool extended)
{
	struct conn_attr attr = conn_defaults(p);

	attr.extended = extended;
	*s = (struct stage){ .p = p };
	s->r = region_new(p, SIZE, IBV_ACCESS_LOCAL_WRITE);
	pattern_fill(s->r->buf, SIZE, end_b(p) ? HERE : THERE);
	if (end_b(p)) {
		s->mr = stage_mr(s, p->pd, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		s->mw = stage_mw(p, p->pd, type);
	}
	s->c = conn_open(p, &attr);
}

struct ibv_mw_bind_info stage_info(struct stage *s, unsigned int access)
{
	return (struct ibv_mw_bind_info){
		.mr = s->mr, .addr = (uintptr_t)s->r->buf + AT, .length = LEN,
		.mw_access_flags = access,
	};
}

/* Bind as its type requires; return the error number. */
static int post_bind(struct stage *s, struct conn *c, struct ibv_mw *mw,
		     const struct ibv_mw_bind_info *info, uint64_t wr_id)
{
	struct ibv_mw_bind bind = {
		.wr_id = wr_id, .send_flags = IBV_SEND_SIGNALED, .bind_info = *info,
	};
	struct ibv_send_wr wr;
	uint32_t key = ibv_inc_rkey(mw->rkey);
	int error;

	(void)s;
	if (mw->type == IBV_MW_TYPE_1)
		return ibv_bind_mw(c->qp, mw, &bind);
	wr = wr_bind(wr_id, mw, key, IBV_SEND_SIGNALED, info);
	error = conn_post(c, &wr);
	if (!error)
		mw->rkey = key;
	return error;
}

void stage_bind(struct stage *s, struct conn *c, struct ibv_mw *mw,
		const struct ibv_mw_bind_info *info)
{
	uint32_t before = mw->rkey;
	struct ibv_wc wc;
	int error;

	error = post_bind(s, c, mw, info, 77);
	check(s->p, !error, "posting a bind: %s", strerror(error));
	queue_next(c->send, &wc);
	check(s->p, wc.wr_id == 77 && !wc.status && wc.opcode == IBV_WC_BIND_MW,
	      "bind: completion %llu, \"%s\", opcode %d", (unsigned long long)wc.wr_id,
	      ibv_wc_status_str(wc.status), wc.opcode);
	check(s->p, mw->rkey != before && !((mw->rkey ^ before) & ~0xffU),
	      "bind makes key 0x%08x of 0x%08x", mw->rkey, before);
}

/* Send address and key to end a. */
void stage_show(struct stage *s, uint64_t addr, uint32_t key, uint64_t *peer_addr,
		uint32_t *peer_key)
{
	struct { uint64_t addr, key; } mine = { addr, key }, theirs;

	pair_swap(s->p, &mine, &theirs, sizeof(mine));
	*peer_addr = theirs.addr;
	*peer_key = theirs.key;
}

void stage_want(struct stage *s, const void *buf, size_t from, size_t len, int seed,
		const char *what)
{
	uint8_t *right = malloc(SIZE);
	size_t at;

	check(s->p, right, "out of memory");
	pattern_fill(right, SIZE, seed);
	at = pattern_differ(buf, right + from, len);
	check(s->p, at == len, "%s: wrong at byte %zu: %s", what, at,
	      pattern_show(buf, right + from, at, len));
	free(right);
}
