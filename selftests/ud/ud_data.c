// SPDX-License-Identifier: GPL-2.0
/*
 * ud_data - datagrams carry data, and the address of the sender
 *
 *	ud_data a|b PORT [GROUP...]	see main() for the groups
 *
 * UD promises neither that a datagram arrives nor an order. On this network,
 * with a receive posted for each, they all arrive.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes of a receive, gaps included, that a datagram of any size fits in. */
#define ROOM 4608

/* Receives that may be outstanding in a case that sends many. */
#define BATCH 16

struct shape {
	bool extended, inlined, imm;
	int from, to;		/* pieces */
};

static uint32_t mtu_of(struct pair *p)
{
	return 128U << p->port.active_mtu;
}

/* What a completion of a datagram has to say. */
static void judge_wc(struct conn *c, const struct ibv_wc *wc, uint64_t wr_id, uint32_t size,
		     uint32_t src_qpn)
{
	struct pair *p = c->p;

	check(p, wc->status == IBV_WC_SUCCESS, "receive %llu: %s", (unsigned long long)wc->wr_id,
	      ibv_wc_status_str(wc->status));
	check(p, wc->wr_id == wr_id && wc->opcode == IBV_WC_RECV && wc->qp_num == c->qp->qp_num,
	      "receive %llu, opcode %d, of QP 0x%x, where %llu should be",
	      (unsigned long long)wc->wr_id, wc->opcode, wc->qp_num, (unsigned long long)wr_id);
	check(p, wc->byte_len == size + GRH_BYTES, "byte_len %u for %u bytes and %u of header",
	      wc->byte_len, size, GRH_BYTES);
	check(p, wc->wc_flags & IBV_WC_GRH, "wc_flags 0x%x do not speak of a GRH", wc->wc_flags);
	check(p, wc->src_qp == src_qpn, "src_qp 0x%x, not 0x%x", wc->src_qp, src_qpn);
	/* Over UDP 8; IPv6 1, IPv4 2. rdma_rxe does not tell. */
	check(p, !wc->slid && wc->sl == (p->rxe || p->v1 ? 0 : p->ipv6 ? 9 : 10) &&
	      !wc->dlid_path_bits && !wc->pkey_index,
	      "slid %u, sl %u, dlid_path_bits %u, pkey_index %u", wc->slid, wc->sl,
	      wc->dlid_path_bits, wc->pkey_index);
}

