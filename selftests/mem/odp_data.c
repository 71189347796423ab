// SPDX-License-Identifier: GPL-2.0
/*
 * odp_data - memory on demand carries data while its pages are swapped out, written
 * back, shared with children, or were never mapped
 *
 *	odp_data a|b PORT [GROUP...]	see main() for the groups
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/demand.h"
#include "lib/pattern.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define SIZE (1 << 20)

/* ---- each operation, with memory that is not there ---- */

struct step {
	enum ibv_wr_opcode opcode;
	const char *what;
};

static const struct step steps[] = {
	{ IBV_WR_SEND, "SEND" },
	{ IBV_WR_RDMA_WRITE, "WRITE" },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, "WRITE with immediate data" },
	{ IBV_WR_RDMA_READ, "READ" },
};

/* One message from a's bytes to b's, or back: from an odd place to another one. */
static void transfer(struct conn *c, struct area *area, enum ibv_wr_opcode opcode, size_t len,
		     size_t from, size_t to)
{
	bool read = opcode == IBV_WR_RDMA_READ, here = end_a(c->p);
	struct ibv_sge sge = sge_of(area->r, read ? to : from, len);
	struct ibv_sge into = sge_of(area->r, to, len);
	struct ibv_send_wr wr;

	if (!here && opcode == IBV_WR_SEND)
		conn_recv(c, 9, &into, 1);
	if (!here && opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		conn_recv(c, 9, NULL, 0);
	pair_sync(c->p);
	if (here) {
		wr = wr_rdma(7, opcode, &sge, 1, IBV_SEND_SIGNALED,
			     area->r->peer_addr + (read ? from : to), area->r->peer_rkey);
		conn_send(c, &wr);
		queue_want(c->send, 7, IBV_WC_SUCCESS);
	} else if (opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		queue_want(c->recv, 9, IBV_WC_SUCCESS);
	}
	pair_sync(c->p);
}

static void run_step(struct pair *p, const void *arg)
{
	static const size_t sizes[] = { 0, 1, 100, 4095, 4096, 4097, 20000, 65536, 300003 };
	const size_t from = 4001, to = 8190;
	const struct step *step = arg;
	struct area *area = area_new(p, SIZE, ALL_ACCESS);
	uint8_t *before = demand_bytes(p, 5, SIZE), *source = demand_bytes(p, 6, SIZE);
	struct conn *c = demand_conn(p);
	bool target = end_a(p) == (step->opcode == IBV_WR_RDMA_READ);
	unsigned int i, how;
	size_t len;

	region_swap(p, area->r);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		how = (i + step->opcode) % DISTURBANCES;
		len = sizes[i];
		memcpy(area->view, target ? before : source, SIZE);
		demand_disturb(area->r->buf, area->r->fd, 0, SIZE, how);
		transfer(c, area, step->opcode, len, from, to);
		if (!target) {
			area_want(area, 0, source, SIZE, "the source afterwards");
			continue;
		}
		area_want(area, to, source + from, len, "the target");
		area_want(area, 0, before, to, "before it");
		area_want(area, to + len, before + to + len, SIZE - to - len, "behind it");
	}
}

static void run_atomic(struct pair *p, const void *arg)
{
	struct area *area = area_new(p, 3 * PAGE, ALL_ACCESS);
	uint64_t *word = (uint64_t *)(area->view + PAGE + 8), got;
	uint64_t *result = (uint64_t *)(area->view + 64);
	struct conn *c = demand_conn(p);
	unsigned int i, rounds = p->quick ? 12 : 60;
	struct ibv_send_wr wr;
	struct ibv_sge sge = sge_of(area->r, 64, 8);

	(void)arg;
	*word = 1000;
	region_swap(p, area->r);
	for (i = 0; i < rounds; i++) {
		/* Both ends' pages go: the result has no place, or the word has not. */
		demand_disturb(area->r->buf, area->r->fd, 0, area->r->len, i % DISTURBANCES);
		pair_sync(p);
		if (end_b(p))
			continue;
		wr = wr_atomic(i, i % 2 ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD,
			       &sge, area->r->peer_addr + PAGE + 8, area->r->peer_rkey,
			       i % 2 ? 1000 + 2 * i : 2, i % 2 ? 1000 + 2 * i + 2 : 0);
		conn_send(c, &wr);
		queue_want(c->send, i, IBV_WC_SUCCESS);
		got = *result;
		check(p, got == 1000 + 2 * i, "atomic %u returns %llu, not %u", i,
		      (unsigned long long)got, 1000 + 2 * i);
	}
	pair_sync(p);
	if (end_b(p))
		check(p, *word == 1000 + 2 * rounds, "the word is %llu in the end",
		      (unsigned long long)*word);
}

