// SPDX-License-Identifier: GPL-2.0
/*
 * xrc_data - XRC: messages arrive in the queue that they name, and in no other,
 * byte for byte
 *
 *	xrc_data a|b PORT [GROUP...]	see main() for the groups
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pattern.h"
#include "lib/plan.h"
#include "lib/xrc.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define ROOM 8192

/* ---- all operations, all sizes ---- */

struct data_arg {
	enum ibv_mtu mtu;
	bool extended, from_b;
};

static const enum ibv_wr_opcode ops[] = {
	IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
};

static void run_sizes(struct pair *p, const void *data)
{
	static const uint32_t sizes[] = {
		0, 1, 3, 4, 64, 255, 256, 257, 1023, 1024, 1025, 4095, 4097, 8192, 65537,
	};
	const struct data_arg *arg = data;
	struct plan *plan = plan_new(p, arg->from_b, 300 + arg->mtu);
	struct conn_attr attr = xrc_defaults(p);
	bool asks = p->server == arg->from_b;
	struct domain *d = NULL;
	struct shared *s = NULL;
	unsigned int i, op;

	attr.mtu = arg->mtu;
	attr.extended = arg->extended;
	attr.inline_data = 64;
	if (!asks) {
		d = domain_new(p);
		s = shared_xrc(p, p->pd, 128, 4, d->xrcd,
			       queue_new(p, 256, arg->extended, false));
	}
	for (i = 0; i < ARRAY_SIZE(sizes) - !!p->quick; i++)
		for (op = 0; op < ARRAY_SIZE(ops); op++)
			plan_add(plan, ops[op], sizes[i], sizes[i] ? 2 : 0, sizes[i] ? 3 : 0,
				 sizes[i] <= 64 && ops[op] != IBV_WR_RDMA_READ);
	plan_run(xrc_open(p, &attr, asks, d, s), plan);
}

/* ---- several initiators, several queues ---- */

/* So many of each. */
#define MANY 3
#define DEEP 4

/* A message of at most so much is written to a place of its own. */
#define PLACE 1024

/**
 * struct mesh - each of a's initiators sends to each of b's queues
 * @s, @places: b's queues, each with a domain and memory of its own
 * @rkey, @addr: the memory, at a
 * @srqn: the queues, at a
 * @messages: each initiator's
 * @next: a: of each initiator, the next to be posted and to be completed
 * @came: b: of each initiator and queue, the next that has to come
 */
struct mesh {
	struct pair *p;
	struct conn *c[MANY];
	struct shared *s[MANY];
	struct region *places[MANY], *from;
	struct { uint64_t addr; uint32_t rkey, srqn; } there[MANY];
	int messages, posted[MANY], done[MANY], came[MANY][MANY];
	uint8_t want[SLOT_BYTES];
};

struct message {
	enum ibv_wr_opcode opcode;
	int queue;
	uint32_t size;
	uint64_t seed;
};

