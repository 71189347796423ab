// SPDX-License-Identifier: GPL-2.0
/*
 * raw_rules - flow rules: the frames that they match, their order, and invalid
 * rules
 *
 *	raw_rules a|b PORT [GROUP...]	see main() for the groups
 *
 * End a sends one of each kind of frame, and end b checks which ones arrive.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ether.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n) (1U << (n))
#define SILENCE 20

/* ---- the frames ---- */

enum {
	PLAIN, OTHER_MAC, OTHER_TYPE, GROUP, TAG_5, TAG_6, TAGGED_UDP, UDP4, UDP4_OTHER_PORT,
	UDP4_OTHER_IP, TCP4, OPTIONS4, FIRST4, LATER4, SHORT4, TOS4, UDP6, TCP6, HOPS6, LATER6,
	LABEL6, FRAMES
};

static const uint8_t other_mac[6] = { 2, 0, 0, 0, 0x77, 1 };
static const uint8_t group[6] = { 1, 0x50, 0x56, 0x19, 0x20, 0xa7 };
static const uint8_t ip6[32] = {
	0xfd, 0x99, [15] = 1, [16] = 0xfd, 0x99, [31] = 2,
};

struct ip4 {
	uint8_t words, tos, ttl, proto, last;
	uint16_t fragment;
};

static void put_ip4(struct frame *f, const struct ip4 *ip)
{
	uint8_t bytes[60] = {
		0x40 | ip->words, ip->tos, 1, 0, 0, 0, ip->fragment >> 8, ip->fragment, ip->ttl,
		ip->proto, 0, 0, 1, 1, 1, 1, 2, 2, 2, ip->last,
	};

	frame_put(f, bytes, ip->words * 4);
}

static void put_ip6(struct frame *f, uint8_t next, uint32_t label)
{
	uint8_t bytes[8] = { 0x60 | 3, 0xc0 | label >> 16, label >> 8, label, 0, 200, next, 33 };

	frame_put(f, bytes, sizeof(bytes));
	frame_put(f, ip6, sizeof(ip6));
}

static void put_ports(struct frame *f, uint16_t from, uint16_t to)
{
	frame_type(f, from);
	frame_type(f, to);
}

/* Frames of nobody's: b's host drops them, whatever comes of them. */
static void make(struct ether *e, struct frame *f, int which)
{
	static const uint8_t hops[24] = { IPPROTO_DSTOPTS, 0, [8] = IPPROTO_UDP, 1 };
	static const uint8_t later[8] = { IPPROTO_UDP, 0, 1, 0 };
	struct ip4 ip = { 5, 0, 64, IPPROTO_UDP, 2, 0 };
	const uint8_t *mac = end_a(e->p) ? e->peer : e->mac;

	frame_begin(f, which == OTHER_MAC ? other_mac : which == GROUP ? group : mac,
		    end_a(e->p) ? e->mac : e->peer);
	if (which == TAG_5 || which == TAG_6 || which == TAGGED_UDP)
		frame_tag(f, which == TAG_5 ? 0x6005 : which == TAG_6 ? 0x0006 : 7);
	frame_type(f, which == OTHER_TYPE ? ETHER_TYPE + 1 : which < TAGGED_UDP ? ETHER_TYPE :
		      which < UDP6 ? 0x0800 : 0x86dd);
	ip.last = which == UDP4_OTHER_IP ? 3 : 2;
	ip.words = which == OPTIONS4 ? 8 : which == SHORT4 ? 4 : 5;
	ip.proto = which == TCP4 ? IPPROTO_TCP : IPPROTO_UDP;
	ip.tos = which == TOS4 ? 0xb8 : 0;
	ip.ttl = which == TOS4 ? 9 : 64;
	ip.fragment = which == FIRST4 ? 0x2000 : which == LATER4 ? 0x0010 : 0x4000;
	if (which >= TAGGED_UDP && which < UDP6)
		put_ip4(f, &ip);
	if (which >= UDP6)
		put_ip6(f, which == TCP6 ? IPPROTO_TCP : which == HOPS6 ? 0 :
			which == LATER6 ? IPPROTO_FRAGMENT : IPPROTO_UDP,
			which == LABEL6 ? 0x54321 : 0x11111);
	if (which == HOPS6)
		frame_put(f, hops, sizeof(hops));
	if (which == LATER6)
		frame_put(f, later, sizeof(later));
	if (which >= TAGGED_UDP)
		put_ports(f, 1000, which == UDP4_OTHER_PORT ? 2001 : 2000);
	frame_end(f, 270, which);
}

