// SPDX-License-Identifier: GPL-2.0
/*
 * raw_error - invalid frames, receives and rings of a raw packet queue pair end in
 * the right error
 *
 *	raw_error a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rover-abi.h>

#include "lib/ether.h"
#include "lib/netdev.h"
#include "lib/hostile.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define SILENCE 30

static void plain(struct ether *e, struct frame *f, unsigned int len, uint32_t id)
{
	frame_begin(f, end_a(e->p) ? e->peer : e->mac, end_a(e->p) ? e->mac : e->peer);
	frame_type(f, ETHER_TYPE);
	frame_end(f, len, id);
}

static void want_mine(struct ether *e)
{
	struct rule rule;

	rule_begin(&rule, IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_eth(&rule, e->mac, ETHER_TYPE);
	rule_make(e, &rule);
}

/* Whatever has happened, a frame gets through. */
static void touch(struct ether *e, uint32_t id)
{
	struct frame f;

	pair_sync(e->p);
	plain(e, &f, 200, id);
	if (end_a(e->p))
		ether_send(e, &f, 1, false);
	else
		ether_want(e, &f);
}

/* ---- what is sent ---- */

struct wrong {
	const char *what;
	int len;		/* beyond the MTU, if it is negative */
	bool tagged, bad_key;
	enum ibv_wc_status status;
};

static const struct wrong wrongs[] = {
	{ "no bytes", 0, false, false, IBV_WC_LOC_LEN_ERR },
	{ "13 bytes", 13, false, false, IBV_WC_LOC_LEN_ERR },
	{ "one more than fits", -15, false, false, IBV_WC_LOC_LEN_ERR },
	{ "four bytes more than fit, without a tag", -18, false, false, IBV_WC_LOC_LEN_ERR },
	{ "one more than fits behind a tag", -19, true, false, IBV_WC_LOC_LEN_ERR },
	{ "memory of an unknown key", 100, false, true, IBV_WC_LOC_PROT_ERR },
	{ "memory of an unknown key, for a long frame", -14, false, true, IBV_WC_LOC_PROT_ERR },
};

static void run_wrong(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	const struct wrong *wrong = arg;
	struct ibv_qp_attr next = { .qp_state = IBV_QPS_RTS };
	struct ibv_send_wr wr, after;
	struct ibv_sge sge[2];
	struct ether *e;
	struct frame f;
	uint32_t len;

	need_rules(p);
	e = ether_open(p, &attr);
	if (end_b(p)) {
		want_mine(e);
		touch(e, 1);
		pair_sync(p);
		ether_quiet(e, SILENCE);
		touch(e, 2);
		return;
	}
	touch(e, 1);
	len = wrong->len < 0 ? netdev_mtu(p) - wrong->len : (unsigned int)wrong->len;
	frame_begin(&f, e->peer, e->mac);
	if (wrong->tagged)
		frame_tag(&f, 5);
	frame_type(&f, ETHER_TYPE);
	frame_end(&f, len > f.len ? len : f.len, 3);
	memcpy(e->r->buf, f.bytes, f.len);
	/* The key of the second piece: what the first one has is good. */
	sge[0] = sge_of(e->r, 0, wrong->bad_key ? 20 : len);
	sge[1] = sge_of(e->r, 20, len - 20);
	sge[1].lkey ^= 0x5a5a00;
	wr = wr_send(1, sge, wrong->bad_key ? 2 : !!len, IBV_SEND_SIGNALED);
	after = wr_send(2, sge, 1, 0);
	wr.next = &after;
	conn_send(e->c, &wr);
	queue_want(e->c->send, 1, wrong->status);
	queue_want(e->c->send, 2, IBV_WC_WR_FLUSH_ERR);
	/* Only what is sent has suffered. */
	conn_want_state(e->c, IBV_QPS_SQE);
	check(p, !ibv_modify_qp(e->c->qp, &next, IBV_QP_STATE), "back to RTS");
	pair_sync(p);
	touch(e, 2);
}

