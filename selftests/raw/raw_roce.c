// SPDX-License-Identifier: GPL-2.0
/*
 * raw_roce - flow rules and the RoCE packets of the device
 *
 *	raw_roce a|b PORT
 *
 * End a has connections to b; b has flow rules.
 */
#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "lib/ether.h"
#include "lib/packet.h"
#include "lib/pattern.h"

#define SILENCE 30

/* What a packet of a SEND carries, without immediate data and pad. */
static unsigned int send_payload(const uint8_t *f, unsigned int len)
{
	if (!frame_is_udp(f, len, 4791) || len < 42 + 12 + 4 || f[42] > 4 || f[42] == 3)
		return 0;
	return len - 42 - 12 - 4;
}

/* A long message, and small ones that are posted together. */
enum { LONG = 20000, SMALL = 100, SMALLS = 16 };

static void send_roce(struct conn *c, struct region *r)
{
	struct ibv_sge sges[] = { sge_of(r, 0, LONG), sge_of(r, 0, SMALL) };
	struct ibv_send_wr wr[1 + SMALLS];
	int i;

	for (i = 0; i <= SMALLS; i++) {
		wr[i] = wr_send(i, &sges[!!i], 1, IBV_SEND_SIGNALED);
		wr[i].next = i < SMALLS ? &wr[i + 1] : NULL;
	}
	conn_send(c, wr);
	for (i = 0; i <= SMALLS; i++)
		queue_want(c->send, i, IBV_WC_SUCCESS);
}

/* A rule for all UDP over IP takes no packet of a connection. */
static void run_roce(struct pair *p, const void *arg)
{
	struct ibv_flow_spec_ipv4_ext ip = {
		.type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof(ip),
		.val.proto = IPPROTO_UDP, .mask.proto = 0xff,
	};
	static const uint8_t header[20] = {
		0x45, 0, 1, [8] = 64, IPPROTO_UDP, [12] = 1, 1, 1, 1, 2, 2, 2, 2,
	};
	struct conn_attr attr = ether_defaults(p), rc = conn_defaults(p);
	unsigned int len = 0, seen = 0;
	struct ether *e, *sniffer;
	struct ibv_sge sge;
	struct region *r;
	struct conn *c;
	const uint8_t *bytes;
	struct rule rule;
	struct frame f;
	int i;

	(void)arg;
	need_rules(p);
	e = ether_open(p, &attr);
	sniffer = ether_open(p, &attr);
	r = region_new(p, 65536, ALL_ACCESS);
	c = conn_open(p, &rc);
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_add(&rule, &ip, sizeof(ip));
	rule_make(e, &rule);
	rule_begin(&rule, IBV_FLOW_ATTR_SNIFFER, 0, 0);
	rule_make(sniffer, &rule);
	if (end_b(p)) {
		for (i = 0; i <= SMALLS; i++) {
			sge = i ? sge_of(r, 32768 + LONG, SMALL) : sge_of(r, 32768, LONG);
			conn_recv(c, i, &sge, 1);
		}
	}
	pair_sync(p);
	pattern_fill(r->buf, LONG, 4);
	if (end_a(p)) {
		send_roce(c, r);
	} else {
		for (i = 0; i <= SMALLS; i++)
			queue_want(c->recv, i, IBV_WC_SUCCESS);
		check(p, !memcmp(r->buf, r->buf + 32768, LONG), "wrong data");
		while ((bytes = ether_any(sniffer, &len, SILENCE)))
			seen += send_payload(bytes, len);
		check(p, seen >= LONG + SMALLS * SMALL, "the sniffer has seen %u bytes of %u", seen,
		      LONG + SMALLS * SMALL);
	}
	ether_quiet(e, SILENCE);
	pair_sync(p);
	/* The rule is at work all the same. */
	frame_begin(&f, end_a(p) ? e->peer : e->mac, end_a(p) ? e->mac : e->peer);
	frame_type(&f, 0x800);
	frame_put(&f, header, sizeof(header));
	frame_end(&f, 270, 1);
	if (end_a(p))
		ether_send(e, &f, 1, false);
	else
		ether_want(e, &f);
}

enum { CROWD = 8, EACH = 12 };

static void send_crowd(struct conn **c, struct region *r, struct queue *sent)
{
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < CROWD * EACH; i++) {
		wr = wr_send(i, &sge, 1, i / CROWD == EACH - 1 ? IBV_SEND_SIGNALED : 0);
		conn_send(c[i % CROWD], &wr);
	}
	for (i = 0; i < CROWD; i++)
		queue_next(sent, &wc);
}

/* What is wrong in a packet, be it the source port only, is in its ICRC. */
static bool icrc_good(const uint8_t *f, unsigned int len)
{
	uint32_t icrc = htole32(packet_icrc(f + 14, len - 14 - 4));

	return !memcmp(f + len - 4, &icrc, 4);
}

/*
 * Packets of many connections at once, as trains or alone: each packet is shown as its
 * connection sent it.
 */
static void run_crowd(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p), rc = conn_defaults(p);
	struct conn *c[CROWD];
	unsigned int len = 0, seen = 0, wrong = 0;
	struct ether *sniffer;
	const uint8_t *bytes;
	struct ibv_sge sge;
	struct region *r;
	struct ibv_wc wc;
	struct rule rule;
	int i;

	(void)arg;
	need_rules(p);
	sniffer = ether_open(p, &attr);
	r = region_new(p, 4096, ALL_ACCESS);
	rc.send = queue_new(p, CROWD * EACH, false, false);
	rc.recv = queue_new(p, CROWD * EACH, false, false);
	for (i = 0; i < CROWD; i++)
		c[i] = conn_open(p, &rc);
	rule_begin(&rule, IBV_FLOW_ATTR_SNIFFER, 0, 0);
	rule_make(sniffer, &rule);
	sge = sge_of(r, 8, 8);
	for (i = 0; i < CROWD * EACH; i++)
		conn_recv(c[i % CROWD], i, &sge, 1);
	pair_sync(p);
	if (end_a(p)) {
		send_crowd(c, r, rc.send);
		return;
	}
	for (i = 0; i < CROWD * EACH; i++) {
		queue_next(rc.recv, &wc);
		check(p, wc.status == IBV_WC_SUCCESS, "a receive with \"%s\"",
		      ibv_wc_status_str(wc.status));
	}
	while ((bytes = ether_any(sniffer, &len, SILENCE))) {
		if (!frame_is_udp(bytes, len, 4791) || len >= 200)
			continue;
		seen++;
		wrong += !icrc_good(bytes, len);
	}
	check(p, !wrong, "%u packets of %u have a wrong ICRC", wrong, seen);
	check(p, seen >= CROWD * EACH / 2, "the sniffer has seen %u packets", seen);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	pair_case(&p, run_roce, NULL,
		  "a UDP rule leaves RoCE packets alone, a sniffer rule copies them");
	pair_case(&p, run_crowd, NULL,
		  "a sniffer rule copies each packet of many connections unchanged");
	return pair_close(&p);
}
