// SPDX-License-Identifier: GPL-2.0
/*
 * recovery_loss - what follows when one packet is lost, doubled, held or marked
 *
 *	recovery_loss a|b PORT [GROUP...]	see rows[] for the groups
 *
 * Each row is one message of PACKETS packets, after some that nothing happens to. The module
 * rover_dropper (selftests/kmod/dropper.c) does what the row says, and records the packets that
 * arrive at either end. From these records come NAKs, packets sent again, and where they begin.
 * Counters tell whether it took a probe, or a timeout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conn.h"
#include "lib/pattern.h"

#define RULES		"/sys/kernel/debug/rover_dropper/rules"
#define RECORDS		"/sys/kernel/debug/rover_dropper/log"

#define MTU		1024
#define PACKETS		16
#define MESSAGE		(PACKETS * MTU)
/* Messages before: the round trip is known and the window open. */
#define WARM		8
/* The machine may stand still for a while: one of these has to be as expected. */
#define ATTEMPTS	8

#define NONE		(-1)
#define ANY		(-2)
#define FAULTS		3

/* A fault that the module applies to a packet arriving at an end. */
struct fault {
	char end;
	const char *action, *packet;
	int nth, pass, arg;
};

/**
 * struct want - what has to follow; PSNs count from the message's first
 * @naks: sequence NAKs
 * @nak_from: PSN of the first one
 * @resent: most request packets beyond those needed
 * @from: PSN of the first of these
 * @answers: most READ responses beyond those needed
 * @cnps: congestion notifications
 * @ms: longest time until the message completes, on a release kernel
 * @probes: most probes: one if nothing arrives behind what is lost
 */
struct want {
	int naks, nak_from, resent, from, answers, cnps, ms, probes;
};

static const struct row {
	const char *group, *name;
	enum ibv_wr_opcode opcode;
	struct fault faults[FAULTS];
	struct want want;
} rows[] = {
	{ "write", "the first packet of a WRITE is lost", IBV_WR_RDMA_WRITE,
	  { { 'b', "drop", "write_first", 1, 1 } },
	  { 0, NONE, 1, 0, 0, 0, 20 } },
	{ "write", "a middle packet of a WRITE is lost", IBV_WR_RDMA_WRITE,
	  { { 'b', "drop", "write_middle", 8, 1 } },
	  { 0, NONE, 1, 8, 0, 0, 20 } },
	{ "write", "the last packet of a WRITE is lost", IBV_WR_RDMA_WRITE,
	  { { 'b', "drop", "write_last", 1, 1 } },
	  { 0, NONE, 1, 15, 0, 0, 20, ANY } },
	{ "write", "a middle packet of a WRITE is lost twice", IBV_WR_RDMA_WRITE,
	  { { 'b', "drop", "write_middle", 8, 1 }, { 'b', "drop", "write_middle", 1, 2 } },
	  { 0, NONE, 2, 8, 0, 0, 30, ANY } },
	{ "write", "two packets of a WRITE are lost, and one of them twice", IBV_WR_RDMA_WRITE,
	  { { 'b', "drop", "write_middle", 4, 1 }, { 'b', "drop", "write_middle", 10, 1 },
	    { 'b', "drop", "write_middle", 1, 2 } },
	  { 0, NONE, 3, 4, 0, 0, 30 } },
	{ "write", "a middle packet of a SEND is lost", IBV_WR_SEND,
	  { { 'b', "drop", "send_middle", 8, 1 } },
	  { 0, NONE, 1, 8, 0, 0, 20 } },
	{ "read", "the first response to a READ is lost", IBV_WR_RDMA_READ,
	  { { 'a', "drop", "read_first", 1, 1 } },
	  { 0, NONE, 1, 0, 1, 0, 40 } },
	{ "read", "a middle response to a READ is lost", IBV_WR_RDMA_READ,
	  { { 'a', "drop", "read_middle", 8, 1 } },
	  { 0, NONE, 1, 8, 1, 0, 40 } },
	{ "read", "the last response to a READ is lost", IBV_WR_RDMA_READ,
	  { { 'a', "drop", "read_last", 1, 1 } },
	  { 0, NONE, 1, 15, 1, 0, 20, ANY } },
	{ "read", "the request of a READ is lost", IBV_WR_RDMA_READ,
	  { { 'b', "drop", "read_request", 1, 1 } },
	  { 0, NONE, 1, 0, 0, 0, 20, ANY } },
	/* There may be others: AckReq is set within long messages, too. */
	{ "answer", "an ACK of a WRITE is lost", IBV_WR_RDMA_WRITE,
	  { { 'a', "drop", "ack", 1, 1 } },
	  { 0, NONE, 1, ANY, 0, 0, 20, ANY } },
	{ "answer", "a packet of a WRITE and the ACK that tells so are lost", IBV_WR_RDMA_WRITE,
	  { { 'b', "drop", "write_middle", 8, 1 }, { 'a', "drop", "ack", 1, 1 } },
	  { 0, NONE, 2, 8, 0, 0, 30, ANY } },
	{ "order", "a packet of a WRITE comes twice", IBV_WR_RDMA_WRITE,
	  { { 'b', "double", "write_middle", 8, 1 } },
	  { 0, NONE, 0, NONE, 0, 0, 40 } },
	/* Until packets have been late, it is not known how late they may be. */
	{ "order", "a packet of a WRITE comes after the next three", IBV_WR_RDMA_WRITE,
	  { { 'b', "hold", "write_middle", 8, 1, 3 } },
	  { 0, NONE, 1, ANY, 0, 0, 40 } },
	{ "mark", "a packet of a WRITE is marked", IBV_WR_RDMA_WRITE,
	  { { 'b', "mark", "write_middle", 8, 1 } },
	  { 0, NONE, 0, NONE, 0, 1, 40 } },
	{ "mark", "a response to a READ is marked", IBV_WR_RDMA_READ,
	  { { 'a', "mark", "read_middle", 8, 1 } },
	  { 0, NONE, 0, NONE, 0, 1, 40 } },
};

