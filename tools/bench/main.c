// SPDX-License-Identifier: GPL-2.0
/*
 * main: the program at one end, its control connection, its words
 *
 *	peer serve DEVICE PORT		take part in runs that the other end drives
 *	peer drive DEVICE PORT ADDRESS	settings in, JSON out, a line each, to the end of input
 *
 * DEVICE is a verbs device, "tcp", or "tcp:" and a congestion control. A line of settings has
 * words NAME=VALUE, see settings[].
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

static const char *const ops[] = {
	[OP_WRITE] = "write", [OP_READ] = "read",     [OP_SEND] = "send",
	[OP_UD] = "ud",	      [OP_MEMORY] = "memory",
};

static const struct {
	const char *name;
	size_t at;
	bool flag;
} settings[] = {
	{"ping", offsetof(struct setting, ping), true},
	{"both", offsetof(struct setting, both), true},
	{"event", offsetof(struct setting, event), true},
	{"count", offsetof(struct setting, count), true},
	{"loose", offsetof(struct setting, loose), true},
	{"size", offsetof(struct setting, size), false},
	{"mtu", offsetof(struct setting, mtu), false},
	{"qps", offsetof(struct setting, qps), false},
	{"depth", offsetof(struct setting, depth), false},
	{"list", offsetof(struct setting, list), false},
	{"warm", offsetof(struct setting, warm_ms), false},
	{"ms", offsetof(struct setting, ms), false},
};

static const struct carrier *carrier;
static struct sockaddr_in peer = {.sin_family = AF_INET};
static int listener = -1;

static void die(const char *what)
{
	fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool send_all(int fd, const void *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Each end gives the other the same amount of data, at the same point of both programs. */
bool swap(int control, const void *mine, void *theirs, size_t len)
{
	return send_all(control, mine, len) &&
	       recv(control, theirs, len, MSG_WAITALL) == (ssize_t)len;
}

static int no_delay(int sock)
{
	int one = 1;

	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return sock;
}

/* A connection for data, beside the one for control. */
int accept_data(void)
{
	return no_delay(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

/* The server may still be starting. */
int connect_data(void)
{
	for (int attempt = 0; attempt < 400; attempt++) {
		int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (!connect(sock, (void *)&peer, sizeof(peer)))
			return no_delay(sock);
		close(sock);
		usleep(50 * 1000);
	}
	return -1;
}

static bool parse_word(struct setting *set, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value++)
		return false;
	if (!strncmp(word, "op=", 3)) {
		for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
			if (strcmp(ops[i], value))
				continue;
			set->op = i;
			return true;
		}
		return false;
	}
	for (unsigned int i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		void *at = (char *)set + settings[i].at;

		if (strncmp(settings[i].name, word, value - 1 - word) ||
		    settings[i].name[value - 1 - word])
			continue;
		if (settings[i].flag)
			*(bool *)at = atoi(value);
		else
			*(unsigned int *)at = strtoul(value, NULL, 10);
		return true;
	}
	return false;
}

static bool parse(struct setting *set, char *line)
{
	*set = (struct setting){.op = OP_WRITE, .size = 65536, .mtu = 4096, .qps = 1,
				.depth = 128,	.list = 1,     .warm_ms = 30, .ms = 200};
	for (char *word = strtok(line, "\n "); word; word = strtok(NULL, "\n "))
		if (!parse_word(set, word))
			return false;
	return set->size && set->size <= MAX_SIZE && set->qps && set->qps <= MAX_QPS &&
	       set->depth && set->list && set->list <= set->depth;
}

/* One setting, at both ends at once. */
static void go_through(int control, struct run *run, struct tally *other)
{
	struct {
		char failure[sizeof(run->tally.failure)];
	} mine = {""}, theirs = {""};

	carrier->prepare(run, control);
	memcpy(mine.failure, run->tally.failure, sizeof(mine.failure));
	if (!swap(control, &mine, &theirs, sizeof(mine)))
		die("control connection");
	if (!mine.failure[0] && !theirs.failure[0] && run->set.op != OP_MEMORY)
		run_both(run, carrier, control);
	if (!run->tally.failure[0] && theirs.failure[0])
		snprintf(run->tally.failure, sizeof(run->tally.failure), "other end: %.80s",
			 theirs.failure);
	if (!swap(control, &run->tally, other, sizeof(*other)))
		die("control connection");
	if (run->tally.failure[0] || other->failure[0] || run->tally.undrained ||
	    other->undrained)
		carrier->reset();
}