/* Requests that the provider refuses to post. */
static void run_opcodes(struct pair *p, const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_LOCAL_INV,
	};
	struct conn_attr attr = ether_defaults(p);
	struct ether *e = ether_open(p, &attr);
	struct ibv_sge sge = sge_of(e->r, 0, 100);
	struct ibv_send_wr wr;
	unsigned int i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr = wr_send(1, &sge, 1, IBV_SEND_SIGNALED);
		wr.opcode = opcodes[i];
		check(p, conn_post(e->c, &wr) == EINVAL, "opcode %d is posted", opcodes[i]);
	}
	/* Not there, and not said to be. */
	wr = wr_send(1, &sge, 1, IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM);
	check(p, conn_post(e->c, &wr) == EINVAL, "checksums are promised");
	queue_quiet(e->c->send, SILENCE);
}

/* ---- what is received ---- */

/* A frame that does not fit is dropped at once, and affects no other. */
static void run_receives(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	struct conn *c;
	struct ether *e, few;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct frame f;

	(void)arg;
	need_rules(p);
	e = ether_open(p, &attr);
	c = conn_open(p, &attr);
	few = *e;
	few.c = c;
	if (end_b(p))
		want_mine(&few);
	pair_sync(p);
	plain(e, &f, 300, 1);
	/* There is none; then there is one, too small for the first and not for the second. */
	if (end_a(p))
		ether_send(e, &f, 1, false);
	pair_sync(p);
	if (end_b(p)) {
		queue_quiet(c->recv, SILENCE);
		sge = sge_of(e->r, 0, 299);
		memset(e->r->buf, 0x55, 400);
		conn_recv(c, 7, &sge, 1);
	}
	pair_sync(p);
	if (end_a(p))
		ether_send(e, &f, 1, false);
	plain(e, &f, 299, 2);
	if (end_a(p)) {
		ether_send(e, &f, 1, false);
	} else {
		queue_next(c->recv, &wc);
		check(p, wc.wr_id == 7 && !wc.status && wc.byte_len == 299, "receive %llu, %s, %u",
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), wc.byte_len);
		check(p, !memcmp(e->r->buf, f.bytes, 299) && e->r->buf[299] == 0x55, "wrong data");
		/* One whose memory is not there takes the queue pair with it. */
		sge.lkey ^= 0x5a5a00;
		conn_recv(c, 8, &sge, 1);
		conn_recv(c, 9, &sge, 1);
	}
	pair_sync(p);
	if (end_a(p)) {
		ether_send(e, &f, 1, false);
	} else {
		queue_want(c->recv, 8, IBV_WC_LOC_PROT_ERR);
		queue_want(c->recv, 9, IBV_WC_WR_FLUSH_ERR);
		conn_want_state(c, IBV_QPS_ERR);
	}
	pair_sync(p);
	/* It is nobody's, but neither is it the host's. */
	if (end_a(p))
		ether_send(e, &f, 1, false);
	else
		queue_quiet(c->recv, SILENCE);
}

static int undo_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

/* Each shared receive takes one frame. */
static void run_shared(struct pair *p, const void *arg)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct conn_attr attr = ether_defaults(p);
	struct ibv_recv_wr recv = { .num_sge = 1 }, *bad;
	struct ether *e, other;
	struct ibv_sge sge;
	struct ibv_srq *srq;
	struct ibv_wc wc;
	struct frame f;
	int i;

	(void)arg;
	need_rules(p);
	e = ether_open(p, &attr);
	srq = ibv_create_srq(p->pd, &shared);
	check(p, srq, "ibv_create_srq: %s", strerror(errno));
	undo_later(p, undo_srq, srq, "ibv_destroy_srq");
	attr.srq = srq;
	other = *e;
	other.c = conn_open(p, &attr);
	if (end_b(p))
		want_mine(&other);
	for (i = 0; i < 4; i++) {
		sge = sge_of(e->r, i * 512, 512);
		recv.wr_id = i;
		recv.sg_list = &sge;
		check(p, !ibv_post_srq_recv(srq, &recv, &bad), "ibv_post_srq_recv");
	}
	pair_sync(p);
	for (i = 0; i < 4; i++) {
		plain(e, &f, 100 + i, i);
		if (end_a(p)) {
			ether_send(e, &f, 1, false);
			continue;
		}
		queue_next(other.c->recv, &wc);
		check(p, wc.wr_id == (unsigned int)i && wc.byte_len == 100U + i &&
		      !memcmp(e->r->buf + i * 512, f.bytes, 100 + i), "frame %d is wrong", i);
	}
}

