// SPDX-License-Identifier: GPL-2.0
/*
 * frame - crafted frames of RoCE v1
 */
#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"
#include "netdev.h"
#include "packet.h"

#define ETHERTYPE 0x8915
#define NEXT_BTH 0x1b

static_assert(offsetof(struct frame, body) == 40 + 12, "no gaps");

static uint8_t peer_mac[6];

/* Fields that may change on the way count as all ones, as do 8 bytes for InfiniBand's LRH. */
void frame_sum(struct frame *f)
{
	struct { uint8_t dummy[8]; struct frame f; } masked = { .f = *f };
	uint32_t icrc;

	memset(masked.dummy, 0xff, sizeof(masked.dummy));
	masked.f.grh.ip6_flow |= htonl(0x0fffffff);
	masked.f.grh.ip6_hlim = 0xff;
	masked.f.bth.qpn |= htonl(0xff000000);
	icrc = htole32(packet_crc32((void *)&masked, 8 + f->len - 4));
	memcpy((uint8_t *)f + f->len - 4, &icrc, sizeof(icrc));
}

void frame_make(struct conn *c, struct frame *f, uint8_t opcode, uint32_t psn, const void *body,
		size_t len)
{
	size_t pad = -len & 3, behind = sizeof(f->bth) + len + pad + 4;

	check(c->p, len + pad + 4 <= FRAME_ROOM, "the test's frame has a body of %zu", len);
	*f = (struct frame){
		.grh.ip6_flow = htonl(6U << 28),
		.grh.ip6_plen = htons(behind),
		.grh.ip6_nxt = NEXT_BTH,
		.grh.ip6_hlim = 1,
		.bth = { .opcode = opcode, .flags = pad << 4, .pkey = 0xffff,
			 .qpn = htonl(c->peer.qpn),
			 .psn = htonl(psn & (PACKET_ACKREQ | 0xffffff)) },
		.len = sizeof(f->grh) + behind,
	};
	memcpy(&f->grh.ip6_src, &c->own.gid, 16);
	memcpy(&f->grh.ip6_dst, &c->peer.gid, 16);
	memcpy(f->body, body, len);
	frame_sum(f);
}

void frame_meet(struct pair *p)
{
	uint8_t own[6];

	netdev_meet(p, own, peer_mac);
}

void frame_send(struct conn *c, const struct frame *f, size_t len)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETHERTYPE), .sll_halen = 6,
		.sll_ifindex = if_nametoindex(netdev_name(c->p)),
	};
	/* For sending only */
	int sock = socket(AF_PACKET, SOCK_DGRAM, 0);
	ssize_t sent;

	check(c->p, sock >= 0, "a packet socket: %s", strerror(errno));
	memcpy(to.sll_addr, peer_mac, 6);
	sent = sendto(sock, f, len, 0, (void *)&to, sizeof(to));
	close(sock);
	check(c->p, sent == (ssize_t)len, "sending a frame by hand: %s", strerror(errno));
}
