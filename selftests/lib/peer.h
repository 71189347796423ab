/* SPDX-License-Identifier: GPL-2.0 */
/*
 * peer - a peer whose packets are crafted by the test; packets to it are read from a
 * packet socket
 *
 * No host has the peer's addresses. The packet socket is on end b's interface and is
 * opened by end a's program, so both ends have to be on one machine (topology
 * single). The script of the test sets the peer's Ethernet address at end a.
 */
#ifndef ROVER_SELFTEST_PEER_H
#define ROVER_SELFTEST_PEER_H

#include "conn.h"

/* Addresses of the peer; crafted.sh has them too. */
#define PEER_IP		"10.77.0.99"
#define PEER_IP6	"fd77::99"
#define PEER_MAC	{ 0x02, 0x00, 0x5e, 0x77, 0x00, 0x99 }

enum peer_net { PEER_IPV4, PEER_IPV6, PEER_V1, PEER_NETS };

/* Base transport header, in host order. */
struct peer_bth {
	uint8_t opcode, flags;
	uint16_t pkey;
	uint32_t qpn, psn;
};

#define PEER_SE		0x80
#define PEER_MIG	0x40
#define PEER_ACKREQ	(1U << 31)
#define PEER_SACK	(1U << 30)	/* in the word of the PSN: understands selective ACKs */
#define PEER_FECN	(1U << 31)
#define PEER_BECN	(1U << 30)

/* Changes to a packet before it is sent */
#define PEER_BAD_ICRC	1	/* one bit is wrong */
#define PEER_BAD_SOURCE	2	/* sent from another address, with a valid ICRC */
#define PEER_MARKED	4	/* marked by a router: congestion experienced */

/**
 * struct peer - the peer and its socket
 * @net: kind of its packets: RoCE v2 over IPv4 or IPv6, or v1
 * @gid: GID of the peer; @to: GID of the device
 * @bth: BTH of the last packet received; @body: bytes behind it, without pad and ICRC
 */
struct peer {
	struct pair *p;
	enum peer_net net;
	union ibv_gid gid, to;
	struct peer_bth bth;
	const uint8_t *body;
	size_t len;

	/* private to peer.c */
	int sock;
	uint8_t mac[6], to_mac[6], frame[10000];
};

void peer_open(struct peer *peer, struct pair *p, enum peer_net net);
void peer_close(struct peer *peer);

/*
 * Send a packet with @body behind the BTH, and a valid ICRC.  @body includes the pad.
 */
void peer_send(struct peer *peer, const struct peer_bth *bth, const void *body, size_t len,
	       unsigned int spoil);

/*
 * Wait at most @ms for the next packet; fail unless it is well-formed, comes from the
 * device and has a valid ICRC.
 */
bool peer_next(struct peer *peer, unsigned int ms);

#endif /* ROVER_SELFTEST_PEER_H */
