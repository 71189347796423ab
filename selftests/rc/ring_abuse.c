// SPDX-License-Identifier: GPL-2.0
/*
 * ring_abuse - a program that overwrites rover's rings loses its own queue pair,
 * and affects no other
 *
 *	ring_abuse a|b PORT [GROUP...]	see main() for the groups
 *
 * Each case works on a queue pair of its own, the victim, while a bystander in
 * the same process has to go on as if nothing were.  What becomes of the
 * victim is its own affair, as long as it can be destroyed; the kernel's log is
 * judged by the lab.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/rover-abi.h>

#include "lib/conn.h"
#include "lib/hostile.h"
#include "lib/pattern.h"

/* A queue pair that is to suffer, and its rings as they are mapped. */
struct victim {
	struct pair *p;
	struct conn *c;
	struct region *r;
	struct rover_ring_hdr *sq, *rq, *cq;
	size_t sq_len, rq_len, cq_len;
	size_t stride;
};

/* The same abuse of either service; which word, or which ring. */
struct abuse {
	bool dgram;
	int which;
};

struct bystander {
	struct conn *c;
	struct region *r;
	uint64_t round;
};

static void touch_bystander(struct pair *p, struct bystander *b)
{
	struct ibv_sge sge = sge_of(b->r, 0, 6000);
	struct ibv_send_wr wr = wr_rdma(b->round, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
					b->r->peer_addr + 8192, b->r->peer_rkey);
	struct ibv_sge back = sge_of(b->r, 16384, 6000);
	struct ibv_send_wr read = wr_rdma(b->round + 1, IBV_WR_RDMA_READ, &back, 1,
					  IBV_SEND_SIGNALED, b->r->peer_addr + 8192,
					  b->r->peer_rkey);

	pattern_fill(b->r->buf, 6000, b->round);
	wr.next = &read;
	conn_send(b->c, &wr);
	queue_want(b->c->send, b->round, IBV_WC_SUCCESS);
	queue_want(b->c->send, b->round + 1, IBV_WC_SUCCESS);
	check(p, !memcmp(b->r->buf, b->r->buf + 16384, 6000), "the bystander's data is wrong");
	b->round += 2;
}

static void need_rover(struct pair *p)
{
	if (p->rxe)
		skip(p, "these are the rings of rover only");
}

static void make_bystander(struct pair *p, struct bystander *b)
{
	struct conn_attr attr = conn_defaults(p);

	b->round = 1;
	b->r = region_new(p, 65536, ALL_ACCESS);
	b->c = conn_open(p, &attr);
	region_swap(p, b->r);
}

/* How nearly all begin: with somebody to be left alone, and memory for the one who is not. */
static struct region *begin(struct pair *p, struct bystander *b)
{
	struct region *r;

	need_rover(p);
	make_bystander(p, b);
	r = region_new(p, 65536, ALL_ACCESS);
	region_swap(p, r);
	return r;
}

static bool dgram(const struct victim *v)
{
	return v->c->attr.type == IBV_QPT_UD;
}

/* A request that does no harm. */
static struct ibv_send_wr harmless(struct victim *v, uint64_t wr_id, struct ibv_sge *sge)
{
	if (dgram(v))
		return wr_dgram(v->c, wr_id, sge, 1, IBV_SEND_SIGNALED);
	return wr_rdma(wr_id, IBV_WR_RDMA_WRITE, sge, 1, IBV_SEND_SIGNALED, v->r->peer_addr,
		       v->r->peer_rkey);
}

/*
 * Which page is the header of which ring is told by what changes in it when
 * a request is posted, a receive is posted, a completion is polled.
 */