/* Sums of the records of an end; end a adds its counters and the time. */
struct seen {
	int requests, from, answers, naks, nak_from, cnps, faults, probes, timeouts;
	uint64_t us;
};

/* ---- the module ---- */

static void tell_module(struct pair *p, const char *line)
{
	FILE *f = fopen(RULES, "w");
	bool told;

	check(p, f, "the module rover_dropper is not loaded");
	told = fputs(line, f) >= 0;
	check(p, !fclose(f) && told, "rover_dropper refuses \"%s\"", line);
}

static const char *netdev_of(struct pair *p)
{
	const char *name = getenv(end_a(p) ? "NDEV_A" : "NDEV_B");

	check(p, name, "NDEV_A and NDEV_B are not set");
	return name;
}

/* Both ends of one machine have one module: each adds rules of its own. */
static void set_faults(struct conn *c, const struct row *row)
{
	struct pair *p = c->p;
	unsigned int i;
	char line[128];

	pair_sync(p);
	tell_module(p, "clear");
	pair_sync(p);
	for (i = 0; i < FAULTS && row->faults[i].action; i++) {
		const struct fault *fault = &row->faults[i];

		if ((fault->end == 'a') != end_a(p))
			continue;
		snprintf(line, sizeof(line), "%s %s %s %d %d %d %x", fault->action, netdev_of(p),
			 fault->packet, fault->nth, fault->pass, fault->arg, c->own.qpn);
		tell_module(p, line);
	}
	pair_sync(p);
}

/* From the message's first PSN. */
static int from_first(struct conn *c, unsigned int psn)
{
	uint32_t first = (end_a(c->p) ? c->own.psn : c->peer.psn) + WARM * PACKETS;

	return (int32_t)((psn - first) << 8) >> 8;
}

static void see_request(const struct row *row, struct seen *seen, int psn, int *next)
{
	/* One READ request takes all PSNs. */
	bool again = row->opcode == IBV_WR_RDMA_READ ? seen->requests > 0 : psn < *next;

	seen->requests++;
	if (again && seen->from == NONE)
		seen->from = psn;
	if (psn >= *next)
		*next = psn + 1;
}

static void see_packet(const struct row *row, struct seen *seen, const char *packet, int psn,
		       int *next)
{
	if (!strcmp(packet, "cnp")) {
		seen->cnps++;
	} else if (!strcmp(packet, "nak")) {
		if (!seen->naks++)
			seen->nak_from = psn;
	} else if (!strcmp(packet, "ack")) {
		return;
	} else if (!strncmp(packet, "read_", 5) && strcmp(packet, "read_request")) {
		seen->answers++;
	} else {
		see_request(row, seen, psn, next);
	}
}

/* The records of packets to this end's queue pair. */
static void look_at(struct conn *c, const struct row *row, struct seen *seen)
{
	char line[128], netdev[32], packet[32], action[16];
	const char *own = netdev_of(c->p);
	FILE *f = fopen(RECORDS, "r");
	unsigned int qpn, psn;
	int next = 0;

	check(c->p, f, "rover_dropper has no records");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %31s %x %u %31s %*u %15s", netdev, &qpn, &psn, packet,
			   action) != 5 || strcmp(netdev, own) || qpn != c->own.qpn)
			continue;
		seen->faults += !!strcmp(action, "pass");
		see_packet(row, seen, packet, from_first(c, psn), &next);
	}
	fclose(f);
}

/* Add this end's counters to the sums, or take them off. */
static void add_counters(struct pair *p, struct seen *seen, int sign)
{
	char line[64], name[64];
	int value, found = 0;
	FILE *f;

	snprintf(line, sizeof(line), "rdma statistic show link %s/1", p->dev);
	f = popen(line, "r");
	check(p, f, "popen");
	while (fscanf(f, "%63s", name) == 1) {
		int *sum = !strcmp(name, "tx_probes") ? &seen->probes :
			   !strcmp(name, "local_ack_timeout_err") ? &seen->timeouts : NULL;

		if (!sum || fscanf(f, "%d", &value) != 1)
			continue;
		*sum += sign * value;
		found++;
	}
	check(p, !pclose(f) && found == 2, "\"%s\" shows %d of two counters", line, found);
}