static uint16_t ip_checksum(const void *header)
{
	const uint16_t *word = header;
	uint32_t sum = 0;
	int i;

	for (i = 0; i < 10; i++)
		sum += word[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

/*
 * What the lab's hosts give packets: the kernel's core sets the hop limit of an
 * address handle to that of the route, whatever the program has asked for.
 */
#define HOPS 64

/* RoCE v1: the GRH itself, in which the traffic class is whole and IPv4 a GID like any other. */
static void judge_v1(struct pair *p, const uint8_t *grh, const union ibv_gid *from,
		     const union ibv_gid *to, const struct ibv_global_route *route, uint32_t len)
{
	const struct ip6_hdr *ip6 = (const void *)grh;
	uint32_t flow = ntohl(ip6->ip6_flow);

	check(p, flow >> 28 == 6 && ip6->ip6_nxt == 0x1b, "no GRH: %08x, next %u", flow,
	      ip6->ip6_nxt);
	check(p, ntohs(ip6->ip6_plen) == len, "payload length %u, not %u", ntohs(ip6->ip6_plen),
	      len);
	check(p, !memcmp(&ip6->ip6_src, from, 16) && !memcmp(&ip6->ip6_dst, to, 16),
	      "wrong addresses in the GRH");
	check(p, ip6->ip6_hlim && (flow >> 20 & 0xff) == route->traffic_class &&
	      (flow & 0xfffff) == route->flow_label, "hop limit %u, first word %08x",
	      ip6->ip6_hlim, flow);
}

/* The header in front of the data: IBTA annex A17 for both families. */
static void judge_grh(struct pair *p, const uint8_t *grh, const union ibv_gid *from,
		      const union ibv_gid *to, const struct ibv_global_route *route, uint32_t size)
{
	/* UDP, BTH, DETH, payload, pad, ICRC. */
	uint32_t len = 8 + 12 + 8 + ((size + 3) & ~3U) + 4;
	const struct iphdr *ip4 = (const void *)(grh + 20);
	const struct ip6_hdr *ip6 = (const void *)grh;

	if (p->v1) {
		judge_v1(p, grh, from, to, route, len - 8);
		return;
	}
	if (p->ipv6) {
		uint32_t flow = ntohl(ip6->ip6_flow);

		check(p, flow >> 28 == 6 && ip6->ip6_nxt == 17, "no IPv6 header: %08x, next %u",
		      flow, ip6->ip6_nxt);
		check(p, ntohs(ip6->ip6_plen) == len, "payload length %u, not %u",
		      ntohs(ip6->ip6_plen), len);
		check(p, !memcmp(&ip6->ip6_src, from, 16) && !memcmp(&ip6->ip6_dst, to, 16),
		      "wrong addresses in the GRH");
		check(p, ip6->ip6_hlim == HOPS && (flow >> 20 & 0xfc) ==
		      (route->traffic_class & 0xfc) && (flow & 0xfffff) == route->flow_label,
		      "hop limit %u, first word %08x", ip6->ip6_hlim, flow);
		return;
	}
	check(p, ip4->version == 4 && ip4->ihl == 5 && ip4->protocol == 17 && !ip_checksum(ip4),
	      "no IPv4 header: version %u, ihl %u, protocol %u, sum %04x", ip4->version, ip4->ihl,
	      ip4->protocol, ip_checksum(ip4));
	check(p, ntohs(ip4->tot_len) == len + 20, "length %u, not %u", ntohs(ip4->tot_len),
	      len + 20);
	check(p, !memcmp(&ip4->saddr, from->raw + 12, 4) && !memcmp(&ip4->daddr, to->raw + 12, 4),
	      "wrong addresses in the GRH");
	check(p, ip4->ttl == HOPS && (ip4->tos & 0xfc) == (route->traffic_class & 0xfc),
	      "TTL %u, TOS 0x%x", ip4->ttl, ip4->tos);
}

/* A buffer cut into n pieces of odd lengths; the last has all that is left. */
static int cut(const struct region *r, size_t at, uint32_t len, int n, struct ibv_sge *sge)
{
	uint32_t piece = len / n | 1;
	int i;

	for (i = 0; i < n - 1 && piece < len; i++, at += piece, len -= piece)
		sge[i] = sge_of(r, at, piece);
	sge[i] = sge_of(r, at, len);
	return i + 1;
}

static int sizes_of(struct pair *p, uint32_t *sizes)
{
	uint32_t m = mtu_of(p);
	const uint32_t all[] = { 0, 1, 2, 3, 4, 5, 8, 63, 64, 511, 512, 513, 1023, 1024,
				 2047, 2049, m - 1, m };
	unsigned int i;
	int n = 0;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] <= m)
			sizes[n++] = all[i];
	return n;
}

static void send_sizes(struct conn *c, struct region *r, const struct shape *shape,
		       const uint32_t *sizes, int n)
{
	struct ibv_sge sge[32];
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < n; i++) {
		unsigned int flags = shape->inlined ? IBV_SEND_INLINE : 0;

		pattern_fill(r->buf + i * ROOM, sizes[i], i + 1);
		wr = wr_dgram(c, i, sge, cut(r, i * ROOM, sizes[i], shape->from, sge),
			      flags | IBV_SEND_SIGNALED);
		if (shape->imm) {
			wr.opcode = IBV_WR_SEND_WITH_IMM;
			wr.imm_data = htonl(0xabcd0000 + i);
		}
		conn_send(c, &wr);
		/* Inline data is the program's again at once, other with the completion. */
		if (!shape->inlined)
			queue_want(c->send, i, IBV_WC_SUCCESS);
		memset(r->buf + i * ROOM, 0xee, sizes[i]);
		if (shape->inlined)
			queue_want(c->send, i, IBV_WC_SUCCESS);
	}
}