/* ---- rings ---- */

struct scribble {
	const char *what;
	size_t at, len;
	uint64_t value;
	enum ibv_wc_status status;
};

#define WQE(field) offsetof(struct rover_send_wqe, field), \
	sizeof(((struct rover_send_wqe *)NULL)->field)
#define SGE(field) ROVER_SEND_WQE_HDR + offsetof(struct rover_sge, field), \
	sizeof(((struct rover_sge *)NULL)->field)

static const struct scribble scribbles[] = {
	{ "opcode 13", WQE(opcode), 13, IBV_WC_LOC_QP_OP_ERR },
	{ "opcode 255", WQE(opcode), 255, IBV_WC_LOC_QP_OP_ERR },
	{ "immediate data", WQE(opcode), ROVER_WQE_SEND_IMM, IBV_WC_LOC_QP_OP_ERR },
	{ "an RDMA WRITE", WQE(opcode), ROVER_WQE_WRITE, IBV_WC_LOC_QP_OP_ERR },
	{ "an atomic", WQE(opcode), ROVER_WQE_CMP_SWAP, IBV_WC_LOC_QP_OP_ERR },
	{ "a registration", WQE(opcode), ROVER_WQE_REG_MR, IBV_WC_LOC_QP_OP_ERR },
	{ "unknown flags", WQE(flags), 0x81, IBV_WC_LOC_QP_OP_ERR },
	{ "255 pieces", WQE(num_sge), 255, IBV_WC_LOC_QP_OP_ERR },
	{ "33 pieces", WQE(num_sge), 33, IBV_WC_LOC_QP_OP_ERR },
	{ "a remote address", WQE(remote_addr), 1, IBV_WC_LOC_QP_OP_ERR },
	{ "a nonzero reserved word", WQE(swap), 1ULL << 63, IBV_WC_LOC_QP_OP_ERR },
	{ "a piece of 4 GiB", SGE(length), 0xffffffff, IBV_WC_LOC_LEN_ERR },
	{ "an address of the kernel", SGE(addr), 0xffff888000000000ULL, IBV_WC_LOC_PROT_ERR },
	{ "lkey 0", SGE(lkey), 0, IBV_WC_LOC_PROT_ERR },
};

/* The send ring is what moves when something is sent. */
static uint8_t *find_ring(struct ether *e, const struct maps *before)
{
	uint8_t *pages[MAX_MAPS * 16];
	uint32_t tails[MAX_MAPS * 16];
	struct maps now;
	struct frame f;
	int i, n;

	list_maps(e->p, &now);
	n = fresh_pages(before, &now, pages, ARRAY_SIZE(pages));
	for (i = 0; i < n; i++)
		tails[i] = load(pages[i]);
	/* Of a type that no rule is about. */
	frame_begin(&f, e->peer, e->mac);
	frame_type(&f, ETHER_TYPE + 1);
	frame_end(&f, 60, 0);
	ether_send(e, &f, 1, false);
	for (i = 0; i < n; i++)
		if (load(pages[i]) == tails[i] + 1 && load(pages[i] + 64) == tails[i] + 1)
			return pages[i];
	fail(e->p, "no page of %d is that of the send ring", n);
}

static void run_scribble(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	const struct scribble *s = arg;
	struct rover_send_wqe *wqe;
	struct rover_sge *sge;
	struct ether *e, *bystander;
	struct maps before;
	uint8_t *ring;
	size_t stride;
	uint32_t tail;

	if (p->rxe)
		skip(p, "these are the rings of rover only");
	need_rules(p);
	bystander = ether_open(p, &attr);
	list_maps(p, &before);
	e = ether_open(p, &attr);
	if (end_b(p)) {
		want_mine(bystander);
		touch(bystander, 1);
		touch(bystander, 2);
		return;
	}
	touch(bystander, 1);
	ring = find_ring(e, &before);
	stride = (ROVER_SEND_WQE_HDR + e->c->cap.max_send_sge * 16 + 63) / 64 * 64;
	tail = load(ring);
	wqe = (void *)(ring + ROVER_RING_HDR_SIZE + tail * stride);
	memset(wqe, 0, stride);
	wqe->flags = ROVER_WQE_SIGNALED;
	wqe->num_sge = 1;
	wqe->wr_id = 77;
	sge = (void *)((uint8_t *)wqe + ROVER_SEND_WQE_HDR);
	*sge = (struct rover_sge){ (uintptr_t)e->r->buf, 100, e->r->mr->lkey };
	memcpy((uint8_t *)wqe + s->at, &s->value, s->len);
	store((uint32_t *)ring, tail + 1);
	check(p, !doorbell(p, e->c->qp->qp_num), "doorbell: %s", strerror(errno));
	queue_want(e->c->send, 77, s->status);
	conn_want_state(e->c, IBV_QPS_SQE);
	touch(bystander, 2);
}