static void print_cost(const char *name, const struct cost *cost)
{
	printf("\"%s\": {\"wall_ns\": %lu, \"busy_ns\": %lu, \"switches\": %lu, \"user_ns\": %lu, ",
	       name, cost->wall_ns, cost->busy_ns, cost->switches, cost->user_ns);
	printf("\"system_ns\": %lu, \"own_switches\": %lu, \"syscalls\": %lu}, ", cost->system_ns,
	       cost->own_switches, cost->syscalls);
}

static void print_result(const struct tally *mine, const struct tally *other)
{
	const char *failure = mine->failure[0] ? mine->failure : other->failure;
	const struct delays *delays = &mine->delays;

	if (failure[0]) {
		printf("{\"failure\": \"%s\"}\n", failure);
		return;
	}
	putchar('{');
	print_cost("cost_a", &mine->cost);
	print_cost("cost_b", &other->cost);
	if (delays->n) {
		printf("\"delays\": {\"n\": %lu, \"min\": %lu, \"median\": %lu, \"mean\": %lu, ",
		       delays->n, delays->min, delays->median, delays->mean);
		printf("\"p99\": %lu, \"p999\": %lu, \"max\": %lu}, ", delays->p99, delays->p999,
		       delays->max);
	}
	if (mine->jain_ppm)
		printf("\"jain\": %.4f, ", mine->jain_ppm / 1e6);
	printf("\"sent_a\": [%lu, %lu], \"got_a\": [%lu, %lu], ", mine->sent.n, mine->sent.ns,
	       mine->got.n, mine->got.ns);
	printf("\"sent_b\": [%lu, %lu], \"got_b\": [%lu, %lu], \"bytes_per_qp\": %lu}\n",
	       other->sent.n, other->sent.ns, other->got.n, other->got.ns, mine->bytes_per_qp);
}

static int drive(void)
{
	int control = connect_data();
	char line[512];

	if (control < 0)
		die("connect");
	puts("{\"ready\": true}");
	while (fflush(stdout), fgets(line, sizeof(line), stdin)) {
		struct run run = {.driving = true};
		struct tally other = {0};

		if (!parse(&run.set, line)) {
			puts("{\"failure\": \"no such setting\"}");
			continue;
		}
		if (!send_all(control, &run.set, sizeof(run.set)))
			die("control connection");
		go_through(control, &run, &other);
		print_result(&run.tally, &other);
	}
	return 0;
}

static int serve(void)
{
	int control = accept_data();

	for (;;) {
		struct run run = {.driving = false};
		struct tally other = {0};

		if (recv(control, &run.set, sizeof(run.set), MSG_WAITALL) != sizeof(run.set))
			return 0;
		go_through(control, &run, &other);
	}
}

static void be_interrupted(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	struct rlimit pinned = {RLIM_INFINITY, RLIM_INFINITY};
	struct sigaction action = {.sa_handler = be_interrupted};
	bool serving = argc == 4 && !strcmp(argv[1], "serve");
	int one = 1;

	if (!serving && (argc != 5 || strcmp(argv[1], "drive"))) {
		fputs("usage: peer serve DEVICE PORT | drive DEVICE PORT ADDRESS\n", stderr);
		return 2;
	}
	setrlimit(RLIMIT_MEMLOCK, &pinned);
	/* Without SA_RESTART: it is sent to end a system call. */
	sigaction(SIGUSR1, &action, NULL);
	carrier = strcmp(argv[2], "tcp") && strncmp(argv[2], "tcp:", 4) ? &verbs_carrier :
									  &tcp_carrier;
	if (!carrier->open(argv[2]))
		return 1;
	peer.sin_port = htons(atoi(argv[3]));
	if (!serving) {
		inet_aton(argv[4], &peer.sin_addr);
		return drive();
	}
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (void *)&peer, sizeof(peer)) || listen(listener, 8))
		die("listen");
	return serve();
}