/* ---- a message ---- */

/* End a is the requester. Its return is that of the message's completion. */
static void move(struct conn *c, struct region *r, enum ibv_wr_opcode opcode, uint64_t seed)
{
	bool read = opcode == IBV_WR_RDMA_READ, source = read ? end_b(c->p) : end_a(c->p);
	struct ibv_sge sge = sge_of(r, 0, MESSAGE);
	struct ibv_send_wr wr;

	if (source)
		pattern_fill(r->buf, MESSAGE, seed);
	if (opcode == IBV_WR_SEND && end_b(c->p))
		conn_recv(c, 1, &sge, 1);
	pair_sync(c->p);
	if (end_a(c->p)) {
		if (opcode == IBV_WR_SEND)
			wr = wr_send(1, &sge, 1, IBV_SEND_SIGNALED);
		else
			wr = wr_rdma(1, opcode, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
				     r->peer_rkey);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	} else if (opcode == IBV_WR_SEND) {
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
	}
}

static void compare(struct conn *c, struct region *r, uint64_t seed)
{
	static uint8_t want[MESSAGE];
	size_t at;

	pattern_fill(want, MESSAGE, seed);
	at = pattern_differ(r->buf, want, MESSAGE);
	check(c->p, at == MESSAGE, "byte %zu is wrong: %s", at,
	      pattern_show(r->buf, want, at, MESSAGE));
}

/* Add the sums of the other end. */
static void join(struct pair *p, struct seen *seen)
{
	struct seen peer;

	pair_swap(p, seen, &peer, sizeof(peer));
	seen->requests += peer.requests;
	seen->answers += peer.answers;
	seen->naks += peer.naks;
	seen->cnps += peer.cnps;
	seen->faults += peer.faults;
	seen->probes += peer.probes;
	seen->timeouts += peer.timeouts;
	seen->us += peer.us;
	if (seen->from == NONE)
		seen->from = peer.from;
	if (seen->nak_from == NONE)
		seen->nak_from = peer.nak_from;
}

static struct seen attempt(struct pair *p, const struct row *row, uint64_t seed)
{
	struct seen seen = { .from = NONE, .nak_from = NONE };
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, MESSAGE, ALL_ACCESS);
	struct conn *c;
	uint64_t began;
	int i;

	attr.mtu = IBV_MTU_1024;
	c = conn_open(p, &attr);
	region_swap(p, r);
	for (i = 0; i < WARM; i++)
		move(c, r, row->opcode, seed + i);
	if (end_a(p))
		add_counters(p, &seen, -1);
	set_faults(c, row);
	began = now_us();
	move(c, r, row->opcode, seed + WARM);
	if (end_a(p)) {
		seen.us = now_us() - began;
		add_counters(p, &seen, 1);
	}
	pair_sync(p);
	compare(c, r, seed + WARM);
	look_at(c, row, &seen);
	join(p, &seen);
	return seen;
}

/* ---- judgement ---- */

static const char *judge(struct pair *p, const struct row *row, const struct want *want,
			 const struct seen *seen)
{
	bool read = row->opcode == IBV_WR_RDMA_READ;
	int resent = seen->requests - (read ? 1 : PACKETS);
	int answers = read ? seen->answers - PACKETS : 0;
	int faults = 0;

	while (faults < FAULTS && row->faults[faults].action)
		faults++;
	if (seen->faults != faults)
		return "the faults did not happen";
	if (seen->naks != want->naks || seen->nak_from != want->nak_from)
		return "other NAKs";
	if (resent > want->resent)
		return "too much is sent again";
	if (want->from != ANY && seen->from != want->from)
		return "it is sent again from another PSN";
	if (answers > want->answers)
		return "too many responses come again";
	if (seen->cnps != want->cnps)
		return "other notifications";
	if (want->probes != ANY && seen->probes > want->probes)
		return "it takes a probe";
	if (seen->timeouts)
		return "it takes a timeout";
	if (seen->us > want->ms * 1000ull * p->slow)
		return "it takes too long";
	return NULL;
}

static void run_row(struct pair *p, const void *arg)
{
	const char *wrong = NULL;
	const struct row *row = arg;
	const struct want *want = &row->want;
	struct seen seen;
	int i;

	for (i = 0; i < ATTEMPTS; i++) {
		seen = attempt(p, row, mix(1 + i));
		wrong = judge(p, row, want, &seen);
		if (!wrong)
			break;
		if (end_a(p))
			note(p, "attempt %d: %s", i + 1, wrong);
	}
	check(p, !wrong,
	      "%s: %d NAKs from %d, %d requests, again from %d, %d responses, %d CNPs, %d probes, %llu us",
	      wrong, seen.naks, seen.nak_from, seen.requests, seen.from, seen.answers, seen.cnps,
	      seen.probes, (unsigned long long)seen.us);
}

int main(int argc, char **argv)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (pair_wants(&p, rows[i].group))
			pair_case(&p, run_row, &rows[i], "%s", rows[i].name);
	return pair_close(&p);
}