/* Tails above the ring size, and below the old value. */
static void run_tails(struct pair *p, const void *arg)
{
	static const uint32_t tails[] = { 1000, 0x80000000, 0xffffffff };
	struct conn_attr attr = ether_defaults(p);
	struct ether *e;
	struct maps before;
	uint8_t *ring;
	unsigned int i;

	(void)arg;
	if (p->rxe)
		skip(p, "these are the rings of rover only");
	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		list_maps(p, &before);
		e = ether_open(p, &attr);
		if (end_a(p)) {
			ring = find_ring(e, &before);
			store((uint32_t *)ring, load(ring) + tails[i]);
			doorbell(p, e->c->qp->qp_num);
			check(p, event_wait(p, IBV_EVENT_QP_FATAL, e->c->qp, 5000 * p->slow),
			      "no IBV_EVENT_QP_FATAL");
			conn_want_state(e->c, IBV_QPS_ERR);
		}
		pair_sync(p);
	}
}

/* ---- an interface that is down ---- */

/* Frames that are sent while the interface is down are dropped; the script reads the counter. */
static void run_down(struct pair *p, const void *arg)
{
	struct conn_attr attr = ether_defaults(p);
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ether *e;
	struct frame f;
	int i;

	(void)arg;
	need_rules(p);
	e = ether_open(p, &attr);
	if (end_b(p))
		return;
	check(p, !system("ip link set \"$NDEV_A\" down"), "ip link set down");
	plain(e, &f, 100, 1);
	memcpy(e->r->buf, f.bytes, f.len);
	for (i = 0; i < 100; i++) {
		sge = sge_of(e->r, 0, f.len);
		wr = wr_send(i, &sge, 1, IBV_SEND_SIGNALED);
		conn_send(e->c, &wr);
		queue_want(e->c->send, i, IBV_WC_SUCCESS);
	}
	conn_want_state(e->c, IBV_QPS_RTS);
	/* It has lost this address. */
	check(p, !system("ip link set \"$NDEV_A\" up"), "ip link set up");
	check(p, !system("ip addr replace \"$ADDR6_A/64\" dev \"$NDEV_A\" nodad"), "ip addr");
}

int main(int argc, char **argv)
{
	unsigned int i;
	struct pair p;

	pair_open(&p, argc, argv);
	for (i = 0; i < ARRAY_SIZE(wrongs) && pair_wants(&p, "send"); i++)
		pair_case(&p, run_wrong, &wrongs[i], "a frame is refused: %s", wrongs[i].what);
	if (pair_wants(&p, "send"))
		pair_case(&p, run_opcodes, NULL,
			  "RDMA operations on a raw packet queue pair are refused");
	if (pair_wants(&p, "receive")) {
		pair_case(&p, run_receives, NULL,
			  "frames without a receive, with a short one, or an invalid one");
		pair_case(&p, run_shared, NULL, "a shared receive queue takes frames");
	}
	for (i = 0; i < ARRAY_SIZE(scribbles) && pair_wants(&p, "ring"); i++)
		pair_case(&p, run_scribble, &scribbles[i],
			  "a forged send WQE with %s is refused", scribbles[i].what);
	if (pair_wants(&p, "ring"))
		pair_case(&p, run_tails, NULL, "impossible tails of the send and receive rings");
	/* Not unless it is asked for: the interface loses addresses. */
	if (argc > 3 && pair_wants(&p, "down"))
		pair_case(&p, run_down, NULL, "frames sent on an interface that is down");
	return pair_close(&p);
}