static void find_rings(struct victim *v, uint8_t **page, int n)
{
	struct pair *p = v->p;
	struct ibv_sge sge = sge_of(v->r, 0, 16);
	struct ibv_send_wr wr = harmless(v, 0x1122334455667788, &sge);
	uint32_t tail[128], head[128];
	uint8_t *at;
	int i, k;

	for (k = 0; k < 3; k++) {
		struct rover_ring_hdr **ring = k == 0 ? &v->sq : k == 1 ? &v->rq : &v->cq;
		size_t *len = k == 0 ? &v->sq_len : k == 1 ? &v->rq_len : &v->cq_len;

		for (i = 0; i < n; i++) {
			tail[i] = load(page[i]);
			head[i] = load(page[i] + 64);
		}
		if (k == 0)
			conn_send(v->c, &wr);
		else if (k == 1)
			conn_recv(v->c, 1, &sge, 1);
		else
			queue_want(v->c->send, wr.wr_id, IBV_WC_SUCCESS);
		for (i = 0; i < n && !*ring; i++)
			if (k < 2 ? load(page[i]) == tail[i] + 1 :
			    load(page[i] + 64) == head[i] + 1 &&
			    page[i] != (uint8_t *)v->sq && page[i] != (uint8_t *)v->rq)
				*ring = (void *)page[i];
		check(p, *ring, "ring %d cannot be found among %d pages", k, n);
		for (i = 0; i < n && page[i] <= (uint8_t *)*ring; i++)
			;
		for (*len = 4096; i < n && page[i] == (uint8_t *)*ring + *len; i++)
			*len += 4096;
	}
	/* The wr_id of the request is at byte 16 of its slot, and the next slot has the next. */
	wr.wr_id++;
	conn_send(v->c, &wr);
	queue_want(v->c->send, wr.wr_id, IBV_WC_SUCCESS);
	at = (uint8_t *)v->sq + ROVER_RING_HDR_SIZE;
	for (v->stride = 64; v->stride <= 1024; v->stride *= 2)
		if (!memcmp(at + v->stride + 16, &wr.wr_id, 8))
			break;
	check(p, v->stride <= 1024, "the second request is not in the ring");
}

/* Rings of different sizes, each of some pages, so that all of them can be told apart. */
static void make_victim(struct pair *p, struct victim *v, struct region *r, bool dgram)
{
	struct conn_attr attr = dgram ? dgram_defaults(p) : conn_defaults(p);
	struct maps before, now;
	uint8_t *page[128];

	memset(v, 0, sizeof(*v));
	v->p = p;
	v->r = r;
	attr.entries = 128;
	/* Without end: the peer's program may be slow to post a receive. */
	attr.rnr_retry = 7;
	attr.send_wr = 32;
	attr.recv_wr = 64;
	list_maps(p, &before);
	attr.send = queue_new(p, attr.entries, false, false);
	attr.recv = attr.send;
	v->c = conn_make(p, &attr);
	list_maps(p, &now);
	conn_meet(v->c);
	conn_ready(v->c);
	pair_sync(p);
	if (end_a(p))
		find_rings(v, page, fresh_pages(&before, &now, page, 128));
	pair_sync(p);
}

/* Whatever has become of the victim, it must be possible to be rid of it. */
static void bury(struct victim *v)
{
	struct queue *q = v->c->send;

	undo_now(v->p, v->c);
	undo_now(v->p, q);
}

/* ---- indices ---- */

enum word { SQ_TAIL, SQ_HEAD, SQ_FLAGS, RQ_TAIL, RQ_HEAD, CQ_HEAD, CQ_TAIL, CQ_ARM, WORDS };

static uint32_t *word_of(struct victim *v, enum word which)
{
	switch (which) {
	case SQ_TAIL:
		return &v->sq->tail;
	case SQ_HEAD:
		return &v->sq->head;
	case SQ_FLAGS:
		return &v->sq->flags;
	case RQ_TAIL:
		return &v->rq->tail;
	case RQ_HEAD:
		return &v->rq->head;
	case CQ_HEAD:
		return &v->cq->head;
	case CQ_TAIL:
		return &v->cq->tail;
	default:
		return &v->cq->arm;
	}
}

static const char *const word_names[] = {
	"send tail", "send head", "send flags", "receive tail", "receive head", "completion head",
	"completion tail", "arm word",
};

/* The other end sends to it meanwhile, so that all three rings are in use. */
static void abuse_word(struct victim *v, enum word which, uint64_t *seed)
{
	struct ibv_sge sge = sge_of(v->r, 0, 64);
	struct ibv_send_wr wr = harmless(v, 1, &sge);
	uint32_t *at = word_of(v, which);
	struct ibv_wc wc[8];
	int i;

	for (i = 0; i < 6; i++) {
		store(at, nasty(seed, *at));
		doorbell(v->p, v->c->qp->qp_num);
		conn_post(v->c, &wr);
		conn_post_recv(v->c, 1, &sge, 1);
		store(at, nasty(seed, *at));
		doorbell(v->p, v->c->qp->qp_num);
		ibv_poll_cq(v->c->send->cq, 8, wc);
	}
}

