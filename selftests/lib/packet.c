// SPDX-License-Identifier: GPL-2.0
/*
 * packet - crafted packets of RoCE v2
 */
#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packet.h"

#define BODY_MOST 4200

/* IPv4, UDP and BTH, behind 8 bytes that count for the ICRC only */
struct packet {
	uint8_t dummy[8];
	struct iphdr ip;
	struct udphdr udp;
	struct { uint8_t opcode, flags; uint16_t pkey; uint32_t qpn, psn; } bth;
	uint8_t body[BODY_MOST + 4];
};

#define HEAD offsetof(struct packet, body)

static_assert(HEAD == 8 + 20 + 8 + 12, "no gaps");

static uint32_t table[256];

static void fill_table(void)
{
	uint32_t byte, crc;
	int bit;

	for (byte = 0; byte < 256; byte++) {
		crc = byte;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		table[byte] = crc;
	}
}

uint32_t packet_crc32(const uint8_t *at, size_t len)
{
	uint32_t crc = ~0U;

	if (!table[1])
		fill_table();
	for (; len; len--)
		crc = crc >> 8 ^ table[(crc ^ *at++) & 0xff];
	return ~crc;
}

/* Fields that may change on the way count as all ones (IBTA annex A17). */
uint32_t packet_icrc(const void *ip, size_t len)
{
	struct packet masked;

	assert(len >= HEAD - sizeof(masked.dummy) && len <= sizeof(masked) - sizeof(masked.dummy));
	memset(masked.dummy, 0xff, sizeof(masked.dummy));
	memcpy(&masked.ip, ip, len);
	masked.ip.tos = 0xff;
	masked.ip.ttl = 0xff;
	masked.ip.check = 0xffff;
	masked.udp.check = 0xffff;
	masked.bth.qpn |= htonl(0xff000000);
	return packet_crc32((void *)&masked, sizeof(masked.dummy) + len);
}

static uint32_t psn_word(uint32_t psn) { return htonl(psn & (PACKET_ACKREQ | 0xffffff)); }

/* Length from the IP header on, without the ICRC */
static size_t icrc_at(size_t len) { return HEAD - 8 + len + (-len & 3); }

static void make(struct conn *c, struct packet *packet, uint8_t opcode, const void *body,
		 size_t len)
{
	size_t all = icrc_at(len) + 4;
	struct pair *p = c->p;

	check(p, len + 3 <= BODY_MOST, "the test's packet has a body of %zu", len);
	check(p, !p->ipv6, "packets by hand are IPv4");
	*packet = (struct packet) {
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
			.id = htons(0x1234), .frag_off = htons(0x4000),
			.tot_len = htons(all) },
		.udp = { .source = htons(50000), .dest = htons(4791),
			 .len = htons(all - sizeof(struct iphdr)) },
		.bth = { .opcode = opcode, .flags = (-len & 3) << 4, .pkey = 0xffff,
			 .qpn = htonl(c->peer.qpn) },
	};
	inet_aton(p->own, (void *)&packet->ip.saddr);
	inet_aton(p->peer, (void *)&packet->ip.daddr);
	memcpy(packet->body, body, len);
}

static int open_socket(struct conn *c)
{
	int sock = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);

	check(c->p, sock >= 0, "a raw socket: %s", strerror(errno));
	return sock;
}

static void send_one(struct conn *c, int sock, struct packet *packet, size_t len, uint32_t icrc)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = packet->ip.daddr };
	size_t at = icrc_at(len);

	icrc = htole32(icrc);
	memcpy((uint8_t *)&packet->ip + at, &icrc, sizeof(icrc));
	if (sendto(sock, &packet->ip, at + 4, 0, (void *)&to, sizeof(to)) == (ssize_t)at + 4)
		return;
	close(sock);
	fail(c->p, "sending a packet by hand: %s", strerror(errno));
}

void packet_send(struct conn *c, uint8_t opcode, uint32_t psn, const void *body, size_t len)
{
	struct packet packet;
	int sock;

	make(c, &packet, opcode, body, len);
	packet.bth.psn = psn_word(psn);
	sock = open_socket(c);
	send_one(c, sock, &packet, len, packet_icrc(&packet.ip, icrc_at(len)));
	close(sock);
}

void packet_send_many(struct conn *c, uint8_t opcode, uint32_t psn, const void *body, size_t len,
		      uint32_t n)
{
	uint32_t base, delta[24], icrc, i;
	struct packet packet;
	int sock, bit;

	make(c, &packet, opcode, body, len);
	base = packet_icrc(&packet.ip, icrc_at(len));
	for (bit = 0; bit < 24; bit++) {
		packet.bth.psn = psn_word(1U << bit);
		delta[bit] = base ^ packet_icrc(&packet.ip, icrc_at(len));
	}
	sock = open_socket(c);
	for (i = 0; i < n; i++, psn++) {
		packet.bth.psn = psn_word(psn & 0xffffff);
		for (icrc = base, bit = 0; bit < 24; bit++)
			icrc ^= psn >> bit & 1 ? delta[bit] : 0;
		send_one(c, sock, &packet, len, icrc);
	}
	close(sock);
}
