// SPDX-License-Identifier: GPL-2.0
/*
 * shared - a shared receive queue of a case, memory for its receives, and queue
 * pairs that use it
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"
#include "pattern.h"
#include "shared.h"

/* Initial contents of a slot */
#define FILLER 0x55

/* Length of the first piece, offset of the second one */
#define FIRST 100
#define SECOND 164

static int undo_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

static struct ibv_srq *make_srq(struct shared *s, struct ibv_pd *pd, struct ibv_xrcd *xrcd)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = s->init.attr, .srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = xrcd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
	};
	struct ibv_srq *srq;

	if (!xrcd)
		return ibv_create_srq(pd, &s->init);
	init.cq = s->recv->cq;
	srq = ibv_create_srq_ex(pd->context, &init);
	s->init.attr = init.attr;
	return srq;
}

struct shared *shared_xrc(struct pair *p, struct ibv_pd *pd, uint32_t wr, uint32_t sge,
			  struct ibv_xrcd *xrcd, struct queue *recv)
{
	struct shared *s = pair_alloc(p, sizeof(*s));
	struct maps before, now;
	uint8_t *page[16];

	s->p = p;
	s->recv = recv;
	s->r = region_in(p, pd, (size_t)wr * SLOT_BYTES, ALL_ACCESS);
	s->init.attr = (struct ibv_srq_attr){ .max_wr = wr, .max_sge = sge };
	list_maps(p, &before);
	s->srq = make_srq(s, pd, xrcd);
	check(p, s->srq, "ibv_create_srq of %u: %s", wr, strerror(errno));
	undo_later(p, undo_srq, s->srq, "ibv_destroy_srq");
	check(p, s->init.attr.max_wr >= wr && s->init.attr.max_sge >= sge,
	      "a shared queue for %u receives of %u pieces, asked for %u of %u",
	      s->init.attr.max_wr, s->init.attr.max_sge, wr, sge);
	check(p, !xrcd || !ibv_get_srq_num(s->srq, &s->srqn), "ibv_get_srq_num fails");
	list_maps(p, &now);
	s->pages = fresh_pages(&before, &now, page, 16);
	s->ring = page[0];
	return s;
}

struct shared *shared_new(struct pair *p, struct ibv_pd *pd, uint32_t wr)
{
	return shared_xrc(p, pd, wr, 2, NULL, NULL);
}

int shared_post(struct shared *s, uint64_t wr_id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = n }, *bad = NULL;
	int error = ibv_post_srq_recv(s->srq, &wr, &bad);

	check(s->p, !error || bad == &wr, "ibv_post_srq_recv fails, but not at its request");
	return error;
}

void shared_fill(struct shared *s, int from, int to)
{
	struct ibv_sge sge[2];
	int error;

	for (; from < to; from++) {
		size_t at = (size_t)from * SLOT_BYTES;

		memset(s->r->buf + at, FILLER, SLOT_BYTES);
		sge[0] = sge_of(s->r, at, FIRST);
		sge[1] = sge_of(s->r, at + SECOND, SLOT_ROOM - FIRST);
		error = shared_post(s, from, sge, 2);
		check(s->p, !error, "posting receive %d: %s", from, strerror(error));
	}
}

void shared_judge(struct shared *s, int slot, const uint8_t *want, uint32_t len, uint32_t behind,
		  const char *what)
{
	const uint8_t *got = s->r->buf + (size_t)slot * SLOT_BYTES;
	uint8_t *whole = malloc(SLOT_BYTES);
	uint32_t i, at;

	memset(whole, FILLER, SLOT_BYTES);
	for (i = 0; i < behind + len; i++) {
		at = i < FIRST ? i : i + SECOND - FIRST;
		whole[at] = i < behind ? got[at] : want[i - behind];
	}
	at = pattern_differ(got, whole, SLOT_BYTES);
	if (at < SLOT_BYTES) {
		const char *show = pattern_show(got, whole, at, SLOT_BYTES);

		free(whole);
		fail(s->p, "%s: %u bytes in slot %d are wrong at byte %u of it: %s", what, len,
		     slot, at, show);
	}
	free(whole);
}

