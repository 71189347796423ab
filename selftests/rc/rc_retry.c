// SPDX-License-Identifier: GPL-2.0
/*
 * rc_retry - retransmissions with and without retries
 *
 *	rc_retry a|b PORT [GROUP...]	see main() for the groups
 */
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/packet.h"

enum { ACKNOWLEDGE = 0x11, SYN_ACK = 0x1f, SYN_NAK_SEQ = 0x60 };

/* Far less than any timeout of these cases, and than the first one of the module's own, 64 ms. */
#define AT_ONCE_MS 40

/* How b answers, by hand: its queue pair is not ready to receive anything. */
struct answer {
	const char *name;
	uint8_t timeout;
	uint8_t syndrome;	/* 0: it does not */
	bool read;		/* a READ comes before what is answered */
};

static struct ibv_send_wr request(struct ibv_sge *sge, const struct region *r, bool read,
				  uint64_t id)
{
	return read ? wr_rdma(id, IBV_WR_RDMA_READ, sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			      r->peer_rkey) :
		      wr_send(id, sge, 1, IBV_SEND_SIGNALED);
}

/* Without retries each of these is an error: a timeout, a sequence NAK, a missing response. */
static void run_none(struct pair *p, const void *arg)
{
	const struct answer *answer = arg;
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	struct ibv_send_wr first, second;
	uint32_t aeth = htonl((uint32_t)answer->syndrome << 24);
	uint64_t began;
	struct conn *c;

	attr.retry_cnt = 0;
	attr.timeout = answer->timeout;
	c = conn_make(p, &attr);
	region_swap(p, r);
	conn_meet(c);
	if (end_a(p))
		conn_ready(c);
	pair_sync(p);
	began = now_ms();
	if (end_a(p)) {
		first = request(&sge, r, answer->read, 1);
		second = request(&sge, r, false, 2);
		conn_send(c, &first);
		if (answer->read)
			conn_send(c, &second);
	}
	pair_sync(p);
	if (end_b(p) && answer->syndrome)
		packet_send(c, ACKNOWLEDGE, c->peer.psn + answer->read, &aeth, sizeof(aeth));
	if (end_a(p)) {
		queue_want(c->send, 1, IBV_WC_RETRY_EXC_ERR);
		check(p, !answer->syndrome || now_ms() - began < 2000 * p->slow,
		      "it has waited for the timeout");
		conn_want_state(c, IBV_QPS_ERR);
	}
	pair_sync(p);
}

static const struct answer answers[] = {
	{ "a timeout", 16, 0, false },
	{ "a NAK for a gap", 21, SYN_NAK_SEQ, false },
	{ "a missing READ response", 21, SYN_ACK, true },
};

/*
 * A good request, and one behind it that is at fault: the first has to be acknowledged
 * before both are done, and nothing follows it that asks for that.
 */
static unsigned int time_fault(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge good = sge_of(r, 0, 64), bad = good;
	struct ibv_send_wr second, first = wr_send(1, &good, 1, IBV_SEND_SIGNALED);
	struct conn *c = conn_open(p, &attr);
	uint64_t began;

	bad.lkey ^= 0x5a5a5a;
	second = wr_send(2, &bad, 1, IBV_SEND_SIGNALED);
	first.next = &second;
	if (end_b(p))
		conn_recv(c, 1, &good, 1);
	pair_sync(p);
	began = now_us();
	if (end_a(p)) {
		conn_send(c, &first);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		queue_want(c->send, 2, IBV_WC_LOC_PROT_ERR);
	}
	return (now_us() - began) / 1000;
}

/* The shortest of several measurements counts: a stalled host makes some longer. */
static void run_last(struct pair *p, const void *arg)
{
	unsigned int i, took, best = ~0U;

	(void)arg;
	for (i = 0; i < 5; i++) {
		took = time_fault(p);
		best = took < best ? took : best;
		pair_sync(p);
	}
	check(p, end_b(p) || best < AT_ONCE_MS, "it takes %u ms at best", best);
}

int main(int argc, char **argv)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < sizeof(answers) / sizeof(*answers) && pair_wants(&p, "none"); i++)
		pair_case(&p, run_none, &answers[i], "retry_cnt 0: %s ends the connection",
			  answers[i].name);
	if (pair_wants(&p, "last"))
		pair_case(&p, run_last, NULL,
			  "a request before a faulty one is acknowledged without a timeout");
	return pair_close(&p);
}