static void disturb(struct victim *v)
{
	unsigned int flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
	struct ibv_send_wr wr = dgram(v) ? wr_dgram(v->c, 1, NULL, 0, flags) :
					   wr_send(1, NULL, 0, flags);
	int i;

	for (i = 0; i < 6; i++)
		conn_post(v->c, &wr);
	usleep(3000);
}

static void run_words(struct pair *p, const void *arg)
{
	const struct abuse *abuse = arg;
	int i, rounds = pair_once(p) ? 1 : p->quick ? 3 : 12;
	uint64_t seed = abuse->which + 1;
	struct bystander b;
	struct victim v;
	struct region *r;

	r = begin(p, &b);
	for (i = 0; i < rounds; i++) {
		make_victim(p, &v, r, abuse->dgram);
		if (end_a(p)) {
			abuse_word(&v, abuse->which, &seed);
			touch_bystander(p, &b);
		} else {
			disturb(&v);
		}
		pair_sync(p);
		bury(&v);
	}
	if (end_a(p))
		touch_bystander(p, &b);
}

/* No receive can report an impossible ring: an event does. */
static void run_nonsense(struct pair *p, const void *arg)
{
	const struct abuse *abuse = arg;
	struct bystander b;
	struct victim v;
	struct region *r;

	r = begin(p, &b);
	make_victim(p, &v, r, abuse->dgram);
	if (end_a(p))
		store(&v.rq->tail, v.rq->head + 65);
	pair_sync(p);
	if (end_b(p)) {
		disturb(&v);
	} else {
		check(p, event_wait(p, IBV_EVENT_QP_FATAL, v.c->qp, 5000 * p->slow),
		      "no event IBV_EVENT_QP_FATAL");
		conn_want_state(v.c, IBV_QPS_ERR);
		touch_bystander(p, &b);
	}
}

/* ---- work requests ---- */

struct mutation {
	const char *what;
	size_t at, len;
	uint64_t value;
	bool refused;		/* it makes no sense, so it must not succeed */
	bool dgram;
	bool long_inline;	/* one byte more inline than the queue pair was given */
};

#define WQE(field) offsetof(struct rover_send_wqe, field), \
	sizeof(((struct rover_send_wqe *)NULL)->field)
#define SGE(field) ROVER_SEND_WQE_HDR + offsetof(struct rover_sge, field), \
	sizeof(((struct rover_sge *)NULL)->field)

/* What needs no memory: opcode, flags, and no entries. */
#define LOCAL(opcode) 0, 3, (opcode) | ROVER_WQE_SIGNALED << 8
#define INLINE(opcode) 0, 3, (opcode) | (ROVER_WQE_SIGNALED | ROVER_WQE_INLINE) << 8