static void judge_sizes(struct conn *c, struct region *r, const struct shape *shape,
			const uint32_t *sizes, int n)
{
	struct ibv_global_route route = { 0 };
	uint8_t *want = malloc(ROOM);
	struct ibv_wc wc;
	size_t at;
	int i;

	for (i = 0; i < n; i++) {
		const uint8_t *got = r->buf + i * ROOM;

		queue_next(c->recv, &wc);
		judge_wc(c, &wc, i, sizes[i], c->peer.qpn);
		check(c->p, !(wc.wc_flags & IBV_WC_WITH_IMM) == !shape->imm, "wc_flags 0x%x",
		      wc.wc_flags);
		if (shape->imm)
			check(c->p, wc.imm_data == htonl(0xabcd0000 + i), "immediate data 0x%x",
			      ntohl(wc.imm_data));
		judge_grh(c->p, got, &c->peer.gid, &c->own.gid, &route,
			  sizes[i] + 4 * shape->imm);
		memset(want, 0x55, ROOM);
		pattern_fill(want, sizes[i], i + 1);
		at = pattern_differ(got + GRH_BYTES, want, ROOM - GRH_BYTES);
		check(c->p, at == ROOM - GRH_BYTES, "%u bytes are wrong at byte %zu: %s", sizes[i],
		      at, pattern_show(got + GRH_BYTES, want, at, ROOM - GRH_BYTES));
	}
	free(want);
}

/* All sizes in this shape, from a to b or, over IPv6, from b to a. */
static void run_sizes(struct pair *p, const void *data)
{
	const struct shape *shape = data;
	struct conn_attr attr = dgram_defaults(p);
	struct ibv_sge sge[32];
	uint32_t sizes[32];
	int i, n = sizes_of(p, sizes);
	struct region *r = region_new(p, n * ROOM, ALL_ACCESS);
	struct conn *c;

	attr.extended = shape->extended;
	attr.send_sge = shape->from;
	attr.recv_sge = shape->to;
	if (shape->inlined) {
		attr.inline_data = 64;
		while (n && sizes[n - 1] > 64)
			n--;
	}
	c = conn_open(p, &attr);
	memset(r->buf, 0x55, r->len);
	if (end_b(p) != p->ipv6)
		for (i = 0; i < n; i++)
			conn_recv(c, i, sge,
				  cut(r, i * ROOM, mtu_of(p) + GRH_BYTES, shape->to, sge));
	pair_sync(p);
	if (end_b(p) == p->ipv6)
		send_sizes(c, r, shape, sizes, n);
	else
		judge_sizes(c, r, shape, sizes, n);
}

static void all_sizes(struct pair *p)
{
	static const struct shape shapes[] = {
		{ false, false, false, 1, 1 },
		{ true, false, true, 1, 1 },
		{ false, false, true, 3, 2 },
		{ true, false, false, 4, 7 },
		{ false, true, false, 2, 1 },
		{ true, true, true, 1, 3 },
	};
	unsigned int i, ipv6;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		pair_family(p, ipv6);
		for (i = 0; i < ARRAY_SIZE(shapes); i++)
			pair_case(p, run_sizes, &shapes[i],
				  "%s: %sSEND%s of all sizes%s, %d pieces to %d",
				  ipv6 ? "IPv6" : "IPv4", shapes[i].inlined ? "inline " : "",
				  shapes[i].imm ? "_IMM" : "",
				  shapes[i].extended ? " by ibv_wr_*()" : "", shapes[i].from,
				  shapes[i].to);
	}
	pair_family(p, false);
}

/* ---- the header in front ---- */