static struct message message_of(struct mesh *m, int i, int k)
{
	static const enum ibv_wr_opcode kinds[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	uint64_t seed = 7000003ULL * (i + 1) + k;
	struct message message = { .seed = seed };
	uint32_t most = m->p->quick ? 3000 : SLOT_ROOM;

	message.queue = draw(&seed, 0, MANY - 1);
	message.opcode = kinds[draw(&seed, 0, 2)];
	if (message.opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		most = PLACE;
	message.size = draw(&seed, 0, most);
	return message;
}

/* Where a message of an initiator is written, if it is. */
static size_t place_of(struct mesh *m, int i, int k)
{
	return (size_t)(i * m->messages + k) * PLACE;
}

static int dealloc_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static struct ibv_pd *new_pd(struct pair *p, struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	check(p, pd, "ibv_alloc_pd: %s", strerror(errno));
	undo_later(p, dealloc_pd, pd, "ibv_dealloc_pd");
	return pd;
}

static void make_queues(struct mesh *m, struct domain *d)
{
	struct ibv_pd *pd;
	int j;

	for (j = 0; j < MANY; j++) {
		pd = new_pd(m->p, m->p->ctx);
		m->s[j] = shared_xrc(m->p, pd, 8, 2, d->xrcd, queue_new(m->p, 64, false, false));
		m->places[j] = region_in(m->p, pd, (size_t)MANY * m->messages * PLACE,
					 ALL_ACCESS);
		m->there[j].addr = (uintptr_t)m->places[j]->buf;
		m->there[j].rkey = m->places[j]->mr->rkey;
		m->there[j].srqn = m->s[j]->srqn;
	}
}

static struct mesh *mesh_new(struct pair *p, int messages)
{
	struct mesh *m = pair_alloc(p, sizeof(*m));
	uint8_t there[sizeof(m->there)], dust[sizeof(m->there)];
	struct conn_attr attr = xrc_defaults(p);
	struct domain *d = NULL;
	int i;

	m->p = p;
	m->messages = messages;
	if (end_b(p)) {
		d = domain_new(p);
		make_queues(m, d);
	} else {
		m->from = region_new(p, MANY * DEEP * SLOT_BYTES, ALL_ACCESS);
	}
	for (i = 0; i < MANY; i++)
		m->c[i] = xrc_open(p, &attr, end_a(p), d, m->s[i]);
	memcpy(there, m->there, sizeof(there));
	pair_swap(p, there, end_a(p) ? (void *)m->there : dust, sizeof(there));
	return m;
}

static void mesh_send(struct mesh *m, int i)
{
	int k = m->posted[i]++;
	struct message message = message_of(m, i, k);
	size_t at = (size_t)(i * DEEP + k % DEEP) * SLOT_BYTES;
	struct ibv_sge sge = sge_of(m->from, at, message.size);
	struct ibv_send_wr wr = wr_rdma(k, message.opcode, &sge, 1, IBV_SEND_SIGNALED,
					m->there[message.queue].addr + place_of(m, i, k),
					m->there[message.queue].rkey);

	wr = wr_for(wr, m->there[message.queue].srqn);
	wr.imm_data = htonl(i << 20 | k);
	pattern_fill(m->from->buf + at, message.size, message.seed);
	conn_send(m->c[i], &wr);
}

/* a: one turn; was there anything to do? */
static bool ask(struct mesh *m)
{
	bool did = false;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < MANY; i++) {
		while (m->posted[i] < m->messages && m->posted[i] - m->done[i] < DEEP) {
			mesh_send(m, i);
			did = true;
		}
		if (!queue_poll(m->c[i]->send, &wc, 1))
			continue;
		check(m->p, !wc.status && (int)wc.wr_id == m->done[i] &&
		      wc.qp_num == m->c[i]->qp->qp_num, "initiator %d: message %llu: %s", i,
		      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status));
		m->done[i]++;
		did = true;
	}
	return did;
}

/* b: this came out of queue j. */
static void mesh_judge(struct mesh *m, int j, const struct ibv_wc *wc)
{
	struct message message;
	char what[80];
	bool write;
	int i, k;

	for (i = 0; i < MANY && m->c[i]->qp->qp_num != wc->qp_num; i++)
		;
	check(m->p, i < MANY, "queue %d: completion of queue pair 0x%x, which is none of ours", j,
	      wc->qp_num);
	/* In the order in which they were sent, without those for other queues. */
	for (k = m->came[i][j]; k < m->messages && message_of(m, i, k).queue != j; k++)
		;
	snprintf(what, sizeof(what), "message %d of initiator %d for queue %d", k, i, j);
	check(m->p, k < m->messages, "initiator %d has no more for queue %d", i, j);
	m->came[i][j] = k + 1;
	message = message_of(m, i, k);
	write = message.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	check(m->p, !wc->status, "%s: %s", what, ibv_wc_status_str(wc->status));
	check(m->p, wc->src_qp == m->c[i]->peer.qpn, "%s: src_qp 0x%x, not 0x%x", what, wc->src_qp,
	      m->c[i]->peer.qpn);
	check(m->p, wc->opcode == (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV) &&
	      wc->byte_len == message.size, "%s: opcode %d, %u bytes, not %u", what, wc->opcode,
	      wc->byte_len, message.size);
	check(m->p, (message.opcode == IBV_WR_SEND) == !(wc->wc_flags & IBV_WC_WITH_IMM) &&
	      (message.opcode == IBV_WR_SEND || (int)ntohl(wc->imm_data) == (i << 20 | k)),
	      "%s: wc_flags 0x%x, immediate data 0x%x", what, wc->wc_flags, ntohl(wc->imm_data));
	pattern_fill(m->want, message.size, message.seed);
	shared_judge(m->s[j], wc->wr_id, m->want, write ? 0 : message.size, 0, what);
	check(m->p, !write || !memcmp(m->places[j]->buf + place_of(m, i, k), m->want,
				      message.size), "%s: what was written is wrong", what);
}

