// SPDX-License-Identifier: GPL-2.0
/*
 * dead_page - ODP regions whose pages never come
 *
 *	dead_page a|b PORT GROUP...	see main() for the groups
 *
 * DEAD in the environment is a file of which no page can be read (dead_file.py).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/demand.h"

/* More than a workqueue of the kernel runs at a time */
#define ADVICE	1500
#define BYTES	((size_t)ADVICE * PAGE)

/* A region of the dead file, at end a. */
static struct ibv_mr *dead_region(struct pair *p)
{
	const char *name = getenv("DEAD");
	void *map;
	int fd;

	check(p, name, "no DEAD in the environment");
	fd = open(name, O_RDWR);
	check(p, fd >= 0, "%s: %s", name, strerror(errno));
	map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	check(p, map != MAP_FAILED, "mmap: %s", strerror(errno));
	close(fd);
	return mr_new(p, map, BYTES, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
}

/* Advice that nobody waits for; after a while the program ends. */
static void run_advise(struct pair *p, const void *arg)
{
	struct ibv_mr *mr;
	unsigned int i;

	(void)arg;
	if (end_b(p))
		return;
	mr = dead_region(p);
	for (i = 0; i < ADVICE; i++) {
		struct ibv_sge sge = { (uintptr_t)mr->addr + i * PAGE, PAGE, mr->lkey };

		check(p, !ibv_advise_mr(p->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1),
		      "ibv_advise_mr: %s", strerror(errno));
	}
	usleep(1000000 * p->slow);
}

/* A WRITE from such a page does not complete; the program can end. */
static void run_write(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, PAGE, ALL_ACCESS);
	struct conn *c = conn_open(p, &attr);
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mr *mr;

	(void)arg;
	region_swap(p, r);
	if (end_b(p))
		return;
	mr = dead_region(p);
	sge = (struct ibv_sge){ (uintptr_t)mr->addr, PAGE, mr->lkey };
	wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr, r->peer_rkey);
	conn_send(c, &wr);
	queue_quiet(c->send, 300);
	/* munmap() would wait: hmm_range_fault() holds mmap_lock.  The program can end. */
	undo_never(p);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "advise"))
		pair_case(&p, run_advise, NULL, "a program leaves advice for absent pages");
	if (pair_wants(&p, "write"))
		pair_case(&p, run_write, NULL, "a program leaves a WRITE of an absent page");
	return pair_close(&p);
}
