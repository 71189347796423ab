// SPDX-License-Identifier: GPL-2.0
/*
 * peer - a peer whose packets are crafted by the test; packets to it are read from a
 * packet socket
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netdev.h"
#include "packet.h"
#include "peer.h"

#define ROCE_PORT	4791
#define ROCE_V1		0x8915
#define GRH_NEXT_BTH	0x1b
#define BTH_BYTES	12
#define ICRC_BYTES	4

/* ---- the socket ---- */

/* A socket stays in the namespace in which it was created. */
static int socket_in(const char *path)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int other = open(path, O_RDONLY | O_CLOEXEC);
	int sock = -1;

	if (own >= 0 && other >= 0 && !setns(other, CLONE_NEWNET)) {
		sock = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
		if (setns(own, CLONE_NEWNET))
			exit(1);
	}
	close(own);
	close(other);
	return sock;
}

static int index_of(int sock, const char *ndev)
{
	struct ifreq wanted = {};

	snprintf(wanted.ifr_name, IFNAMSIZ, "%s", ndev);
	return ioctl(sock, SIOCGIFINDEX, &wanted) ? 0 : wanted.ifr_ifindex;
}

static int socket_at_b(struct pair *p)
{
	const char *ndev = getenv("NDEV_B");
	struct sockaddr_ll own = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	struct packet_mreq promisc = { .mr_type = PACKET_MR_PROMISC };
	char path[64], pid[16] = "";
	int room = 8 << 20, sock;
	FILE *file;

	file = fopen("/run/lab/b.pid", "r");
	check(p, file && fgets(pid, sizeof(pid), file), "end b is not in this guest");
	fclose(file);
	pid[strcspn(pid, "\n")] = 0;
	snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	sock = socket_in(path);
	check(p, sock >= 0, "a packet socket in %s: %s", path, strerror(errno));
	own.sll_ifindex = index_of(sock, ndev);
	promisc.mr_ifindex = own.sll_ifindex;
	check(p, !bind(sock, (void *)&own, sizeof(own)) &&
	      !setsockopt(sock, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc, sizeof(promisc)) &&
	      !setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)),
	      "a packet socket at %s: %s", ndev, strerror(errno));
	return sock;
}

static void read_mac(struct pair *p, uint8_t mac[6])
{
	char line[64] = "", path[128];
	unsigned int at[6], i;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", netdev_name(p));
	file = fopen(path, "r");
	check(p, file && fgets(line, sizeof(line), file), "%s: %s", path, strerror(errno));
	fclose(file);
	check(p, sscanf(line, "%x:%x:%x:%x:%x:%x", at, at + 1, at + 2, at + 3, at + 4, at + 5) == 6,
	      "no Ethernet address: %s", line);
	for (i = 0; i < 6; i++)
		mac[i] = at[i];
}

void peer_open(struct peer *peer, struct pair *p, enum peer_net net)
{
	static const uint8_t mac[6] = PEER_MAC;

	*peer = (struct peer){ .p = p, .net = net };
	p->v1 = net == PEER_V1;
	pair_family(p, net == PEER_IPV6);
	peer->to = p->gid;
	peer->gid = (union ibv_gid){ .raw = { [10] = 0xff, [11] = 0xff } };
	if (net == PEER_IPV6)
		inet_pton(AF_INET6, PEER_IP6, peer->gid.raw);
	else
		inet_pton(AF_INET, PEER_IP, peer->gid.raw + 12);
	memcpy(peer->mac, mac, 6);
	read_mac(p, peer->to_mac);
	peer->sock = socket_at_b(p);
}

void peer_close(struct peer *peer)
{
	close(peer->sock);
}

/* ---- layers ---- */

struct ipv4_udp { struct iphdr ip; struct udphdr udp; };
struct ipv6_udp { struct ip6_hdr ip; struct udphdr udp; };

static size_t l3_bytes(enum peer_net net)
{
	static const size_t bytes[PEER_NETS] = {
		[PEER_IPV4] = sizeof(struct ipv4_udp),
		[PEER_IPV6] = sizeof(struct ipv6_udp),
		[PEER_V1] = sizeof(struct ip6_hdr),
	};

	return bytes[net];
}

/* Fields that may change on the way count as all ones (IBTA annexes A16 and A17). */
static uint32_t icrc_of(enum peer_net net, const uint8_t *l3, size_t len)
{
	uint8_t masked[10000];
	struct ipv4_udp *v4 = (void *)(masked + 8);
	struct ipv6_udp *v6 = (void *)(masked + 8);

	memset(masked, 0xff, 8);
	memcpy(masked + 8, l3, len);
	if (net == PEER_IPV4) {
		v4->ip.tos = 0xff;
		v4->ip.ttl = 0xff;
		v4->ip.check = 0xffff;
		v4->udp.check = 0xffff;
	} else {
		v6->ip.ip6_flow |= htonl(0x0fffffff);
		v6->ip.ip6_hlim = 0xff;
		if (net == PEER_IPV6)
			v6->udp.check = 0xffff;
	}
	masked[8 + l3_bytes(net) + 4] = 0xff;
	return packet_crc32(masked, 8 + len);
}

