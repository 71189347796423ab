// SPDX-License-Identifier: GPL-2.0
/*
 * raw_data - raw packet queue pairs carry Ethernet frames, byte for byte
 *
 *	raw_data a|b PORT [GROUP...]	see main() for the groups
 *
 * End a sends; end b has rules for what it wants to see.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/ether.h"
#include "lib/netdev.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define SILENCE 30

/* ---- frames of all sizes ---- */

struct shape {
	bool inlined, extended, tagged;
	int pieces;
};

static int sizes_of(struct pair *p, const struct shape *shape, unsigned int *sizes)
{
	static const unsigned int some[] = {
		14, 15, 59, 60, 61, 64, 65, 127, 128, 512, 1000, 1514,
	};
	unsigned int mtu = netdev_mtu(p), i, n = 0;

	for (i = shape->tagged ? 3 : 0; i < ARRAY_SIZE(some); i++)
		if (some[i] <= mtu && (!shape->inlined || some[i] <= 512))
			sizes[n++] = some[i];
	if (shape->inlined)
		return n;
	sizes[n++] = mtu;
	sizes[n++] = mtu + 13;
	sizes[n++] = mtu + 14;
	if (shape->tagged)
		sizes[n++] = mtu + 18;
	return n;
}

static void build(struct ether *e, struct frame *f, const struct shape *shape, unsigned int len,
		  uint32_t id)
{
	frame_begin(f, end_a(e->p) ? e->peer : e->mac, end_a(e->p) ? e->mac : e->peer);
	if (shape->tagged)
		frame_tag(f, 0xa005);
	frame_type(f, ETHER_TYPE);
	frame_end(f, len, id);
}

static void run_sizes(struct pair *p, const void *arg)
{
	const struct shape *shape = arg;
	struct conn_attr attr = ether_defaults(p);
	unsigned int sizes[32];
	int i, n = sizes_of(p, shape, sizes);
	struct ether *e;
	struct rule rule;
	struct frame f;

	need_rules(p);
	attr.extended = shape->extended;
	attr.inline_data = shape->inlined ? 512 : 0;
	attr.send_sge = 16;
	e = ether_open(p, &attr);
	if (end_b(p)) {
		rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
		rule_eth(&rule, e->mac, ETHER_TYPE);
		rule_make(e, &rule);
	}
	pair_sync(p);
	for (i = 0; i < n; i++) {
		build(e, &f, shape, sizes[i], i);
		if (end_a(p))
			ether_send(e, &f, shape->pieces, shape->inlined);
		else
			ether_want(e, &f);
	}
	if (end_b(p))
		ether_quiet(e, SILENCE);
}

