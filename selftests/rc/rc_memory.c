// SPDX-License-Identifier: GPL-2.0
/*
 * rc_memory - all kinds of memory, and devices that are connected to themselves
 *
 *	rc_memory a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/pattern.h"

#define HUGE_PAGE (2UL << 20)

enum kind { PLAIN, HUGE, SHARED, FILE_BACKED, SUB_PAGE, ODD, KINDS };

static const char *const kind_names[] = {
	"ordinary memory", "huge pages", "shared memory", "a file", "a part of a page",
	"odd addresses",
};

/* Memory of a kind, and the registered part of it. */
struct memory {
	uint8_t *map;
	size_t map_len;
	int fd;
	uint8_t *buf;
	size_t len;
	struct ibv_mr *mr;
};

static int free_memory(void *what)
{
	struct memory *m = what;
	int error = m->mr ? ibv_dereg_mr(m->mr) : 0;

	munmap(m->map, m->map_len);
	if (m->fd >= 0)
		close(m->fd);
	m->map = NULL;
	return error;
}

static void map_memory(struct pair *p, struct memory *m, enum kind kind, size_t len)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char path[] = "/tmp/rc_memory.XXXXXX";

	*m = (struct memory){ .fd = -1 };
	m->map_len = len + 2 * HUGE_PAGE;
	if (kind == SHARED)
		flags = MAP_SHARED | MAP_ANONYMOUS;
	if (kind == FILE_BACKED) {
		flags = MAP_SHARED;
		m->fd = mkstemp(path);
		check(p, m->fd >= 0 && !unlink(path) && !ftruncate(m->fd, m->map_len),
		      "%s: %s", path, strerror(errno));
	}
	m->map = mmap(NULL, m->map_len, PROT_READ | PROT_WRITE, flags, m->fd, 0);
	check(p, m->map != MAP_FAILED, "mmap: %s", strerror(errno));
	undo_later(p, free_memory, m, "ibv_dereg_mr");
	m->buf = (uint8_t *)(((uintptr_t)m->map + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	m->len = len;
	if (kind == HUGE)
		madvise(m->buf, (len + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
	if (kind == SUB_PAGE || kind == ODD)
		m->buf += 1237;
	if (kind == SUB_PAGE)
		m->len = 2001;
}

/* What a memory of either end holds at first: a pattern of its own in another around it. */
static void fill_memory(uint8_t *map, const struct memory *m, bool end_b)
{
	pattern_fill(map, m->map_len, 9);
	pattern_fill(map + (m->buf - m->map), m->len, 1 + end_b);
}

/* End a WRITEs its first half to b, and READs b's second half. */
static void move_halves(struct conn *c, struct memory *m, uint64_t addr, uint32_t rkey)
{
	size_t half = m->len / 2;
	struct ibv_sge sge = { (uintptr_t)m->buf, half, m->mr->lkey };
	struct ibv_send_wr wr;

	wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, addr, rkey);
	conn_send(c, &wr);
	sge.addr += half;
	wr = wr_rdma(2, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, addr + half, rkey);
	conn_send(c, &wr);
	queue_want(c->send, 1, IBV_WC_SUCCESS);
	queue_want(c->send, 2, IBV_WC_SUCCESS);
}

/* WRITE to and READ from this kind of memory; nothing around it changes. */
static void run_kind(struct pair *p, const void *arg)
{
	enum kind kind = *(const enum kind *)arg;
	struct conn_attr attr = conn_defaults(p);
	struct { uint64_t addr, rkey; } mine, theirs;
	static struct memory m;
	size_t at, half;
	uint8_t *want;
	struct conn *c;

	attr.mtu = p->port.active_mtu;
	map_memory(p, &m, kind, p->quick ? 20001 : (5UL << 20) + 77);
	fill_memory(m.map, &m, end_b(p));
	m.mr = ibv_reg_mr(p->pd, m.buf, m.len, ALL_ACCESS);
	check(p, m.mr, "ibv_reg_mr of %s: %s", kind_names[kind], strerror(errno));
	c = conn_open(p, &attr);
	mine.addr = (uintptr_t)m.buf;
	mine.rkey = m.mr->rkey;
	pair_swap(p, &mine, &theirs, sizeof(mine));
	if (end_a(p))
		move_halves(c, &m, theirs.addr, theirs.rkey);
	pair_sync(p);
	half = m.len / 2;
	want = malloc(2 * m.map_len);
	check(p, want, "out of memory");
	fill_memory(want, &m, end_b(p));
	fill_memory(want + m.map_len, &m, end_a(p));
	at = m.buf - m.map + (end_a(p) ? half : 0);
	memcpy(want + at, want + m.map_len + at, half);
	at = pattern_differ(m.map, want, m.map_len);
	check(p, at == m.map_len, "wrong at byte %td of %zu: %s", m.map + at - m.buf, m.len,
	      pattern_show(m.map, want, at, m.map_len));
	free(want);
}

/* A region whose iova differs from the address in the process. */
static void run_iova(struct pair *p, const void *arg)
{
	uint64_t iova = *(const uint64_t *)arg;
	struct conn_attr attr = conn_defaults(p);
	static struct memory m;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint32_t rkey, theirs;
	struct conn *c;

	map_memory(p, &m, PLAIN, 65536);
	m.mr = ibv_reg_mr_iova(p->pd, m.buf, m.len, iova, ALL_ACCESS);
	check(p, m.mr, "ibv_reg_mr_iova: %s", strerror(errno));
	rkey = m.mr->rkey;
	pattern_fill(m.buf, 30000, end_b(p));
	c = conn_open(p, &attr);
	pair_swap(p, &rkey, &theirs, sizeof(rkey));
	if (end_a(p)) {
		sge = (struct ibv_sge){ iova + 1, 20000, m.mr->lkey };
		wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, iova + 40001,
			     theirs);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		/* Its own address is no longer valid. */
		wr.wr.rdma.remote_addr = iova + 65536 - 19999;
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_REM_ACCESS_ERR);
	}
	pair_sync(p);
	if (end_b(p)) {
		pattern_fill(m.buf, 30000, 0);
		check(p, !memcmp(m.buf + 40001, m.buf + 1, 20000), "wrong data");
	}
}

