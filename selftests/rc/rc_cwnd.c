// SPDX-License-Identifier: GPL-2.0
/*
 * rc_cwnd - the congestion window of a connection, as `rdma resource' shows it
 *
 *	rc_cwnd a|b PORT [GROUP...]	see main() for the groups
 *
 * Commands in the environment make the network mark packets, drop packets, and work
 * again: MARKING_a, LOSING_a, FULL_a and CLEAR_a for end a, MARKING_b and so on for end b.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conn.h"
#include "lib/pattern.h"

/* Each is more than a window, or it would not be what limits the flow. */
#define MESSAGE		1048576
#define MESSAGES	4

/* Packets of 4096 bytes.  The window begins at 4 and grows to 512. */
#define NARROW		16
#define WIDE		128

/* The window has room for what the peer handles in this time (MAX_QUEUEING), if not for more. */
#define QUEUEING_US	8000

/* Rounds for which it has to stay narrow; and most rounds until it is narrow, or wide. */
#define ROUNDS		4
#define TRIES		40

/* Run this end's command, if the caller has set one. */
static void network_is(struct pair *p, const char *what)
{
	const char *command;
	char name[32];

	snprintf(name, sizeof(name), "%s_%c", what, end_a(p) ? 'a' : 'b');
	command = getenv(name);
	if (command && *command)
		check(p, !system(command), "\"%s\" fails", command);
	pair_sync(p);
}

/* The window of this end, in packets. */
static unsigned int window_of(struct conn *c)
{
	static const char key[] = "drv_window ";
	unsigned int window = 0;
	char line[4096], *at;
	FILE *f;

	snprintf(line, sizeof(line), "rdma -dd resource show qp link %s/1 lqpn %u", c->p->dev,
		 c->qp->qp_num);
	f = popen(line, "r");
	check(c->p, f, "popen");
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, key);
		if (at)
			window = strtoul(at + strlen(key), NULL, 10);
	}
	check(c->p, !pclose(f) && window, "rdma resource shows no window");
	return window;
}

/* One round: MESSAGES long messages posted by end a. */
static void move(struct conn *c, struct region *r, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = sge_of(r, 0, MESSAGE);
	bool send = opcode == IBV_WR_SEND;
	struct ibv_send_wr wr;
	int i;

	if (send && end_b(c->p))
		for (i = 0; i < MESSAGES; i++)
			conn_recv(c, i, &sge, 1);
	if (send)
		pair_sync(c->p);
	for (i = 0; i < MESSAGES && end_a(c->p); i++) {
		if (send)
			wr = wr_send(i, &sge, 1, IBV_SEND_SIGNALED);
		else
			wr = wr_rdma(i, opcode, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
				     r->peer_rkey);
		conn_send(c, &wr);
	}
	for (i = 0; i < MESSAGES; i++) {
		if (end_a(c->p))
			queue_want(c->send, i, IBV_WC_SUCCESS);
		else if (send)
			queue_want(c->recv, i, IBV_WC_SUCCESS);
	}
	pair_sync(c->p);
}

/* Return the window of end a, at both ends. */
static unsigned int window_at_a(struct conn *c)
{
	return pair_value_of_a(c->p, end_a(c->p) ? window_of(c) : 0);
}

/* One round; return the window that is wide on a host of this speed. */
static unsigned int move_timed(struct conn *c, struct region *r, enum ibv_wr_opcode opcode)
{
	uint64_t began = now_us(), handled;
	unsigned int wide;

	move(c, r, opcode);
	handled = (uint64_t)MESSAGES * MESSAGE / 4096 * QUEUEING_US / (now_us() - began);
	wide = handled / 2 < WIDE ? handled / 2 : WIDE;
	return pair_value_of_a(c->p, wide > NARROW ? wide : NARROW + 1);
}

