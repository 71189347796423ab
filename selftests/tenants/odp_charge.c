// SPDX-License-Identifier: GPL-2.0
/*
 * odp_charge - whose page cache a prefetched region fills
 *
 *	odp_charge a FILE
 *
 * Maps all of FILE, which has no page in memory, prefetches it as an ODP region in the
 * background, and waits until all of it has been touched. Needs no other end.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/conn.h"

/* Bytes that one piece of advice is for */
#define PORTION (64UL << 20)

static const char *file;

static void *map_file(struct pair *p, size_t *len)
{
	int fd = open(file, O_RDONLY);
	struct stat st;
	void *map;

	check(p, fd >= 0 && !fstat(fd, &st), "%s: %s", file, strerror(errno));
	*len = st.st_size;
	map = mmap(NULL, *len, PROT_READ, MAP_SHARED, fd, 0);
	check(p, map != MAP_FAILED, "mmap: %s", strerror(errno));
	close(fd);
	return map;
}

/* The kernel says 1 if the page is in memory. */
static bool is_resident(struct pair *p, void *page)
{
	unsigned char there;

	check(p, !mincore(page, 4096, &there), "mincore: %s", strerror(errno));
	return there & 1;
}

static void run_prefetch(struct pair *p, const void *arg)
{
	uint64_t end = now_ms() + 25000 * p->slow;
	struct ibv_mr *mr;
	size_t len, at;
	uint8_t *map;

	(void)arg;
	map = map_file(p, &len);
	mr = mr_new(p, map, len, IBV_ACCESS_ON_DEMAND);
	for (at = 0; at < len; at += PORTION) {
		struct ibv_sge sge = { (uintptr_t)map + at, PORTION, mr->lkey };

		check(p, !ibv_advise_mr(p->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1),
		      "ibv_advise_mr: %s", strerror(errno));
		/* The last page of it comes last. */
		while (!is_resident(p, map + at + PORTION - 4096)) {
			check(p, now_ms() < end, "no page at %zu MiB",
			      (at + PORTION) >> 20);
			usleep(10000);
		}
	}
}

int main(int argc, char **argv)
{
	struct pair p;

	if (argc < 3)
		return 1;
	file = argv[2];
	pair_open_alone(&p, 2, argv);
	pair_case(&p, run_prefetch, NULL, "a file of ODP is prefetched");
	return pair_close(&p);
}
