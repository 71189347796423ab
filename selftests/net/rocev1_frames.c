// SPDX-License-Identifier: GPL-2.0
/*
 * rocev1_frames - invalid and unusual frames of RoCE v1
 *
 *	rocev1_frames a|b PORT [GROUP...]	see main() for the groups
 *
 * End a sends crafted frames to queue pairs of end b. rocev1.sh reads b's counters.
 */
#include <arpa/inet.h>
#include <string.h>

#include "lib/frame.h"
#include "lib/packet.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define SEND_ONLY 0x04
#define UD_SEND_ONLY 0x64
#define CNP 0x81
#define SILENCE 30

static const char hello[] = "hello there";

/* ---- what is wrong with a frame; returns how many bytes of it to send ---- */

static size_t half_a_grh(struct frame *f)
{
	(void)f;
	return 20;
}

static size_t no_bth(struct frame *f)
{
	f->grh.ip6_plen = 0;
	return f->len;
}

static size_t no_room_for_an_icrc(struct frame *f)
{
	f->grh.ip6_plen = htons(15);
	return f->len;
}

static size_t pad_and_nothing_else(struct frame *f)
{
	f->bth.flags = 3 << 4;
	f->grh.ip6_plen = htons(16);
	return f->len;
}

static size_t one_byte_too_few(struct frame *f)
{
	return f->len - 1;
}

static size_t largest_length(struct frame *f)
{
	f->grh.ip6_plen = 0xffff;
	return f->len;
}

/* Nothing is wrong with its sum, then. */
static size_t summed(struct frame *f)
{
	frame_sum(f);
	return f->len;
}

static size_t version_4(struct frame *f)
{
	f->grh.ip6_flow = htonl(4U << 28);
	return summed(f);
}

static size_t udp_next(struct frame *f)
{
	f->grh.ip6_nxt = 17;
	return summed(f);
}

static size_t a_bit_of_the_icrc(struct frame *f)
{
	((uint8_t *)f)[f->len - 1] ^= 0x10;
	return f->len;
}

static size_t a_bit_of_the_sgid(struct frame *f)
{
	((uint8_t *)&f->grh.ip6_src)[3] ^= 1;
	return f->len;
}

static size_t foreign_dgid(struct frame *f)
{
	((uint8_t *)&f->grh.ip6_dst)[15] ^= 0x40;
	return summed(f);
}

static size_t foreign_sgid(struct frame *f)
{
	((uint8_t *)&f->grh.ip6_src)[15] ^= 0x40;
	return summed(f);
}

static size_t group_as_dgid(struct frame *f)
{
	((uint8_t *)&f->grh.ip6_dst)[0] = 0xff;
	return summed(f);
}

static size_t opcode_of_nothing(struct frame *f)
{
	f->bth.opcode = 0xff;
	return summed(f);
}

static size_t transport_version_1(struct frame *f)
{
	f->bth.flags |= 1;
	return summed(f);
}

/* RoCE v1 has no marks: nobody may slow us down by answering to one. */
static size_t congestion(struct frame *f)
{
	f->bth.opcode = CNP;
	return summed(f);
}

static size_t nobody(struct frame *f)
{
	f->bth.qpn = htonl(2);
	return summed(f);
}

static size_t no_group(struct frame *f)
{
	f->bth.qpn = htonl(0xffffff);
	return summed(f);
}

/* With what rocev1.sh expects to be counted. */
static size_t (* const wrong[])(struct frame *f) = {
	/* rx_drop_short and rx_drop_length: 6, for a network may fill up what is too short */
	half_a_grh, no_bth, no_room_for_an_icrc, pad_and_nothing_else, one_byte_too_few,
	largest_length,
	/* rx_drop_grh: 2 */
	version_4, udp_next,
	/* rx_icrc_encapsulated: 1 */
	a_bit_of_the_icrc,
	/* rx_drop_wrong_peer: 4, for the peer is asked for before the ICRC is summed */
	a_bit_of_the_sgid, foreign_dgid, foreign_sgid, group_as_dgid,
	/* rx_drop_opcode: 3 */
	opcode_of_nothing, transport_version_1, congestion,
	/* rx_drop_unknown_qp: 1 */
	nobody,
	/* rx_drop_no_group: 1 */
	no_group,
};

/* The connection drops all of these frames, and its PSN does not move. */
static void run_wrong(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	struct conn *c = conn_open(p, &attr);
	struct ibv_send_wr wr;
	struct frame f;
	unsigned int i;

	(void)arg;
	frame_meet(p);
	if (end_b(p))
		conn_recv(c, 7, &sge, 1);
	pair_sync(p);
	for (i = 0; i < ARRAY_SIZE(wrong) && end_a(p); i++) {
		size_t len;

		frame_make(c, &f, SEND_ONLY, c->own.psn, hello, sizeof(hello));
		len = wrong[i](&f);
		frame_send(c, &f, len);
	}
	if (end_b(p))
		queue_quiet(c->recv, SILENCE);
	pair_sync(p);
	if (end_b(p)) {
		queue_want(c->recv, 7, IBV_WC_SUCCESS);
		check(p, !memcmp(r->buf, hello, sizeof(hello)), "it receives something else");
		conn_want_state(c, IBV_QPS_RTS);
		return;
	}
	memcpy(r->buf, hello, sizeof(hello));
	sge.length = sizeof(hello);
	wr = wr_send(1, &sge, 1, IBV_SEND_SIGNALED);
	conn_send(c, &wr);
	queue_want(c->send, 1, IBV_WC_SUCCESS);
}