/* ---- the rules ---- */

static struct ibv_flow_spec_eth eth_spec(void)
{
	return (struct ibv_flow_spec_eth){ .type = IBV_FLOW_SPEC_ETH,
					   .size = sizeof(struct ibv_flow_spec_eth) };
}

static void add_vlan(struct rule *rule, uint16_t tci, uint16_t mask)
{
	struct ibv_flow_spec_eth spec = eth_spec();

	spec.val.vlan_tag = htons(tci);
	spec.mask.vlan_tag = htons(mask);
	rule_add(rule, &spec, sizeof(spec));
}

static void add_ip4(struct rule *rule, uint32_t dst, uint32_t mask, const struct ip4 *val,
		    const struct ip4 *bits)
{
	struct ibv_flow_spec_ipv4_ext spec = {
		.type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof(spec),
		.val.dst_ip = htonl(dst), .mask.dst_ip = htonl(mask),
	};

	if (val) {
		spec.val.proto = val->proto;
		spec.val.tos = val->tos;
		spec.val.ttl = val->ttl;
		spec.val.flags = val->fragment;
		spec.mask.proto = bits->proto;
		spec.mask.tos = bits->tos;
		spec.mask.ttl = bits->ttl;
		spec.mask.flags = bits->fragment;
	}
	rule_add(rule, &spec, sizeof(spec));
}

static void add_ports(struct rule *rule, enum ibv_flow_spec_type type, uint16_t to)
{
	struct ibv_flow_spec_tcp_udp spec = {
		.type = type, .size = sizeof(spec),
		.val = { htons(to), htons(1000) },
		.mask = { to ? 0xffff : 0, to ? 0xffff : 0 },
	};

	rule_add(rule, &spec, sizeof(spec));
}

static struct ibv_flow_spec_ipv6 ip6_spec(void)
{
	struct ibv_flow_spec_ipv6 spec = {
		.type = IBV_FLOW_SPEC_IPV6, .size = sizeof(spec),
	};

	memcpy(spec.val.src_ip, ip6, 16);
	memset(spec.mask.src_ip, 0xff, 16);
	return spec;
}

static void by_mac_and_type(struct ether *e, struct rule *r) { rule_eth(r, e->mac, ETHER_TYPE); }
static void by_other_mac(struct ether *e, struct rule *r) { rule_eth(r, other_mac, 0); (void)e; }
static void by_group(struct ether *e, struct rule *r) { rule_eth(r, group, 0); (void)e; }
static void by_type(struct ether *e, struct rule *r) { rule_eth(r, NULL, ETHER_TYPE + 1); (void)e; }
static void by_vlan(struct ether *e, struct rule *r) { add_vlan(r, 0x0005, 0x0fff); (void)e; }
static void by_vlan_mask(struct ether *e, struct rule *r) { add_vlan(r, 4, 0xc); (void)e; }
static void by_priority(struct ether *e, struct rule *r) { add_vlan(r, 0x6000, 0xe000); (void)e; }
static void by_no_priority(struct ether *e, struct rule *r) { add_vlan(r, 0, 0xe000); (void)e; }

static void by_source(struct ether *e, struct rule *r)
{
	struct ibv_flow_spec_eth spec = eth_spec();

	memcpy(spec.val.src_mac, e->peer, 6);
	memset(spec.mask.src_mac, 0xff, 6);
	spec.val.ether_type = htons(ETHER_TYPE);
	spec.mask.ether_type = 0xffff;
	rule_add(r, &spec, sizeof(spec));
}

static void by_ip4(struct ether *e, struct rule *r)
{
	struct ibv_flow_spec_ipv4 spec = {
		.type = IBV_FLOW_SPEC_IPV4, .size = sizeof(spec),
		.val = { htonl(0x01010101), htonl(0x02020202) },
		.mask = { 0xffffffff, 0xffffffff },
	};

	(void)e;
	rule_add(r, &spec, sizeof(spec));
}