static bool answer(struct mesh *m)
{
	bool did = false;
	struct ibv_wc wc;
	int j;

	for (j = 0; j < MANY; j++)
		while (queue_poll(m->s[j]->recv, &wc, 1)) {
			mesh_judge(m, j, &wc);
			shared_fill(m->s[j], wc.wr_id, wc.wr_id + 1);
			did = true;
		}
	return did;
}

static bool mesh_done(struct mesh *m)
{
	int i, j, k;

	for (i = 0; i < MANY; i++) {
		if (end_a(m->p) && m->done[i] < m->messages)
			return false;
		for (j = 0; j < MANY && end_b(m->p); j++)
			for (k = m->came[i][j]; k < m->messages; k++)
				if (message_of(m, i, k).queue == j)
					return false;
	}
	return true;
}

/*
 * Fewer receives than messages in flight: some messages wait, and none gets a receive of
 * another queue.
 */
static void run_mesh(struct pair *p, const void *arg)
{
	struct mesh *m = mesh_new(p, p->quick ? 40 : 250);
	unsigned int idle = 0;
	int j;

	(void)arg;
	for (j = 0; j < MANY && end_b(p); j++)
		shared_fill(m->s[j], 0, 1 + 2 * j);
	pair_sync(p);
	while (!mesh_done(m)) {
		if (end_a(p) ? ask(m) : answer(m))
			idle = 0;
		else
			relax(p, &idle);
	}
	pair_sync(p);
	for (j = 0; j < MANY && end_b(p); j++)
		queue_quiet(m->s[j]->recv, 5);
}

/* ---- atomics ---- */

/* End a adds to a word of b, and swaps it, and always knows its value. */
static void run_atomics(struct pair *p, const void *data)
{
	const bool *extended = data;
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct conn_attr attr = xrc_defaults(p);
	uint64_t word = 0x1122334455667788ULL, add, *back = (uint64_t *)r->buf;
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct domain *d = NULL;
	struct shared *s = NULL;
	struct ibv_send_wr wr;
	struct conn *c;
	bool swap;
	int k;

	attr.extended = *extended;
	if (end_b(p)) {
		d = domain_new(p);
		s = shared_xrc(p, p->pd, 4, 2, d->xrcd, queue_new(p, 8, false, false));
		back[1] = word;
	}
	region_swap(p, r);
	c = xrc_open(p, &attr, end_a(p), d, s);
	for (k = 0; k < 40 && end_a(p); k++) {
		swap = k % 2;
		add = mix(k);
		/* Every fourth swap compares with what is not there. */
		wr = wr_atomic(k, swap ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD,
			       &sge, r->peer_addr + 8, r->peer_rkey,
			       swap ? word + (k % 8 == 7) : add, add);
		conn_send(c, &wr);
		queue_want(c->send, k, IBV_WC_SUCCESS);
		check(p, *back == word, "atomic %d: 0x%llx was there, not 0x%llx", k,
		      (unsigned long long)*back, (unsigned long long)word);
		if (!swap)
			word += add;
		else if (k % 8 != 7)
			word = add;
	}
	if (end_a(p))
		pair_swap(p, &word, &add, sizeof(word));
	else
		pair_swap(p, &add, &word, sizeof(word));
	check(p, end_a(p) || back[1] == word, "0x%llx is there, not 0x%llx",
	      (unsigned long long)back[1], (unsigned long long)word);
}

