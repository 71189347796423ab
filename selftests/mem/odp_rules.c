// SPDX-License-Identifier: GPL-2.0
/*
 * odp_rules - memory on demand: access to missing memory ends in the right error,
 * and invalid regions are not registered
 *
 *	odp_rules a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/demand.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* A region, what of it goes bad, and a message that begins before that. */
#define PAGES 16
#define SIZE (PAGES * PAGE)
#define BAD (8 * PAGE)
#define AT (6 * PAGE + 100)
#define LEN (4 * PAGE)

#define SOON(p) (5000 * (p)->slow)

static struct conn *open_conn(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	return conn_open(p, &attr);
}

/* ---- what cannot be had ---- */

enum place { THERE, HERE, RECEIVE };

enum evil { HOLE, NO_RIGHTS, READ_ONLY, BEYOND_FILE, SECRET };

static const char *const evils[] = {
	[HOLE] = "unmapped",
	[NO_RIGHTS] = "mapped without rights",
	[READ_ONLY] = "mapped to be read only",
	[BEYOND_FILE] = "behind the end of the file",
	[SECRET] = "secret",
};

struct bad {
	enum ibv_wr_opcode opcode;
	enum place place;
	enum evil evil;
	bool warm;	/* all was well before */
	enum ibv_wc_status status;
	bool rare;	/* not when it has to be quick */
};

/* READ_ONLY is bad only where something is written to. */
static const struct bad bads[] = {
	{ IBV_WR_RDMA_WRITE, THERE, HOLE, false, IBV_WC_REM_OP_ERR, true },
	{ IBV_WR_RDMA_WRITE, THERE, HOLE, true, IBV_WC_REM_OP_ERR },
	{ IBV_WR_RDMA_WRITE, THERE, READ_ONLY, false, IBV_WC_REM_OP_ERR, true },
	{ IBV_WR_RDMA_WRITE, THERE, READ_ONLY, true, IBV_WC_REM_OP_ERR },
	{ IBV_WR_RDMA_WRITE, THERE, BEYOND_FILE, true, IBV_WC_REM_OP_ERR },
	{ IBV_WR_RDMA_WRITE, THERE, SECRET, false, IBV_WC_REM_OP_ERR },
	{ IBV_WR_RDMA_READ, THERE, HOLE, true, IBV_WC_REM_OP_ERR },
	{ IBV_WR_RDMA_READ, THERE, NO_RIGHTS, true, IBV_WC_REM_OP_ERR, true },
	{ IBV_WR_RDMA_READ, THERE, READ_ONLY, true, IBV_WC_SUCCESS },
	{ IBV_WR_RDMA_READ, THERE, SECRET, false, IBV_WC_REM_OP_ERR },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, THERE, HOLE, false, IBV_WC_REM_OP_ERR },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, THERE, READ_ONLY, true, IBV_WC_REM_OP_ERR, true },
	{ IBV_WR_SEND, RECEIVE, HOLE, true, IBV_WC_REM_OP_ERR },
	{ IBV_WR_SEND, RECEIVE, READ_ONLY, false, IBV_WC_REM_OP_ERR, true },
	{ IBV_WR_RDMA_WRITE, HERE, HOLE, true, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_RDMA_WRITE, HERE, READ_ONLY, true, IBV_WC_SUCCESS },
	{ IBV_WR_RDMA_WRITE, HERE, BEYOND_FILE, false, IBV_WC_LOC_PROT_ERR, true },
	{ IBV_WR_SEND, HERE, NO_RIGHTS, false, IBV_WC_LOC_PROT_ERR, true },
	{ IBV_WR_SEND, HERE, SECRET, false, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_RDMA_READ, HERE, HOLE, false, IBV_WC_LOC_PROT_ERR, true },
	{ IBV_WR_RDMA_READ, HERE, READ_ONLY, true, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, HERE, HOLE, true, IBV_WC_LOC_PROT_ERR },
};

static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
		return "SEND";
	case IBV_WR_RDMA_WRITE:
		return "WRITE";
	case IBV_WR_RDMA_READ:
		return "READ";
	default:
		return "atomic";
	}
}