static void by_ip4_net(struct ether *e, struct rule *r)
{
	/* What the mask leaves out does not count, whatever is said of it. */
	add_ip4(r, 0x020202ff, 0xffffff00, NULL, NULL);
	(void)e;
}

static void by_tos(struct ether *e, struct rule *r)
{
	add_ip4(r, 0x02020202, ~0U, &(struct ip4){ .tos = 0xb8, .ttl = 9 },
		&(struct ip4){ .tos = 0xff, .ttl = 0xff });
	(void)e;
}

static void by_fragment(struct ether *e, struct rule *r)
{
	add_ip4(r, 0x02020202, ~0U, &(struct ip4){ .fragment = 4 }, &(struct ip4){ .fragment = 4 });
	(void)e;
}

static void by_udp4(struct ether *e, struct rule *r)
{
	rule_eth(r, e->mac, 0x0800);
	add_ip4(r, 0x02020202, ~0U, NULL, NULL);
	add_ports(r, IBV_FLOW_SPEC_UDP, 2000);
}

static void by_tcp(struct ether *e, struct rule *r)
{
	add_ports(r, IBV_FLOW_SPEC_TCP, 2000);
	(void)e;
}

static void by_udp(struct ether *e, struct rule *r)
{
	add_ports(r, IBV_FLOW_SPEC_UDP, 2000);
	(void)e;
}

static void by_ip6(struct ether *e, struct rule *r)
{
	struct ibv_flow_spec_ipv6 spec = ip6_spec();

	(void)e;
	rule_add(r, &spec, sizeof(spec));
}

static void by_label(struct ether *e, struct rule *r)
{
	struct ibv_flow_spec_ipv6 spec = ip6_spec();

	(void)e;
	spec.val.flow_label = htonl(0x54321);
	spec.mask.flow_label = htonl(0xfffff);
	spec.val.traffic_class = 0x3c;
	spec.mask.traffic_class = 0xff;
	spec.val.hop_limit = 33;
	spec.mask.hop_limit = 0xff;
	rule_add(r, &spec, sizeof(spec));
}

/* The first of all headers behind IPv6's own. */
static void by_next(struct ether *e, struct rule *r)
{
	struct ibv_flow_spec_ipv6 spec = ip6_spec();

	(void)e;
	spec.mask.next_hdr = 0xff;
	rule_add(r, &spec, sizeof(spec));
}

/* Headers in any order; they contradict one another, so there is no such frame. */
static void by_nonsense(struct ether *e, struct rule *r)
{
	by_tcp(e, r);
	by_ip6(e, r);
	rule_eth(r, e->mac, 0x0800);
}

#define TAGS (BIT(TAG_5) | BIT(TAG_6))
#define ALL4 (BIT(TAGGED_UDP) | BIT(UDP4) | BIT(UDP4_OTHER_PORT) | BIT(UDP4_OTHER_IP) |	\
	      BIT(TCP4) | BIT(OPTIONS4) | BIT(FIRST4) | BIT(LATER4) | BIT(TOS4))
#define UDP_MINE (ALL4 & ~(BIT(UDP4_OTHER_PORT) | BIT(UDP4_OTHER_IP) | BIT(TCP4) |	\
			   BIT(LATER4)))
#define UDP_ALL ((ALL4 | ALL6) & ~(BIT(UDP4_OTHER_PORT) | BIT(TCP4) | BIT(LATER4) | BIT(TCP6) | \
				   BIT(LATER6)))
#define ALL6 (BIT(UDP6) | BIT(TCP6) | BIT(HOPS6) | BIT(LATER6) | BIT(LABEL6))

