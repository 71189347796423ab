// SPDX-License-Identifier: GPL-2.0
/*
 * pair - two processes, one at each end of the network, that walk through the
 * same test cases in step
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

/* A result beside those of KTAP: the other end has left the case. */
enum { GIVEN_UP = KTAP_SKIPPED + 1 };

/* Seconds a case may take on a release kernel. */
#define CASE_SECONDS 25

struct undo {
	struct undo *next;
	int (*undo)(void *what);
	void *what;
	const char *name;
};

/* Messages on the control socket: S sync, D data, V result of a case (a byte, then text) */
struct message {
	char type;
	char zero[3];
	uint32_t len;
};

uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static void __attribute__((noreturn, format(printf, 2, 3)))
die(struct pair *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ktap_vnote(end_a(p) ? 'a' : 'b', fmt, ap);
	va_end(ap);
	ktap_result(&p->ktap, KTAP_FAILED, "both ends run the same cases", NULL);
	exit(ktap_finish(&p->ktap));
}

void fail(struct pair *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	p->result = KTAP_FAILED;
	longjmp(p->escape, 1);
}

void skip(struct pair *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	p->result = KTAP_SKIPPED;
	longjmp(p->escape, 1);
}

void note(struct pair *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ktap_vnote(end_a(p) ? 'a' : 'b', fmt, ap);
	va_end(ap);
}

/* ---- the control socket ---- */

static void put(struct pair *p, char type, const void *data, uint32_t len)
{
	struct message message = { .type = type, .len = len };

	if (send(p->sock, &message, sizeof(message), MSG_NOSIGNAL | (len ? MSG_MORE : 0)) < 0 ||
	    (len && send(p->sock, data, len, MSG_NOSIGNAL) != (ssize_t)len))
		die(p, "the other end went away: %s", strerror(errno));
}

static void get_all(struct pair *p, void *data, size_t len)
{
	ssize_t n;

	if (!len)
		return;
	n = recv(p->sock, data, len, MSG_WAITALL);
	if (n != (ssize_t)len)
		die(p, "the other end went away: %s", n < 0 ? strerror(errno) : "end of file");
}

static void get_verdict(struct pair *p, uint32_t len)
{
	char text[sizeof(p->peer_why) + 1] = "";

	if (len > sizeof(text) - 1)
		die(p, "a verdict of %u bytes", len);
	get_all(p, text, len);
	p->peer_result = text[0];
	snprintf(p->peer_why, sizeof(p->peer_why), "%s", text + 1);
}

static void get(struct pair *p, char type, void *data, uint32_t len)
{
	struct message message;

	get_all(p, &message, sizeof(message));
	if (message.type == 'V') {
		get_verdict(p, message.len);
		p->result = GIVEN_UP;
		longjmp(p->escape, 1);
	}
	if (message.type != type || message.len != len)
		die(p, "out of step: %c of %u bytes came, not %c of %u", message.type,
		    message.len, type, len);
	get_all(p, data, len);
}

void pair_swap(struct pair *p, const void *mine, void *theirs, size_t len)
{
	put(p, 'D', mine, len);
	get(p, 'D', theirs, len);
}

uint64_t pair_value_of_a(struct pair *p, uint64_t value)
{
	uint64_t peer;

	pair_swap(p, &value, &peer, sizeof(value));
	return end_a(p) ? value : peer;
}

void pair_sync(struct pair *p)
{
	if (p->alone)
		return;
	put(p, 'S', NULL, 0);
	get(p, 'S', NULL, 0);
}

