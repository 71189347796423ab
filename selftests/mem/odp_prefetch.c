// SPDX-License-Identifier: GPL-2.0
/*
 * odp_prefetch - prefetched pages of memory on demand do not fault, and invalid
 * advice has no effect
 *
 *	odp_prefetch a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/demand.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define SIZE (16 * PAGE)

static struct conn *open_conn(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	attr.rnr_retry = 7;
	return conn_open(p, &attr);
}

static int advise(struct pair *p, enum ibv_advise_mr_advice advice, uint32_t flags, uint32_t lkey,
		  const void *addr, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)addr, len, lkey };

	return ibv_advise_mr(p->pd, advice, flags, &sge, 1);
}

#define PREFETCH IBV_ADVISE_MR_ADVICE_PREFETCH
#define PREFETCH_WRITE IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE
#define PREFETCH_NO_FAULT IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT
#define FLUSH IBV_ADVISE_MR_FLAG_FLUSH

static void must_advise(struct area *area, enum ibv_advise_mr_advice advice)
{
	int error = advise(area->p, advice, FLUSH, area->r->mr->lkey, area->r->buf, area->r->len);

	check(area->p, !error, "ibv_advise_mr: %s", strerror(error));
}

/* WRITE, READ and SEND over all of a large region; all is right. */
static void traffic(struct pair *p, struct area *area)
{
	size_t len = area->r->len / 4;
	uint8_t *want = malloc(area->r->len);
	struct conn *c = open_conn(p);
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	region_swap(p, area->r);
	sge = sge_of(area->r, 3 * len, len);
	if (end_b(p))
		conn_recv(c, 1, &sge, 1);
	pair_sync(p);
	if (end_a(p)) {
		sge = sge_of(area->r, 0, len);
		wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
			     area->r->peer_addr + 2 * len, area->r->peer_rkey);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		wr = wr_send(2, &sge, 1, IBV_SEND_SIGNALED);
		conn_send(c, &wr);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
		sge = sge_of(area->r, len, len);
		wr = wr_rdma(3, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, area->r->peer_addr,
			     area->r->peer_rkey);
		conn_send(c, &wr);
		queue_want(c->send, 3, IBV_WC_SUCCESS);
	} else {
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	pattern_fill(want, len, end_a(p) ? 2 : 1);
	area_want(area, end_a(p) ? len : 2 * len, want, len, end_a(p) ? "READ" : "WRITE");
	if (end_b(p))
		area_want(area, 3 * len, want, len, "SEND");
	free(want);
	undo_now(p, c);
}

/*
 * The shell test counts what happens to which: these cases are run alone.  Pages
 * are there for the program, or are not; then it says that it will use them.
 */
struct advised {
	bool touched, wait;
	int advice;	/* -1: none */
};

static void run_advised(struct pair *p, const void *arg)
{
	const struct advised *how = arg;
	struct area *area = area_new(p, 1 << 20, ALL_ACCESS);
	unsigned int i;
	int error;

	pattern_fill(area->view, area->r->len, end_a(p) ? 1 : 2);
	for (i = 0; how->touched && i < area->r->len; i += PAGE)
		__atomic_fetch_or(area->r->buf + i, 0, __ATOMIC_RELAXED);
	if (how->advice >= 0 && how->wait) {
		must_advise(area, how->advice);
	} else if (how->advice >= 0) {
		error = advise(p, how->advice, 0, area->r->mr->lkey, area->r->buf, area->r->len);
		check(p, !error, "ibv_advise_mr: %s", strerror(error));
		usleep(300000 * p->slow);
	}
	pair_sync(p);
	traffic(p, area);
	area_empty(area);
}

/* Whom a piece of advice speaks of: keys of a case. */
enum key { DEMAND, PINNED, READABLE, WRONG, NONE, KEYS };

struct piece {
	int advice;
	uint32_t flags;
	enum key key;
	int64_t at;
	uint32_t len;
	int error;
};

static const struct piece pieces[] = {
	{ PREFETCH, FLUSH, DEMAND, 0, SIZE, 0 },
	{ PREFETCH, FLUSH, DEMAND, 1, 1, 0 },
	{ PREFETCH, FLUSH, DEMAND, 0, 0, 0 },
	{ PREFETCH_WRITE, FLUSH, DEMAND, SIZE - 1, 1, 0 },
	{ PREFETCH, FLUSH, READABLE, 0, SIZE, 0 },
	{ PREFETCH_NO_FAULT, FLUSH, READABLE, 0, SIZE, 0 },
	{ PREFETCH_WRITE, FLUSH, READABLE, 0, SIZE, EPERM },
	{ PREFETCH, FLUSH, DEMAND, 0, SIZE + 1, EFAULT },
	{ PREFETCH, FLUSH, DEMAND, -1, 1, EFAULT },
	{ PREFETCH, 0, DEMAND, 0, 0xffffffff, EFAULT },
	{ PREFETCH, FLUSH, WRONG, 0, SIZE, ENOENT },
	{ PREFETCH, 0, NONE, 0, SIZE, ENOENT },
	{ PREFETCH, FLUSH, PINNED, 0, SIZE, EINVAL },
	{ 77, FLUSH, DEMAND, 0, SIZE, EOPNOTSUPP },
	{ PREFETCH, 0x80, DEMAND, 0, SIZE, EINVAL },
};