static unsigned int becomes_wide(struct conn *c, struct region *r, enum ibv_wr_opcode opcode)
{
	unsigned int window = 0, wide = WIDE;
	int i;

	for (i = 0; i < TRIES && window < wide; i++) {
		wide = move_timed(c, r, opcode);
		window = window_at_a(c);
	}
	if (end_a(c->p))
		note(c->p, "a window of %u packets, %u are wide, after %d rounds on a good network",
		     window, wide, i);
	check(c->p, window >= wide, "the window stays at %u packets on a good network", window);
	return window;
}

static struct conn *open_wide(struct pair *p, struct region **r)
{
	struct conn_attr attr = conn_defaults(p);

	if (p->port.active_mtu < IBV_MTU_4096)
		skip(p, "the path MTU is less than 4096");
	attr.mtu = IBV_MTU_4096;
	attr.send_wr = MESSAGES;
	attr.recv_wr = MESSAGES;
	*r = region_new(p, MESSAGE, ALL_ACCESS);
	region_swap(p, *r);
	return conn_open(p, &attr);
}

/* With each data packet marked the window is at its minimum. It grows again afterwards. */
static void run_marked(struct pair *p, const void *arg)
{
	enum ibv_wr_opcode opcode = *(const enum ibv_wr_opcode *)arg;
	unsigned int window;
	struct region *r;
	struct conn *c = open_wide(p, &r);
	int i;

	window = becomes_wide(c, r, opcode);
	network_is(p, "MARKING");
	for (i = 0; i < TRIES && window > NARROW; i++) {
		move(c, r, opcode);
		window = window_at_a(c);
	}
	for (i = 0; i < ROUNDS && window <= NARROW; i++) {
		move(c, r, opcode);
		window = window_at_a(c);
	}
	check(p, window <= NARROW, "a window of %u packets, though all are marked", window);
	network_is(p, "CLEAR");
	becomes_wide(c, r, opcode);
}

/*
 * A network that loses packets is not congested: the window stays. A busy host is slow for a while,
 * which reduces the window as a queue does: not each time.
 */
static void run_lost(struct pair *p, const void *arg)
{
	unsigned int before = 0, after = 0;
	struct region *r;
	struct conn *c = open_wide(p, &r);
	bool stays = false;
	int i;

	(void)arg;
	for (i = 0; i < ROUNDS && !stays; i++) {
		before = becomes_wide(c, r, IBV_WR_RDMA_WRITE);
		network_is(p, "LOSING");
		move(c, r, IBV_WR_RDMA_WRITE);
		after = window_at_a(c);
		network_is(p, "CLEAR");
		stays = 2 * after >= before;
		if (end_a(p))
			note(p, "a window of %u packets after losses", after);
	}
	check(p, stays, "a window of %u packets before losses, %u after them", before, after);
}

/* Where packets wait in a queue, and are lost when it is full, the window shrinks. */
static void run_full(struct pair *p, const void *arg)
{
	struct region *r;
	struct conn *c = open_wide(p, &r);
	unsigned int window;
	int i;

	(void)arg;
	window = becomes_wide(c, r, IBV_WR_RDMA_WRITE);
	network_is(p, "FULL");
	for (i = 0; i < TRIES && window > NARROW; i++) {
		move(c, r, IBV_WR_RDMA_WRITE);
		window = window_at_a(c);
	}
	network_is(p, "CLEAR");
	check(p, window <= NARROW, "a window of %u packets, though the queue is full", window);
}

int main(int argc, char **argv)
{
	static const enum ibv_wr_opcode write = IBV_WR_RDMA_WRITE, send = IBV_WR_SEND,
					read = IBV_WR_RDMA_READ;
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "write"))
		pair_case(&p, run_marked, &write, "marked WRITEs reduce the congestion window");
	if (pair_wants(&p, "send"))
		pair_case(&p, run_marked, &send, "marked SENDs reduce the congestion window");
	if (pair_wants(&p, "read"))
		pair_case(&p, run_marked, &read,
			  "marked READ responses reduce the congestion window");
	if (pair_wants(&p, "lost"))
		pair_case(&p, run_lost, NULL, "losses leave the congestion window");
	if (pair_wants(&p, "full"))
		pair_case(&p, run_full, NULL, "a full queue reduces the congestion window");
	return pair_close(&p);
}