static const struct mutation mutations[] = {
	{ "opcode too large", WQE(opcode), ROVER_WQE_OPCODES, true },
	{ "opcode 255", WQE(opcode), 255, true },
	{ "opcode with bit 7 set", WQE(opcode), 0x80 | ROVER_WQE_WRITE, true },
	{ "unknown flags", WQE(flags), 0xf0 | ROVER_WQE_SIGNALED, true },
	{ "255 SGEs", WQE(num_sge), 255, true },
	{ "more SGEs than fit", WQE(num_sge), 33, true },
	{ "nonzero reserved byte", WQE(reserved_03), 1, true },
	{ "inline length without the flag", WQE(inline_len), 0xffffffff, false },
	{ "rkey 0", WQE(rkey), 0, true },
	{ "remote address 2^64 - 1", WQE(remote_addr), -1ULL, true },
	{ "lkey 0", SGE(lkey), 0, true },
	{ "length of 4 GiB - 1", SGE(length), 0xffffffff, true },
	{ "length of 2 GiB", SGE(length), 0x80000000, true },
	{ "local address 2^64 - 1", SGE(addr), -1ULL, true },
	{ "local address of the kernel", SGE(addr), 0xffff888000000000ULL, true },
	{ "opcode changed from WRITE to atomic", WQE(opcode), ROVER_WQE_FETCH_ADD, false },
	{ "opcode changed from WRITE to SEND_INV", WQE(opcode), ROVER_WQE_SEND_INV, false },
	{ "opcode changed from WRITE to READ", WQE(opcode), ROVER_WQE_READ, false },
	{ "inline flag with SGEs", WQE(flags), ROVER_WQE_INLINE | ROVER_WQE_SIGNALED, false },
	{ "a byte too much of inline data", INLINE(ROVER_WQE_WRITE), true, .long_inline = true },

	{ "REG_MR, which is for the kernel only", LOCAL(ROVER_WQE_REG_MR), true },
	{ "LOCAL_INV of key 0", LOCAL(ROVER_WQE_LOCAL_INV), true },
	{ "BIND_MW with random fields", LOCAL(ROVER_WQE_BIND_MW), true },
	{ "BIND_MW with SGEs", WQE(opcode), ROVER_WQE_BIND_MW, true },

	{ "an RC opcode in a datagram", WQE(opcode), ROVER_WQE_WRITE, true, true },
	{ "READ in a datagram", WQE(opcode), ROVER_WQE_READ, true, true },
	{ "SEND_INV in a datagram", WQE(opcode), ROVER_WQE_SEND_INV, true, true },
	{ "LOCAL_INV in a datagram", WQE(opcode), ROVER_WQE_LOCAL_INV, true, true },
	{ "address handle 0", WQE(ah), 0, true, true },
	{ "unknown address handle", WQE(ah), 0xfffffff0, true, true },
	{ "a QP number of 25 bits", WQE(remote_qpn), 0x1000002, true, true },
	{ "nonzero reserved word", WQE(reserved_24), 1, true, true },
	{ "kernel pointer in a reserved field", WQE(reserved_28), 0xffff888000000000ULL, true,
	  true },
	{ "the Q_Key of queue pair 1", WQE(remote_qkey), 0x80010000, false, true },
	{ "a datagram of 4 GiB - 1", SGE(length), 0xffffffff, true, true },
};

/* Copy the last request into the next slot, with one field changed. */
static void run_mutation(struct pair *p, const void *arg)
{
	const struct mutation *m = arg;
	struct bystander b;
	struct victim v;
	struct region *r;
	struct ibv_wc wc = {};
	uint8_t *slots;
	uint32_t tail;

	r = begin(p, &b);
	make_victim(p, &v, r, m->dgram);
	if (end_b(p)) {
		conn_recv(v.c, 1, NULL, 0);
		return;
	}
	tail = v.sq->tail;
	slots = (uint8_t *)v.sq + ROVER_RING_HDR_SIZE;
	memcpy(slots + tail * v.stride, slots + (tail - 1) * v.stride, v.stride);
	memcpy(slots + tail * v.stride + m->at, &m->value, m->len);
	if (m->long_inline)
		((struct rover_send_wqe *)(slots + tail * v.stride))->inline_len =
			v.c->cap.max_inline_data + 1;
	store(&v.sq->tail, tail + 1);
	check(p, !doorbell(p, v.c->qp->qp_num), "the doorbell fails: %s", strerror(errno));
	if (m->refused) {
		queue_next(v.c->send, &wc);
		check(p, wc.status != IBV_WC_SUCCESS, "it succeeds");
		conn_want_state(v.c, m->dgram ? IBV_QPS_SQE : IBV_QPS_ERR);
	}
	touch_bystander(p, &b);
}

/*
 * A request that has been sent, and waits for a receive of the peer, is changed in its ring: it
 * fails when it is sent again.
 */
static void run_changed(struct pair *p, const void *arg)
{
	uint32_t longer = *(const unsigned int *)arg;
	struct bystander b;
	struct victim v;
	struct region *r;
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	uint8_t *slot;

	r = begin(p, &b);
	make_victim(p, &v, r, false);
	sge = sge_of(r, 0, 16);
	wr = wr_send(7, &sge, 1, IBV_SEND_SIGNALED);
	if (end_a(p)) {
		slot = (uint8_t *)v.sq + ROVER_RING_HDR_SIZE + v.sq->tail * v.stride;
		conn_send(v.c, &wr);
		if (longer)
			store(&((struct rover_sge *)(slot + ROVER_SEND_WQE_HDR))->length,
			      sge.length + longer);
		else
			store((uint32_t *)slot, (load(slot) & ~0xffU) | ROVER_WQE_WRITE);
	}
	pair_sync(p);
	if (end_b(p)) {
		conn_recv(v.c, 1, &sge, 1);
		return;
	}
	/* Its own receive may be flushed before. */
	do
		queue_next(v.c->send, &wc);
	while (wc.wr_id != wr.wr_id);
	check(p, wc.status == IBV_WC_LOC_QP_OP_ERR, "it ends with \"%s\"",
	      ibv_wc_status_str(wc.status));
	conn_want_state(v.c, IBV_QPS_ERR);
	touch_bystander(p, &b);
}