static uint16_t ones_sum(uint32_t sum, const void *data, size_t len)
{
	const uint8_t *at = data;

	for (; len > 1; len -= 2, at += 2)
		sum += at[0] << 8 | at[1];
	if (len)
		sum += *at << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void put_ipv4(struct peer *peer, uint8_t *l3, size_t len, unsigned int spoil)
{
	struct ipv4_udp *v4 = (void *)l3;

	*v4 = (struct ipv4_udp){
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
			.id = htons(0x1234), .frag_off = htons(0x4000), .tot_len = htons(len),
			.tos = spoil & PEER_MARKED ? 3 : 2 },
		.udp = { .source = htons(50000), .dest = htons(ROCE_PORT),
			 .len = htons(len - sizeof(v4->ip)) },
	};
	memcpy(&v4->ip.saddr, peer->gid.raw + 12, 4);
	memcpy(&v4->ip.daddr, peer->to.raw + 12, 4);
	if (spoil & PEER_BAD_SOURCE)
		v4->ip.saddr ^= htonl(1);
	v4->ip.check = htons(ones_sum(0, &v4->ip, sizeof(v4->ip)));
}

/* Also a GRH, which has the layout of an IPv6 header. */
static void put_ipv6(struct peer *peer, uint8_t *l3, size_t len, unsigned int spoil)
{
	struct ipv6_udp *v6 = (void *)l3;
	uint32_t ecn = spoil & PEER_MARKED ? 3 : 2;
	bool v1 = peer->net == PEER_V1;

	v6->ip = (struct ip6_hdr){ .ip6_flow = htonl(6U << 28 | ecn << 20) };
	v6->ip.ip6_plen = htons(len - sizeof(v6->ip));
	v6->ip.ip6_nxt = v1 ? GRH_NEXT_BTH : IPPROTO_UDP;
	v6->ip.ip6_hlim = 64;
	memcpy(&v6->ip.ip6_src, &peer->gid, 16);
	memcpy(&v6->ip.ip6_dst, &peer->to, 16);
	if (spoil & PEER_BAD_SOURCE)
		v6->ip.ip6_src.s6_addr[15] ^= 1;
	if (!v1)
		v6->udp = (struct udphdr){ .source = htons(50000), .dest = htons(ROCE_PORT),
					   .len = v6->ip.ip6_plen };
}

static void sum_udp(struct ipv6_udp *v6)
{
	uint16_t len = ntohs(v6->udp.len);
	uint32_t pseudo = len + IPPROTO_UDP;

	pseudo += (uint16_t)~ones_sum(0, &v6->ip.ip6_src, 32);
	v6->udp.check = htons(ones_sum(pseudo, &v6->udp, len));
}

void peer_send(struct peer *peer, const struct peer_bth *bth, const void *body, size_t len,
	       unsigned int spoil)
{
	static const uint16_t types[PEER_NETS] = { ETHERTYPE_IP, ETHERTYPE_IPV6, ROCE_V1 };
	struct { uint8_t opcode, flags; uint16_t pkey; uint32_t qpn, psn; } head = {
		bth->opcode, bth->flags, htons(bth->pkey), htonl(bth->qpn), htonl(bth->psn),
	};
	size_t l3 = l3_bytes(peer->net), all = l3 + BTH_BYTES + len + ICRC_BYTES;
	struct ether_header *ether = (void *)peer->frame;
	uint8_t *at = peer->frame + sizeof(*ether);
	uint32_t icrc;
	ssize_t sent;

	check(peer->p, all + sizeof(*ether) <= sizeof(peer->frame), "a packet of %zu bytes", all);
	memcpy(ether->ether_dhost, peer->to_mac, 6);
	memcpy(ether->ether_shost, peer->mac, 6);
	ether->ether_type = htons(types[peer->net]);
	if (peer->net == PEER_IPV4)
		put_ipv4(peer, at, all, spoil);
	else
		put_ipv6(peer, at, all, spoil);
	memcpy(at + l3, &head, BTH_BYTES);
	memcpy(at + l3 + BTH_BYTES, body, len);
	icrc = htole32(icrc_of(peer->net, at, all - ICRC_BYTES));
	if (spoil & PEER_BAD_ICRC)
		icrc ^= 0x100;
	memcpy(at + all - ICRC_BYTES, &icrc, ICRC_BYTES);
	if (peer->net == PEER_IPV6)
		sum_udp((void *)at);
	sent = send(peer->sock, peer->frame, sizeof(*ether) + all, 0);
	check(peer->p, sent > 0, "sending a packet by hand: %s", strerror(errno));
}