/* Two regions of the same bytes, with different rights. */
static void run_overlap(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 8192, ALL_ACCESS);
	struct ibv_mr *again = ibv_reg_mr(p->pd, r->buf + 100, 4000, IBV_ACCESS_REMOTE_READ);
	uint32_t rkey, theirs;
	struct ibv_sge sge = sge_of(r, 4096, 100);
	struct ibv_send_wr wr;
	struct conn *c;

	(void)arg;
	check(p, again, "ibv_reg_mr: %s", strerror(errno));
	check(p, again->rkey != r->mr->rkey && again->lkey != r->mr->lkey, "the keys are the same");
	rkey = again->rkey;
	c = conn_open(p, &attr);
	region_swap(p, r);
	pair_swap(p, &rkey, &theirs, sizeof(rkey));
	if (end_a(p)) {
		wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
			     r->peer_addr + 100, r->peer_rkey);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		wr = wr_rdma(2, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr + 100,
			     theirs);
		conn_send(c, &wr);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
		wr = wr_rdma(3, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr + 100,
			     theirs);
		conn_send(c, &wr);
		queue_want(c->send, 3, IBV_WC_REM_ACCESS_ERR);
	}
	pair_sync(p);
	check(p, !ibv_dereg_mr(again), "ibv_dereg_mr fails");
}

/* Optional access flags may be ignored; unknown ones that are not optional may not. */
static void run_flags(struct pair *p, const void *arg)
{
	static char bytes[4096];
	struct ibv_mr *mr;

	(void)arg;
	mr = ibv_reg_mr(p->pd, bytes, sizeof(bytes),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	check(p, mr, "relaxed ordering, which is optional: %s", strerror(errno));
	ibv_dereg_mr(mr);
	mr = ibv_reg_mr(p->pd, bytes, sizeof(bytes), IBV_ACCESS_LOCAL_WRITE | 1 << 19);
	if (mr)
		ibv_dereg_mr(mr);
	check(p, !mr, "an access flag that nobody knows is accepted");
}

/* ---- alone ---- */

static void connect_to(struct pair *p, struct conn *c, struct conn *to)
{
	enum ibv_qp_state state;
	int error;

	c->peer = to->own;
	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		error = conn_modify(c, state);
		check(p, !error, "ibv_modify_qp to state %d: %s", state, strerror(error));
	}
}

