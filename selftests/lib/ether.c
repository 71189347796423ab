// SPDX-License-Identifier: GPL-2.0
/*
 * ether - raw packet queue pairs of a test case, their frames and flow rules
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ether.h"
#include "netdev.h"
#include "pattern.h"

#define MARK "rover-ra"

/* ---- the queue pair ---- */

struct conn_attr ether_defaults(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	attr.type = IBV_QPT_RAW_PACKET;
	attr.recv_wr = ETHER_SLOTS;
	return attr;
}

static void post_next(struct ether *e)
{
	unsigned int at = e->posted++ % ETHER_SLOTS;
	struct ibv_sge sge = sge_of(e->r, at * ETHER_ROOM, ETHER_ROOM);

	memset(e->r->buf + at * ETHER_ROOM, 0x55, ETHER_ROOM);
	conn_recv(e->c, at, &sge, 1);
}

struct ether *ether_open(struct pair *p, const struct conn_attr *attr)
{
	struct ether *e = pair_alloc(p, sizeof(*e));
	unsigned int i;

	e->p = p;
	netdev_meet(p, e->mac, e->peer);
	e->r = region_new(p, 2 * ETHER_SLOTS * ETHER_ROOM, ALL_ACCESS);
	e->c = conn_open(p, attr);
	for (i = 0; i < ETHER_SLOTS; i++)
		post_next(e);
	return e;
}

/* ---- frames ---- */

void frame_put(struct frame *f, const void *bytes, unsigned int len)
{
	memcpy(f->bytes + f->len, bytes, len);
	f->len += len;
}

void frame_begin(struct frame *f, const uint8_t *dst, const uint8_t *src)
{
	f->len = 0;
	frame_put(f, dst, 6);
	frame_put(f, src, 6);
}

void frame_type(struct frame *f, uint16_t type)
{
	type = htons(type);
	frame_put(f, &type, sizeof(type));
}

void frame_tag(struct frame *f, uint16_t tci)
{
	frame_type(f, 0x8100);
	frame_type(f, tci);
}

void frame_end(struct frame *f, unsigned int len, uint32_t id)
{
	if (len > f->len)
		pattern_fill(f->bytes + f->len, len - f->len, id);
	if (len >= f->len + ETHER_MARK) {
		memcpy(f->bytes + len - ETHER_MARK, MARK, 8);
		memcpy(f->bytes + len - 4, &id, 4);
	}
	f->len = len;
}

bool frame_is_udp(const uint8_t *bytes, unsigned int len, uint16_t port)
{
	return len >= 42 && bytes[12] == 8 && !bytes[13] && bytes[23] == IPPROTO_UDP &&
	       (bytes[36] << 8 | bytes[37]) == port;
}

int64_t frame_id(const uint8_t *bytes, unsigned int len)
{
	uint32_t id;

	if (len < 14 + ETHER_MARK || memcmp(bytes + len - ETHER_MARK, MARK, 8))
		return -1;
	memcpy(&id, bytes + len - 4, 4);
	return id;
}

/* ---- sending and receiving ---- */

void ether_send(struct ether *e, const struct frame *f, int pieces, bool inlined)
{
	size_t from = ETHER_SLOTS * ETHER_ROOM, at = 0;
	unsigned int flags = IBV_SEND_SIGNALED | (inlined ? IBV_SEND_INLINE : 0);
	struct ibv_sge sge[16];
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < pieces; i++) {
		uint32_t len = i + 1 < pieces ? f->len / pieces : f->len - at;

		/* The pieces are apart from one another, at odd offsets. */
		sge[i] = sge_of(e->r, from + at + i * 7, len);
		memcpy(e->r->buf + from + at + i * 7, f->bytes + at, len);
		at += len;
	}
	wr = wr_send(0x7a, sge, pieces, flags);
	conn_send(e->c, &wr);
	if (inlined)
		memset(e->r->buf + from, 0xee, at);
	queue_want(e->c->send, 0x7a, IBV_WC_SUCCESS);
	/* The slot can be written again. */
	memset(e->r->buf + from, 0xee, at);
}

const uint8_t *ether_any(struct ether *e, unsigned int *len, unsigned int ms)
{
	uint64_t until = now_ms() + ms;
	unsigned int count = 0, at;
	struct ibv_wc wc;

	/* The caller has finished with the frame returned last. */
	while (e->posted < e->taken + ETHER_SLOTS)
		post_next(e);
	while (!queue_poll(e->c->recv, &wc, 1)) {
		if (now_ms() > until)
			return NULL;
		relax(e->p, &count);
	}
	at = e->taken++ % ETHER_SLOTS;
	check(e->p, wc.wr_id == at && wc.status == IBV_WC_SUCCESS,
	      "receive %llu with \"%s\", not %u", (unsigned long long)wc.wr_id,
	      ibv_wc_status_str(wc.status), at);
	check(e->p, wc.opcode == IBV_WC_RECV && !wc.wc_flags && wc.qp_num == e->c->qp->qp_num &&
	      wc.byte_len >= 14 && wc.byte_len <= ETHER_ROOM,
	      "opcode %d, flags 0x%x, queue pair 0x%x, %u bytes", wc.opcode, wc.wc_flags,
	      wc.qp_num, wc.byte_len);
	*len = wc.byte_len;
	return e->r->buf + at * ETHER_ROOM;
}