static void run_route(struct pair *p, const void *arg)
{
	static const struct ibv_global_route routes[] = {
		{ .hop_limit = 0 },
		{ .hop_limit = 1, .traffic_class = 0x68, .flow_label = 0x12345 },
		{ .hop_limit = 255, .traffic_class = 0xff, .flow_label = 0xfffff },
		{ .hop_limit = 7, .traffic_class = 0x04, .flow_label = 1 },
	};
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 100);
	struct ibv_ah_attr ah_attr;
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	struct conn *c;
	unsigned int i;

	(void)arg;
	c = conn_open(p, &attr);
	for (i = 0; i < ARRAY_SIZE(routes); i++) {
		if (end_b(p))
			conn_recv(c, i, &sge, 1);
		pair_sync(p);
		if (end_a(p)) {
			ah_attr = ah_attr_to(p, &c->peer.gid);
			ah_attr.grh.hop_limit = routes[i].hop_limit;
			ah_attr.grh.traffic_class = routes[i].traffic_class;
			ah_attr.grh.flow_label = routes[i].flow_label;
			sge.length = 13;
			wr = wr_dgram(c, i, &sge, 1, IBV_SEND_SIGNALED);
			wr.wr.ud.ah = ah_new(p, p->pd, &ah_attr);
			conn_send(c, &wr);
			queue_want(c->send, i, IBV_WC_SUCCESS);
			continue;
		}
		queue_next(c->recv, &wc);
		judge_wc(c, &wc, i, 13, c->peer.qpn);
		judge_grh(p, r->buf, &c->peer.gid, &c->own.gid, &routes[i], 13);
	}
}

/* The receiver replies by the completion and the GRH alone. */
static void run_answer(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 200);
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	struct ibv_ah *ah;
	struct conn *c;

	(void)arg;
	c = conn_open(p, &attr);
	conn_recv(c, 1, &sge, 1);
	pair_sync(p);
	sge = sge_of(r, 1000, 50);
	if (end_a(p)) {
		wr = wr_dgram(c, 2, &sge, 1, IBV_SEND_SIGNALED);
		conn_send(c, &wr);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
		queue_next(c->recv, &wc);
		judge_wc(c, &wc, 1, 50, c->peer.qpn);
		return;
	}
	queue_next(c->recv, &wc);
	ah = ibv_create_ah_from_wc(p->pd, &wc, (struct ibv_grh *)r->buf, 1);
	check(p, ah, "ibv_create_ah_from_wc: %s", strerror(errno));
	wr = wr_dgram_to(ah, wc.src_qp, attr.qkey, 2, &sge, 1, IBV_SEND_SIGNALED);
	conn_send(c, &wr);
	queue_want(c->send, 2, IBV_WC_SUCCESS);
	check(p, !ibv_destroy_ah(ah), "ibv_destroy_ah");
	pair_watch(p);
}

/* ---- who gets it ---- */

/* To the queue pair itself, and to another one of this end. */
static void run_self(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, 2 * ROOM, ALL_ACCESS);
	struct ibv_global_route route = { 0 };
	struct ibv_ah_attr ah_attr = ah_attr_to(p, &p->gid);
	struct ibv_sge sge = sge_of(r, 0, 500), to = sge_of(r, ROOM, 540);
	struct conn *c[2];
	struct ibv_send_wr wr;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	int i;

	(void)arg;
	ah = ah_new(p, p->pd, &ah_attr);
	c[0] = conn_open(p, &attr);
	c[1] = conn_open(p, &attr);
	for (i = 0; i < 2; i++) {
		pattern_fill(r->buf, 500, i);
		conn_recv(c[i], 7, &to, 1);
		wr = wr_dgram_to(ah, c[i]->qp->qp_num, attr.qkey, 8, &sge, 1, IBV_SEND_SIGNALED);
		conn_send(c[0], &wr);
		queue_want(c[0]->send, 8, IBV_WC_SUCCESS);
		queue_next(c[i]->recv, &wc);
		judge_wc(c[i], &wc, 7, 500, c[0]->qp->qp_num);
		judge_grh(p, r->buf + ROOM, &p->gid, &p->gid, &route, 500);
		check(p, !memcmp(r->buf, r->buf + ROOM + GRH_BYTES, 500), "wrong data");
	}
}

