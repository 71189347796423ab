// SPDX-License-Identifier: GPL-2.0
/*
 * smc_data - data both ways over AF_SMC sockets
 *
 *	smc_data server|client ADDRESS PORT CONNECTIONS BYTES [hold]
 *	smc_data eid NAME
 *
 * All connections are open at the same time, and each carries BYTES in either
 * direction at once, compared at the receiver.  With "hold" the program prints
 * "ready" after that, keeps its connections until its standard input ends, and
 * tells how many of them broke meanwhile.
 *
 * "eid" gives this kernel a user-defined Enterprise ID: without one it offers
 * its peers SMC-Rv1 only, which is carried by RoCE v1.  Peers that share one use
 * SMC-Rv2, which is carried by RoCE v2.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/smc.h>

#include "lib/pattern.h"

#define MOST_STREAMS 64

/* struct stream - one connection; the server learns its number from the first byte */
struct stream {
	int fd;
	int number;
	size_t sent, received;
};

static struct stream streams[MOST_STREAMS];
static bool server;
static unsigned int count;
static size_t bytes;
static unsigned char *both_ways[MOST_STREAMS];

static void __attribute__((noreturn)) die(const char *what)
{
	printf("error: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* What a stream carries: first what the client sends, then what the server does. */
static unsigned char *data_of(const struct stream *s, bool from_server)
{
	unsigned char **data = &both_ways[s->number];

	if (!*data) {
		*data = malloc(2 * bytes);
		if (!*data)
			die("malloc");
		pattern_fill(*data, 2 * bytes, s->number + 1);
		(*data)[0] = s->number;
	}
	return *data + (from_server ? bytes : 0);
}

static void send_some(struct stream *s)
{
	ssize_t n = send(s->fd, data_of(s, server) + s->sent, bytes - s->sent, MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN)
		die("send");
	if (n > 0)
		s->sent += n;
}

static void receive_some(struct stream *s)
{
	static unsigned char buf[1 << 16];
	size_t left = bytes - s->received, same;
	ssize_t n = recv(s->fd, buf, left < sizeof(buf) ? left : sizeof(buf), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0)
		die("recv");
	if (!n) {
		printf("error: the peer closed connection %d after %zu of %zu bytes\n", s->number,
		       s->received, bytes);
		exit(1);
	}
	if (s->number < 0) {
		s->number = buf[0];
		if (s->number >= (int)count) {
			printf("error: connection %d of %u\n", s->number, count);
			exit(1);
		}
	}
	same = pattern_differ(buf, data_of(s, !server) + s->received, n);
	if (same < (size_t)n) {
		printf("error: wrong data at %zu of connection %d: %s\n", s->received + same,
		       s->number, pattern_show(buf, data_of(s, !server) + s->received, same, n));
		exit(1);
	}
	s->received += n;
}

static int events_of(const struct stream *s)
{
	return (s->received < bytes ? POLLIN : 0) |
	       (s->sent < bytes && s->number >= 0 ? POLLOUT : 0);
}

static void carry(void)
{
	struct pollfd fds[MOST_STREAMS];
	unsigned int i, busy;

	for (;;) {
		busy = 0;
		for (i = 0; i < count; i++) {
			fds[i] = (struct pollfd){ streams[i].fd, events_of(&streams[i]) };
			if (fds[i].events)
				busy++;
			else
				fds[i].fd = -1;
		}
		if (!busy)
			return;
		if (poll(fds, count, -1) < 0)
			die("poll");
		for (i = 0; i < count; i++) {
			if (fds[i].revents & (POLLIN | POLLERR | POLLHUP))
				receive_some(&streams[i]);
			if (fds[i].revents & POLLOUT)
				send_some(&streams[i]);
		}
	}
}

static int smc_socket(void)
{
	int fd = socket(AF_SMC, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	return fd;
}

static void stream_open(unsigned int i, int fd, int number)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		die("fcntl");
	streams[i] = (struct stream){ .fd = fd, .number = number };
}

static void serve(const struct sockaddr_in *addr)
{
	int listener = smc_socket(), one = 1, fd;
	unsigned int i;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (const void *)addr, sizeof(*addr)) || listen(listener, count))
		die("listen");
	for (i = 0; i < count; i++) {
		fd = accept(listener, NULL, NULL);
		if (fd < 0)
			die("accept");
		stream_open(i, fd, -1);
	}
	close(listener);
}

