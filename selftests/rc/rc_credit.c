// SPDX-License-Identifier: GPL-2.0
/*
 * rc_credit - the sender waits for a receiver without receives, and no longer than
 * necessary
 *
 *	rc_credit a|b PORT [GROUP...]	see main() for the groups
 */
#include <unistd.h>

#include "lib/conn.h"

/*
 * The receiver asks for the longest wait there is. The wait ends when a receive is posted, also
 * for the first message, before any ACK, and for several messages, where the receives are
 * posted one by one.
 */
static void run_wait(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 64, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	unsigned int i, k, rounds = 5, each = 3;
	struct ibv_send_wr wr;
	uint64_t began, took;
	struct conn *c;

	(void)arg;
	attr.rnr_retry = 7;
	/* 655 ms. */
	attr.min_rnr_timer = 0;
	c = conn_open(p, &attr);
	began = now_ms();
	for (i = 0; i < rounds; i++) {
		for (k = 0; k < each && end_a(p); k++) {
			wr = wr_send(k, &sge, 1, IBV_SEND_SIGNALED);
			conn_send(c, &wr);
		}
		for (k = 0; k < each && end_a(p); k++)
			queue_want(c->send, k, IBV_WC_SUCCESS);
		for (k = 0; k < each && end_b(p); k++) {
			usleep(10000);
			conn_recv(c, k, &sge, 1);
			queue_want(c->recv, k, IBV_WC_SUCCESS);
		}
	}
	took = now_ms() - began;
	check(p, took < rounds * 400, "%u waits took %u ms", rounds * each, (unsigned int)took);
}

/*
 * Few receives, and a program that posts more slowly. The sender sends what there is room for,
 * and one packet as a probe: the script reads the counters.
 */
static void run_few(struct pair *p, const void *arg)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t size;
	} kinds[] = {
		{ IBV_WR_SEND, 8 },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, 8 },
		{ IBV_WR_SEND, 10000 },
		{ IBV_WR_RDMA_WRITE, 64 },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, 10000 },
		{ IBV_WR_SEND_WITH_IMM, 0 },
	};
	const unsigned int num = sizeof(kinds) / sizeof(kinds[0]), few = 4, total = 96;
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 16384, ALL_ACCESS);
	unsigned int i, posted = 0, takes = 0;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct conn *c;

	(void)arg;
	attr.rnr_retry = 7;
	/* 1.28 ms. */
	attr.min_rnr_timer = 14;
	attr.send_wr = total;
	attr.recv_wr = 64;
	c = conn_open(p, &attr);
	region_swap(p, r);
	sge = sge_of(r, 0, 16384);
	for (; posted < few && end_b(p); posted++)
		conn_recv(c, posted, &sge, 1);
	pair_sync(p);
	/* The first says what there is. */
	for (i = 0; i < total; i++) {
		enum ibv_wr_opcode opcode = kinds[i % num].opcode;

		takes += opcode != IBV_WR_RDMA_WRITE;
		if (end_b(p))
			continue;
		sge = sge_of(r, 0, kinds[i % num].size);
		wr = wr_rdma(i, opcode, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr, r->peer_rkey);
		conn_send(c, &wr);
		if (!i)
			queue_want(c->send, i, IBV_WC_SUCCESS);
	}
	for (i = 1; i < total && end_a(p); i++)
		queue_want(c->send, i, IBV_WC_SUCCESS);
	for (i = 0; i < takes && end_b(p); i++) {
		queue_want(c->recv, i, IBV_WC_SUCCESS);
		usleep(500);
		if (posted < takes)
			conn_recv(c, posted++, &sge, 1);
	}
}

/* One message, and wait for its completion. */
static void send_one(struct conn *c, uint64_t id, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = wr_send(id, sge, 1, IBV_SEND_SIGNALED);

	conn_send(c, &wr);
	queue_want(c->send, id, IBV_WC_SUCCESS);
}

/*
 * Many receives at first, and then one at a time, with many completions unread: the sender
 * waits for half of the old number, which never comes. It sends too much a few times, not each
 * time.
 */
static void run_fewer(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 64, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	unsigned int i, many = 64, more = 8;
	uint64_t began, took;
	struct conn *c;

	(void)arg;
	attr.rnr_retry = 7;
	/* 655 ms. */
	attr.min_rnr_timer = 0;
	attr.send_wr = many;
	attr.recv_wr = many;
	c = conn_open(p, &attr);
	for (i = 0; i < many && end_b(p); i++)
		conn_recv(c, i, &sge, 1);
	pair_sync(p);
	for (i = 0; i < many && end_a(p); i++)
		send_one(c, i, &sge);
	pair_sync(p);
	began = now_ms();
	for (i = 0; i < more; i++) {
		if (end_a(p)) {
			send_one(c, i, &sge);
		} else {
			usleep(10000);
			conn_recv(c, i, &sge, 1);
		}
		pair_sync(p);
	}
	took = now_ms() - began;
	check(p, took < more * 400, "%u waits took %u ms", more, (unsigned int)took);
	for (i = 0; i < many && end_b(p); i++)
		queue_want(c->recv, i, IBV_WC_SUCCESS);
	for (i = 0; i < more && end_b(p); i++)
		queue_want(c->recv, i, IBV_WC_SUCCESS);
}

/*
 * A long WRITE needs its receive at the end. All packets before that are sent as always, with
 * no receive posted: the script counts the ACKs.
 */
static void run_long(struct pair *p, const void *arg)
{
	const size_t size = 4 << 20;
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, size, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct ibv_send_wr wr;
	struct conn *c;

	(void)arg;
	attr.rnr_retry = 7;
	c = conn_open(p, &attr);
	region_swap(p, r);
	if (end_b(p))
		conn_recv(c, 0, &sge, 1);
	pair_sync(p);
	if (end_a(p)) {
		/* So it knows that there is none. */
		send_one(c, 0, &sge);
		sge = sge_of(r, 0, size);
		wr = wr_rdma(1, IBV_WR_RDMA_WRITE_WITH_IMM, &sge, 1, IBV_SEND_SIGNALED,
			     r->peer_addr, r->peer_rkey);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	} else {
		queue_want(c->recv, 0, IBV_WC_SUCCESS);
		usleep(300000);
		conn_recv(c, 1, &sge, 1);
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
	}
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "wait"))
		pair_case(&p, run_wait, NULL, "an RNR wait ends as soon as a receive is posted");
	if (pair_wants(&p, "fewer"))
		pair_case(&p, run_fewer, NULL,
			  "an RNR wait ends early after the receive queue has shrunk");
	if (pair_wants(&p, "few"))
		pair_case(&p, run_few, NULL, "a slow receiver with few receives");
	if (pair_wants(&p, "long"))
		pair_case(&p, run_long, NULL,
			  "a long WRITE with immediate data without a posted receive");
	return pair_close(&p);
}