int shared_modify(struct shared *s, int mask, uint32_t max_wr, uint32_t limit)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr, .srq_limit = limit };

	return ibv_modify_srq(s->srq, &attr, mask);
}

struct ibv_srq_attr shared_query(struct shared *s)
{
	struct ibv_srq_attr attr = {};
	int error = ibv_query_srq(s->srq, &attr);

	check(s->p, !error, "ibv_query_srq: %s", strerror(error));
	return attr;
}

bool shared_event(struct shared *s, enum ibv_event_type type, unsigned int ms)
{
	/* The event's element is a union: the SRQ is where a queue pair would be. */
	return event_wait(s->p, type, (void *)s->srq, ms);
}

/* ---- queue pairs that share a receive queue ---- */

static void add_qp(struct group *g, bool ud, bool extended)
{
	struct pair *p = g->p;
	struct conn_attr attr = ud ? dgram_defaults(p) : conn_defaults(p);

	attr.extended = extended;
	attr.send = g->send;
	attr.recv = g->recv;
	attr.srq = end_b(p) ? g->s->srq : NULL;
	/* Unlimited RNR retries, at short intervals */
	attr.rnr_retry = 7;
	attr.min_rnr_timer = 1;
	g->c[g->n] = conn_open(p, &attr);
	g->qpn[g->n] = g->c[g->n]->qp->qp_num;
	g->n++;
}

struct group *group_new(struct pair *p, int rc, int ud, bool extended)
{
	struct group *g = pair_alloc(p, sizeof(*g));
	int i;

	g->p = p;
	g->send = queue_new(p, 256, extended, false);
	g->recv = queue_new(p, 256, extended, false);
	g->from = region_new(p, MAX_QPS * DEPTH * SLOT_BYTES, ALL_ACCESS);
	g->target = region_new(p, SLOT_BYTES, ALL_ACCESS);
	region_swap(p, g->target);
	if (end_b(p))
		g->s = shared_new(p, p->pd, SLOTS);
	for (i = 0; i < rc + ud; i++)
		add_qp(g, i >= rc, extended);
	return g;
}

/* ---- messages: both ends compute message k of queue pair i ---- */

struct message {
	enum ibv_wr_opcode opcode;
	uint32_t size;
	uint32_t imm;
	uint64_t seed;
};

static bool is_ud(struct group *g, int i)
{
	return g->c[i]->attr.type == IBV_QPT_UD;
}

static struct message message_of(struct group *g, int i, int k)
{
	uint64_t seed = 1000003ULL * i + k;
	struct message m = { .seed = seed, .imm = i << 20 | k };

	m.size = draw(&seed, 0, is_ud(g, i) ? 1000 : g->p->quick ? 3000 : SLOT_ROOM);
	m.opcode = k % 3 == 1 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
	if (k % 5 == 4 && !is_ud(g, i))
		m.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	return m;
}

void group_send(struct group *g, int i)
{
	size_t at = (size_t)(i * DEPTH + g->posted[i] % DEPTH) * SLOT_BYTES;
	struct message m = message_of(g, i, g->posted[i]);
	struct ibv_sge sge = sge_of(g->from, at, m.size);
	struct ibv_send_wr wr = wr_rdma(i, m.opcode, &sge, 1, IBV_SEND_SIGNALED,
					g->target->peer_addr, g->target->peer_rkey);

	if (is_ud(g, i))
		wr = wr_dgram(g->c[i], i, &sge, 1, IBV_SEND_SIGNALED);
	wr.opcode = m.opcode;
	wr.imm_data = htonl(m.imm);
	pattern_fill(g->from->buf + at, m.size, m.seed);
	conn_send(g->c[i], &wr);
	g->posted[i]++;
}