static void meet(const struct sockaddr_in *addr)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		int fd = smc_socket();

		if (connect(fd, (const void *)addr, sizeof(*addr)))
			die("connect");
		stream_open(i, fd, i);
	}
}

/* Connections that are no longer what they were. */
static unsigned int broken(void)
{
	unsigned int i, n = 0;
	char byte;

	for (i = 0; i < count; i++)
		n += recv(streams[i].fd, &byte, 1, 0) >= 0 || errno != EAGAIN;
	return n;
}

static void hold(void)
{
	char byte;

	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	printf("%u of %u connections broke\n", broken(), count);
}

/* The client is the first to close, and the server waits for that. */
static void close_all(void)
{
	unsigned int i;
	char byte;

	for (i = 0; i < count; i++) {
		struct pollfd fd = { streams[i].fd, POLLIN };

		if (server && (poll(&fd, 1, -1) < 0 || recv(fd.fd, &byte, 1, 0) > 0))
			die("the end of a connection");
		if (close(streams[i].fd))
			die("close");
	}
}

struct message {
	struct nlmsghdr n;
	struct genlmsghdr g;
	char attrs[256];
};

/* One attribute, a string of @len bytes; what comes back is in @m. */
static void ask(int sock, struct message *m, int type, int cmd, int attr, const void *text, int len)
{
	struct nlattr head = { NLA_HDRLEN + len, attr };
	int got;

	*m = (struct message){
		.n = { .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(head.nla_len),
		       .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.g = { .cmd = cmd, .version = 1 },
	};
	memcpy(m->attrs, &head, sizeof(head));
	memcpy(m->attrs + NLA_HDRLEN, text, len);
	if (send(sock, m, m->n.nlmsg_len, 0) < 0)
		die("netlink");
	got = recv(sock, m, sizeof(*m), 0);
	if (got < 0)
		die("netlink");
	if (m->n.nlmsg_type == NLMSG_ERROR) {
		errno = -*(int *)NLMSG_DATA(&m->n);
		if (errno)
			die("netlink");
	}
}

/* The number of the family is an attribute of the answer. */
static int family_of(const struct message *m)
{
	const char *at = m->attrs, *end = (const char *)m + m->n.nlmsg_len;
	struct nlattr head;

	for (; at + NLA_HDRLEN <= end; at += NLA_ALIGN(head.nla_len)) {
		memcpy(&head, at, sizeof(head));
		if (head.nla_type == CTRL_ATTR_FAMILY_ID)
			return *(const uint16_t *)(at + NLA_HDRLEN);
		if (!head.nla_len)
			break;
	}
	errno = ENOENT;
	die(SMC_GENL_FAMILY_NAME);
}

static int add_eid(const char *name)
{
	int sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	char eid[SMC_MAX_EID_LEN + 1];
	struct message m;
	int family;

	if (sock < 0)
		die("netlink");
	snprintf(eid, sizeof(eid), "%-*s", SMC_MAX_EID_LEN, name);
	ask(sock, &m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
	    SMC_GENL_FAMILY_NAME, sizeof(SMC_GENL_FAMILY_NAME));
	family = family_of(&m);
	close(sock);
	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	ask(sock, &m, family, SMC_NETLINK_ADD_UEID, SMC_NLA_EID_TABLE_ENTRY, eid, sizeof(eid));
	close(sock);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };

	if (argc == 3 && !strcmp(argv[1], "eid"))
		return add_eid(argv[2]);
	if (argc < 6 || !inet_aton(argv[2], &addr.sin_addr)) {
		fprintf(stderr, "usage: see the source\n");
		return 2;
	}
	server = !strcmp(argv[1], "server");
	addr.sin_port = htons(atoi(argv[3]));
	count = atoi(argv[4]);
	bytes = strtoul(argv[5], NULL, 0);
	if (!count || count > MOST_STREAMS || !bytes)
		return 2;
	signal(SIGPIPE, SIG_IGN);

	if (server)
		serve(&addr);
	else
		meet(&addr);
	carry();
	printf("%zu bytes each way on each of %u connections\n", bytes, count);
	if (argc > 6)
		hold();
	close_all();
	return 0;
}
