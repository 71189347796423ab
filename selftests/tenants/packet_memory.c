// SPDX-License-Identifier: GPL-2.0
/*
 * packet_memory - how much of the host's memory packets of a program take
 *
 *	packet_memory a|b PORT
 *
 * Unreliable connections write as fast as they can. Their packets hold copies, which nobody is
 * charged for.
 */
#include <stdio.h>

#include "lib/conn.h"

#define BYTES	(1U << 20)
/* WRITEs that a connection is given at a time, and most of them that it has */
#define PORTION	8
#define DEPTH	32
/*
 * Most memory, MiB: 16 in the queue of the shortcut, and a train of 60 KiB for each queue
 * pair; truesize does not count all of it.
 */
#define MOST	160

static long available(struct pair *p)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[100];
	long kib = 0;

	check(p, file, "no /proc/meminfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	fclose(file);
	check(p, kib, "no MemAvailable");
	return kib >> 10;
}

static unsigned int post_writes(struct conn *c, struct region *r)
{
	struct ibv_sge sge = sge_of(r, 0, BYTES);
	unsigned int n;

	for (n = 0; n < PORTION; n++) {
		struct ibv_send_wr wr = wr_rdma(n, IBV_WR_RDMA_WRITE, &sge, 1, 0, r->peer_addr,
						r->peer_rkey);

		if (conn_post(c, &wr))
			break;
	}
	return n;
}

/*
 * Post to all connections for @ms; return the least memory that was available.  Nobody
 * polls: that would let the kernel receive packets in between.
 */
static long write_for(struct pair *p, struct conn **conns, unsigned int count, struct region *r,
		      unsigned int ms)
{
	long now, least = available(p);
	uint64_t end = now_ms() + ms;
	unsigned int i, posted = 0;

	for (i = 0; now_ms() < end; i = (i + 1) % count) {
		posted += post_writes(conns[i], r);
		if (i % 16)
			continue;
		now = available(p);
		if (now < least)
			least = now;
	}
	note(p, "%u WRITEs", posted);
	if (posted < count)
		skip(p, "this host is too slow: only %u WRITEs", posted);
	return least;
}

static void run_writes(struct pair *p, const void *arg)
{
	unsigned int i, count = *(const unsigned int *)arg;
	struct conn **conns = pair_alloc(p, count * sizeof(*conns));
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, BYTES, ALL_ACCESS);
	long before, least;

	region_swap(p, r);
	attr.type = IBV_QPT_UC;
	attr.send_wr = DEPTH;
	attr.recv_wr = 1;
	attr.send = queue_new(p, DEPTH, false, false);
	attr.recv = queue_new(p, DEPTH, false, false);
	for (i = 0; i < count; i++)
		conns[i] = conn_open(p, &attr);
	if (end_b(p))
		return;
	before = available(p);
	least = write_for(p, conns, count, r, (p->quick ? 10000 : 20000) * p->slow);
	note(p, "MemAvailable %ld MiB, at least %ld", before, least);
	check(p, before - least < MOST, "packets take %ld MiB", before - least);
}

int main(int argc, char **argv)
{
	static const unsigned int few = 400, many = 1024;
	struct pair p;

	pair_open(&p, argc, argv);
	pair_case(&p, run_writes, &few, "packets of %u connections take less than %u MiB", few,
		  MOST);
	if (!p.quick)
		pair_case(&p, run_writes, &many, "packets of %u connections take less than %u MiB",
			  many, MOST);
	return pair_close(&p);
}