/* One message of each kind from one queue pair to the other. */
static void talk(struct pair *p, struct conn *from, struct conn *to, struct region *r,
		 uint32_t size)
{
	uint64_t addr = (uintptr_t)r->buf + (2 << 20);
	struct ibv_sge sge = sge_of(r, 1, size), target = sge_of(r, (2 << 20) + 3, size);
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	uint64_t word;

	pattern_fill(r->buf, size + 1, size);
	memset(r->buf + (2 << 20), 0, size + 8);
	conn_recv(to, 1, &target, 1);
	wr = wr_send(2, &sge, 1, IBV_SEND_SIGNALED);
	conn_send(from, &wr);
	queue_next(to->recv, &wc);
	check(p, !wc.status && wc.wr_id == 1 && wc.byte_len == size, "receive %llu of %u: %s",
	      (unsigned long long)wc.wr_id, wc.byte_len, ibv_wc_status_str(wc.status));
	queue_want(from->send, 2, IBV_WC_SUCCESS);
	check(p, !memcmp(r->buf + 1, r->buf + (2 << 20) + 3, size), "SEND: wrong data");
	wr = wr_rdma(3, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, addr + 5, r->mr->rkey);
	conn_send(from, &wr);
	queue_want(from->send, 3, IBV_WC_SUCCESS);
	check(p, !memcmp(r->buf + 1, r->buf + (2 << 20) + 5, size), "WRITE: wrong data");
	wr = wr_rdma(4, IBV_WR_RDMA_READ, &target, 1, IBV_SEND_SIGNALED, sge.addr, r->mr->rkey);
	conn_send(from, &wr);
	queue_want(from->send, 4, IBV_WC_SUCCESS);
	check(p, !memcmp(r->buf + 1, r->buf + (2 << 20) + 3, size), "READ: wrong data");
	target.length = 8;
	memcpy(&word, r->buf, 8);
	wr = wr_atomic(5, IBV_WR_ATOMIC_FETCH_AND_ADD, &target, (uintptr_t)r->buf, r->mr->rkey,
		       3, 0);
	conn_send(from, &wr);
	queue_want(from->send, 5, IBV_WC_SUCCESS);
	check(p, !memcmp(&word, (void *)(uintptr_t)target.addr, 8), "FETCH_AND_ADD: wrong result");
	word += 3;
	check(p, !memcmp(&word, r->buf, 8), "FETCH_AND_ADD: wrong sum");
}

#define MIXED 96
#define MIXED_REGIONS 3
#define MIXED_SLOT 64

/* Message i of a mixture: often of the same regions as the one before, and often not. */
struct mixed {
	unsigned int a, b;
	uint32_t len;
};

static void plan_mixture(struct mixed *m)
{
	uint64_t seed = 34;
	unsigned int i;

	for (i = 0; i < MIXED; i++) {
		bool stay = i && draw(&seed, 0, 1);

		m[i].a = stay ? m[i - 1].a : draw(&seed, 0, MIXED_REGIONS - 1);
		m[i].b = stay ? m[i - 1].b : draw(&seed, 0, MIXED_REGIONS - 1);
		m[i].len = draw(&seed, 1, MIXED_SLOT);
	}
}

/* Small messages posted at once, so that they share trains, each with its own address. */
static void run_mixed(struct pair *p, const void *arg)
{
	enum ibv_wr_opcode op = *(const enum ibv_wr_opcode *)arg;
	bool sends = op == IBV_WR_SEND, reads = op == IBV_WR_RDMA_READ;
	bool sink = reads ? end_a(p) : end_b(p);
	static uint8_t want[MIXED_REGIONS][MIXED * MIXED_SLOT];
	struct conn_attr attr = conn_defaults(p);
	struct region *r[MIXED_REGIONS];
	struct ibv_send_wr wr[MIXED];
	struct ibv_sge sge[MIXED];
	struct mixed m[MIXED];
	struct conn *c;
	unsigned int i;

	attr.send_wr = MIXED;
	attr.recv_wr = MIXED;
	c = conn_open(p, &attr);
	plan_mixture(m);
	for (i = 0; i < MIXED_REGIONS; i++) {
		r[i] = region_new(p, sizeof(want[i]), ALL_ACCESS);
		pattern_fill(r[i]->buf, r[i]->len, 10 + i);
		if (sink)
			memset(r[i]->buf, 0, r[i]->len);
		pattern_fill(want[i], sizeof(want[i]), 10 + i);
		region_swap(p, r[i]);
	}
	for (i = 0; i < MIXED; i++) {
		uint32_t at = i * MIXED_SLOT;

		sge[i] = sge_of(r[end_a(p) ? m[i].a : m[i].b], at, m[i].len);
		wr[i] = sends ? wr_send(i, &sge[i], 1, IBV_SEND_SIGNALED) :
			wr_rdma(i, op, &sge[i], 1, IBV_SEND_SIGNALED,
				r[m[i].b]->peer_addr + at, r[m[i].b]->peer_rkey);
		wr[i].next = i + 1 < MIXED ? &wr[i + 1] : NULL;
		if (end_b(p) && sends)
			conn_recv(c, i, &sge[i], 1);
	}
	pair_sync(p);
	if (end_a(p))
		conn_send(c, wr);
	for (i = 0; i < MIXED && (end_a(p) || sends); i++)
		queue_want(end_a(p) ? c->send : c->recv, i, IBV_WC_SUCCESS);
	pair_sync(p);
	for (i = 0; i < MIXED && sink; i++) {
		uint8_t *to = r[reads ? m[i].a : m[i].b]->buf + i * MIXED_SLOT;

		check(p, !memcmp(to, want[reads ? m[i].b : m[i].a] + i * MIXED_SLOT, m[i].len),
		      "message %u: wrong bytes", i);
		memset(to, 0, m[i].len);
	}
	memset(want, 0, sizeof(want));
	for (i = 0; i < MIXED_REGIONS && sink; i++)
		check(p, !memcmp(r[i]->buf, want, r[i]->len), "region %u: bytes elsewhere", i);
}