/* ---- receiving ---- */

/* Length of the packet from its IP header or GRH on; 0 if it is no RoCE packet. */
static size_t check_l3(struct peer *peer, const uint8_t *l3, uint16_t type, size_t len)
{
	const struct ipv4_udp *v4 = (const void *)l3;
	const struct ipv6_udp *v6 = (const void *)l3;
	struct pair *p = peer->p;

	if (type == ETHERTYPE_IP && v4->ip.protocol == IPPROTO_UDP &&
	    v4->udp.dest == htons(ROCE_PORT)) {
		check(p, peer->net == PEER_IPV4 && v4->ip.ihl == 5 &&
		      ntohs(v4->ip.tot_len) <= len &&
		      !ones_sum(0, &v4->ip, 20) &&
		      ntohs(v4->udp.len) + sizeof(v4->ip) == ntohs(v4->ip.tot_len) &&
		      !memcmp(&v4->ip.saddr, peer->to.raw + 12, 4) &&
		      !memcmp(&v4->ip.daddr, peer->gid.raw + 12, 4),
		      "a packet with a bad IP header");
		return ntohs(v4->ip.tot_len);
	}
	if ((type == ETHERTYPE_IPV6 && v6->ip.ip6_nxt == IPPROTO_UDP &&
	     v6->udp.dest == htons(ROCE_PORT)) || type == ROCE_V1) {
		check(p, peer->net == (type == ROCE_V1 ? PEER_V1 : PEER_IPV6) &&
		      ntohs(v6->ip.ip6_plen) + sizeof(v6->ip) <= len &&
		      v6->ip.ip6_nxt == (type == ROCE_V1 ? GRH_NEXT_BTH : IPPROTO_UDP) &&
		      !memcmp(&v6->ip.ip6_src, &peer->to, 16) &&
		      !memcmp(&v6->ip.ip6_dst, &peer->gid, 16), "a packet with a bad header");
		return ntohs(v6->ip.ip6_plen) + sizeof(v6->ip);
	}
	return 0;
}

static void check_packet(struct peer *peer, const uint8_t *l3, size_t len)
{
	size_t head = l3_bytes(peer->net) + BTH_BYTES, pad;
	const uint8_t *bth = l3 + head - BTH_BYTES;
	struct pair *p = peer->p;
	uint32_t icrc, word;

	check(p, len >= head + ICRC_BYTES, "a packet of %zu bytes", len);
	icrc = htole32(icrc_of(peer->net, l3, len - ICRC_BYTES));
	check(p, !memcmp(l3 + len - ICRC_BYTES, &icrc, ICRC_BYTES),
	      "a packet with opcode 0x%02x and a wrong ICRC", bth[0]);
	pad = bth[1] >> 4 & 3;
	check(p, len % 4 == 0 && len >= head + pad + ICRC_BYTES, "%zu bytes with a pad of %zu", len,
	      pad);
	peer->bth = (struct peer_bth){ .opcode = bth[0], .flags = bth[1],
				       .pkey = bth[2] << 8 | bth[3] };
	memcpy(&word, bth + 4, 4);
	peer->bth.qpn = ntohl(word);
	memcpy(&word, bth + 8, 4);
	peer->bth.psn = ntohl(word);
	/* 0x40000000 announces selective acknowledgments: wire/sack.h of the driver. */
	check(p, !(bth[1] & 0x0f) && peer->bth.pkey == 0xffff && !(peer->bth.psn & 0x3f000000) &&
	      !(peer->bth.qpn & 0x3f000000), "a BTH with TVer, P_Key or reserved bits wrong");
	peer->body = l3 + head;
	peer->len = len - head - pad - ICRC_BYTES;
}

bool peer_next(struct peer *peer, unsigned int ms)
{
	const struct ether_header *ether = (void *)peer->frame;
	struct pollfd fds = { peer->sock, POLLIN };
	uint64_t until = now_ms() + ms;
	struct sockaddr_ll from;
	socklen_t room;
	ssize_t got;
	size_t len;

	do {
		room = sizeof(from);
		got = recvfrom(peer->sock, peer->frame, sizeof(peer->frame),
			       MSG_DONTWAIT | MSG_TRUNC, (void *)&from, &room);
		if (got < 0) {
			poll(&fds, 1, until > now_ms() ? until - now_ms() : 0);
			continue;
		}
		if (from.sll_pkttype == PACKET_OUTGOING || memcmp(ether->ether_dhost, peer->mac, 6))
			continue;
		check(peer->p, got <= (ssize_t)sizeof(peer->frame), "a frame of %zd bytes", got);
		len = check_l3(peer, peer->frame + sizeof(*ether), ntohs(ether->ether_type),
			       got - sizeof(*ether));
		if (!len)
			continue;
		check_packet(peer, peer->frame + sizeof(*ether), len);
		return true;
	} while (got >= 0 || now_ms() < until);
	return false;
}