static const struct want {
	const char *what;
	void (*add)(struct ether *e, struct rule *rule);
	uint32_t frames;
} wants[] = {
	{ "destination and type", by_mac_and_type, BIT(PLAIN) | TAGS },
	{ "another destination address", by_other_mac, BIT(OTHER_MAC) },
	{ "a multicast address", by_group, BIT(GROUP) },
	{ "source and type", by_source, BIT(PLAIN) | BIT(OTHER_MAC) | BIT(GROUP) | TAGS },
	{ "type", by_type, BIT(OTHER_TYPE) },
	{ "VLAN", by_vlan, BIT(TAG_5) },
	{ "a masked VLAN tag", by_vlan_mask, TAGS | BIT(TAGGED_UDP) },
	{ "priority", by_priority, BIT(TAG_5) },
	{ "priority 0, with a tag", by_no_priority, BIT(TAG_6) | BIT(TAGGED_UDP) },
	{ "IPv4 addresses", by_ip4, ALL4 & ~BIT(UDP4_OTHER_IP) },
	{ "an IPv4 net", by_ip4_net, ALL4 },
	{ "TOS and TTL", by_tos, BIT(TOS4) },
	{ "fragments", by_fragment, BIT(FIRST4) },
	{ "UDP over IPv4 over Ethernet", by_udp4, UDP_MINE },
	{ "TCP over anything", by_tcp, BIT(TCP4) | BIT(TCP6) },
	{ "UDP over anything", by_udp, UDP_ALL },
	{ "an IPv6 address", by_ip6, ALL6 },
	{ "flow label, traffic class and hop limit", by_label, BIT(LABEL6) },
	{ "next header", by_next, BIT(HOPS6) },
	{ "contradictory protocols", by_nonsense, 0 },
};

static void send_all(struct ether *e)
{
	struct frame f;
	int i;

	for (i = 0; i < FRAMES; i++) {
		make(e, &f, i);
		ether_send(e, &f, 1, false);
	}
}

static void want_all(struct ether *e, uint32_t frames)
{
	struct frame f;
	int i;

	for (i = 0; i < FRAMES; i++) {
		make(e, &f, i);
		if (frames & BIT(i))
			ether_want(e, &f);
	}
	ether_quiet(e, SILENCE);
}

/*
 * A rule that names no destination is about what the interface listens to, which may be little: so
 * there is somebody who makes it listen to all.
 */
static void listen_to_all(struct pair *p, void (*add)(struct ether *e, struct rule *rule))
{
	struct conn_attr attr = ether_defaults(p);
	struct ether *e;
	struct rule rule;

	if (add != by_source)
		return;
	e = ether_open(p, &attr);
	rule_begin(&rule, IBV_FLOW_ATTR_SNIFFER, 0, 0);
	if (end_b(p))
		rule_make(e, &rule);
}

static void run_match(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	const struct want *want = arg;
	struct ether *e;
	struct rule rule;

	need_rules(p);
	listen_to_all(p, want->add);
	e = ether_open(p, &attr);
	if (end_b(p)) {
		rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
		want->add(e, &rule);
		rule_make(e, &rule);
		rules_are_heard(e);
	}
	pair_sync(p);
	if (end_a(p))
		send_all(e);
	else
		want_all(e, want->frames);
	pair_sync(p);
}

/* ---- who is asked first ---- */

/* Up to three rules of three queue pairs, in the order of their making, and what each sees. */
struct order {
	const char *what;
	struct {
		enum ibv_flow_attr_type type;
		unsigned int priority, flags;
		void (*add)(struct ether *e, struct rule *rule);
		uint32_t frames;
	} of[3];
};

#define ALL (BIT(FRAMES) - 1)
#define LEAVE IBV_FLOW_ATTR_FLAGS_DONT_TRAP