#define MANY 6

/*
 * One chain of datagrams to many queue pairs by many address handles in turn: each queue pair
 * gets its own, in order.
 */
static void run_many(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	int rounds = p->quick ? 4 : 20, i, k, n = 0;
	struct ibv_send_wr wr[4 * MANY];
	struct ibv_sge sge[4 * MANY];
	struct conn *c[MANY];
	struct ibv_wc wc;

	attr.extended = arg;
	for (i = 0; i < MANY; i++)
		c[i] = conn_open(p, &attr);
	pattern_fill(r->buf, 32768, 9);
	for (k = 0; k < rounds; k++) {
		for (i = 0; i < MANY && end_b(p); i++)
			for (n = 0; n < 4; n++) {
				sge[0] = sge_of(r, 32768 + (i * 4 + n) * 1024, 1024);
				conn_recv(c[i], n, sge, 1);
			}
		pair_sync(p);
		/* Some in a row to the same, then to others. */
		for (i = 0; i < 4 * MANY && end_a(p); i++) {
			struct conn *to = c[k % 2 ? i % MANY : i / 4];

			sge[i] = sge_of(r, i * 8, 100 + i + 24 * (k % 3));
			wr[i] = wr_dgram_to(to->ah, to->peer.qpn, attr.qkey, i, &sge[i], 1,
					    i % 5 ? 0 : IBV_SEND_SIGNALED);
			wr[i].next = i + 1 < 4 * MANY ? &wr[i + 1] : NULL;
		}
		if (end_a(p)) {
			conn_send(c[0], wr);
			for (i = 0; i < 4 * MANY; i += 5)
				queue_want(c[0]->send, i, IBV_WC_SUCCESS);
		}
		for (i = 0; i < MANY && end_b(p); i++)
			for (n = 0; n < 4; n++) {
				int id = k % 2 ? n * MANY + i : i * 4 + n;
				uint32_t size = 100 + id + 24 * (k % 3);

				queue_next(c[i]->recv, &wc);
				judge_wc(c[i], &wc, n, size, c[0]->peer.qpn);
				check(p, !memcmp(r->buf + 32768 + (i * 4 + n) * 1024 + GRH_BYTES,
						 r->buf + id * 8, size),
				      "round %d: datagram %d has wrong data", k, id);
			}
		pair_sync(p);
	}
	queue_quiet(end_a(p) ? c[0]->send : c[0]->recv, 10);
}

/*
 * Both ends send as fast as they can, with receives for all datagrams. Each arrives once. When the
 * kernel moves a program to another CPU, its datagrams may pass those queued on the first one.
 */