/* A request with a response without data: ATOMIC WRITE. */
static void run_word(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct conn_attr attr = xrc_defaults(p);
	uint64_t *words = (uint64_t *)r->buf, word;
	struct domain *d = NULL;
	struct shared *s = NULL;
	struct conn *c;
	int k;

	(void)arg;
	attr.extended = true;
	attr.more_ops = IBV_QP_EX_WITH_ATOMIC_WRITE;
	if (end_b(p)) {
		d = domain_new(p);
		s = shared_xrc(p, p->pd, 4, 2, d->xrcd, queue_new(p, 8, false, false));
	}
	region_swap(p, r);
	c = xrc_open(p, &attr, end_a(p), d, s);
	for (k = 0; k < 20 && end_a(p); k++) {
		word = mix(k);
		ibv_wr_start(c->qpx);
		c->qpx->wr_id = k;
		c->qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_atomic_write(c->qpx, r->peer_rkey, r->peer_addr + 8 * k, &word);
		ibv_wr_set_xrc_srqn(c->qpx, c->srqn);
		check(p, !ibv_wr_complete(c->qpx), "ATOMIC WRITE is not posted");
		queue_want(c->send, k, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	for (k = 0; k < 20 && end_b(p); k++)
		check(p, words[k] == mix(k), "word %d is wrong", k);
}

/* ---- one target, several programs ---- */

/* One more context of this device, as another program would have it. */
static int close_context(void *ctx)
{
	return ibv_close_device(ctx);
}

static struct ibv_context *second_context(struct pair *p)
{
	struct ibv_context *ctx = ibv_open_device(p->ctx->device);

	check(p, ctx, "ibv_open_device: %s", strerror(errno));
	undo_later(p, close_context, ctx, "ibv_close_device");
	return ctx;
}

static int undo_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

static int undo_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

static int undo_xrcd(void *xrcd)
{
	return ibv_close_xrcd(xrcd);
}

/* What the other program has at b: the same domain, a queue of its own, the same target. */
struct other {
	struct ibv_xrcd *xrcd;
	struct queue recv;
	struct shared *s;
	struct ibv_qp *qp;
};

static void other_open(struct pair *p, struct other *o, struct domain *d, uint32_t qpn)
{
	struct ibv_context *ctx = second_context(p);
	struct ibv_qp_open_attr which = {
		.qp_num = qpn, .qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE |
			     IBV_QP_OPEN_ATTR_XRCD,
	};

	o->xrcd = domain_open(ctx, d->fd, 0);
	check(p, o->xrcd, "ibv_open_xrcd of what is there: %s", strerror(errno));
	undo_later(p, undo_xrcd, o->xrcd, "ibv_close_xrcd");
	o->recv = (struct queue){ .p = p, .cq = ibv_create_cq(ctx, 16, NULL, NULL, 0) };
	check(p, o->recv.cq, "ibv_create_cq: %s", strerror(errno));
	undo_later(p, undo_cq, o->recv.cq, "ibv_destroy_cq");
	o->s = shared_xrc(p, new_pd(p, ctx), 8, 2, o->xrcd, &o->recv);
	which.xrcd = o->xrcd;
	o->qp = ibv_open_qp(ctx, &which);
	check(p, o->qp, "ibv_open_qp: %s", strerror(errno));
	undo_later(p, undo_qp, o->qp, "ibv_destroy_qp");
}

/* A message to a queue, with so many bytes. */
static void to_queue(struct conn *c, struct region *r, struct shared *s, uint32_t srqn, int k)
{
	struct pair *p = c->p;
	struct ibv_sge sge = sge_of(r, 0, 2500);
	struct ibv_send_wr wr = wr_for(wr_send(k, &sge, 1, IBV_SEND_SIGNALED), srqn);
	struct ibv_wc wc;

	pattern_fill(r->buf, 2500, k);
	pair_sync(p);
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, k, IBV_WC_SUCCESS);
	} else {
		queue_next(s->recv, &wc);
		check(p, !wc.status && wc.byte_len == 2500, "message %d: %s, %u bytes", k,
		      ibv_wc_status_str(wc.status), wc.byte_len);
		shared_judge(s, wc.wr_id, r->buf, 2500, 0, "a message");
	}
	pair_sync(p);
}