/* Random bytes in each slot of a ring, posted. */
static void run_rubbish(struct pair *p, const void *arg)
{
	const struct abuse *abuse = arg;
	bool receive = abuse->which;
	int i, rounds = pair_once(p) ? 1 : p->quick ? 3 : 20;
	struct bystander b;
	struct victim v;
	struct region *r;
	struct ibv_wc wc[8];

	r = begin(p, &b);
	for (i = 0; i < rounds; i++) {
		make_victim(p, &v, r, abuse->dgram);
		if (end_a(p)) {
			struct rover_ring_hdr *ring = receive ? v.rq : v.sq;
			size_t len = (receive ? v.rq_len : v.sq_len) - ROVER_RING_HDR_SIZE;

			pattern_fill((uint8_t *)ring + ROVER_RING_HDR_SIZE, len, i * 977 + receive);
			/* Half of them look valid at first sight. */
			if (i % 2)
				memset((uint8_t *)ring + ROVER_RING_HDR_SIZE, i % 8, 4);
			store(&ring->tail, ring->tail + 1 + i % 20);
			doorbell(p, v.c->qp->qp_num);
		}
		pair_sync(p);
		if (end_b(p))
			disturb(&v);
		pair_sync(p);
		if (end_a(p)) {
			ibv_poll_cq(v.c->send->cq, 8, wc);
			touch_bystander(p, &b);
		}
		bury(&v);
	}
}

struct scribbler {
	struct victim *v;
	atomic_bool stop;
};

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	struct victim *v = s->v;
	uint64_t seed = 4711;

	while (!atomic_load(&s->stop)) {
		uint32_t *base = (uint32_t *)(draw(&seed, 0, 2) == 0 ? v->sq :
					      draw(&seed, 0, 1) ? v->rq : v->cq);
		size_t len = base == (uint32_t *)v->sq ? v->sq_len :
			     base == (uint32_t *)v->rq ? v->rq_len : v->cq_len;
		size_t at = draw(&seed, 0, 3) ? draw(&seed, 0, len / 4 - 1) :
			    draw(&seed, 0, 3) * 16;

		store(base + at, nasty(&seed, base[at]));
	}
	return NULL;
}

/*
 * A thread overwrites all rings while others post, poll and send: a race with the reads of the
 * kernel.
 */
static void run_race(struct pair *p, const void *arg)
{
	const struct abuse *abuse = arg;
	int i, k, rounds = p->quick ? 2 : 10;
	struct bystander b;
	struct victim v;
	struct region *r;
	struct scribbler s;
	struct ibv_wc wc[8];
	pthread_t thread;

	r = begin(p, &b);
	for (i = 0; i < rounds; i++) {
		make_victim(p, &v, r, abuse->dgram);
		if (end_a(p)) {
			struct ibv_sge sge = sge_of(r, 0, 64);
			struct ibv_send_wr wr = harmless(&v, 1, &sge);

			s.v = &v;
			atomic_store(&s.stop, false);
			pthread_create(&thread, NULL, scribble, &s);
			for (k = 0; k < 100; k++) {
				conn_post(v.c, &wr);
				conn_post_recv(v.c, 1, &sge, 1);
				doorbell(p, v.c->qp->qp_num);
				ibv_poll_cq(v.c->send->cq, 8, wc);
				if (k % 20 == 0)
					ibv_req_notify_cq(v.c->send->cq, k % 40 == 0);
			}
			atomic_store(&s.stop, true);
			pthread_join(thread, NULL);
			touch_bystander(p, &b);
		} else {
			disturb(&v);
		}
		pair_sync(p);
		bury(&v);
	}
}

/* ---- doorbells and mappings of others ---- */