static void run_both(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	int n = p->quick ? 64 : 1024, sent = 0, done = 0, got = 0, posted = 0, number;
	struct region *r = region_new(p, 2 * BATCH * ROOM, ALL_ACCESS);
	bool arrived[1024] = { false };
	struct ibv_send_wr wr;
	unsigned int count = 0;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct conn *c;

	(void)arg;
	c = conn_open(p, &attr);
	for (; posted < BATCH; posted++) {
		sge = sge_of(r, posted * ROOM, ROOM);
		conn_recv(c, posted, &sge, 1);
	}
	pair_sync(p);
	/* A datagram of the other end allows one of ours: its receives never run out. */
	while (done < n || got < n) {
		bool idle = true;

		if (sent < n && sent < got + BATCH / 2) {
			sge = sge_of(r, (BATCH + sent % BATCH) * ROOM, mtu_of(p));
			memcpy((void *)(uintptr_t)sge.addr, &sent, sizeof(sent));
			wr = wr_dgram(c, sent++, &sge, 1, IBV_SEND_SIGNALED);
			conn_send(c, &wr);
			idle = false;
		}
		if (queue_poll(c->send, &wc, 1)) {
			check(p, wc.wr_id == (unsigned int)done && !wc.status, "send %llu: %s",
			      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
			done++;
			idle = false;
		}
		if (queue_poll(c->recv, &wc, 1)) {
			uint8_t *buf = r->buf + got % BATCH * ROOM;

			judge_wc(c, &wc, got, mtu_of(p), c->peer.qpn);
			memcpy(&number, buf + GRH_BYTES, sizeof(number));
			check(p, number >= 0 && number < n, "no datagram has number %d", number);
			check(p, !arrived[number], "datagram %d arrives twice", number);
			arrived[number] = true;
			got++;
			sge = sge_of(r, posted % BATCH * ROOM, ROOM);
			conn_recv(c, posted++, &sge, 1);
			idle = false;
		}
		if (idle)
			relax(p, &count);
	}
	pair_sync(p);
}

/* More datagrams than receives: some are lost, the others arrive whole and in order. */
static void run_flood(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, 64 * 1024, ALL_ACCESS);
	int n = p->quick ? 200 : 2000, i, got = 0, last = -1, value;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct conn *c;

	(void)arg;
	attr.send_wr = 64;
	c = conn_open(p, &attr);
	for (i = 0; i < 32 && end_b(p); i++) {
		sge = sge_of(r, i * 1024, 1024);
		conn_recv(c, i, &sge, 1);
	}
	pair_sync(p);
	for (i = 0; i < n && end_a(p); i++) {
		sge = sge_of(r, i % 64 * 512, 512);
		memcpy((void *)(uintptr_t)sge.addr, &i, sizeof(i));
		wr = wr_dgram(c, i, &sge, 1, i % 32 == 31 || i == n - 1 ? IBV_SEND_SIGNALED : 0);
		conn_send(c, &wr);
		if (wr.send_flags)
			queue_want(c->send, i, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	if (end_a(p))
		return;
	for (; got < 32; got++) {
		queue_next(c->recv, &wc);
		judge_wc(c, &wc, got, 512, c->peer.qpn);
		memcpy(&value, r->buf + got * 1024 + GRH_BYTES, sizeof(value));
		check(p, value > last, "datagram %d after %d", value, last);
		last = value;
	}
	queue_quiet(c->recv, 50);
	conn_want_state(c, IBV_QPS_RTS);
}

/* ---- on a network that loses ---- */

#define LOSSY_MANY 400
#define LOSSY_SIZE 1500

/* A datagram that arrives has a higher number than all before, and the right data. */
static void run_lossy(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, LOSSY_MANY * 2048, ALL_ACCESS);
	unsigned int got, next = 0, number;
	uint8_t want[LOSSY_SIZE];
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct conn *c;
	size_t at;
	int i;

	(void)arg;
	attr.recv_wr = LOSSY_MANY;
	c = conn_open(p, &attr);
	for (i = 0; i < LOSSY_MANY && end_b(p); i++) {
		sge = sge_of(r, i * 2048, 2048);
		conn_recv(c, i, &sge, 1);
	}
	pair_sync(p);
	for (i = 0; i < LOSSY_MANY && end_a(p); i++) {
		sge = sge_of(r, i * 2048, LOSSY_SIZE);
		pattern_fill((void *)(uintptr_t)sge.addr, LOSSY_SIZE, (uint64_t)i << 20);
		wr = wr_dgram(c, i, &sge, 1, IBV_SEND_SIGNALED);
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htonl(i);
		conn_send(c, &wr);
		queue_want(c->send, i, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	if (end_a(p))
		return;
	usleep(50000 * p->slow);
	for (got = 0; queue_poll(c->recv, &wc, 1); got++) {
		judge_wc(c, &wc, got, LOSSY_SIZE, c->peer.qpn);
		number = ntohl(wc.imm_data);
		check(p, number >= next && number < LOSSY_MANY, "datagram %u, not %u or later",
		      number, next);
		next = number + 1;
		pattern_fill(want, LOSSY_SIZE, (uint64_t)number << 20);
		at = pattern_differ(r->buf + got * 2048 + GRH_BYTES, want, LOSSY_SIZE);
		check(p, at == LOSSY_SIZE, "datagram %u has a wrong byte %zu", number, at);
	}
	note(p, "%u of %u datagrams have arrived", got, LOSSY_MANY);
	check(p, got > LOSSY_MANY / 2 && got < LOSSY_MANY, "%u of %u", got, LOSSY_MANY);
}

static void run_event(struct pair *p, const void *extended)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	struct ibv_send_wr wr;
	struct conn *c;
	int i;

	attr.extended = extended;
	attr.events = true;
	c = conn_open(p, &attr);
	for (i = 0; i < 2; i++) {
		if (end_b(p)) {
			conn_recv(c, i, &sge, 1);
			check(p, !ibv_req_notify_cq(c->recv->cq, 1), "ibv_req_notify_cq");
		}
		pair_sync(p);
		if (end_a(p)) {
			wr = wr_dgram(c, i, NULL, 0, IBV_SEND_SIGNALED);
			if (i)
				wr.send_flags |= IBV_SEND_SOLICITED;
			conn_send(c, &wr);
			queue_want(c->send, i, IBV_WC_SUCCESS);
			continue;
		}
		check(p, queue_event(c->recv, i ? 3000 * p->slow : 60) == i,
		      i ? "no event for a solicited datagram" : "an event, unsolicited");
		queue_want(c->recv, i, IBV_WC_SUCCESS);
	}
}

int main(int argc, char **argv)
{
	static const struct shape plain = { false, false, true, 1, 1 };
	struct pair p;
	int ipv6;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "sizes"))
		all_sizes(&p);
	for (ipv6 = 0; ipv6 < 2 && pair_wants(&p, "brief"); ipv6++) {
		pair_family(&p, ipv6);
		pair_case(&p, run_sizes, &plain, "SEND_IMM of all sizes");
		pair_case(&p, run_self, NULL, "a queue pair sends to itself");
		pair_case(&p, run_route, NULL, "hop limit, traffic class and flow label arrive");
	}
	for (ipv6 = 0; ipv6 < 2 && pair_wants(&p, "route"); ipv6++) {
		const char *family = ipv6 ? "IPv6" : "IPv4";

		pair_family(&p, ipv6);
		pair_case(&p, run_route, NULL,
			  "%s: hop limit, traffic class and flow label arrive", family);
		pair_case(&p, run_answer, NULL,
			  "%s: a receiver replies by completion and GRH", family);
		pair_case(&p, run_self, NULL,
			  "%s: a queue pair sends to itself, and to another of its device", family);
	}
	pair_family(&p, false);
	if (pair_wants(&p, "many")) {
		pair_case(&p, run_many, NULL,
			  "one chain to %d queue pairs by as many address handles",
			  MANY);
		pair_case(&p, run_many, &p, "one chain to many queue pairs, by ibv_wr_*()");
		pair_case(&p, run_both, NULL, "both ends send at once");
		pair_case(&p, run_flood, NULL,
			  "more datagrams than receives: the rest arrives in order");
		pair_case(&p, run_event, NULL, "completion events for solicited datagrams only");
		pair_case(&p, run_event, &p,
			  "completion events for solicited datagrams only, by ibv_wr_*()");
	}
	/* Only where the network loses. */
	for (ipv6 = 0; ipv6 < 2 && argc > 3 && pair_wants(&p, "lossy"); ipv6++) {
		pair_family(&p, ipv6);
		pair_case(&p, run_lossy, NULL,
			  "%s: a lossy network: datagrams arrive whole and in order",
			  ipv6 ? "IPv6" : "IPv4");
	}
	return pair_close(&p);
}
