// SPDX-License-Identifier: GPL-2.0
/*
 * rc_bidirectional - large messages in both directions on one reliable connection
 * share the bandwidth
 *
 *	rc_bidirectional a|b PORT [GROUP...]	see main() for the groups
 */
#include "lib/conn.h"

/* Of each end, as perftest and storage have it: sixteen megabytes under way. */
#define UNDER_WAY (16 << 20)

/* Time is counted in these, of which the first is for starting. */
#define SPAN_MS 200
#define SPANS 11

/*
 * No end may have more times what the other one has, in any of them and in all together.
 * Six times were seen in one where all had 1.5, on a machine that is twice as fast as others.
 */
#define MOST_TIMES 10
#define MOST_TIMES_IN_ALL 3

/* Post again for each that is done, until time is over; how many were done in each span. */
static void stream(struct conn *c, struct region *r, uint32_t size, uint64_t done[SPANS])
{
	struct ibv_sge sge = sge_of(r, 0, size);
	struct ibv_send_wr wr = wr_rdma(0, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
					r->peer_addr + r->len / 2, r->peer_rkey);
	unsigned int under_way = 0, span;
	uint64_t start = now_ms();
	struct ibv_wc wc;

	for (; under_way < UNDER_WAY / size; under_way++)
		conn_send(c, &wr);
	while (under_way) {
		queue_next(c->send, &wc);
		check(c->p, wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
		under_way--;
		span = (now_ms() - start) / SPAN_MS;
		if (span >= SPANS)
			continue;
		done[span]++;
		conn_send(c, &wr);
		under_way++;
	}
}

static void run_share(struct pair *p, const void *arg)
{
	const uint32_t size = *(const uint32_t *)arg;
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 2 * size, ALL_ACCESS);
	uint64_t mine[SPANS] = {}, theirs[SPANS], all_mine = 0, all_theirs = 0;
	struct conn *c;
	int i;

	attr.send_wr = UNDER_WAY / size;
	attr.mtu = IBV_MTU_4096;
	c = conn_open(p, &attr);
	region_swap(p, r);
	pair_sync(p);
	stream(c, r, size, mine);
	pair_swap(p, mine, theirs, sizeof(mine));
	for (i = 0; i < SPANS && end_a(p); i++)
		note(p, "%lu MiB one way, %lu the other", mine[i] * (size >> 10) >> 10,
		     theirs[i] * (size >> 10) >> 10);
	for (i = 1; i < SPANS; i++) {
		check(p, mine[i] <= MOST_TIMES * theirs[i], "%lu messages against %lu", mine[i],
		      theirs[i]);
		all_mine += mine[i];
		all_theirs += theirs[i];
	}
	check(p, all_mine <= MOST_TIMES_IN_ALL * all_theirs, "in all %lu messages against %lu",
	      all_mine, all_theirs);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 1 << 20, 8 << 20 };
	struct pair p;
	int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < 2; i++)
		pair_case(&p, run_share, &sizes[i],
			  "bidirectional WRITEs of %u MiB share the bandwidth",
			  sizes[i] >> 20);
	return pair_close(&p);
}