/* Index of a queue pair */
static int index_of(struct group *g, uint32_t qpn)
{
	int i;

	for (i = 0; i < g->n; i++)
		if (g->qpn[i] == qpn)
			return i;
	fail(g->p, "completion of queue pair 0x%x, which is none of ours", qpn);
}

void group_judge(struct group *g, const struct ibv_wc *wc)
{
	int i = index_of(g, wc->qp_num);
	struct message m = message_of(g, i, g->came[i]);
	bool write = m.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	uint32_t grh = is_ud(g, i) ? GRH_BYTES : 0;
	char what[100];

	snprintf(what, sizeof(what), "message %d of queue pair %d", g->came[i], i);
	check(g->p, !wc->status, "%s: %s", what, ibv_wc_status_str(wc->status));
	check(g->p, wc->wr_id < SLOTS, "%s: wr_id %llu", what, (unsigned long long)wc->wr_id);
	check(g->p, wc->opcode == (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV),
	      "%s: opcode %d", what, wc->opcode);
	check(g->p, wc->byte_len == m.size + grh, "%s: byte_len %u, not %u", what, wc->byte_len,
	      m.size + grh);
	check(g->p, !(wc->wc_flags & IBV_WC_GRH) == !grh && (m.opcode == IBV_WR_SEND) ==
	      !(wc->wc_flags & IBV_WC_WITH_IMM), "%s: wc_flags 0x%x", what, wc->wc_flags);
	check(g->p, m.opcode == IBV_WR_SEND || ntohl(wc->imm_data) == m.imm,
	      "%s: immediate data 0x%x, not 0x%x", what, ntohl(wc->imm_data), m.imm);
	pattern_fill(g->want, m.size, m.seed);
	shared_judge(g->s, wc->wr_id, g->want, write ? 0 : m.size, grh, what);
	g->came[i]++;
}

/* End b: check completed receives, and post their slots again. */
static int take(struct group *g)
{
	struct ibv_wc wc[8];
	int i, n = queue_poll(g->recv, wc, 8);

	for (i = 0; i < n; i++) {
		group_judge(g, &wc[i]);
		shared_fill(g->s, wc[i].wr_id, wc[i].wr_id + 1);
	}
	return n;
}

/* End a: count completed messages. */
static int reap(struct group *g)
{
	struct ibv_wc wc[8];
	int i, n = queue_poll(g->send, wc, 8);

	for (i = 0; i < n; i++) {
		check(g->p, !wc[i].status || g->doomed[wc[i].wr_id], "queue pair %llu: %s",
		      (unsigned long long)wc[i].wr_id, ibv_wc_status_str(wc[i].status));
		g->sent[wc[i].wr_id]++;
		if (wc[i].status)
			g->broken[wc[i].wr_id] = true;
	}
	return n;
}

/* End a: post as many messages as DEPTH allows. */
static int post(struct group *g, int messages)
{
	int i, n = 0;

	for (i = 0; i < g->n; i++) {
		if (g->broken[i] || g->posted[i] == messages ||
		    g->posted[i] - g->sent[i] == DEPTH)
			continue;
		group_send(g, i);
		n++;
	}
	return n;
}

static bool all_done(struct group *g, int messages)
{
	const int *done = end_a(g->p) ? g->sent : g->came;
	int i;

	for (i = 0; i < g->n; i++)
		if (!g->doomed[i] && done[i] < messages)
			return false;
	return true;
}

void group_go(struct group *g, int messages)
{
	unsigned int idle = 0;
	int did;

	while (!all_done(g, messages)) {
		did = end_a(g->p) ? post(g, messages) + reap(g) : take(g);
		if (did)
			idle = 0;
		else
			relax(g->p, &idle);
	}
}

void group_message(struct group *g, int i)
{
	struct ibv_wc wc;

	pair_sync(g->p);
	if (end_a(g->p)) {
		group_send(g, i);
		queue_next(g->send, &wc);
		check(g->p, !wc.status, "%s", ibv_wc_status_str(wc.status));
	} else {
		queue_next(g->recv, &wc);
		group_judge(g, &wc);
	}
	pair_sync(g->p);
}