/* A receive may be longer than its mapped memory; a message that fits is received. */
static void run_longer(struct pair *p, const void *arg)
{
	struct area *area = area_new(p, 64 * PAGE, ALL_ACCESS);
	uint8_t *source = demand_bytes(p, 8, PAGE);
	struct conn *c = demand_conn(p);
	struct ibv_sge sge = sge_of(area->r, 0, PAGE);
	struct ibv_sge all = sge_of(area->r, 0, 64 * PAGE);
	struct ibv_send_wr wr = wr_send(1, &sge, 1, IBV_SEND_SIGNALED);

	(void)arg;
	memcpy(area->view, source, end_a(p) ? PAGE : 0);
	if (end_b(p)) {
		munmap(area->r->buf + PAGE, 63 * PAGE);
		conn_recv(c, 2, &all, 1);
	}
	pair_sync(p);
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	} else {
		queue_want(c->recv, 2, IBV_WC_SUCCESS);
		area_want(area, 0, source, PAGE, "what was sent");
	}
}

/* Datagrams are sent from memory on demand, whose pages are taken away again and again. */
static void run_datagram(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct area *area = area_new(p, 2 * PAGE, ALL_ACCESS);
	uint8_t *source = demand_bytes(p, 9, PAGE);
	struct region *r;
	struct conn *c;
	struct ibv_sge sge, into;
	struct ibv_send_wr wr;
	unsigned int i, rounds = p->quick ? 10 : 100;
	size_t differ;

	(void)arg;
	c = conn_open(p, &attr);
	r = region_new(p, PAGE, ALL_ACCESS);
	memcpy(area->view + 3000, source, 1024);
	sge = sge_of(area->r, 3000, 1024);
	into = sge_of(r, 0, GRH_BYTES + 1024);
	for (i = 0; i < rounds; i++) {
		if (end_b(p)) {
			memset(r->buf, 0, PAGE);
			conn_recv(c, i, &into, 1);
		}
		demand_disturb(area->r->buf, area->r->fd, 0, area->r->len, i % DISTURBANCES);
		pair_sync(p);
		if (end_a(p)) {
			wr = wr_dgram(c, i, &sge, 1, IBV_SEND_SIGNALED);
			conn_send(c, &wr);
			queue_want(c->send, i, IBV_WC_SUCCESS);
			continue;
		}
		queue_want(c->recv, i, IBV_WC_SUCCESS);
		differ = pattern_differ(r->buf + GRH_BYTES, source, 1024);
		check(p, differ == 1024, "datagram %u is wrong at byte %zu", i, differ);
	}
}

/*
 * A datagram without a resident page is lost, its receive is not: the next datagram takes it
 * when the page is there.
 */
static void run_lost(struct pair *p, const void *arg)
{
	struct conn_attr attr = dgram_defaults(p);
	struct area *area = area_new(p, PAGE, ALL_ACCESS);
	struct region *r;
	struct conn *c;
	struct ibv_sge sge, into, tiny;
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	bool done = false, over;
	unsigned int i;

	(void)arg;
	c = conn_open(p, &attr);
	r = region_new(p, PAGE, ALL_ACCESS);
	pattern_fill(r->buf, PAGE, 10);
	sge = sge_of(r, 0, 500);
	into = sge_of(area->r, 0, GRH_BYTES + 500);
	tiny = sge_of(area->r, 2048, GRH_BYTES);
	if (end_b(p)) {
		conn_recv(c, 1, &into, 1);
		conn_recv(c, 2, &tiny, 1);
	}
	pair_sync(p);
	for (i = 0; !done; i++) {
		check(p, i < 500, "none of %u datagrams has arrived", i);
		if (end_a(p)) {
			wr = wr_dgram(c, i, &sge, 1, IBV_SEND_SIGNALED);
			conn_send(c, &wr);
			queue_want(c->send, i, IBV_WC_SUCCESS);
		}
		usleep(5000);
		over = end_b(p) && queue_poll(c->recv, &wc, 1);
		if (over) {
			check(p, i, "the page was there, so this tests nothing");
			check(p, wc.status == IBV_WC_SUCCESS && wc.wr_id == 1 &&
			      wc.byte_len == GRH_BYTES + 500, "receive %llu: \"%s\", %u bytes",
			      (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status),
			      wc.byte_len);
			area_want(area, GRH_BYTES, r->buf, 500, "the datagram");
		}
		pair_swap(p, &over, &done, sizeof(over));
		done |= over;
	}
}