static bool is_atomic(const struct bad *bad)
{
	return bad->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool spoil(struct area *area, enum evil evil)
{
	uint8_t *from = area->r->buf + BAD;
	size_t len = SIZE - BAD;
	bool done = false;
	int fd;

	switch (evil) {
	case HOLE:
		return !munmap(from, len);
	case NO_RIGHTS:
		return !mprotect(from, len, PROT_NONE);
	case READ_ONLY:
		return !mprotect(from, len, PROT_READ);
	case BEYOND_FILE:
		return !ftruncate(area->r->fd, BAD);
	case SECRET:
		fd = demand_secret();
		if (fd < 0)
			return false;
		done = !ftruncate(fd, len) &&
		       mmap(from, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		       from;
		if (done)
			memset(from, 7, len);
		close(fd);
	}
	return done;
}

static void post_bad(struct conn *c, struct area *area, const struct bad *bad, uint64_t wr_id)
{
	struct ibv_sge sge = sge_of(area->r, AT, LEN);
	struct ibv_send_wr wr;

	if (is_atomic(bad)) {
		sge = sge_of(area->r, bad->place == HERE ? BAD : 0, 8);
		wr = wr_atomic(wr_id, bad->opcode, &sge,
			       area->r->peer_addr + (bad->place == THERE ? BAD : 0),
			       area->r->peer_rkey, 1, 0);
	} else {
		wr = wr_rdma(wr_id, bad->opcode, &sge, 1, IBV_SEND_SIGNALED,
			     area->r->peer_addr + AT, area->r->peer_rkey);
	}
	conn_send(c, &wr);
}

/* The message once; end b has its receive where the case wants it. */
static void message(struct conn *c, struct area *area, struct area *other, const struct bad *bad,
		    enum ibv_wc_status status)
{
	struct area *into = bad->place == RECEIVE ? area : other;
	struct ibv_sge sge = sge_of(into->r, AT, LEN);

	if (end_b(c->p) && bad->opcode == IBV_WR_SEND)
		conn_recv(c, 5, &sge, 1);
	pair_sync(c->p);
	if (end_a(c->p)) {
		post_bad(c, area, bad, 4);
		queue_want(c->send, 4, status);
	} else if (bad->opcode == IBV_WR_SEND && !status) {
		queue_want(c->recv, 5, IBV_WC_SUCCESS);
	}
	pair_sync(c->p);
}

/* A completion may be seen before the state that follows it. */
static void want_error(struct conn *c)
{
	unsigned int i;

	for (i = 0; i < 1000 && conn_state(c) != IBV_QPS_ERR; i++)
		usleep(1000);
	conn_want_state(c, IBV_QPS_ERR);
}

static void run_bad(struct pair *p, const void *arg)
{
	const struct bad *bad = arg;
	struct area *area = area_new(p, SIZE, ALL_ACCESS), *other = area_new(p, SIZE, ALL_ACCESS);
	bool mine = end_a(p) == (bad->place == HERE), have = true, theirs;
	uint8_t *want = malloc(SIZE);
	struct conn *c;

	c = open_conn(p);
	pattern_fill(area->view, SIZE, end_a(p) ? 1 : 2);
	pattern_fill(want, SIZE, end_a(p) ? 1 : 2);
	/* What is HERE for a the other end has elsewhere, whole. */
	region_swap(p, area->r);
	if (bad->warm)
		message(c, area, other, bad, IBV_WC_SUCCESS);
	if (mine)
		have = spoil(area, bad->evil);
	pair_swap(p, &have, &theirs, sizeof(have));
	if (!have || !theirs) {
		free(want);
		skip(p, "this kernel has no memory that is %s", evils[bad->evil]);
	}
	message(c, area, other, bad, bad->status);
	if (!bad->status) {
		free(want);
		return;
	}
	if (end_a(p) || bad->place != HERE)
		want_error(c);
	if (end_b(p) && bad->place == RECEIVE)
		queue_want(c->recv, 5, IBV_WC_LOC_PROT_ERR);
	if (end_b(p) && bad->place == THERE)
		check(p, event_wait(p, IBV_EVENT_QP_ACCESS_ERR, c->qp, SOON(p)),
		      "no IBV_EVENT_QP_ACCESS_ERR");
	if (!bad->warm && !is_atomic(bad))
		area_want(area, 0, want, AT, "before the place");
	free(want);
}

/*
 * Neither the target of the READ nor the source of the WRITE behind it can be mapped: each
 * completes with its own error.
 */
static void run_both_bad(struct pair *p, const void *arg)
{
	struct area *area = area_new(p, SIZE, ALL_ACCESS);
	struct conn *c = open_conn(p);
	struct ibv_sge to = sge_of(area->r, BAD, PAGE), from = sge_of(area->r, BAD + 2 * PAGE, 8);
	struct ibv_send_wr wr[2];

	(void)arg;
	region_swap(p, area->r);
	wr[0] = wr_rdma(1, IBV_WR_RDMA_READ, &to, 1, IBV_SEND_SIGNALED, area->r->peer_addr,
			area->r->peer_rkey);
	wr[1] = wr_rdma(2, IBV_WR_RDMA_WRITE, &from, 1, IBV_SEND_SIGNALED, area->r->peer_addr,
			area->r->peer_rkey);
	wr[0].next = &wr[1];
	check(p, !end_a(p) || spoil(area, HOLE), "munmap: %s", strerror(errno));
	pair_sync(p);
	if (end_a(p)) {
		conn_send(c, wr);
		queue_want(c->send, 1, IBV_WC_LOC_PROT_ERR);
		queue_want(c->send, 2, IBV_WC_WR_FLUSH_ERR);
	}
	pair_sync(p);
}

/* The region has its own bounds, whatever is mapped around it. */
static void run_bounds(struct pair *p, const void *arg)
{
	struct area *area = area_new(p, SIZE, ALL_ACCESS);
	static const struct { int64_t at; uint32_t len; } outside[] = {
		{ SIZE - 1, 2 }, { SIZE, 1 }, { -1, 2 }, { -PAGE, 8 }, { 0, SIZE + 1 },
	};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	unsigned int i;
	struct conn *c;

	(void)arg;
	/* In the midst of the area, so that there is memory on both sides. */
	mr = ibv_reg_mr(p->pd, area->r->buf + PAGE, SIZE - 3 * PAGE,
			ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	check(p, mr, "ibv_reg_mr: %s", strerror(errno));
	for (i = 0; i < ARRAY_SIZE(outside); i++) {
		struct remote theirs;
		int64_t at = outside[i].at;

		at = at >= SIZE - 1 ? at - 3 * PAGE : at;
		c = open_conn(p);
		theirs = remote_swap(p, area->r->buf + PAGE, mr);
		if (end_a(p)) {
			sge = sge_of(area->r, 0, outside[i].len > SIZE ? SIZE : outside[i].len);
			wr = wr_rdma(1, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &sge, 1,
				     IBV_SEND_SIGNALED, theirs.addr + at, theirs.rkey);
			conn_send(c, &wr);
			queue_want(c->send, 1, IBV_WC_REM_ACCESS_ERR);
		}
		pair_sync(p);
		undo_now(p, c);
	}
	check(p, !ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
}

/* ---- what may be registered ---- */

static int prefetch(struct pair *p, struct ibv_mr *mr, void *addr, bool write)
{
	struct ibv_sge sge = { (uintptr_t)addr, PAGE, mr->lkey };

	return ibv_advise_mr(p->pd, write ? IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE :
				    IBV_ADVISE_MR_ADVICE_PREFETCH,
			     IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

static void run_register(struct pair *p, const void *arg)
{
	struct ibv_device_attr_ex attr = {};
	uint32_t rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
		      IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
	size_t huge = (size_t)1 << 45;
	int demand = ALL_ACCESS | IBV_ACCESS_ON_DEMAND;
	struct ibv_mr *mr;
	uint8_t *buf;

	(void)arg;
	check(p, !ibv_query_device_ex(p->ctx, NULL, &attr), "ibv_query_device_ex");
	check(p, attr.odp_caps.general_caps == (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT),
	      "general caps 0x%llx", (unsigned long long)attr.odp_caps.general_caps);
	check(p, (attr.odp_caps.per_transport_caps.rc_odp_caps & rc) == rc, "RC caps 0x%x",
	      attr.odp_caps.per_transport_caps.rc_odp_caps);
	check(p, attr.odp_caps.per_transport_caps.ud_odp_caps == IBV_ODP_SUPPORT_SEND,
	      "UD caps 0x%x", attr.odp_caps.per_transport_caps.ud_odp_caps);

	/* Nothing is pinned, so it does not matter how much it is, or whether it is there. */
	buf = mmap(NULL, huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	check(p, buf != MAP_FAILED, "mmap: %s", strerror(errno));
	mr = ibv_reg_mr(p->pd, buf, huge, demand);
	check(p, mr, "ibv_reg_mr of 32 TiB: %s", strerror(errno));
	check(p, prefetch(p, mr, buf, false) == EFAULT, "it is there");
	check(p, mprotect(buf + huge / 2, PAGE, PROT_READ | PROT_WRITE) == 0, "mprotect");
	check(p, !prefetch(p, mr, buf + huge / 2, true), "it is not there");
	ibv_dereg_mr(mr);
	mr = ibv_reg_mr(p->pd, buf, huge, demand | IBV_ACCESS_HUGETLB);
	check(p, mr, "ibv_reg_mr with IBV_ACCESS_HUGETLB: %s", strerror(errno));
	ibv_dereg_mr(mr);
	munmap(buf, huge);

	check(p, !ibv_reg_mr(p->pd, (void *)PAGE, SIZE_MAX, demand), "all from 4096 on");
	check(p, !ibv_reg_mr_iova(p->pd, NULL, SIZE_MAX, PAGE, demand), "all, called otherwise");
	check(p, !ibv_reg_mr(p->pd, (void *)-PAGE, 2 * PAGE, demand), "what has no end");
	check(p, !ibv_reg_mr(p->pd, NULL, SIZE_MAX, ALL_ACCESS), "all, pinned");
	check(p, !ibv_reg_mr(p->pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_WRITE),
	      "remote rights without the local one");
}

/* Registered again: on demand or not, here or there; and what may be written to then. */
struct again {
	int flags, access;
	bool moved, writable;
};

#define TRANSLATION IBV_REREG_MR_CHANGE_TRANSLATION
#define ACCESS IBV_REREG_MR_CHANGE_ACCESS

static const struct again agains[] = {
	{ 0, 0, false, true },
	{ ACCESS, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ, false, false },
	{ TRANSLATION, 0, true, false },
	{ TRANSLATION | ACCESS, ALL_ACCESS, false, true },
	{ TRANSLATION | ACCESS, ALL_ACCESS | IBV_ACCESS_ON_DEMAND, true, true },
};

/* a reads all of it and writes it back. */
static void probe(struct pair *p, struct region *r, struct area *now, struct ibv_mr *mr,
		  const struct again *again)
{
	struct remote theirs;
	struct conn *c = open_conn(p);
	uint8_t *want = malloc(SIZE);
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	theirs = remote_swap(p, now->r->buf, mr);
	if (end_a(p)) {
		memset(r->buf, 0, SIZE);
		sge = sge_of(r, 0, SIZE);
		wr = wr_rdma(1, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, theirs.addr,
			     theirs.rkey);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		pattern_fill(want, SIZE, again->moved ? 4 : 3);
		check(p, !memcmp(r->buf, want, SIZE), "what was READ is wrong");
		wr.opcode = IBV_WR_RDMA_WRITE;
		conn_send(c, &wr);
		queue_want(c->send, 1, again->writable ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
	}
	pair_sync(p);
	free(want);
	undo_now(p, c);
}

static void run_again(struct pair *p, const void *arg)
{
	struct area *area = area_new(p, SIZE, ALL_ACCESS), *moved = area_new(p, SIZE, ALL_ACCESS);
	struct region *r = region_new(p, SIZE, ALL_ACCESS);
	struct ibv_mr *mr = NULL;
	unsigned int i;

	(void)arg;
	pattern_fill(area->view, SIZE, 3);
	pattern_fill(moved->view, SIZE, 4);
	if (end_b(p))
		mr = mr_new(p, area->r->buf, SIZE, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	for (i = 0; i < ARRAY_SIZE(agains); i++) {
		const struct again *again = &agains[i];
		struct area *now = again->moved ? moved : area;
		bool moves = again->flags & TRANSLATION;

		if (mr && again->flags)
			check(p, !ibv_rereg_mr(mr, again->flags, NULL, moves ? now->r->buf : NULL,
					       moves ? SIZE : 0, again->access),
			      "ibv_rereg_mr, step %u: %s", i, strerror(errno));
		probe(p, r, now, mr, again);
	}
	/* Not from the one to the other where it lies. */
	if (mr)
		check(p, ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, ALL_ACCESS),
		      "it is pinned where it lies");
}

/* A peer with the key of all memory uses invalid addresses. */
static void run_nowhere(struct pair *p, const void *arg)
{
	static const uint64_t nowhere[] = {
		0, 8, 0x1000, 0x7fffffffe000, 0x800000000000, 0xffff800000000000,
		0xffff888000000000, 0xffffffff81000000, 0xfffffffffffff000, 0xfffffffffffffff0,
		0xffffffffff600000,
	};
	struct region *r = region_new(p, PAGE, ALL_ACCESS);
	struct ibv_mr *mr = ibv_reg_mr(p->pd, NULL, SIZE_MAX, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	uint64_t mine, theirs;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct conn *c;
	unsigned int i;

	(void)arg;
	check(p, mr, "ibv_reg_mr: %s", strerror(errno));
	mine = mr->rkey;
	pair_swap(p, &mine, &theirs, sizeof(mine));
	for (i = 0; i < 2 * ARRAY_SIZE(nowhere); i++) {
		uint64_t at = nowhere[i / 2];

		c = open_conn(p);
		if (end_a(p)) {
			sge = sge_of(r, 0, 8);
			wr = wr_rdma(1, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &sge, 1,
				     IBV_SEND_SIGNALED, at, theirs);
			conn_send(c, &wr);
			queue_next(c->send, &wc);
			check(p, wc.status == IBV_WC_REM_OP_ERR, "at %llx: \"%s\"",
			      (unsigned long long)at, ibv_wc_status_str(wc.status));
			/* And a program that names it for itself. */
			pair_sync(p);
			undo_now(p, c);
			c = open_conn(p);
			sge = (struct ibv_sge){ at, 8, mr->lkey };
			wr = wr_send(2, &sge, 1, IBV_SEND_SIGNALED);
			conn_send(c, &wr);
			queue_want(c->send, 2, IBV_WC_LOC_PROT_ERR);
		} else {
			pair_sync(p);
			undo_now(p, c);
			c = open_conn(p);
		}
		pair_sync(p);
		undo_now(p, c);
	}
	check(p, !ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < ARRAY_SIZE(bads) && pair_wants(&p, "bad"); i++) {
		if (p.quick && bads[i].rare)
			continue;
		pair_case(&p, run_bad, &bads[i], "%s where %s memory is %s%s",
			  opcode_name(bads[i].opcode),
			  bads[i].place == HERE ? "local" :
			  bads[i].place == THERE ? "remote" : "receive", evils[bads[i].evil],
			  bads[i].warm ? ", after use" : "");
	}
	if (pair_wants(&p, "others")) {
		pair_case(&p, run_both_bad, NULL,
			  "a READ into and a WRITE from unmapped memory each report an error");
		pair_case(&p, run_bounds, NULL, "the bounds of a region on demand are checked");
		pair_case(&p, run_nowhere, NULL,
			  "implicit ODP: non-canonical and unmapped addresses fail");
		pair_case(&p, run_register, NULL,
			  "ODP capabilities, and which registrations are accepted");
		pair_case(&p, run_again, NULL, "a region on demand is registered again");
	}
	return pair_close(&p);
}
