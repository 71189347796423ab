// SPDX-License-Identifier: GPL-2.0
/*
 * rc_longest - a SEND of more than 2^31 bytes is refused
 *
 *	rc_longest a|b PORT
 *
 * The requester of rover sends none, so end a sends the packets of one by hand, half a million. The
 * receive at end b has room for more: the same memory, several times.
 */
#include <assert.h>
#include <string.h>

#include "lib/conn.h"
#include "lib/packet.h"

enum { SEND_FIRST = 0x00, SEND_MIDDLE = 0x01 };

#define MTU 4096
#define LONGEST (1ULL << 31)
#define PACKETS ((uint32_t)(LONGEST / MTU))
#define PARTS 32
#define PIECES 17
#define PIECE (128U << 20)
#define LIMIT_MS (350 * 1000)
#define SOON_MS 10000

static_assert((uint64_t)PIECES * PIECE > LONGEST, "the receive has room for more");

/* As long as only packets by hand have come the peer counts from the connection's first PSN. */
static void send_some(struct conn *c, uint32_t from, uint32_t n)
{
	uint8_t payload[MTU];

	memset(payload, 0x5a, sizeof(payload));
	if (!from)
		packet_send(c, SEND_FIRST, c->own.psn, payload, MTU);
	packet_send_many(c, SEND_MIDDLE, c->own.psn + from + !from, payload, MTU, n - !from);
}

static void run_longest(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, PIECE, ALL_ACCESS);
	struct conn_attr attr = conn_defaults(p);
	struct ibv_sge sge[PIECES];
	struct conn *c;
	int i;

	(void)arg;
	p->deadline += LIMIT_MS;
	attr.mtu = IBV_MTU_4096;
	attr.recv_sge = PIECES;
	c = conn_open(p, &attr);
	for (i = 0; i < PIECES; i++)
		sge[i] = sge_of(r, 0, PIECE);
	if (end_b(p))
		conn_recv(c, 1, sge, PIECES);
	pair_sync(p);
	/* In parts, since an end waits for the other for a minute at most. */
	for (i = 0; i < PARTS; i++) {
		if (end_a(p))
			send_some(c, i * PACKETS / PARTS, PACKETS / PARTS);
		pair_sync(p);
	}
	if (end_b(p)) {
		queue_quiet(c->recv, 30);
		conn_want_state(c, IBV_QPS_RTS);
		check(p, r->buf[PIECE - 1] == 0x5a, "the payload has not arrived");
	}
	pair_sync(p);
	p->deadline = now_ms() + SOON_MS * p->slow;
	if (end_a(p))
		send_some(c, PACKETS, 1);
	else
		queue_want(c->recv, 1, IBV_WC_LOC_LEN_ERR);
	pair_sync(p);
	if (end_b(p))
		conn_want_state(c, IBV_QPS_ERR);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	pair_case(&p, run_longest, NULL, "a SEND is refused with its first byte over 2^31");
	return pair_close(&p);
}
