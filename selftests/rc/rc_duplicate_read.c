// SPDX-License-Identifier: GPL-2.0
/*
 * rc_duplicate_read - responses to duplicate READs are delayed while the connection
 * goes on
 *
 *	rc_duplicate_read a|b PORT [GROUP...]	see main() for the groups
 *
 * b's answers to READs go through a token bucket of their own, which $ANSWERS (a
 * command of tc) changes: held back, they fill b's device, and what comes then waits.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/netdev.h"
#include "lib/packet.h"

enum { SEND_ONLY = 0x04, READ_REQUEST = 0x0c, READ_RESPONSE_ONLY = 0x10 };

/* More answers than the module has in the device (ROVER_TX_SKBS), but not by many. */
#define DEVICE_IS_FULL 88

/* What the bucket has room for at once goes in any case: two answers of a header each. */
#define HELD_BACK "rate 16bit burst 200"
#define LET_GO "rate 1gbit burst 100000"
/* Larger ones than the bucket are taken apart before it. */
#define LET_GO_APART "rate 1gbit burst 200"

static void answers_are(struct pair *p, const char *how)
{
	const char *command = getenv("ANSWERS");
	char line[256];

	check(p, command, "ANSWERS says how the answers are held back");
	snprintf(line, sizeof(line), "%s %s", command, how);
	check(p, !system(line), "\"%s\" fails", line);
}

/* Called by both ends: only then does a send anything. */
static struct conn *open_held_back(struct pair *p, unsigned int dest_rd_atomic)
{
	struct conn_attr attr = conn_defaults(p);

	attr.dest_rd_atomic = dest_rd_atomic;
	if (end_b(p))
		answers_are(p, HELD_BACK);
	return conn_open(p, &attr);
}

/* As long as only packets by hand have come the peer counts from the connection's first PSN. */
static void by_hand(struct conn *c, uint8_t opcode, int number, const void *body, size_t len)
{
	packet_send(c, opcode, ((c->own.psn + number) & 0xffffff) | PACKET_ACKREQ, body, len);
}

/* READs, each taken in before the next is sent: the ends are on one machine. */
static void fill(struct conn *c, const struct region *r, int from, int to)
{
	struct { uint64_t addr; uint32_t rkey, len; } reth = {
		htobe64(r->peer_addr), htonl(r->peer_rkey), htonl(8)
	};
	int i;

	for (i = from; i < to; i++)
		by_hand(c, READ_REQUEST, i, &reth, sizeof(reth));
}

/* The connection has to be well after all this: number next is what the peer waits for. */
static void still_well(struct pair *p, struct conn *c, struct region *r, int next,
		       const char *how)
{
	struct ibv_sge sge = sge_of(r, 0, 64);

	pair_sync(p);
	if (end_b(p))
		answers_are(p, how);
	/* This is also the next packet, with which they go. */
	pair_sync(p);
	if (end_b(p)) {
		/* For what should not be. */
		usleep(200000);
		conn_want_state(c, IBV_QPS_RTS);
		check(p, event_next(p, NULL, 0) == -1, "there is an event");
		conn_recv(c, 1, &sge, 1);
	}
	pair_sync(p);
	if (end_a(p))
		by_hand(c, SEND_ONLY, next, "after all", 9);
	else
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
	if (end_b(p))
		check(p, !memcmp(r->buf, "after all", 9), "it receives something else");
	pair_sync(p);
}

/*
 * The peer has the response and has acknowledged it, and the region is deregistered. A
 * duplicate of the READ is still delayed, behind new requests.
 */
static void run_gone(struct pair *p, const void *arg)
{
	struct conn *c = open_held_back(p, 64);
	struct region *lasting, *passing;

	(void)arg;
	lasting = region_new(p, 4096, ALL_ACCESS);
	passing = region_new(p, 4096, ALL_ACCESS);
	region_swap(p, lasting);
	region_swap(p, passing);
	if (end_a(p)) {
		fill(c, passing, 0, 1);
		fill(c, lasting, 1, DEVICE_IS_FULL);
		fill(c, passing, 0, 1);
	}
	pair_sync(p);
	if (end_b(p))
		undo_now(p, passing);
	still_well(p, c, lasting, DEVICE_IS_FULL, LET_GO);
}

/*
 * A duplicate uses the only slot for responses. The next READ does not exceed the limit: the
 * peer has the response, and does not know of the duplicate.
 */
static void run_crowd(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct conn *c = open_held_back(p, 1);
	int i;

	(void)arg;
	region_swap(p, r);
	if (end_a(p)) {
		for (i = 0; i < DEVICE_IS_FULL; i++)
			fill(c, r, 0, 1);
		fill(c, r, 1, 2);
	}
	/* What had no room is as if it had never come. */
	still_well(p, c, r, 1, LET_GO);
}

/* What arrives at this end, as long as it is IPv4. */
static int listen_here(struct pair *p)
{
	struct sockaddr_ll here = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex(netdev_name(p)),
	};
	struct timeval patience = { .tv_usec = 500000 };
	int s = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));

	check(p, s >= 0 && !bind(s, (struct sockaddr *)&here, sizeof(here)), "no sniffer");
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return s;
}

/* The number of the READ that the next answer is to; -1 without one. */
static int next_answer(int s, const struct conn *c)
{
	struct { struct iphdr ip; struct udphdr udp; uint32_t bth[3]; } got;

	while (recv(s, &got, sizeof(got), 0) == sizeof(got))
		if (got.ip.protocol == IPPROTO_UDP && got.udp.dest == htons(4791) &&
		    ntohl(got.bth[0]) >> 24 == READ_RESPONSE_ONLY &&
		    got.bth[1] == htonl(c->own.qpn))
			return (ntohl(got.bth[2]) - c->own.psn) & 0xffffff;
	return -1;
}

/*
 * A requester that goes back drops all responses before the one it expects: so that is sent
 * first, although it was delayed.
 */
static void run_order(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	int s = end_a(p) ? listen_here(p) : -1, number, last = -1, again = 0;
	struct conn *c = open_held_back(p, 64);

	(void)arg;
	region_swap(p, r);
	if (end_a(p)) {
		fill(c, r, 0, DEVICE_IS_FULL);
		fill(c, r, 0, 4);
	}
	still_well(p, c, r, DEVICE_IS_FULL, LET_GO_APART);
	while (s >= 0 && (number = next_answer(s, c)) >= 0) {
		again += number <= last;
		last = number;
	}
	if (end_a(p)) {
		check(p, again == 1, "%d times what comes goes back", again);
		check(p, last == DEVICE_IS_FULL - 1, "the last answer is to READ %d", last);
		close(s);
	}
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "gone"))
		pair_case(&p, run_gone, NULL,
			  "the region of a delayed duplicate READ is deregistered");
	if (pair_wants(&p, "crowd"))
		pair_case(&p, run_crowd, NULL,
			  "a delayed duplicate READ does not count as outstanding");
	if (pair_wants(&p, "order"))
		pair_case(&p, run_order, NULL,
			  "a delayed duplicate READ is answered before later requests");
	return pair_close(&p);
}