static const struct order orders[] = {
	{ "the rule with the lowest priority value comes first", {
		{ IBV_FLOW_ATTR_NORMAL, 5, 0, by_udp, UDP_ALL & ~UDP_MINE },
		{ IBV_FLOW_ATTR_NORMAL, 2, 0, by_udp4, UDP_MINE },
		{ IBV_FLOW_ATTR_NORMAL, 9, 0, by_udp, 0 } } },
	{ "rules of the same priority both match", {
		{ IBV_FLOW_ATTR_NORMAL, 3, 0, by_vlan, BIT(TAG_5) },
		{ IBV_FLOW_ATTR_NORMAL, 3, 0, by_mac_and_type, BIT(PLAIN) | TAGS },
		{ IBV_FLOW_ATTR_NORMAL, 4, 0, by_source, BIT(OTHER_MAC) | BIT(GROUP) } } },
	{ "a rule with DONT_TRAP leaves frames to the next rule", {
		{ IBV_FLOW_ATTR_NORMAL, 1, LEAVE, by_mac_and_type, BIT(PLAIN) | TAGS },
		{ IBV_FLOW_ATTR_NORMAL, 2, 0, by_vlan, BIT(TAG_5) },
		{ IBV_FLOW_ATTR_NORMAL, 3, 0, by_mac_and_type, BIT(PLAIN) | BIT(TAG_6) } } },
	{ "a sniffer rule sees all frames, a default rule those without another rule", {
		{ IBV_FLOW_ATTR_ALL_DEFAULT, 0, 0, NULL, ALL & ~ALL4 },
		{ IBV_FLOW_ATTR_NORMAL, 0, 0, by_ip4_net, ALL4 },
		{ IBV_FLOW_ATTR_SNIFFER, 0, 0, NULL, ALL } } },
	{ "a multicast default rule takes multicast frames", {
		{ IBV_FLOW_ATTR_MC_DEFAULT, 0, 0, NULL, BIT(GROUP) },
		{ IBV_FLOW_ATTR_NORMAL, 0, 0, by_other_mac, BIT(OTHER_MAC) },
		{ IBV_FLOW_ATTR_ALL_DEFAULT, 7, 0, NULL, ALL & ~BIT(OTHER_MAC) } } },
};

static void run_order(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	const struct order *order = arg;
	struct ether *e[3];
	struct rule rule;
	int i;

	need_rules(p);
	for (i = 0; i < 3; i++) {
		listen_to_all(p, order->of[i].add);
		e[i] = ether_open(p, &attr);
	}
	for (i = 0; i < 3 && end_b(p); i++) {
		rule_begin(&rule, order->of[i].type, order->of[i].priority, order->of[i].flags);
		if (order->of[i].add)
			order->of[i].add(e[i], &rule);
		rule_make(e[i], &rule);
	}
	if (end_b(p))
		rules_are_heard(e[0]);
	pair_sync(p);
	if (end_a(p))
		send_all(e[0]);
	for (i = 0; i < 3 && end_b(p); i++)
		want_all(e[i], order->of[i].frames);
	pair_sync(p);
}

/* ---- what is refused ---- */

static void refuse_rules(struct ether *e)
{
	struct ibv_flow_spec_tunnel vxlan = {
		.type = IBV_FLOW_SPEC_VXLAN_TUNNEL, .size = sizeof(vxlan),
	};
	struct ibv_flow_spec_action_tag tag = {
		.type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof(tag), .tag_id = 1,
	};
	struct ibv_flow_spec_action_drop drop = {
		.type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof(drop),
	};
	struct rule rule;

	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, IBV_FLOW_ATTR_FLAGS_EGRESS);
	rule_eth(&rule, e->mac, 0);
	rule_refused(e, &rule, EOPNOTSUPP, "what is sent");
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule.attr.port = 2;
	rule_eth(&rule, e->mac, 0);
	rule_refused(e, &rule, EINVAL, "another port");
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_add(&rule, &vxlan, sizeof(vxlan));
	rule_refused(e, &rule, EOPNOTSUPP, "a tunnel");
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_add(&rule, &tag, sizeof(tag));
	rule_refused(e, &rule, EOPNOTSUPP, "a mark");
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_add(&rule, &drop, sizeof(drop));
	rule_refused(e, &rule, EOPNOTSUPP, "to drop");
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_eth(&rule, e->mac, 0);
	rule_eth(&rule, e->mac, ETHER_TYPE);
	rule_refused(e, &rule, EINVAL, "one layer twice");
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	by_ip4(e, &rule);
	by_ip6(e, &rule);
	rule_refused(e, &rule, EINVAL, "IPv4 and IPv6");
	rule_begin(&rule, IBV_FLOW_ATTR_ALL_DEFAULT, 0, 0);
	rule_eth(&rule, e->mac, 0);
	rule_refused(e, &rule, EINVAL, "a default with headers");
	rule_begin(&rule, IBV_FLOW_ATTR_SNIFFER, 0, LEAVE);
	rule_refused(e, &rule, EINVAL, "a sniffer that traps nothing");
	rule_begin(&rule, IBV_FLOW_ATTR_SNIFFER + 1, 0, 0);
	rule_refused(e, &rule, EOPNOTSUPP, "an unknown type");
}