/*
 * A target that two programs have open delivers to both, and goes on when the program that made
 * it has closed all objects.
 */
static void run_open(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, ROOM, ALL_ACCESS);
	struct conn_attr attr = xrc_defaults(p);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr is;
	struct domain *d = NULL;
	struct shared *s = NULL;
	struct other o = {};
	uint32_t srqn = 0, mine;
	struct conn *c;

	(void)arg;
	if (end_b(p)) {
		d = domain_new(p);
		s = shared_xrc(p, p->pd, 8, 2, d->xrcd, queue_new(p, 16, false, false));
		shared_fill(s, 0, 4);
	}
	c = xrc_open(p, &attr, end_a(p), d, s);
	if (end_b(p)) {
		other_open(p, &o, d, c->qp->qp_num);
		shared_fill(o.s, 0, 4);
		check(p, !ibv_query_qp(o.qp, &is, IBV_QP_STATE, &init) &&
		      is.qp_state == IBV_QPS_RTS, "what was opened is in another state");
	}
	mine = o.s ? o.s->srqn : 0;
	pair_swap(p, &mine, &srqn, sizeof(mine));
	to_queue(c, r, s, c->srqn, 1);
	to_queue(c, r, o.s, srqn, 2);
	if (end_b(p)) {
		undo_now(p, c);
		undo_now(p, s->srq);
		undo_now(p, s->recv);
		undo_now(p, d);
	}
	to_queue(c, r, o.s, srqn, 3);
	if (end_b(p))
		check(p, !ibv_query_qp(o.qp, &is, IBV_QP_STATE, &init) &&
		      is.qp_state == IBV_QPS_RTS, "it is in another state");
}

static void all_sizes(struct pair *p)
{
	static const struct data_arg args[] = {
		{ IBV_MTU_256, false, false }, { IBV_MTU_4096, true, false },
		{ IBV_MTU_1024, true, true }, { IBV_MTU_512, false, false },
		{ IBV_MTU_2048, true, true },
	};
	unsigned int i, n = p->quick ? 3 : ARRAY_SIZE(args);

	for (i = 0; i < n; i++) {
		pair_family(p, i % 2);
		pair_case(p, run_sizes, &args[i],
			  "XRC: all sizes at path MTU %d over IPv%d, %s%s", 128 << args[i].mtu,
			  i % 2 ? 6 : 4, args[i].extended ? "by ibv_wr_*()" : "by ibv_post_send()",
			  args[i].from_b ? ", from b to a" : "");
	}
	pair_family(p, false);
}

int main(int argc, char **argv)
{
	static const bool extended[] = { false, true };
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "sizes"))
		all_sizes(&p);
	if (pair_wants(&p, "mesh"))
		pair_case(&p, run_mesh, NULL, "%d initiators send to %d queues", MANY, MANY);
	if (pair_wants(&p, "atomics")) {
		pair_case(&p, run_atomics, &extended[0], "atomics over XRC");
		pair_case(&p, run_atomics, &extended[1], "atomics over XRC, by ibv_wr_*()");
		pair_case(&p, run_word, NULL, "ATOMIC WRITE over XRC");
	}
	if (pair_wants(&p, "open"))
		pair_case(&p, run_open, NULL, "a target opened by two programs delivers to both");
	return pair_close(&p);
}