/* Ethernet pads short frames: the padding behind the packet is ignored, whatever its length. */
static void run_filled(struct pair *p, const void *arg)
{
	static const int more[] = { 0, 1, 3, 4, 18, 1000 };
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	struct conn *c = conn_open(p, &attr);
	unsigned int i;
	struct ibv_wc wc;
	struct frame f;

	(void)arg;
	frame_meet(p);
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		if (end_b(p))
			conn_recv(c, i, &sge, 1);
		pair_sync(p);
		if (end_a(p)) {
			frame_make(c, &f, SEND_ONLY, (c->own.psn + i) & 0xffffff, hello, i);
			memset((uint8_t *)&f + f.len, 0x99, more[i]);
			frame_send(c, &f, f.len + more[i]);
			continue;
		}
		queue_next(c->recv, &wc);
		check(p, !wc.status && wc.wr_id == i && wc.byte_len == i &&
		      !memcmp(r->buf, hello, i), "receive %llu: %s, %u bytes, not %u",
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), wc.byte_len, i);
	}
	pair_sync(p);
}

/* Fields that the network may change are not in the ICRC. */
static void run_changed(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	struct conn *c = conn_open(p, &attr);
	struct frame f;

	(void)arg;
	frame_meet(p);
	if (end_b(p))
		conn_recv(c, 1, &sge, 1);
	pair_sync(p);
	if (end_a(p)) {
		frame_make(c, &f, SEND_ONLY, c->own.psn, hello, sizeof(hello));
		/* Traffic class with what would be a mark, flow label, hop limit; FECN, BECN. */
		f.grh.ip6_flow |= htonl(0x0abcdef1 | 3 << 20);
		f.grh.ip6_hlim = 0x5a;
		f.bth.qpn |= htonl(0xc0000000);
		frame_send(c, &f, f.len);
	} else {
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
	}
	pair_sync(p);
}

/* A datagram to a GID that this device does not have, then one to its own GID. */
static void run_datagram(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 100);
	struct { uint32_t qkey, sqp; char data[12]; } body;
	struct conn *c = conn_open(p, &attr);
	struct frame f;

	(void)arg;
	frame_meet(p);
	if (end_b(p))
		conn_recv(c, 1, &sge, 1);
	pair_sync(p);
	if (end_a(p)) {
		body.qkey = htonl(attr.qkey);
		body.sqp = htonl(c->own.qpn);
		memcpy(body.data, hello, sizeof(body.data));
		frame_make(c, &f, UD_SEND_ONLY, 1, &body, sizeof(body));
		foreign_dgid(&f);
		frame_send(c, &f, f.len);
		frame_make(c, &f, UD_SEND_ONLY, 2, &body, sizeof(body));
		frame_send(c, &f, f.len);
	} else {
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
		check(p, !memcmp(r->buf + 24, &c->own.gid, 16), "it came to another address");
	}
	pair_sync(p);
}

/*
 * A connection has one RoCE version: its next packet in the other version is dropped (IBTA
 * A17.4).
 */
static void run_other(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	bool v1 = p->v1;
	struct frame f;
	struct conn *c;

	p->v1 = arg;
	pair_family(p, false);
	c = conn_open(p, &attr);
	p->v1 = v1;
	pair_family(p, false);
	frame_meet(p);
	if (end_b(p))
		conn_recv(c, 1, &sge, 1);
	pair_sync(p);
	frame_make(c, &f, SEND_ONLY, c->own.psn, hello, sizeof(hello));
	if (end_a(p) && arg)
		packet_send(c, SEND_ONLY, c->own.psn, hello, sizeof(hello));
	else if (end_a(p))
		frame_send(c, &f, f.len);
	else
		queue_quiet(c->recv, SILENCE);
	pair_sync(p);
	if (end_a(p) && arg)
		frame_send(c, &f, f.len);
	else if (end_a(p))
		packet_send(c, SEND_ONLY, c->own.psn, hello, sizeof(hello));
	else
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
	pair_sync(p);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "wrong"))
		pair_case(&p, run_wrong, NULL, "malformed frames are dropped");
	if (pair_wants(&p, "filled"))
		pair_case(&p, run_filled, NULL, "padding behind the packet is ignored");
	if (pair_wants(&p, "changed"))
		pair_case(&p, run_changed, NULL, "fields that routers change are not in the ICRC");
	if (pair_wants(&p, "datagram"))
		pair_case(&p, run_datagram, NULL, "a datagram to another GID is dropped");
	if (pair_wants(&p, "other")) {
		pair_case(&p, run_other, NULL,
			  "a RoCE v1 frame for a RoCE v2 connection is dropped");
		pair_case(&p, run_other, &p,
			  "a RoCE v2 packet for a RoCE v1 connection is dropped");
	}
	return pair_close(&p);
}