/* Short frames may have been padded with zeros. */
static bool same(const struct frame *f, const uint8_t *bytes, unsigned int len)
{
	unsigned int i;

	if (len < f->len || memcmp(f->bytes, bytes, f->len) || (len > f->len && len != 60))
		return false;
	for (i = f->len; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

void ether_want(struct ether *e, const struct frame *f)
{
	const uint8_t *bytes;
	unsigned int len;
	size_t at;

	do {
		bytes = ether_any(e, &len, 8000 * e->p->slow);
		check(e->p, bytes, "no frame came, where %lld of %u bytes should",
		      (long long)frame_id(f->bytes, f->len), f->len);
		if (same(f, bytes, len))
			break;
		/* A frame of a test that is too short for a mark is recognised by its type. */
	} while (frame_id(bytes, len) < 0 &&
		 (frame_id(f->bytes, f->len) >= 0 || memcmp(bytes + 12, f->bytes + 12, 2)));
	at = pattern_differ(bytes, f->bytes, f->len < len ? f->len : len);
	check(e->p, same(f, bytes, len), "%u bytes with mark %lld, not %u with %lld: %s", len,
	      (long long)frame_id(bytes, len), f->len, (long long)frame_id(f->bytes, f->len),
	      pattern_show(bytes, f->bytes, at, f->len));
	/* Nothing is written behind the frame. */
	for (at = len; at < ETHER_ROOM; at++)
		check(e->p, bytes[at] == 0x55, "byte %zu, behind a frame of %u, is 0x%x", at, len,
		      bytes[at]);
}

void ether_quiet(struct ether *e, unsigned int ms)
{
	uint64_t until = now_ms() + ms;
	const uint8_t *bytes;
	unsigned int len;

	do {
		bytes = ether_any(e, &len, ms);
		check(e->p, !bytes || frame_id(bytes, len) < 0,
		      "frame %lld came, where there should be none",
		      (long long)frame_id(bytes, len));
	} while (now_ms() < until);
}

/* ---- rules ---- */

void rule_begin(struct rule *rule, enum ibv_flow_attr_type type, unsigned int priority,
		unsigned int flags)
{
	memset(rule, 0, sizeof(*rule));
	rule->attr.type = type;
	rule->attr.priority = priority;
	rule->attr.flags = flags;
	rule->attr.port = 1;
	rule->attr.size = sizeof(rule->attr);
}

void rule_add(struct rule *rule, const void *spec, unsigned int size)
{
	memcpy((uint8_t *)rule + rule->attr.size, spec, size);
	rule->attr.size += size;
	rule->attr.num_of_specs++;
}

void rule_eth(struct rule *rule, const uint8_t *dst, uint16_t type)
{
	struct ibv_flow_spec_eth spec = {
		.type = IBV_FLOW_SPEC_ETH, .size = sizeof(spec),
		.val.ether_type = htons(type),
		.mask.ether_type = type ? 0xffff : 0,
	};

	if (dst) {
		memcpy(spec.val.dst_mac, dst, 6);
		memset(spec.mask.dst_mac, 0xff, 6);
	}
	rule_add(rule, &spec, sizeof(spec));
}

static int undo_rule(void *flow)
{
	return ibv_destroy_flow(flow);
}

struct ibv_flow *rule_make(struct ether *e, struct rule *rule)
{
	struct ibv_flow *flow = ibv_create_flow(e->c->qp, &rule->attr);

	check(e->p, flow, "ibv_create_flow: %s", strerror(errno));
	undo_later(e->p, undo_rule, flow, "ibv_destroy_flow");
	return flow;
}

void rule_drop(struct ether *e, struct ibv_flow *flow)
{
	undo_now(e->p, flow);
}

/*
 * Some drivers (virtio_net) update the filter of the interface in a work item, which takes RTNL.
 * Creating a rule takes RTNL as well, so a rule created after the work has begun waits for it.
 */
void rules_are_heard(struct ether *e)
{
	struct rule rule;

	usleep(10000);
	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_eth(&rule, e->mac, ETHER_TYPE);
	rule_drop(e, rule_make(e, &rule));
}

void rule_refused(struct ether *e, struct rule *rule, int error, const char *what)
{
	struct ibv_flow *flow;

	errno = 0;
	flow = ibv_create_flow(e->c->qp, &rule->attr);
	if (flow)
		ibv_destroy_flow(flow);
	check(e->p, !flow, "%s: a rule is made", what);
	check(e->p, errno == error, "%s: %s, not %s", what, strerror(errno), strerror(error));
}

void need_rules(struct pair *p)
{
	if (!(p->attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING))
		skip(p, "this kernel has no hook for flow rules (CONFIG_NETFILTER_INGRESS)");
}