static void run_refused(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p), dgram = dgram_defaults(p);
	struct ether *e, other;
	struct rule rule;
	int i;

	(void)arg;
	need_rules(p);
	e = ether_open(p, &attr);
	refuse_rules(e);
	/* Of datagrams, and of connections. */
	other = *e;
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	by_mac_and_type(e, &rule);
	other.c = conn_make(p, &dgram);
	rule_refused(&other, &rule, EOPNOTSUPP, "a rule for datagrams");
	dgram.type = IBV_QPT_RC;
	other.c = conn_make(p, &dgram);
	rule_refused(&other, &rule, EINVAL, "a rule for a connection");
	/* As many as there may be, of both ends where they are on one device each. */
	for (i = 0; i < 256; i++) {
		rule.attr.priority = 300 - i;
		rule_make(e, &rule);
	}
	rule_refused(e, &rule, ENOMEM, "too many");
	rule_begin(&rule, IBV_FLOW_ATTR_SNIFFER, 0, 0);
	rule_refused(e, &rule, ENOMEM, "one of another kind");
	pair_sync(p);
	/* With rules a queue pair is in use. */
	check(p, ibv_destroy_qp(e->c->qp) == EBUSY, "a queue pair with rules is destroyed");
}

/* The core's table requires only the port. */
static void run_states(struct pair *p, const void *arg)
{
	static const int others[] = {
		IBV_QP_QKEY, IBV_QP_PKEY_INDEX, IBV_QP_ACCESS_FLAGS, IBV_QP_AV, IBV_QP_PATH_MTU,
		IBV_QP_DEST_QPN, IBV_QP_RQ_PSN, IBV_QP_SQ_PSN, IBV_QP_TIMEOUT, IBV_QP_RATE_LIMIT,
	};
	struct conn_attr attr = ether_defaults(p);
	struct conn *c = conn_make(p, &attr);
	struct ibv_qp_attr next = { .port_num = 1 };
	enum ibv_qp_state to;
	unsigned int i;

	(void)arg;
	next.qp_state = IBV_QPS_INIT;
	check(p, ibv_modify_qp(c->qp, &next, IBV_QP_STATE), "INIT without a port");
	next.port_num = 2;
	check(p, ibv_modify_qp(c->qp, &next, IBV_QP_STATE | IBV_QP_PORT), "INIT with port 2");
	next.port_num = 1;
	for (to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		int mask = IBV_QP_STATE | (to == IBV_QPS_INIT ? IBV_QP_PORT : 0);

		next.qp_state = to;
		for (i = 0; i < ARRAY_SIZE(others); i++)
			check(p, ibv_modify_qp(c->qp, &next, mask | others[i]),
			      "to state %d with attribute 0x%x", to, others[i]);
		conn_want_state(c, to - 1);
		check(p, !ibv_modify_qp(c->qp, &next, mask), "to state %d", to);
	}
	next.qp_state = IBV_QPS_SQD;
	check(p, !ibv_modify_qp(c->qp, &next, IBV_QP_STATE), "to SQD");
	next.qp_state = IBV_QPS_RTS;
	check(p, !ibv_modify_qp(c->qp, &next, IBV_QP_STATE), "and back");
	next.qp_state = IBV_QPS_RESET;
	check(p, !ibv_modify_qp(c->qp, &next, IBV_QP_STATE), "to RESET");
}

int main(int argc, char **argv)
{
	unsigned int i;
	struct pair p;

	pair_open(&p, argc, argv);
	for (i = 0; i < ARRAY_SIZE(wants) && pair_wants(&p, "match"); i++)
		pair_case(&p, run_match, &wants[i], "a rule matches %s", wants[i].what);
	for (i = 0; i < ARRAY_SIZE(orders) && pair_wants(&p, "order"); i++)
		pair_case(&p, run_order, &orders[i], "%s", orders[i].what);
	if (pair_wants(&p, "refused")) {
		pair_case(&p, run_refused, NULL, "invalid rules, and too many rules, are refused");
		pair_case(&p, run_states, NULL,
			  "raw packet queue pairs change state with the right attributes");
	}
	return pair_close(&p);
}
