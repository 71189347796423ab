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

#define BODY_MOST 1200

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

void packet_send(struct conn *c, uint8_t opcode, uint32_t psn, const void *body, size_t len)
{
	size_t pad = -len & 3;
	/* From the IP header on, with the ICRC. */
	size_t all = HEAD - 8 + len + pad + 4;
	struct packet packet = {
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
			.id = htons(0x1234), .frag_off = htons(0x4000),
			.tot_len = htons(all) },
		.udp = { .source = htons(50000), .dest = htons(4791),
			 .len = htons(all - sizeof(struct iphdr)) },
		.bth = { .opcode = opcode, .flags = pad << 4, .pkey = 0xffff,
			 .qpn = htonl(c->peer.qpn),
			 .psn = htonl(psn & (PACKET_ACKREQ | 0xffffff)) },
	};
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct pair *p = c->p;
	uint32_t icrc;
	ssize_t sent;
	int sock;

	check(p, len + pad <= BODY_MOST, "the test's packet has a body of %zu", len);
	check(p, !p->ipv6, "packets by hand are IPv4");
	sock = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	check(p, sock >= 0, "a raw socket: %s", strerror(errno));
	inet_aton(p->own, (void *)&packet.ip.saddr);
	inet_aton(p->peer, (void *)&packet.ip.daddr);
	to.sin_addr.s_addr = packet.ip.daddr;
	memcpy(packet.body, body, len);
	icrc = htole32(packet_icrc(&packet.ip, all - sizeof(icrc)));
	memcpy(packet.body + len + pad, &icrc, sizeof(icrc));
	sent = sendto(sock, &packet.ip, all, 0, (void *)&to, sizeof(to));
	close(sock);
	check(p, sent == (ssize_t)all, "sending a packet by hand: %s", strerror(errno));
}
