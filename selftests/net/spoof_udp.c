// SPDX-License-Identifier: GPL-2.0
/*
 * spoof_udp - an unprivileged user cannot send packets for a queue pair by a UDP
 * socket
 *
 *	spoof_udp a|b PORT
 *
 * End a drops its privileges in a child, which sends the next packet of the
 * connection to the peer, with a valid ICRC.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <grp.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/packet.h"

#define NOBODY 65534
#define RC_SEND_ONLY 0x04
#define FORGED "sent by a user without rights..."
#define REAL "sent by the peer's queue pair..."
#define LEN sizeof(FORGED)	/* a multiple of four, with its zero */

static_assert(LEN % 4 == 1 && sizeof(REAL) == LEN, "the last byte is not sent");

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t address_of(const union ibv_gid *gid, bool ipv6, uint16_t port, union address *at)
{
	memset(at, 0, sizeof(*at));
	if (ipv6) {
		at->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
		memcpy(&at->v6.sin6_addr, gid->raw, 16);
		return sizeof(at->v6);
	}
	at->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	memcpy(&at->v4.sin_addr, gid->raw + 12, 4);
	return sizeof(at->v4);
}

/* What the kernel puts in front of it; over IPv6 the ICRC is not made. */
static void put_icrc(struct conn *c, uint16_t sport, uint8_t *bth, size_t len)
{
	struct { struct iphdr ip; struct udphdr udp; uint8_t bth[12 + LEN - 1]; } packet = {
		.ip = { .version = 4, .ihl = 5, .protocol = IPPROTO_UDP, .frag_off = htons(0x4000),
			.tot_len = htons(28 + len + 4) },
		.udp = { .source = sport, .dest = htons(4791), .len = htons(8 + len + 4) },
	};
	uint32_t icrc;

	memcpy(&packet.ip.saddr, c->own.gid.raw + 12, 4);
	memcpy(&packet.ip.daddr, c->peer.gid.raw + 12, 4);
	memcpy(packet.bth, bth, len);
	icrc = htole32(packet_icrc(&packet, 28 + len));
	memcpy(bth + len, &icrc, sizeof(icrc));
}

/* In the child: 0 when the kernel refuses to send it. */
static int inject(struct conn *c, const union ibv_gid *to)
{
	struct { uint32_t bth[3]; char body[LEN - 1]; uint32_t icrc; } packet = {
		.bth = { htonl(RC_SEND_ONLY << 24 | 0xffff), htonl(c->peer.qpn),
			 htonl(1U << 31 | c->own.psn) },
	};
	int one = 1, want = IP_PMTUDISC_DO, s;
	union address own, peer;
	socklen_t len = address_of(&c->own.gid, c->p->ipv6, 0, &own);

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return 2;
	address_of(to, c->p->ipv6, 4791, &peer);
	s = socket(own.any.sa_family, SOCK_DGRAM, 0);
	setsockopt(s, SOL_SOCKET, SO_NO_CHECK, &one, sizeof(one));
	setsockopt(s, IPPROTO_IP, IP_MTU_DISCOVER, &want, sizeof(want));
	if (s < 0 || bind(s, &own.any, len) || getsockname(s, &own.any, &len))
		return 3;
	memcpy(packet.body, FORGED, sizeof(packet.body));
	if (!c->p->ipv6)
		put_icrc(c, own.v4.sin_port, (void *)&packet, sizeof(packet) - 4);
	if (sendto(s, &packet, sizeof(packet), 0, &peer.any, len) >= 0)
		return 4;
	return errno == EPERM ? 0 : 5;
}

static void refused(struct conn *c, const union ibv_gid *to)
{
	static const char * const why[] = { "", "?", "rights cannot be dropped",
					    "no socket", "is sent", "fails in another way" };
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(inject(c, to));
	check(c->p, child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status),
	      "no child");
	check(c->p, !WEXITSTATUS(status), "%s", why[WEXITSTATUS(status) % 6]);
}

static void run_inject(struct pair *p, const void *to_self)
{
	struct conn_attr attr = conn_defaults(p);
	struct conn *c = conn_open(p, &attr);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, LEN - 1);
	struct ibv_send_wr wr = wr_send(2, &sge, 1, IBV_SEND_SIGNALED);

	if (end_b(p))
		conn_recv(c, 1, &sge, 1);
	pair_sync(p);
	if (end_a(p))
		refused(c, to_self ? &c->own.gid : &c->peer.gid);
	pair_sync(p);
	if (end_b(p))
		queue_quiet(c->recv, 50);
	pair_sync(p);
	if (end_a(p)) {
		memcpy(r->buf, REAL, LEN - 1);
		conn_send(c, &wr);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
	} else {
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
		check(p, !memcmp(r->buf, REAL, LEN - 1), "it has received %.32s", (char *)r->buf);
	}
	pair_sync(p);
}

int main(int argc, char **argv)
{
	struct pair p;
	int v6;

	pair_open(&p, argc, argv);
	for (v6 = 0; v6 < 2; v6++) {
		pair_family(&p, v6);
		pair_case(&p, run_inject, NULL,
			  "a UDP socket cannot send RoCE packets to the peer over IPv%d",
			  v6 ? 6 : 4);
		pair_case(&p, run_inject, &p,
			  "a UDP socket cannot send RoCE packets to the host itself over IPv%d",
			  v6 ? 6 : 4);
	}
	return pair_close(&p);
}