void pair_watch(struct pair *p)
{
	char type;

	if (!p->alone && recv(p->sock, &type, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && type == 'V')
		get(p, 'V', NULL, 0);
	if (now_ms() > p->deadline)
		fail(p, "the case takes too long");
}

/* The pauses grow: after @count calls about @count * @count microseconds have passed. */
void relax(struct pair *p, unsigned int *count)
{
	if ((*count)++ < 50) {
		sched_yield();
		return;
	}
	usleep(*count < 500 ? *count * 2 : 1000);
	if (*count % 64 == 0)
		pair_watch(p);
}

/* ---- cases ---- */

void undo_later(struct pair *p, int (*undo)(void *what), void *what, const char *name)
{
	struct undo *entry = malloc(sizeof(*entry));

	if (!entry)
		abort();
	*entry = (struct undo){ p->undo, undo, what, name };
	p->undo = entry;
}

void undo_now(struct pair *p, void *what)
{
	struct undo **at = &p->undo, *entry;
	int error;

	while (*at && (*at)->what != what)
		at = &(*at)->next;
	entry = *at;
	if (!entry)
		fail(p, "the test undoes what it never made");
	*at = entry->next;
	error = entry->undo(what);
	if (error)
		fail(p, "%s: %s", entry->name, strerror(error < 0 ? errno : error));
	free(entry);
}

void undo_never(struct pair *p)
{
	p->undo = NULL;
}

static int free_memory(void *memory)
{
	free(memory);
	return 0;
}

void *pair_alloc(struct pair *p, size_t len)
{
	void *memory = calloc(1, len);

	check(p, memory, "out of memory");
	undo_later(p, free_memory, memory, "free");
	return memory;
}

static void undo_all(struct pair *p)
{
	while (p->undo) {
		struct undo *entry = p->undo;
		int error;

		p->undo = entry->next;
		error = entry->undo(entry->what);
		if (error && p->result == KTAP_PASSED) {
			p->result = KTAP_FAILED;
			snprintf(p->why, sizeof(p->why), "at the end of the case: %s: %s",
				 entry->name, strerror(error < 0 ? errno : error));
		}
		free(entry);
	}
}

static void swap_verdicts(struct pair *p)
{
	char text[sizeof(p->why) + 1];
	struct message message;
	int len;

	if (p->alone) {
		p->peer_result = KTAP_PASSED;
		return;
	}
	text[0] = p->result;
	len = snprintf(text + 1, sizeof(text) - 1, "%s", p->why) + 1;
	put(p, 'V', text, len);
	while (p->peer_result < 0) {
		char dust[65536];

		get_all(p, &message, sizeof(message));
		if (message.type == 'V')
			get_verdict(p, message.len);
		else if (message.len <= sizeof(dust))
			get_all(p, dust, message.len);
		else
			die(p, "out of step");
	}
}

static void report(struct pair *p, const char *name, uint64_t took)
{
	const char *why = p->result == KTAP_SKIPPED ? p->why : p->peer_why;
	enum ktap_result result = KTAP_PASSED;

	if (p->result == KTAP_FAILED || p->peer_result == KTAP_FAILED)
		result = KTAP_FAILED;
	else if (p->result == KTAP_SKIPPED || p->peer_result == KTAP_SKIPPED)
		result = KTAP_SKIPPED;
	if (end_a(p) && p->result == KTAP_FAILED)
		printf("# a: %s\n", p->why);
	if (end_a(p) && p->peer_result == KTAP_FAILED)
		printf("# b: %s\n", p->peer_why);
	ktap_result(&p->ktap, result, name, why);
	if (end_a(p) && getenv("TIMES"))
		printf("# took %llu ms\n", (unsigned long long)took / 1000);
}

static int dealloc_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

void pair_case(struct pair *p, void (*run)(struct pair *p, const void *arg), const void *arg,
	       const char *fmt, ...)
{
	uint64_t start = now_us();
	char name[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	p->result = KTAP_PASSED;
	p->peer_result = -1;
	p->why[0] = 0;
	p->region = NULL;
	p->deadline = now_ms() + CASE_SECONDS * 1000 * p->slow;
	if (!setjmp(p->escape)) {
		p->pd = ibv_alloc_pd(p->ctx);
		if (!p->pd)
			fail(p, "ibv_alloc_pd: %s", strerror(errno));
		undo_later(p, dealloc_pd, p->pd, "ibv_dealloc_pd");
		run(p, arg);
		pair_sync(p);
	}
	undo_all(p);
	swap_verdicts(p);
	report(p, name, now_us() - start);
	if (p->ktap.failed && getenv("STOP"))
		exit(pair_close(p));
}

bool pair_wants(struct pair *p, const char *group)
{
	char **word;

	if (!p->wanted[0])
		return true;
	for (word = p->wanted; *word; word++)
		if (!strcmp(*word, group))
			return true;
	return false;
}

int pair_close(struct pair *p)
{
	ibv_close_device(p->ctx);
	if (!p->alone)
		close(p->sock);
	return ktap_finish(&p->ktap);
}

/* ---- asynchronous events ---- */

int event_next(struct pair *p, struct ibv_qp **qp, unsigned int ms)
{
	struct pollfd fds = { p->ctx->async_fd, POLLIN };
	struct ibv_async_event event;

	if (poll(&fds, 1, ms) != 1)
		return -1;
	check(p, !ibv_get_async_event(p->ctx, &event), "ibv_get_async_event: %s", strerror(errno));
	ibv_ack_async_event(&event);
	if (qp)
		*qp = event.element.qp;
	return event.event_type;
}

bool event_wait(struct pair *p, enum ibv_event_type type, struct ibv_qp *qp, unsigned int ms)
{
	uint64_t until = now_ms() + ms;
	struct ibv_qp *of;
	int64_t left;
	int is;

	while ((left = until - now_ms()) > 0) {
		is = event_next(p, &of, left);
		if (is == (int)type && (!qp || of == qp))
			return true;
	}
	return false;
}

/* ---- the beginning ---- */

static int meet(struct pair *p, int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct timeval limit = { .tv_sec = 60 * p->slow };
	uint64_t deadline = now_ms() + 15000 * p->slow;
	int one = 1, sock = socket(AF_INET, SOCK_STREAM, 0), peer = -1;

	if (!inet_aton(p->server ? p->own : p->peer, &addr.sin_addr))
		die(p, "%s is no address", p->server ? p->own : p->peer);
	if (p->server) {
		setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (bind(sock, (void *)&addr, sizeof(addr)) || listen(sock, 1))
			die(p, "cannot listen at %s:%d: %s", p->own, port, strerror(errno));
		peer = accept(sock, NULL, NULL);
		close(sock);
	} else {
		while (connect(sock, (void *)&addr, sizeof(addr))) {
			if (now_ms() > deadline)
				die(p, "nobody at %s:%d: %s", p->peer, port, strerror(errno));
			usleep(20000);
			close(sock);
			sock = socket(AF_INET, SOCK_STREAM, 0);
		}
		peer = sock;
	}
	setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return peer;
}

static void open_device(struct pair *p)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **at;

	for (at = list; at && *at; at++)
		if (!strcmp(ibv_get_device_name(*at), p->dev))
			p->ctx = ibv_open_device(*at);
	if (list)
		ibv_free_device_list(list);
	if (!p->ctx)
		die(p, "there is no RDMA device %s, or it cannot be opened", p->dev);
	if (ibv_query_device(p->ctx, &p->attr) || ibv_query_port(p->ctx, 1, &p->port))
		die(p, "%s does not answer queries", p->dev);
	if (p->port.state != IBV_PORT_ACTIVE)
		die(p, "port of %s is not active", p->dev);
}

void pair_family(struct pair *p, bool ipv6)
{
	uint32_t type = p->v1 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
	struct ibv_gid_entry entry;
	union ibv_gid want = { .raw = { [10] = 0xff, [11] = 0xff } };
	int i, error;

	if (inet_pton(ipv6 ? AF_INET6 : AF_INET, ipv6 ? p->own6 : p->own,
		      want.raw + (ipv6 ? 0 : 12)) != 1)
		die(p, "%s is no address", ipv6 ? p->own6 : p->own);
	for (i = 0; i < p->port.gid_tbl_len; i++) {
		error = ibv_query_gid_ex(p->ctx, 1, i, &entry, 0);
		if (error || entry.gid_type != type ||
		    memcmp(&entry.gid, &want, 16))
			continue;
		p->gid = want;
		p->gid_index = i;
		p->ipv6 = ipv6;
		return;
	}
	die(p, "%s has no RoCE v%d GID for %s", p->dev, p->v1 ? 1 : 2, ipv6 ? p->own6 : p->own);
}

/* Use the lesser limit of both ends, whose devices may differ. */
static void agree(struct pair *p)
{
	struct { int max_sge, mtu; } mine = { p->attr.max_sge, p->port.active_mtu }, theirs;

	pair_swap(p, &mine, &theirs, sizeof(mine));
	if (theirs.max_sge < mine.max_sge)
		p->attr.max_sge = theirs.max_sge;
	if (theirs.mtu < mine.mtu)
		p->port.active_mtu = theirs.mtu;
}

static const char *wish(struct pair *p, const char *name)
{
	const char *value = getenv(name);

	if (!value)
		die(p, "%s is not set: run this by its test script", name);
	return value;
}

static struct pair *crashing;

/* A crash within a case, for example in the provider, fails this case only. */
static void crash(int number)
{
	fail(crashing, "the program crashes: %s", strsignal(number));
}

/* Initialisation with and without another end */
static void begin(struct pair *p, bool server)
{
	struct sigaction action = { .sa_handler = crash, .sa_flags = SA_NODEFER };
	const char *soft, *slow = getenv("SLOW"), *quick = getenv("QUICK"), *roce = getenv("ROCE");

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	memset(p, 0, sizeof(*p));
	p->server = server;
	p->ktap.silent = server;
	p->dev = wish(p, p->server ? "DEV_B" : "DEV_A");
	p->own = wish(p, p->server ? "ADDR_B" : "ADDR_A");
	p->own6 = wish(p, p->server ? "ADDR6_B" : "ADDR6_A");
	p->peer = wish(p, p->server ? "ADDR_A" : "ADDR_B");
	p->quick = quick && atoi(quick) > 0 ? atoi(quick) : 0;
	soft = getenv(p->server ? "SOFT_B" : "SOFT_A");
	p->rxe = soft && !strcmp(soft, "rxe");
	soft = getenv(p->server ? "SOFT_A" : "SOFT_B");
	p->peer_rxe = soft && !strcmp(soft, "rxe");
	p->v1 = roce && !strcmp(roce, "v1");
	p->slow = slow && atoi(slow) > 0 ? atoi(slow) : 1;
	p->sock = -1;
	open_device(p);
	pair_family(p, false);
	crashing = p;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

void pair_open(struct pair *p, int argc, char **argv)
{
	if (argc < 3 || (strcmp(argv[1], "a") && strcmp(argv[1], "b"))) {
		fprintf(stderr, "usage: %s a|b PORT [GROUP...]\n", argv[0]);
		exit(2);
	}
	begin(p, argv[1][0] == 'b');
	p->wanted = argv + 3;
	p->sock = meet(p, atoi(argv[2]));
	agree(p);
}

void pair_open_alone(struct pair *p, int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "a")) {
		fprintf(stderr, "usage: %s a [GROUP...]\n", argv[0]);
		exit(2);
	}
	begin(p, false);
	p->alone = true;
	p->wanted = argv + 2;
}
