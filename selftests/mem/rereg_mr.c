// SPDX-License-Identifier: GPL-2.0
/*
 * rereg_mr - ibv_rereg_mr: other rights, another domain, other memory, the same key
 *
 *	rereg_mr a|b PORT [GROUP...]	see main() for the groups
 *
 * End b registers again, end a finds out what the key allows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/pattern.h"

#define SIZE 20480
#define PIECE 3000
#define AT 1000

/* What the memory of b holds, that it moves to, and what a writes. */
enum { BEFORE = 3, AFTER, WRITTEN };

struct stage {
	struct pair *p;
	struct ibv_pd *pd, *other;
	struct region *r, *moved;
	struct ibv_mr *mr;
	uint32_t key;
};

static int dealloc_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static int dereg(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void set_up(struct pair *p, struct stage *s, int access)
{
	uint32_t mine = 0;

	*s = (struct stage){ .p = p, .pd = p->pd };
	s->other = ibv_alloc_pd(p->ctx);
	check(p, s->other, "ibv_alloc_pd: %s", strerror(errno));
	undo_later(p, dealloc_pd, s->other, "ibv_dealloc_pd");
	s->r = region_new(p, SIZE, ALL_ACCESS);
	s->moved = region_new(p, SIZE, ALL_ACCESS);
	pattern_fill(s->r->buf, SIZE, BEFORE);
	pattern_fill(s->moved->buf, SIZE, AFTER);
	if (end_b(p)) {
		s->mr = ibv_reg_mr(s->pd, s->r->buf, SIZE, access);
		check(p, s->mr, "ibv_reg_mr: %s", strerror(errno));
		undo_later(p, dereg, s->mr, "ibv_dereg_mr");
		mine = s->mr->rkey;
	}
	pair_swap(p, &mine, &s->key, sizeof(mine));
}

/*
 * One operation of a, on a connection of its own: at an address of b's, with
 * which b's queue pair is in the domain given. What was READ is in a's r.
 */
static void probe(struct stage *s, struct ibv_pd *pd, enum ibv_wr_opcode opcode, uint8_t *at,
		  enum ibv_wc_status status, const char *what)
{
	struct conn_attr attr = conn_defaults(s->p);
	uint64_t mine = (uintptr_t)at, theirs;
	struct pair *p = s->p;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct conn *c;

	if (end_b(p))
		attr.pd = pd;
	c = conn_open(p, &attr);
	pair_swap(p, &mine, &theirs, sizeof(mine));
	if (end_a(p)) {
		pattern_fill(s->r->buf, PIECE, WRITTEN);
		sge = sge_of(s->r, 0, PIECE);
		wr = wr_rdma(1, opcode, &sge, 1, IBV_SEND_SIGNALED, theirs, s->key);
		conn_send(c, &wr);
		queue_next(c->send, &wc);
		check(p, wc.status == status, "%s: \"%s\", where \"%s\" should be", what,
		      ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	}
	pair_sync(p);
	undo_now(p, c);
}

static void want(struct pair *p, const void *buf, size_t from, size_t len, int seed,
		 const char *what)
{
	uint8_t *right = malloc(SIZE);
	size_t at;

	check(p, right, "out of memory");
	pattern_fill(right, SIZE, seed);
	at = pattern_differ(buf, right + from, len);
	check(p, at == len, "%s: wrong at byte %zu: %s", what, at,
	      pattern_show(buf, right + from, at, len));
	free(right);
}

static void again(struct stage *s, int flags, int access)
{
	uint32_t lkey = s->mr->lkey, rkey = s->mr->rkey;
	int error;

	error = ibv_rereg_mr(s->mr, flags, flags & IBV_REREG_MR_CHANGE_PD ? s->other : NULL,
			     flags & IBV_REREG_MR_CHANGE_TRANSLATION ? s->moved->buf + AT : NULL,
			     flags & IBV_REREG_MR_CHANGE_TRANSLATION ? SIZE - AT : 0,
			     flags & IBV_REREG_MR_CHANGE_ACCESS ? access : 0);
	check(s->p, !error, "ibv_rereg_mr with flags %d: %d (%s)", flags, error, strerror(errno));
	check(s->p, s->mr->lkey == lkey && s->mr->rkey == rkey, "the key has changed");
}

/* One combination of changes. */
static void run_flags(struct pair *p, const void *arg)
{
	int flags = *(const int *)arg;
	bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	bool deny = flags & IBV_REREG_MR_CHANGE_ACCESS;
	struct ibv_pd *now, *then;
	uint8_t *buf;
	struct stage s;

	set_up(p, &s, ALL_ACCESS);
	probe(&s, s.pd, IBV_WR_RDMA_READ, s.r->buf + AT, IBV_WC_SUCCESS, "READ before");
	if (end_b(p))
		again(&s, flags, IBV_ACCESS_REMOTE_READ);
	now = flags & IBV_REREG_MR_CHANGE_PD ? s.other : s.pd;
	then = now == s.pd ? s.other : s.pd;
	buf = (moves ? s.moved->buf : s.r->buf) + AT;

	probe(&s, now, IBV_WR_RDMA_READ, buf, IBV_WC_SUCCESS, "READ");
	if (end_a(p))
		want(p, s.r->buf, AT, PIECE, moves ? AFTER : BEFORE, "READ");
	probe(&s, then, IBV_WR_RDMA_READ, buf, IBV_WC_REM_ACCESS_ERR, "in the other domain");
	if (moves)
		probe(&s, now, IBV_WR_RDMA_READ, s.r->buf + AT, IBV_WC_REM_ACCESS_ERR,
		      "where it was before");
	probe(&s, now, IBV_WR_RDMA_WRITE, buf + 10, deny ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS,
	      "WRITE");
	if (end_a(p))
		return;
	if (deny)
		want(p, buf + 10, AT + 10, PIECE, moves ? AFTER : BEFORE, "after a WRITE refused");
	else
		want(p, buf + 10, 0, PIECE, WRITTEN, "after a WRITE");
	want(p, buf, AT, 10, moves ? AFTER : BEFORE, "before it");
	want(p, buf + 10 + PIECE, AT + 10 + PIECE, SIZE - AT - 10 - PIECE,
	     moves ? AFTER : BEFORE, "behind it");
	if (moves)
		want(p, s.r->buf, 0, SIZE, BEFORE, "what it was before");
}

/* Memory that was pinned for reading is written: the program sees the data. */
static void run_writable(struct pair *p, const void *arg)
{
	struct stage s;

	(void)arg;
	set_up(p, &s, IBV_ACCESS_REMOTE_READ);
	probe(&s, s.pd, IBV_WR_RDMA_WRITE, s.r->buf, IBV_WC_REM_ACCESS_ERR, "WRITE before");
	if (end_b(p))
		again(&s, IBV_REREG_MR_CHANGE_ACCESS, ALL_ACCESS);
	probe(&s, s.pd, IBV_WR_RDMA_WRITE, s.r->buf, IBV_WC_SUCCESS, "WRITE");
	if (end_b(p)) {
		want(p, s.r->buf, 0, PIECE, WRITTEN, "after a WRITE");
		want(p, s.r->buf + PIECE, PIECE, SIZE - PIECE, BEFORE, "behind it");
	}
}

/* A refused change leaves the region as it was. */
static void run_refused(struct pair *p, const void *arg)
{
	struct stage s;
	void *hole;
	int error;

	(void)arg;
	set_up(p, &s, ALL_ACCESS);
	if (end_b(p)) {
		hole = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		check(p, hole != MAP_FAILED, "mmap: %s", strerror(errno));
		error = ibv_rereg_mr(s.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, hole, SIZE, 0);
		check(p, error, "memory that cannot be had is registered");
		error = ibv_rereg_mr(s.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				     IBV_ACCESS_REMOTE_WRITE);
		check(p, error, "remote rights without the local one are given");
		error = ibv_rereg_mr(s.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 1 << 19);
		check(p, error, "a right that nobody knows is given");
		munmap(hole, SIZE);
	}
	probe(&s, s.pd, IBV_WR_RDMA_WRITE, s.r->buf, IBV_WC_SUCCESS, "WRITE afterwards");
	if (end_b(p))
		want(p, s.r->buf, 0, PIECE, WRITTEN, "after a WRITE");
}

/* Messages arrive all the time: each finds the old memory or the new one. */
static void run_traffic(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	uint64_t mine, theirs;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct region *r;
	struct conn *c;
	struct stage s;
	int i, rounds = p->quick ? 20 : 200;

	(void)arg;
	set_up(p, &s, ALL_ACCESS);
	r = region_new(p, SIZE, ALL_ACCESS);
	c = conn_open(p, &attr);
	mine = (uintptr_t)s.r->buf;
	pair_swap(p, &mine, &theirs, sizeof(mine));
	if (end_a(p)) {
		pattern_fill(r->buf, SIZE, WRITTEN);
		for (i = 0; i < 4 * rounds; i++) {
			sge = sge_of(r, 0, i % 2 ? PIECE : 100);
			wr = wr_rdma(i, i % 3 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, &sge, 1,
				     IBV_SEND_SIGNALED, theirs, s.key);
			if (i % 3 == 0)
				sge.addr += SIZE / 2;
			conn_send(c, &wr);
			queue_want(c->send, i, IBV_WC_SUCCESS);
		}
	} else {
		/* The address stays; rights change, and so do the pages behind it. */
		for (i = 0; i < rounds; i++) {
			if (i % 2)
				check(p, mmap(s.r->buf, SIZE, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
					      0) == s.r->buf, "mmap: %s", strerror(errno));
			check(p, !ibv_rereg_mr(s.mr, i % 2 ? IBV_REREG_MR_CHANGE_TRANSLATION :
					       IBV_REREG_MR_CHANGE_ACCESS, NULL,
					       i % 2 ? s.r->buf : NULL, i % 2 ? SIZE : 0,
					       i % 2 ? 0 : ALL_ACCESS),
			      "ibv_rereg_mr, time %d: %s", i, strerror(errno));
		}
	}
	pair_sync(p);
	probe(&s, s.pd, IBV_WR_RDMA_WRITE, s.r->buf, IBV_WC_SUCCESS, "WRITE afterwards");
	if (end_b(p))
		want(p, s.r->buf, 0, PIECE, WRITTEN, "after a WRITE");
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"", "memory", "domain", "memory and domain", "rights", "memory and rights",
		"domain and rights", "memory, domain and rights",
	};
	struct pair p;
	int flags;

	pair_open(&p, argc, argv);
	for (flags = 1; flags < 8 && pair_wants(&p, "flags"); flags++)
		pair_case(&p, run_flags, &flags, "ibv_rereg_mr changes %s", names[flags]);
	if (pair_wants(&p, "others")) {
		pair_case(&p, run_writable, NULL, "ibv_rereg_mr makes a read-only region writable");
		pair_case(&p, run_refused, NULL, "a refused ibv_rereg_mr changes nothing");
		pair_case(&p, run_traffic, NULL, "ibv_rereg_mr under traffic");
	}
	return pair_close(&p);
}