static void run_doorbell(struct pair *p, const void *arg)
{
	struct bystander b;
	uint64_t seed = 3;
	uint32_t own, theirs;
	int i, good = 0;

	(void)arg;
	need_rover(p);
	make_bystander(p, &b);
	own = b.c->qp->qp_num;
	pair_swap(p, &own, &theirs, sizeof(own));
	check(p, !doorbell(p, own), "one's own doorbell does not ring");
	/* In topology single that queue pair is on the same machine, of another process. */
	check(p, theirs == own || doorbell(p, theirs), "the doorbell of another process rings");
	for (i = 0; i < 500; i++)
		good += !doorbell(p, nasty(&seed, own));
	check(p, good <= 1, "%d doorbells ring that are not there", good);
	pair_sync(p);
	if (end_a(p))
		touch_bystander(p, &b);
}

static void run_mmap(struct pair *p, const void *arg)
{
	int fd = p->ctx->cmd_fd, i, got = 0;
	struct bystander b;
	uint64_t seed = 5;
	void *map;

	(void)arg;
	need_rover(p);
	make_bystander(p, &b);
	for (i = 0; i < 300; i++) {
		/* Rings of this process may be mapped, but not longer than they are. */
		map = mmap(NULL, 4096UL << draw(&seed, 8, 12), PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 4096ULL * (i < 100 ? (unsigned int)i : nasty(&seed, i)));
		if (map == MAP_FAILED)
			continue;
		munmap(map, 4096);
		got++;
	}
	check(p, !got, "%d mappings are given that nobody was told of", got);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	check(p, map == MAP_FAILED, "a ring can be mapped privately");
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	check(p, map == MAP_FAILED, "a ring can be mapped to be executed");
	pair_sync(p);
	if (end_a(p))
		touch_bystander(p, &b);
}

/* The rings are unmapped while the other end goes on sending. */
static void run_unmap(struct pair *p, const void *arg)
{
	struct bystander b;
	struct victim v;
	struct region *r;

	(void)arg;
	r = begin(p, &b);
	make_victim(p, &v, r, false);
	if (end_a(p)) {
		struct ibv_sge sge = sge_of(r, 0, 16);

		conn_recv(v.c, 1, &sge, 1);
		/* Replaced rather than unmapped: the provider may still look at them. */
		check(p, mmap(v.sq, v.sq_len, PROT_READ | PROT_WRITE,
			      MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == v.sq &&
		      mmap(v.rq, v.rq_len, PROT_READ | PROT_WRITE,
			   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == v.rq &&
		      mmap(v.cq, v.cq_len, PROT_READ | PROT_WRITE,
			   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == v.cq,
		      "mmap over the rings: %s", strerror(errno));
	}
	pair_sync(p);
	if (end_b(p))
		disturb(&v);
	pair_sync(p);
	if (end_a(p))
		touch_bystander(p, &b);
	bury(&v);
}

/* What is done to both services. */
static void run_abuse(struct pair *p, bool dgram)
{
	const char *whose = dgram ? "datagrams: " : "";
	struct abuse abuse = { .dgram = dgram };

	for (; abuse.which < WORDS && pair_wants(p, "words"); abuse.which++)
		pair_case(p, run_words, &abuse, "%sthe %s is overwritten", whose,
			  word_names[abuse.which]);
	if (pair_wants(p, "words"))
		pair_case(p, run_nonsense, &abuse, "%sthe receive tail is beyond the ring", whose);
	for (abuse.which = 0; abuse.which < 2 && pair_wants(p, "rubbish"); abuse.which++)
		pair_case(p, run_rubbish, &abuse, "%s%s ring filled with random bytes", whose,
			  abuse.which ? "receive" : "send");
	if (pair_wants(p, "rubbish"))
		pair_case(p, run_race, &abuse, "%sall rings are overwritten under traffic", whose);
}

int main(int argc, char **argv)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	run_abuse(&p, false);
	run_abuse(&p, true);
	for (i = 0; i < sizeof(mutations) / sizeof(mutations[0]) && pair_wants(&p, "wqes"); i++)
		pair_case(&p, run_mutation, &mutations[i], "a forged send WQE: %s",
			  mutations[i].what);
	for (i = 0; i < 2 && pair_wants(&p, "wqes"); i++)
		pair_case(&p, run_changed, &i,
			  "a request fails if its %s changes before it is sent again",
			  i ? "length" : "opcode");
	if (pair_wants(&p, "others")) {
		pair_case(&p, run_doorbell, NULL, "doorbells for queue pairs of another program");
		pair_case(&p, run_mmap, NULL, "rings of another program cannot be mapped");
		pair_case(&p, run_unmap, NULL, "the rings are unmapped under traffic");
	}
	return pair_close(&p);
}