static void all_sizes(struct pair *p)
{
	static const struct shape shapes[] = {
		{ false, false, false, 1 }, { false, true, false, 3 }, { false, false, true, 1 },
		{ true, false, false, 1 }, { true, true, true, 2 }, { false, true, true, 13 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		pair_case(p, run_sizes, &shapes[i], "%s%sframes of all sizes%s, %d pieces",
			  shapes[i].inlined ? "inline " : "", shapes[i].tagged ? "tagged " : "",
			  shapes[i].extended ? " by ibv_wr_*()" : "", shapes[i].pieces);
}

/*
 * Both ends send at once, and there are receives for all frames. A frame is sent on the
 * processor of the program: without pinning one could overtake another.
 */
static void run_both(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	int rounds = p->quick ? 4 : 40, i, k;
	cpu_set_t all, one;
	struct ether *e;
	struct rule rule;
	struct frame f;

	(void)arg;
	need_rules(p);
	e = ether_open(p, &attr);
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_eth(&rule, e->mac, ETHER_TYPE);
	rule_make(e, &rule);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	check(p, !sched_getaffinity(0, sizeof(all), &all) &&
	      !sched_setaffinity(0, sizeof(one), &one), "affinity: %s", strerror(errno));
	pair_sync(p);
	for (k = 0; k < rounds; k++) {
		for (i = 0; i < 32; i++) {
			frame_begin(&f, e->peer, e->mac);
			frame_type(&f, ETHER_TYPE);
			frame_end(&f, 60 + i * 40, k * 32 + i);
			ether_send(e, &f, 1, false);
		}
		for (i = 0; i < 32; i++) {
			frame_begin(&f, e->mac, e->peer);
			frame_type(&f, ETHER_TYPE);
			frame_end(&f, 60 + i * 40, k * 32 + i);
			ether_want(e, &f);
		}
		pair_sync(p);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

/* ---- what the host sends, and what it gets ---- */

#define PORT 7777

static int udp_socket(struct pair *p)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	check(p, fd >= 0 && inet_pton(AF_INET, p->own, &addr.sin_addr) == 1 &&
	      !bind(fd, (struct sockaddr *)&addr, sizeof(addr)), "socket: %s", strerror(errno));
	return fd;
}

static uint32_t sum_of(const uint8_t *bytes, unsigned int len, uint32_t sum)
{
	unsigned int i;

	for (i = 0; i + 1 < len; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	if (len & 1)
		sum += bytes[len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Are the checksums of an IPv4 frame what a wire would have carried? */
static void judge_sums(struct pair *p, const uint8_t *f, unsigned int len)
{
	const uint8_t *ip = f + 14;
	unsigned int head = (ip[0] & 15) * 4, total = ip[2] << 8 | ip[3];
	uint32_t sum;

	check(p, total + 14 <= len, "IP has %u bytes, the frame %u", total, len);
	check(p, sum_of(ip, head, 0) == 0xffff, "the checksum of IP is wrong");
	/* None at all is allowed over UDP. */
	if (ip[9] == IPPROTO_UDP && !ip[head + 6] && !ip[head + 7])
		return;
	sum = sum_of(ip + 12, 8, ip[9] + total - head);
	check(p, sum_of(ip + head, total - head, sum) == 0xffff,
	      "the checksum of protocol %u is wrong", ip[9]);
}

struct share {
	const char *what;
	enum ibv_flow_attr_type type;
	unsigned int flags;
	bool host;
};

static bool host_has(int fd, uint64_t number, unsigned int ms)
{
	struct pollfd fds = { fd, POLLIN };
	uint64_t got;

	return poll(&fds, 1, ms) == 1 && recv(fd, &got, sizeof(got), 0) == sizeof(got) &&
	       got == number;
}

/* The datagram that the other end's host has sent, and this program sees as a frame. */
static void want_datagram(struct ether *e, uint64_t number)
{
	const uint8_t *f;
	unsigned int len;

	do {
		f = ether_any(e, &len, 5000 * e->p->slow);
		check(e->p, f, "no frame came of datagram %llu", (unsigned long long)number);
	} while (len < 50 || !frame_is_udp(f, len, PORT));
	check(e->p, !memcmp(f, e->mac, 6) && !memcmp(f + 6, e->peer, 6) &&
	      !memcmp(f + 42, &number, 8), "it is another datagram");
	judge_sums(e->p, f, len);
}

static void run_host(struct pair *p, const void *arg)
{
	const struct share *share = arg;
	struct conn_attr attr = ether_defaults(p);
	struct ibv_flow_spec_tcp_udp udp = {
		.type = IBV_FLOW_SPEC_UDP, .size = sizeof(udp),
		.val.dst_port = htons(PORT), .mask.dst_port = 0xffff,
	};
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct ibv_flow *flow = NULL;
	uint64_t number;
	struct ether *e;
	struct rule rule;
	bool seen;
	int fd;

	need_rules(p);
	e = ether_open(p, &attr);
	fd = udp_socket(p);
	inet_pton(AF_INET, p->peer, &to.sin_addr);
	if (end_b(p)) {
		rule_begin(&rule, share->type, 0, share->flags);
		if (share->type == IBV_FLOW_ATTR_NORMAL)
			rule_add(&rule, &udp, sizeof(udp));
		flow = rule_make(e, &rule);
	}
	for (number = 1; number <= 3; number++) {
		pair_sync(p);
		if (end_a(p))
			check(p, sendto(fd, &number, sizeof(number), 0, (struct sockaddr *)&to,
					sizeof(to)) == sizeof(number),
			      "sendto: %s", strerror(errno));
		if (end_a(p))
			continue;
		/* The last one comes when there is no rule any more. */
		if (number == 3) {
			check(p, host_has(fd, number, 5000 * p->slow),
			      "the host does not get it back");
			continue;
		}
		want_datagram(e, number);
		seen = host_has(fd, number, share->host ? 5000 * p->slow : SILENCE);
		check(p, seen == share->host, "the host %s it", seen ? "sees" : "does not see");
		if (number == 2)
			rule_drop(e, flow);
	}
	close(fd);
}

/* ---- what comes as one is many ---- */

#define STREAM 300000

static int stream_socket(struct pair *p, struct sockaddr_in *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	*addr = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(PORT) };
	inet_pton(AF_INET, end_a(p) ? p->peer : p->own, &addr->sin_addr);
	check(p, fd >= 0, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return fd;
}

static void send_stream(struct pair *p, uint8_t *data, int len)
{
	struct sockaddr_in addr;
	int fd = stream_socket(p, &addr), at = 0, n;

	check(p, !connect(fd, (struct sockaddr *)&addr, sizeof(addr)), "connect: %s",
	      strerror(errno));
	for (; at < len; at += n) {
		n = send(fd, data + at, len - at, 0);
		check(p, n > 0, "send: %s", strerror(errno));
	}
	pair_sync(p);
	close(fd);
}

/* A piece of the stream in a frame, if it is one. */
static void take_piece(struct ether *e, const uint8_t *f, unsigned int len, const uint8_t *data,
		       int all, uint32_t *first, uint8_t *seen)
{
	unsigned int head, total, at;
	uint32_t seq;

	if (len < 54 || f[12] != 8 || f[13] || f[23] != IPPROTO_TCP ||
	    (f[36] << 8 | f[37]) != PORT)
		return;
	judge_sums(e->p, f, len);
	check(e->p, len <= netdev_mtu(e->p) + 14, "a frame of %u bytes", len);
	memcpy(&seq, f + 38, 4);
	seq = ntohl(seq);
	if (f[47] & 2)
		*first = seq + 1;
	head = 34 + (f[46] >> 4) * 4;
	total = 14 + (f[16] << 8 | f[17]);
	for (at = seq - *first; head < total && (int)at < all; head++, at++) {
		check(e->p, f[head] == data[at], "byte %u of the stream is wrong", at);
		seen[at] = 1;
	}
}

static void run_stream(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	int len = pair_once(p) ? STREAM / 5 : STREAM, fd, conn = -1, got = 0, n;
	uint8_t *data = pair_alloc(p, len), *seen = pair_alloc(p, len), *bytes;
	struct sockaddr_in addr;
	struct timeval brief = { .tv_usec = 1000 };
	const uint8_t *f;
	unsigned int size;
	uint32_t first = 0;
	struct ether *e;
	struct rule rule;

	(void)arg;
	need_rules(p);
	pattern_fill(data, len, 77);
	bytes = pair_alloc(p, len);
	e = ether_open(p, &attr);
	if (end_a(p)) {
		pair_sync(p);
		send_stream(p, data, len);
		return;
	}
	fd = stream_socket(p, &addr);
	check(p, !bind(fd, (struct sockaddr *)&addr, sizeof(addr)) && !listen(fd, 1), "listen: %s",
	      strerror(errno));
	rule_begin(&rule, IBV_FLOW_ATTR_SNIFFER, 0, 0);
	rule_make(e, &rule);
	pair_sync(p);
	conn = accept(fd, NULL, NULL);
	check(p, conn >= 0, "accept: %s", strerror(errno));
	/* What is read lets the other end send more, which there have to be receives for. */
	n = 8192;
	setsockopt(conn, SOL_SOCKET, SO_RCVBUF, &n, sizeof(n));
	setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof(brief));
	while (got < len) {
		while ((f = ether_any(e, &size, 0)))
			take_piece(e, f, size, data, len, &first, seen);
		n = recv(conn, bytes + got, len - got, 0);
		check(p, n > 0 || (n < 0 && errno == EAGAIN), "recv: %s", strerror(errno));
		got += n > 0 ? n : 0;
	}
	while ((f = ether_any(e, &size, 50)))
		take_piece(e, f, size, data, len, &first, seen);
	check(p, !memcmp(bytes, data, len), "the host got something else");
	for (n = 0; n < len && seen[n]; n++)
		;
	check(p, n == len, "byte %d of the stream was in no frame", n);
	close(conn);
	close(fd);
	pair_sync(p);
}

/* ---- multicast comes back ---- */

static void run_echo(struct pair *p, const void *no_echo)
{
	static const uint8_t group[6] = { 1, 0x50, 0x56, 0x19, 0x20, 0xa7 };
	struct conn_attr attr = ether_defaults(p);
	struct ether *e[2];
	struct rule rule;
	struct frame f;
	int i;

	need_rules(p);
	attr.extended = true;
	attr.create_flags = no_echo ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0;
	e[0] = ether_open(p, &attr);
	attr.create_flags = 0;
	e[1] = ether_open(p, &attr);
	for (i = 0; i < 2; i++) {
		rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
		rule_eth(&rule, group, ETHER_TYPE);
		rule_make(e[i], &rule);
	}
	rules_are_heard(e[0]);
	pair_sync(p);
	frame_begin(&f, group, end_a(p) ? e[0]->mac : e[0]->peer);
	frame_type(&f, ETHER_TYPE);
	frame_end(&f, 300, 5);
	if (end_a(p))
		ether_send(e[0], &f, 1, false);
	/* To the other end once, and to this one's other queue pair. */
	ether_want(e[1], &f);
	if (end_b(p) || !no_echo)
		ether_want(e[0], &f);
	ether_quiet(e[0], SILENCE);
	ether_quiet(e[1], SILENCE);
	/* What goes to one does not. */
	if (end_b(p))
		return;
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_eth(&rule, e[0]->mac, ETHER_TYPE);
	rule_make(e[1], &rule);
	frame_begin(&f, e[0]->mac, e[0]->mac);
	frame_type(&f, ETHER_TYPE);
	frame_end(&f, 300, 6);
	ether_send(e[0], &f, 1, false);
	ether_quiet(e[1], SILENCE);
}

/* ---- comings and goings ---- */

/* A queue pair that goes with what it has sent still in the device. */
static void send_and_go(struct ether *e, const struct conn_attr *attr, const struct frame *f)
{
	struct conn *c = conn_make(e->p, attr);
	struct ibv_sge sge = sge_of(e->r, 0, f->len);
	struct ibv_send_wr wr;
	int i;

	memcpy(e->r->buf, f->bytes, f->len);
	conn_ready(c);
	for (i = 0; i < 30; i++) {
		wr = wr_send(i, &sge, 1, 0);
		conn_send(c, &wr);
	}
	undo_now(e->p, c);
}

/* Two rules, one of a queue pair that has no receives, and they go. */
static void rule_and_go(struct ether *e, const struct conn_attr *attr, bool sniffer)
{
	struct conn *c = conn_make(e->p, attr);
	struct ibv_flow *flow, *more;
	struct rule rule;

	rule_begin(&rule, sniffer ? IBV_FLOW_ATTR_SNIFFER : IBV_FLOW_ATTR_NORMAL, 0, 0);
	if (!sniffer)
		rule_eth(&rule, e->mac, ETHER_TYPE);
	flow = rule_make(e, &rule);
	conn_ready(c);
	more = ibv_create_flow(c->qp, &rule.attr);
	check(e->p, more && !ibv_destroy_flow(more), "a rule more: %s", strerror(errno));
	undo_now(e->p, c);
	rule_drop(e, flow);
}

/*
 * End a sends all the time; at b rules and queue pairs are created and destroyed, and a's own,
 * too.
 */
static void run_churn(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	int rounds = pair_once(p) ? 5 : p->quick ? 15 : 100, k;
	const uint8_t *bytes;
	struct ether *e;
	struct rule rule;
	struct frame f;
	unsigned int len;

	(void)arg;
	need_rules(p);
	e = ether_open(p, &attr);
	for (k = 0; k < rounds; k++) {
		frame_begin(&f, end_a(p) ? e->peer : e->mac, end_a(p) ? e->mac : e->peer);
		frame_type(&f, ETHER_TYPE);
		frame_end(&f, 1000, k);
		if (end_a(p))
			send_and_go(e, &attr, &f);
		else
			rule_and_go(e, &attr, k % 2);
	}
	pair_sync(p);
	/* All is as before, and there are receives again. */
	while (ether_any(e, &len, SILENCE))
		;
	if (end_b(p)) {
		rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
		rule_eth(&rule, e->mac, ETHER_TYPE + 1);
		rule_make(e, &rule);
	}
	pair_sync(p);
	frame_begin(&f, end_a(p) ? e->peer : e->mac, end_a(p) ? e->mac : e->peer);
	frame_type(&f, ETHER_TYPE + 1);
	frame_end(&f, 99, 1 << 20);
	if (end_a(p)) {
		ether_send(e, &f, 1, false);
		return;
	}
	do {
		bytes = ether_any(e, &len, 5000 * p->slow);
		check(p, bytes, "nothing comes any more");
	} while (frame_id(bytes, len) != 1 << 20);
}

int main(int argc, char **argv)
{
	static const struct share shares[] = {
		{ "a normal rule takes a frame away", IBV_FLOW_ATTR_NORMAL, 0, false },
		{ "a rule with DONT_TRAP leaves a frame", IBV_FLOW_ATTR_NORMAL,
		  IBV_FLOW_ATTR_FLAGS_DONT_TRAP, true },
		{ "a sniffer rule copies a frame", IBV_FLOW_ATTR_SNIFFER, 0, true },
		{ "a default rule copies a frame", IBV_FLOW_ATTR_ALL_DEFAULT, 0, true },
	};
	unsigned int i;
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "sizes"))
		all_sizes(&p);
	if (pair_wants(&p, "host"))
		for (i = 0; i < ARRAY_SIZE(shares); i++)
			pair_case(&p, run_host, &shares[i], "a UDP datagram for the host: %s",
				  shares[i].what);
	if (pair_wants(&p, "stream"))
		pair_case(&p, run_stream, NULL,
			  "a rule sees each frame of a TCP stream of the host");
	if (pair_wants(&p, "echo")) {
		pair_case(&p, run_echo, NULL,
			  "multicast frames loop back to rules of the sending device");
		pair_case(&p, run_echo, &p,
			  "multicast frames do not loop back with BLOCK_SELF_MCAST_LB");
	}
	if (pair_wants(&p, "both"))
		pair_case(&p, run_both, NULL, "both ends send at once");
	if (pair_wants(&p, "churn"))
		pair_case(&p, run_churn, NULL,
			  "rules and queue pairs are created and destroyed under traffic");
	return pair_close(&p);
}