/* ---- what the kernel does to pages ---- */

/* The peer writes to a page that the program has only read, and the page is swapped out. */
static void run_paged_out(struct pair *p, const void *arg)
{
	struct area *area = area_new(p, SIZE, ALL_ACCESS);
	uint8_t *source = demand_bytes(p, 11, SIZE);
	struct conn *c = demand_conn(p);
	size_t at;

	(void)arg;
	region_swap(p, area->r);
	if (end_a(p)) {
		memcpy(area->view, source, SIZE);
	} else {
		for (at = 0; at < SIZE; at += PAGE)
			(void)__atomic_load_n(area->r->buf + at, __ATOMIC_RELAXED);
	}
	transfer(c, area, IBV_WR_RDMA_WRITE, SIZE, 0, 0);
	if (end_b(p)) {
		madvise(area->r->buf, SIZE, MADV_PAGEOUT);
		area_want(area, 0, source, SIZE, "after its pages were put out");
	}
	/* And from there again to the other end. */
	if (end_a(p)) {
		memset(area->view, 0, SIZE);
		madvise(area->r->buf, SIZE, MADV_PAGEOUT);
	} else {
		madvise(area->r->buf, SIZE, MADV_PAGEOUT);
	}
	transfer(c, area, IBV_WR_RDMA_READ, SIZE, 0, 0);
	if (end_a(p)) {
		madvise(area->r->buf, SIZE, MADV_PAGEOUT);
		area_want(area, 0, source, SIZE, "what was READ, after its pages were put out");
	}
}