/*
 * b: a receive that claims to be longer than its region, and begins near its end. A message
 * that fits is received, as hardware does and perftest's shared receives of datagrams need; one
 * that does not fit ends in a local protection error.
 */
static void run_beyond(struct pair *p, const void *dgram)
{
	struct conn_attr attr = dgram ? dgram_defaults(p) : conn_defaults(p);
	uint32_t header = dgram ? 40 : 0, size = dgram ? 1000 : 5000, i;
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, size);
	struct conn *c = conn_open(p, &attr);
	enum ibv_wc_status status;
	struct ibv_send_wr wr;
	uint8_t want[5000];

	pattern_fill(want, size, 1);
	if (end_a(p))
		memcpy(r->buf, want, size);
	for (i = 0; i < 3; i++) {
		bool fits = i < 2;

		if (end_b(p)) {
			memset(r->buf, 0, r->len);
			sge = sge_of(r, r->len - header - size, 2 * size);
			conn_recv(c, i, &sge, 1);
		}
		pair_sync(p);
		sge.length += end_a(p) && !fits;
		wr = wr_send(i, &sge, 1, IBV_SEND_SIGNALED);
		if (dgram)
			wr = wr_dgram(c, i, &sge, 1, IBV_SEND_SIGNALED);
		status = dgram || fits ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR;
		if (end_a(p))
			conn_send(c, &wr);
		else
			status = fits ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
		queue_want(end_a(p) ? c->send : c->recv, i, status);
		if (end_b(p) && fits)
			check(p, !memcmp(r->buf + r->len - size, want, size), "wrong bytes");
	}
}

/* A device connected to itself: two queue pairs, or one connected to itself. */
static void run_alone(struct pair *p, const void *arg)
{
	static const uint32_t sizes[] = { 0, 1, 255, 1024, 1025, 4097, 65537, (1 << 20) + 1 };
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4 << 20, ALL_ACCESS);
	struct conn *c, *d;
	unsigned int i;

	attr.mtu = p->port.active_mtu;
	c = conn_make(p, &attr);
	d = arg ? c : conn_make(p, &attr);
	connect_to(p, c, d);
	if (d != c)
		connect_to(p, d, c);
	/* One end after the other, so that no other traffic hides what this one does. */
	if (end_b(p))
		pair_sync(p);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (p->quick && sizes[i] > 5000)
			continue;
		talk(p, c, d, r, sizes[i]);
		talk(p, d, c, r, sizes[i]);
	}
	if (end_a(p))
		pair_sync(p);
}

int main(int argc, char **argv)
{
	static const uint64_t iovas[] = { 0, 1ULL << 40, -1ULL << 20 };
	static const struct {
		enum ibv_wr_opcode op;
		const char *name;
	} mixtures[] = {
		{ IBV_WR_RDMA_WRITE, "WRITEs" },
		{ IBV_WR_SEND, "SENDs" },
		{ IBV_WR_RDMA_READ, "READs" },
	};
	enum kind kind;
	unsigned int i;
	struct pair p;

	pair_open(&p, argc, argv);
	for (kind = PLAIN; kind < KINDS && pair_wants(&p, "kinds"); kind++)
		pair_case(&p, run_kind, &kind, "WRITE and READ: %s", kind_names[kind]);
	for (i = 0; i < 3 && pair_wants(&p, "kinds"); i++)
		pair_case(&p, run_iova, &iovas[i], "a region with iova 0x%llx",
			  (unsigned long long)iovas[i]);
	if (pair_wants(&p, "kinds")) {
		pair_case(&p, run_overlap, NULL,
			  "two regions on the same memory with different rights");
		pair_case(&p, run_flags, NULL,
			  "optional access flags are accepted, unknown ones refused");
		for (i = 0; i < sizeof(mixtures) / sizeof(*mixtures); i++)
			pair_case(&p, run_mixed, &mixtures[i].op,
				  "small %s of several regions, posted at once", mixtures[i].name);
		pair_case(&p, run_beyond, NULL,
			  "an RC receive longer than its region takes a message that fits");
		pair_case(&p, run_beyond, &p,
			  "a UD receive longer than its region takes a message that fits");
	}
	for (i = 0; i < 2 && pair_wants(&p, "alone"); i++) {
		pair_family(&p, i);
		pair_case(&p, run_alone, NULL,
			  "%s: two queue pairs of one device are connected", i ? "IPv6" : "IPv4");
		pair_case(&p, run_alone, &p, "%s: a queue pair is connected to itself",
			  i ? "IPv6" : "IPv4");
	}
	return pair_close(&p);
}