/* After all but the first page were made readable only, and the second was unmapped. */
static const struct piece holes[] = {
	{ PREFETCH, FLUSH, DEMAND, 2 * PAGE, SIZE - 2 * PAGE, 0 },
	{ PREFETCH_WRITE, FLUSH, DEMAND, 2 * PAGE, SIZE - 2 * PAGE, EPERM },
	{ PREFETCH_WRITE, FLUSH, DEMAND, 0, PAGE, 0 },
	{ PREFETCH, FLUSH, DEMAND, 0, SIZE, EFAULT },
	{ PREFETCH, 0, DEMAND, 0, SIZE, 0 },
	{ PREFETCH_NO_FAULT, FLUSH, DEMAND, 0, SIZE, 0 },
};

static void advise_all(struct pair *p, const struct piece *list, int n, const uint32_t *keys,
		       const uint8_t *buf, const char *what)
{
	int i, error;

	for (i = 0; i < n; i++) {
		error = advise(p, list[i].advice, list[i].flags, keys[list[i].key],
			       buf + list[i].at, list[i].len);
		check(p, error == list[i].error, "%s %d: %s, not %s", what, i, strerror(error),
		      strerror(list[i].error));
	}
}

static int undo_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void run_wrong_advice(struct pair *p, const void *arg)
{
	struct area *area = area_new(p, SIZE, ALL_ACCESS);
	uint8_t *buf = area->r->buf;
	uint32_t key = area->r->mr->lkey;
	uint32_t keys[KEYS] = {
		[DEMAND] = key,
		[PINNED] = mr_new(p, buf, SIZE, ALL_ACCESS)->lkey,
		[READABLE] = mr_new(p, buf, SIZE, IBV_ACCESS_ON_DEMAND |
						 IBV_ACCESS_REMOTE_READ)->lkey,
		[WRONG] = key ^ 0x100,
	};
	struct ibv_sge sge[2] = { { (uintptr_t)buf, PAGE, key }, { (uintptr_t)buf, PAGE, 0 } };
	struct ibv_pd *pd = ibv_alloc_pd(p->ctx);

	(void)arg;
	check(p, pd, "ibv_alloc_pd: %s", strerror(errno));
	undo_later(p, undo_pd, pd, "ibv_dealloc_pd");
	advise_all(p, pieces, ARRAY_SIZE(pieces), keys, buf, "advice");
	check(p, ibv_advise_mr(pd, PREFETCH, FLUSH, sge, 1) == EPERM, "in another domain");
	check(p, ibv_advise_mr(p->pd, PREFETCH, FLUSH, sge, 2) == ENOENT, "one of two is wrong");
	check(p, !mprotect(buf + PAGE, SIZE - PAGE, PROT_READ) && !munmap(buf + PAGE, PAGE),
	      "mprotect or munmap: %s", strerror(errno));
	advise_all(p, holes, ARRAY_SIZE(holes), keys, buf, "of holes, advice");
}

static void run_secret_advice(struct pair *p, const void *arg)
{
	int fd = demand_secret(), error;
	struct ibv_mr *mr;
	uint8_t *buf;

	(void)arg;
	if (fd < 0)
		skip(p, "this kernel has no secret memory");
	check(p, !ftruncate(fd, 2 * PAGE), "ftruncate: %s", strerror(errno));
	buf = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(p, buf != MAP_FAILED, "mmap: %s", strerror(errno));
	memset(buf, 1, 2 * PAGE);
	mr = ibv_reg_mr(p->pd, buf, 2 * PAGE, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	check(p, mr, "ibv_reg_mr: %s", strerror(errno));
	error = advise(p, PREFETCH, FLUSH, mr->lkey, buf, 2 * PAGE);
	check(p, error == EFAULT, "secret memory: %s", strerror(error));
	ibv_dereg_mr(mr);
	munmap(buf, 2 * PAGE);
	close(fd);
}

/* A prefetch in progress does not keep the region. */
static void run_advice_late(struct pair *p, const void *arg)
{
	size_t len = p->quick ? 32 << 20 : 128 << 20;
	struct ibv_mr *mr;
	uint8_t *buf;
	int i;

	(void)arg;
	for (i = 0; i < 4; i++) {
		buf = mmap(NULL, len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		check(p, buf != MAP_FAILED, "mmap: %s", strerror(errno));
		mr = ibv_reg_mr(p->pd, buf, len, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
		check(p, mr, "ibv_reg_mr: %s", strerror(errno));
		check(p, !advise(p, PREFETCH_WRITE, 0, mr->lkey, buf, len), "ibv_advise_mr");
		if (i % 2)
			munmap(buf, len);
		check(p, !ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
		if (i % 2 == 0)
			munmap(buf, len);
	}
}

int main(int argc, char **argv)
{
	static const struct { const char *group, *what; struct advised how; } advised[] = {
		{ "untold", "WRITEs to and from pages without prefetch", { false, true, -1 } },
		{ "told", "WRITEs to and from prefetched pages", { false, true, PREFETCH_WRITE } },
		{ "told-late", "WRITEs during a prefetch in the background",
		  { false, false, PREFETCH_WRITE } },
		{ "present", "prefetch without faults of resident pages",
		  { true, true, PREFETCH_NO_FAULT } },
		{ "absent", "prefetch without faults of absent pages",
		  { false, true, PREFETCH_NO_FAULT } },
	};
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < ARRAY_SIZE(advised); i++)
		if (argc > 3 && pair_wants(&p, advised[i].group))
			pair_case(&p, run_advised, &advised[i].how, "%s", advised[i].what);
	if (pair_wants(&p, "wrong")) {
		pair_case(&p, run_wrong_advice, NULL,
			  "ibv_advise_mr accepts valid and refuses invalid advice");
		pair_case(&p, run_secret_advice, NULL, "prefetch of secret memory fails");
		pair_case(&p, run_advice_late, NULL, "a region is deregistered during a prefetch");
	}
	return pair_close(&p);
}