/* Memory is marked as unused (MADV_FREE), and then written by the peer only. */
static void run_lazy(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 64 * PAGE, ALL_ACCESS);
	uint8_t *source = demand_bytes(p, 12, r->len), *buf;
	struct conn *c = demand_conn(p);
	struct remote theirs;
	struct ibv_mr *mr = NULL;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	size_t at;

	(void)arg;
	buf = mmap(NULL, r->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(p, buf != MAP_FAILED, "mmap: %s", strerror(errno));
	if (end_b(p)) {
		mr = ibv_reg_mr(p->pd, buf, r->len, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
		check(p, mr, "ibv_reg_mr: %s", strerror(errno));
		memset(buf, 1, r->len);
		madvise(buf, r->len, MADV_FREE);
	}
	theirs = remote_swap(p, buf, mr);
	if (end_a(p)) {
		memcpy(r->buf, source, r->len);
		sge = sge_of(r, 0, r->len);
		wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, theirs.addr,
			     theirs.rkey);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	if (mr) {
		madvise(buf, r->len, MADV_PAGEOUT);
		at = pattern_differ(buf, source, r->len);
		check(p, at == r->len, "wrong at byte %zu: %s", at,
		      pattern_show(buf, source, at, r->len));
		ibv_dereg_mr(mr);
	}
	munmap(buf, r->len);
}

/*
 * Children share pages until somebody writes: what the peer writes is the parent's, and
 * what a child has seen does not change under it.
 */
static void raise_child(struct pair *p, const uint8_t *buf, size_t len)
{
	uint64_t before, after;
	size_t at;
	pid_t pid = fork();

	check(p, pid >= 0, "fork: %s", strerror(errno));
	if (pid)
		return;
	for (at = before = 0; at < len; at += 64)
		before = mix(before ^ buf[at]);
	usleep(3000);
	for (at = after = 0; at < len; at += 64)
		after = mix(after ^ buf[at]);
	_exit(before != after);
}

static void bury_children(struct pair *p, int n)
{
	int status;

	while (n--) {
		check(p, wait(&status) > 0, "wait: %s", strerror(errno));
		check(p, !status, "what a child saw has changed (status 0x%x)", status);
	}
}

static void run_fork(struct pair *p, const void *arg)
{
	size_t len = 48 * PAGE;
	struct region *r = region_new(p, len, ALL_ACCESS);
	unsigned int i, k, rounds = p->quick ? 8 : 60;
	struct remote theirs;
	uint8_t *buf, *want = demand_bytes(p, 1, len);
	struct conn *c = demand_conn(p);
	struct ibv_mr *mr = NULL;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	size_t at;

	(void)arg;
	buf = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(p, buf != MAP_FAILED, "mmap: %s", strerror(errno));
	mr = ibv_reg_mr(p->pd, buf, len, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	check(p, mr, "ibv_reg_mr: %s", strerror(errno));
	theirs = remote_swap(p, buf, mr);
	for (i = 1; i <= rounds; i++) {
		pattern_fill(want, len, i);
		pair_sync(p);
		if (end_a(p)) {
			memcpy(r->buf, want, len);
			for (k = 0; k < 3; k++) {
				sge = sge_of(r, k * len / 3, len / 3);
				wr = wr_rdma(k, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
					     theirs.addr + k * len / 3, theirs.rkey);
				conn_send(c, &wr);
			}
			for (k = 0; k < 3; k++)
				queue_want(c->send, k, IBV_WC_SUCCESS);
		} else {
			for (k = 0; k < 4; k++)
				raise_child(p, buf, len);
		}
		pair_sync(p);
		if (end_b(p)) {
			at = pattern_differ(buf, want, len);
			check(p, at == len, "round %u is wrong at byte %zu: %s", i, at,
			      pattern_show(buf, want, at, len));
			bury_children(p, 4);
		}
	}
	ibv_dereg_mr(mr);
	munmap(buf, len);
}

/* A privately mapped file does not change when the peer writes. */
static void run_private(struct pair *p, const void *arg)
{
	struct region *r = region_new(p, 8 * PAGE, ALL_ACCESS);
	struct remote theirs;
	uint8_t *file, *buf, *old = demand_bytes(p, 13, r->len), *new = demand_bytes(p, 14, r->len);
	struct conn *c = demand_conn(p);
	struct ibv_mr *mr = NULL;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int fd;

	(void)arg;
	file = demand_map(p, r->len, &fd);
	memcpy(file, old, r->len);
	buf = mmap(NULL, r->len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	check(p, buf != MAP_FAILED, "mmap: %s", strerror(errno));
	mr = ibv_reg_mr(p->pd, buf, r->len, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	check(p, mr, "ibv_reg_mr: %s", strerror(errno));
	theirs = remote_swap(p, buf, mr);
	if (end_a(p)) {
		/* First they are there to be read; then they are written to. */
		sge = sge_of(r, 0, r->len);
		wr = wr_rdma(1, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, theirs.addr,
			     theirs.rkey);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		check(p, !memcmp(r->buf, old, r->len), "READ brings something else");
		memcpy(r->buf, new, r->len);
		wr.opcode = IBV_WR_RDMA_WRITE;
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	if (end_b(p)) {
		check(p, !memcmp(buf, new, r->len), "the mapping does not have what was written");
		check(p, !memcmp(file, old, r->len), "the file has changed");
	}
	ibv_dereg_mr(mr);
	munmap(buf, r->len);
	munmap(file, r->len);
	close(fd);
}

/* ---- all there is ---- */

struct everything {
	struct ibv_mr *mr;
	uint64_t peer_rkey;
};

static int dereg(void *mr)
{
	return ibv_dereg_mr(mr);
}

static struct everything all_memory(struct pair *p)
{
	struct everything all = {};
	uint64_t mine;

	all.mr = ibv_reg_mr(p->pd, NULL, SIZE_MAX, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	check(p, all.mr, "ibv_reg_mr of all memory: %s", strerror(errno));
	undo_later(p, dereg, all.mr, "ibv_dereg_mr");
	mine = all.mr->rkey;
	pair_swap(p, &mine, &all.peer_rkey, sizeof(mine));
	return all;
}

/* One message between places of two programs that nobody registered. */
static void send_between(struct conn *c, struct everything *all, enum ibv_wr_opcode opcode,
			 void *here, uint64_t there, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)here, len, all->mr->lkey };
	struct ibv_send_wr wr = wr_rdma(3, opcode, &sge, 1, IBV_SEND_SIGNALED, there,
					all->peer_rkey);

	conn_send(c, &wr);
	queue_want(c->send, 3, IBV_WC_SUCCESS);
}

static void run_everything(struct pair *p, const void *arg)
{
	static uint8_t data[3 * PAGE];
	struct everything all = all_memory(p);
	struct conn *c = demand_conn(p);
	uint8_t stack[700], *heap = demand_bytes(p, end_a(p) ? 15 : 16, 5 * PAGE);
	uint8_t *want = demand_bytes(p, 15, 5 * PAGE);
	struct { uint64_t data, stack, heap; } mine, theirs;

	(void)arg;
	memset(stack, 1, sizeof(stack));
	mine.data = (uintptr_t)data;
	mine.stack = (uintptr_t)stack;
	mine.heap = (uintptr_t)heap;
	pair_swap(p, &mine, &theirs, sizeof(mine));
	if (end_a(p)) {
		send_between(c, &all, IBV_WR_RDMA_WRITE, heap, theirs.data, sizeof(data));
		send_between(c, &all, IBV_WR_RDMA_WRITE, heap + 1, theirs.stack, sizeof(stack));
		send_between(c, &all, IBV_WR_RDMA_WRITE, heap, theirs.heap, 5 * PAGE);
		send_between(c, &all, IBV_WR_RDMA_READ, data + 1, theirs.data + 1, PAGE);
		send_between(c, &all, IBV_WR_RDMA_READ, stack, theirs.stack, sizeof(stack));
		check(p, !memcmp(data + 1, want + 1, PAGE), "READ of data is wrong");
		check(p, !memcmp(stack, want + 1, sizeof(stack)), "READ of a stack is wrong");
	}
	pair_sync(p);
	check(p, !memcmp(heap, want, 5 * PAGE), "the heap is wrong");
	check(p, !memcmp(stack, want + 1, sizeof(stack)), "the stack is wrong");
	if (end_b(p))
		check(p, !memcmp(data, want, sizeof(data)), "data are wrong");
}

/* Many distant addresses, each mapped for one message only. */
static void run_places(struct pair *p, const void *arg)
{
	const size_t far = 4 << 20;
	unsigned int i, n = p->quick ? 150 : 600;
	struct everything all = all_memory(p);
	struct conn *c = demand_conn(p);
	uint8_t *range, *want;
	uint64_t mine, theirs;

	(void)arg;
	range = mmap(NULL, n * far, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	check(p, range != MAP_FAILED, "mmap of %zu bytes: %s", n * far, strerror(errno));
	want = demand_bytes(p, 17, PAGE);
	mine = (uintptr_t)range;
	pair_swap(p, &mine, &theirs, sizeof(mine));
	for (i = 0; i < n; i++) {
		uint8_t *here = range + i * far;

		check(p, mmap(here, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == here,
		      "mmap: %s", strerror(errno));
		if (end_a(p))
			memcpy(here, want, PAGE);
		/* In step by the dozen. */
		if (i % 50 != 49 && i != n - 1)
			continue;
		pair_sync(p);
		for (unsigned int k = i - i % 50; k <= i && end_a(p); k++)
			send_between(c, &all, IBV_WR_RDMA_WRITE, range + k * far,
				     theirs + k * far, PAGE);
		pair_sync(p);
		for (unsigned int k = i - i % 50; k <= i; k++) {
			check(p, !memcmp(range + k * far, want, PAGE), "place %u is wrong", k);
			munmap(range + k * far, far);
		}
	}
}

int main(int argc, char **argv)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < ARRAY_SIZE(steps) && pair_wants(&p, "data"); i++)
		pair_case(&p, run_step, &steps[i], "%s from and to memory without resident pages",
			  steps[i].what);
	if (pair_wants(&p, "data")) {
		pair_case(&p, run_atomic, NULL,
			  "atomics on a word whose page is taken away repeatedly");
		pair_case(&p, run_longer, NULL,
			  "a receive longer than its mapped memory takes a message that fits");
	}
	if (pair_wants(&p, "datagram")) {
		pair_case(&p, run_datagram, NULL, "datagrams are sent from memory on demand");
		pair_case(&p, run_lost, NULL, "a datagram lost to a page fault uses no receive");
	}
	if (pair_wants(&p, "pages")) {
		pair_case(&p, run_paged_out, NULL,
			  "a page written by the peer is swapped out intact");
		pair_case(&p, run_lazy, NULL, "pages marked MADV_FREE keep what the peer writes");
		pair_case(&p, run_fork, NULL, "pages shared with a child by fork");
		pair_case(&p, run_private, NULL, "a privately mapped file does not change");
	}
	if (pair_wants(&p, "all")) {
		pair_case(&p, run_everything, NULL, "implicit ODP: all memory of a program");
		pair_case(&p, run_places, NULL,
			  "implicit ODP: many distant addresses, each used once");
	}
	return pair_close(&p);
}
