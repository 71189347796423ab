// SPDX-License-Identifier: GPL-2.0
/*
 * tcp: the same runs over a TCP connection, a message being as many bytes as the setting says
 *
 * What is measured beside a device is what programs do who have none: blocking calls on a socket
 * with TCP_NODELAY. The sizes are those of iperf3: one buffer of the message's size, over and over.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

/* What a READ is asked for with. */
#define REQUEST 8

static int sock = -1;
static char *data;
/* Of the end that sends; the host's own if it is empty. */
static const char *congestion = "";

/* Answered with all there is; else a ping comes back as long as it went. */
static bool is_read(const struct run *run)
{
	return run->set.op == OP_READ && run->set.ping;
}

static size_t there(const struct run *run)
{
	return is_read(run) ? REQUEST : run->set.size;
}

static bool open_tcp(const char *device)
{
	if (device[3] == ':')
		congestion = device + 4;
	data = malloc(MAX_SIZE);
	memset(data, 0x5a, MAX_SIZE);
	return true;
}

static void reset_tcp(void)
{
	if (sock >= 0)
		close(sock);
	sock = -1;
}

/* A connection of its own for every run: what the one before left in it is nobody's. */
static bool prepare_tcp(struct run *run, int control)
{
	(void)control;
	reset_tcp();
	if ((run->set.op != OP_SEND && !is_read(run)) || run->set.qps != 1 || run->set.both) {
		fail(run, "not for TCP", 0);
		return false;
	}
	sock = run->driving ? connect_data() : accept_data();
	if (sock < 0)
		fail(run, "no connection", errno);
	else if (*congestion && setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, congestion,
					   strlen(congestion)))
		fail(run, congestion, errno);
	return !run->tally.failure[0];
}

/* All of it, whatever signals come, unless the run is over. Polling: without ever sleeping. */
static bool pass(struct run *run, bool out, size_t len)
{
	int flags = (run->set.event ? 0 : MSG_DONTWAIT) | MSG_NOSIGNAL;

	for (size_t at = 0; at < len;) {
		ssize_t n = out ? send(sock, data + at, len - at, MSG_NOSIGNAL) :
				  recv(sock, data + at, len - at, flags);

		if (n > 0) {
			at += n;
			continue;
		}
		if (!n || (errno != EAGAIN && errno != EINTR)) {
			fail(run, out ? "send" : "recv", n ? errno : 0);
			return false;
		}
		if (run_over(run))
			return false;
	}
	return true;
}

static void ping_tcp(struct run *run)
{
	while (!run_over(run) && run_phase(run) < PHASE_DRAIN) {
		uint64_t begin = now_ns();

		if (!pass(run, true, there(run)) || !pass(run, false, run->set.size))
			return;
		note_delay(run, (now_ns() - begin) / (is_read(run) ? 1 : 2));
		run->sent++;
		note_phase(run);
	}
}

static void echo_tcp(struct run *run)
{
	while (!run_over(run)) {
		/* The driving end says when it is over by sending no more. */
		if (!pass(run, false, there(run)) || !pass(run, true, run->set.size))
			return;
		run->got++;
		note_phase(run);
	}
}

/* Ends by closing its side, so that the other one gets all there is and then nothing. */
static void stream_tcp(struct run *run)
{
	while (!run_over(run) && run_phase(run) < PHASE_DRAIN) {
		if (!pass(run, true, run->set.size))
			return;
		run->sent++;
		note_phase(run);
	}
	shutdown(sock, SHUT_WR);
}

/* Bytes may arrive in any portions: what counts is what has come. */
static void sink_tcp(struct run *run)
{
	uint64_t bytes = 0;

	while (!run_over(run)) {
		ssize_t n = recv(sock, data, run->set.size, 0);

		if (!n)
			return;
		if (n < 0) {
			if (errno == EINTR)
				continue;
			fail(run, "recv", errno);
			return;
		}
		bytes += n;
		run->got = bytes / run->set.size;
		note_phase(run);
	}
}

static void move_tcp(struct run *run)
{
	if (run->set.ping && run->driving)
		ping_tcp(run);
	else if (run->set.ping)
		echo_tcp(run);
	else if (run->driving)
		stream_tcp(run);
	else
		sink_tcp(run);
}

const struct carrier tcp_carrier = {open_tcp, prepare_tcp, move_tcp, reset_tcp};
