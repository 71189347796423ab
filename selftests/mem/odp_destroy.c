// SPDX-License-Identifier: GPL-2.0
/*
 * odp_destroy - queue pairs, regions and programs end during page faults, and page
 * faults block
 *
 *	odp_destroy a|b PORT [endless | frozen FILE]
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/demand.h"

#define SIZE (1 << 20)

static void run_gone(struct pair *p, const void *arg)
{
	unsigned int i, rounds = p->quick ? 6 : 30;
	struct area *area;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct conn *c;
	int k;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		area = area_new(p, SIZE, ALL_ACCESS);
		c = demand_conn(p);
		region_swap(p, area->r);
		area_empty(area);
		pair_sync(p);
		for (k = 0; k < 4 && end_a(p); k++) {
			sge = sge_of(area->r, k * (SIZE / 4), SIZE / 4);
			wr = wr_rdma(k, k % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &sge, 1,
				     IBV_SEND_SIGNALED, area->r->peer_addr + k * (SIZE / 4),
				     area->r->peer_rkey);
			conn_send(c, &wr);
		}
		/* Either end goes first, at any moment; then the memory. */
		usleep(i % 3 * 300);
		if (end_a(p) == (i % 2))
			undo_now(p, c);
		pair_sync(p);
		if (end_a(p) != (i % 2))
			undo_now(p, c);
		undo_now(p, area);
		pair_sync(p);
	}
}

/*
 * Pages of a file on a frozen file system: writers block until it is thawed, and then get the
 * pages.
 */
static void run_frozen(struct pair *p, const void *path)
{
	enum { many = 40 };
	const size_t len = many * PAGE;
	struct region *r = region_new(p, len, ALL_ACCESS);
	uint8_t *want = demand_bytes(p, 18, len), *buf = NULL;
	struct conn *c[many];
	struct ibv_mr *mr = NULL;
	struct remote theirs;
	unsigned int i;
	int fd;

	if (end_b(p)) {
		fd = open(path, O_RDWR);
		check(p, fd >= 0, "%s: %s", (const char *)path, strerror(errno));
		buf = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		check(p, buf != MAP_FAILED, "mmap: %s", strerror(errno));
		close(fd);
		mr = mr_new(p, buf, len, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	}
	theirs = remote_swap(p, buf, mr);
	memcpy(r->buf, want, len);
	for (i = 0; i < many; i++)
		c[i] = demand_conn(p);
	for (i = 0; i < many && end_a(p); i++) {
		struct ibv_sge sge = sge_of(r, i * PAGE, PAGE);
		struct ibv_send_wr wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
						theirs.addr + i * PAGE, theirs.rkey);

		conn_send(c[i], &wr);
	}
	for (i = 0; i < many && end_a(p); i++) {
		unsigned int count = 0;
		struct ibv_wc wc;

		/* As long as somebody else pleases. */
		while (!queue_poll(c[i]->send, &wc, 1))
			relax(p, &count);
		check(p, wc.wr_id == i && wc.status == IBV_WC_SUCCESS, "WRITE %u: %s", i,
		      ibv_wc_status_str(wc.status));
	}
	pair_sync(p);
	if (end_b(p))
		check(p, !memcmp(buf, want, len), "the pages are wrong");
}

/* Transfers without end, while pages of both ends are taken away: the script kills a program. */
static void run_endless(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, SIZE, ALL_ACCESS);
	struct conn *c = demand_conn(p);
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	unsigned int k = 0;
	struct ibv_wc wc;

	(void)arg;
	region_swap(p, r);
	pair_sync(p);
	/* It hears of it. */
	if (end_b(p))
		pair_sync(p);
	for (;; k++) {
		sge = sge_of(r, k % 4 * (SIZE / 4), SIZE / 4);
		wr = wr_rdma(k, k % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &sge, 1,
			     IBV_SEND_SIGNALED, r->peer_addr + k % 4 * (SIZE / 4), r->peer_rkey);
		conn_send(c, &wr);
		if (k < 3)
			continue;
		queue_next(c->send, &wc);
		check(p, !wc.status, "completion %u: %s", k, ibv_wc_status_str(wc.status));
	}
}

int main(int argc, char **argv)
{
	const char *group = argc > 3 ? argv[3] : "gone";
	struct pair p;

	pair_open(&p, argc, argv);
	if (!strcmp(group, "gone"))
		pair_case(&p, run_gone, NULL,
			  "queue pairs and regions are destroyed during page faults");
	if (!strcmp(group, "endless"))
		pair_case(&p, run_endless, NULL, "endless transfers while pages are taken away");
	if (!strcmp(group, "frozen") && argc > 4)
		pair_case(&p, run_frozen, argv[4], "page faults block on a frozen file system");
	return pair_close(&p);
}
