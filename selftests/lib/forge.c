// SPDX-License-Identifier: GPL-2.0
/*
 * forge - packets of a connection that its own device did not send
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "forge.h"
#include "pattern.h"

enum { RC_SEND_ONLY = 0x04, RC_READ_REQUEST = 0x0c, ROCE_PORT = 4791, MOST = 1024 };

struct bth {
	uint8_t opcode, flags;
	uint16_t pkey;
	uint32_t qpn, psn;
} __attribute__((packed));

struct reth {
	uint64_t addr;
	uint32_t rkey, len;
} __attribute__((packed));

struct packet {
	struct iphdr ip;
	struct udphdr udp;
	struct bth bth;
	uint8_t rest[MOST + 4];
} __attribute__((packed));

static int undo_forge(void *what)
{
	struct forge *f = what;
	int error = close(f->sock);

	free(f);
	return error;
}

struct forge *forge_new(struct conn *c)
{
	struct forge *f = calloc(1, sizeof(*f));

	check(c->p, f, "out of memory");
	check(c->p, !c->p->ipv6, "forged packets are IPv4");
	f->p = c->p;
	f->c = c;
	f->sock = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	check(c->p, f->sock >= 0, "a raw socket: %s", strerror(errno));
	undo_later(c->p, undo_forge, f, "close");
	return f;
}

static uint32_t crc32(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *byte = data;
	int bit;

	while (len--) {
		crc ^= *byte++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/* Eight bytes of ones, and ones where routers may write (IBTA A17.3.2). */
static uint32_t icrc(const struct packet *packet, size_t len)
{
	struct packet masked = *packet;
	uint64_t ones = ~0ULL;

	masked.ip.tos = 0xff;
	masked.ip.ttl = 0xff;
	masked.ip.check = 0xffff;
	masked.udp.check = 0xffff;
	masked.bth.qpn |= htonl(0xff000000);
	return ~crc32(crc32(~0U, &ones, sizeof(ones)), &masked, len);
}

static void forge(struct forge *f, uint8_t opcode, uint32_t psn, const void *rest, size_t len)
{
	static uint16_t id = 1;
	struct sockaddr_in to = { .sin_family = AF_INET };
	size_t pad = -len & 3, at = offsetof(struct packet, rest) + len + pad;
	struct packet packet = {
		.ip = {
			.version = 4, .ihl = 5, .tot_len = htons(at + 4), .id = htons(id++ | 1),
			.frag_off = htons(IP_DF), .ttl = 64, .protocol = IPPROTO_UDP,
		},
		.udp = {
			.source = htons(0xc000), .dest = htons(ROCE_PORT),
			.len = htons(at + 4 - sizeof(struct iphdr)),
		},
		.bth = {
			.opcode = opcode, .flags = 0x40 | pad << 4, .pkey = 0xffff,
			.qpn = htonl(f->c->peer.qpn), .psn = htonl(psn | 1U << 31),
		},
	};
	uint32_t sum;

	check(f->p, len + pad <= MOST, "%zu bytes are too many", len);
	memcpy(packet.rest, rest, len);
	inet_pton(AF_INET, f->p->own, &packet.ip.saddr);
	inet_pton(AF_INET, f->p->peer, &packet.ip.daddr);
	to.sin_addr.s_addr = packet.ip.daddr;
	sum = htole32(icrc(&packet, at));
	memcpy((uint8_t *)&packet + at, &sum, sizeof(sum));
	check(f->p, sendto(f->sock, &packet, at + 4, 0, (void *)&to, sizeof(to)) == (ssize_t)at + 4,
	      "sendto: %s", strerror(errno));
}

void forge_read(struct forge *f, uint32_t psn, uint64_t addr, uint32_t rkey, uint32_t len)
{
	struct reth reth = { htobe64(addr), htonl(rkey), htonl(len) };

	forge(f, RC_READ_REQUEST, psn, &reth, sizeof(reth));
}

void forge_send(struct forge *f, uint32_t psn, const void *data, size_t len)
{
	forge(f, RC_SEND_ONLY, psn, data, len);
}
