// SPDX-License-Identifier: GPL-2.0
/*
 * dmabuf - regions of dma-bufs carry data, have the right bounds, and keep a
 * reference to their buffer only
 *
 *	dmabuf a|b PORT [GROUP...]	see main() for the groups
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kmod/kbuf.h"
#include "lib/buffer.h"
#include "lib/pattern.h"
#include "lib/plan.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define PAGE 4096UL

/* Of this case. */
static enum buffer_kind kind;

static int close_fd(void *fd)
{
	return close((intptr_t)fd);
}

/* A buffer, and where it is mapped; both ends skip what one of them has not. */
static int make_buffer(struct pair *p, size_t len, int flags, uint8_t **map)
{
	int fd = buffer_make(kind, len, flags);
	int prot = flags == O_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;

	if (fd < 0 && (errno == ENOENT || errno == ENODEV))
		skip(p, "no %s on this kernel", buffer_names[kind]);
	check(p, fd >= 0, "%s of %zu bytes: %s", buffer_names[kind], len, strerror(errno));
	*map = mmap(NULL, len, prot, MAP_SHARED, fd, 0);
	check(p, *map != MAP_FAILED, "mmap of a %s: %s", buffer_names[kind], strerror(errno));
	return fd;
}

/* For plans. Nobody but region and mapping holds the buffer. */
static struct region *make_region(struct pair *p, struct ibv_pd *pd, size_t len, int access)
{
	struct ibv_mr *mr;
	uint8_t *map;
	int fd;

	len = (len + PAGE - 1) & ~(PAGE - 1);
	fd = make_buffer(p, len, O_RDWR, &map);
	mr = ibv_reg_dmabuf_mr(pd, 0, len, (uintptr_t)map, fd, access);
	check(p, mr, "ibv_reg_dmabuf_mr of %zu bytes: %s", len, strerror(errno));
	close(fd);
	return region_of(p, map, len, mr);
}

/* ---- data ---- */

static struct plan *mixture(struct pair *p, bool from_b)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct plan *plan = plan_new(p, from_b, 40 + from_b);
	int i, n = p->quick ? 30 : 120;

	for (i = 0; i < n; i++)
		plan_add(plan, ops[i % ARRAY_SIZE(ops)],
			 draw(&plan->seed, 0, i % 3 ? 9000 : p->quick ? 30000 : 100000),
			 draw(&plan->seed, 1, 4), draw(&plan->seed, 1, 4), false);
	return plan;
}

/* All memory of both ends is in dma-bufs. */
static void run_data(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	unsigned int count = 0;
	struct job *job[2];
	struct conn *c;
	int i;

	(void)arg;
	p->region = make_region;
	attr.mtu = p->port.active_mtu;
	c = conn_open(p, &attr);
	for (i = 0; i < 2; i++)
		job[i] = job_new(c, mixture(p, i));
	while (!(job_go(job[0]) & job_go(job[1])))
		relax(p, &count);
	pair_sync(p);
	job_judge(job[0]);
	job_judge(job[1]);
}

static void run_atomics(struct pair *p, const void *arg)
{
	struct region *r = make_region(p, p->pd, 3 * PAGE, ALL_ACCESS);
	struct conn_attr attr = conn_defaults(p);
	struct ibv_sge sge = sge_of(r, PAGE, 8);
	struct ibv_send_wr wr;
	uint64_t word, i;
	struct conn *c;

	(void)arg;
	c = conn_open(p, &attr);
	region_swap(p, r);
	memset(r->buf, 0, 3 * PAGE);
	pair_sync(p);
	for (i = 0; i < 20 && end_a(p); i++) {
		wr = wr_atomic(i, i % 2 ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD,
			       &sge, r->peer_addr + 2 * PAGE - 8, r->peer_rkey, i % 2 ? i : 1,
			       i + 1);
		conn_send(c, &wr);
		queue_want(c->send, i, IBV_WC_SUCCESS);
		memcpy(&word, r->buf + PAGE, 8);
		check(p, word == i, "atomic %d returns %llu", (int)i, (unsigned long long)word);
	}
	pair_sync(p);
	memcpy(&word, r->buf + 2 * PAGE - 8, 8);
	if (end_b(p))
		check(p, word == 20 && !r->buf[2 * PAGE] && !r->buf[2 * PAGE - 9],
		      "the word is %llu", (unsigned long long)word);
}

/*
 * The network delays the packets of a; meanwhile a changes its memory. The old data arrives if
 * it was copied, the new data if the packets refer to the pages.
 */
static void run_sent(struct pair *p, const void *of_buffer)
{
	size_t len = 2 * PAGE;
	struct region *r = of_buffer ? make_region(p, p->pd, len, ALL_ACCESS) :
				       region_new(p, len, ALL_ACCESS);
	struct conn_attr attr = conn_defaults(p);
	struct ibv_sge sge = sge_of(r, 0, len);
	uint8_t want[2 * PAGE];
	struct ibv_send_wr wr;
	struct conn *c;
	size_t at;

	attr.timeout = 20;
	c = conn_open(p, &attr);
	region_swap(p, r);
	if (end_a(p)) {
		pattern_fill(r->buf, len, 1);
		wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, r->peer_addr,
			     r->peer_rkey);
		conn_send(c, &wr);
		pattern_fill(r->buf, len, 2);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	pattern_fill(want, len, of_buffer ? 1 : 2);
	at = pattern_differ(r->buf, want, len);
	if (end_b(p))
		check(p, at == len, "byte %zu is from %s: %s", at, of_buffer ? "later" : "before",
		      pattern_show(r->buf, want, at, len));
}

/* ---- a part of it, under addresses of its own ---- */

#define SIZE (8 * PAGE)
#define AT (3 * PAGE + 100)
#define LEN 10000
#define IOVA (0xabc0000000000000ULL + 100)

/* Bytes of b's region, and how a uses them. */
struct use {
	const char *what;
	enum ibv_wr_opcode opcode;
	int64_t at;
	uint32_t len;
	enum ibv_wc_status status;
};

static const struct use uses[] = {
	{ "WRITE at its beginning", IBV_WR_RDMA_WRITE, 0, 5000, IBV_WC_SUCCESS },
	{ "WRITE to its end", IBV_WR_RDMA_WRITE, LEN - 3000, 3000, IBV_WC_SUCCESS },
	{ "READ to its end", IBV_WR_RDMA_READ, LEN - 6000, 6000, IBV_WC_SUCCESS },
	{ "WRITE before it", IBV_WR_RDMA_WRITE, -1, 10, IBV_WC_REM_ACCESS_ERR },
	{ "WRITE behind it", IBV_WR_RDMA_WRITE, LEN - 9, 10, IBV_WC_REM_ACCESS_ERR },
	{ "READ behind it", IBV_WR_RDMA_READ, LEN, 1, IBV_WC_REM_ACCESS_ERR },
};

static int unmap(void *map)
{
	return munmap(map, SIZE);
}

static int dereg(void *mr)
{
	return ibv_dereg_mr(mr);
}

/* A region of b's buffer, of which a learns the key. */
static struct ibv_mr *part(struct pair *p, uint8_t **map, uint32_t *key)
{
	struct ibv_mr *mr = NULL;
	uint32_t mine = 0;
	int fd = make_buffer(p, SIZE, O_RDWR, map);

	undo_later(p, unmap, *map, "munmap");
	if (end_b(p)) {
		mr = ibv_reg_dmabuf_mr(p->pd, AT, LEN, IOVA, fd, ALL_ACCESS);
		check(p, mr, "ibv_reg_dmabuf_mr: %s", strerror(errno));
		undo_later(p, dereg, mr, "ibv_dereg_mr");
		mine = mr->rkey;
	}
	close(fd);
	pair_swap(p, &mine, key, sizeof(mine));
	return mr;
}

static void do_use(struct conn *c, const struct use *use, struct region *r, uint32_t key)
{
	struct ibv_sge sge = sge_of(r, 0, use->len);
	struct ibv_send_wr wr = wr_rdma(1, use->opcode, &sge, 1, IBV_SEND_SIGNALED,
					IOVA + use->at, key);
	struct ibv_wc wc;

	conn_send(c, &wr);
	queue_next(c->send, &wc);
	check(c->p, wc.status == use->status, "%s: %s", use->what, ibv_wc_status_str(wc.status));
}

static void run_part(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 32768, ALL_ACCESS);
	uint8_t *map, *want;
	unsigned int i;
	uint32_t key;
	size_t at;

	(void)arg;
	part(p, &map, &key);
	pattern_fill(map, SIZE, 1);
	pattern_fill(r->buf, r->len, 2);
	want = malloc(SIZE);
	pattern_fill(want, SIZE, 1);
	for (i = 0; i < ARRAY_SIZE(uses); i++) {
		const struct use *use = &uses[i];
		struct conn *c;

		c = conn_open(p, &attr);
		if (end_a(p))
			do_use(c, use, r, key);
		if (use->status == IBV_WC_SUCCESS && use->opcode == IBV_WR_RDMA_WRITE)
			memcpy(want + AT + use->at, r->buf, use->len);
		else if (use->status == IBV_WC_SUCCESS && end_a(p))
			check(p, !memcmp(r->buf, want + AT + use->at, use->len),
			      "READ: wrong data");
		pair_sync(p);
	}
	at = pattern_differ(map, want, SIZE);
	if (end_b(p))
		check(p, at == SIZE, "wrong at byte %zu: %s", at,
		      pattern_show(map, want, at, SIZE));
	free(want);
}

/* ---- what cannot be registered ---- */

static void run_refused(struct pair *p, const void *arg)
{
	static const struct {
		const char *what;
		uint64_t offset, len, iova;
		int access, error;
	} tries[] = {
		{ "no bytes", 0, 0, 0, 0, EINVAL },
		{ "a byte too much", 0, SIZE + 1, 0, 0, EINVAL },
		{ "a byte too much at the end", SIZE - 1, 2, PAGE - 1, 0, EINVAL },
		{ "behind the end", SIZE, 1, 0, 0, EINVAL },
		{ "far behind the end", 1ULL << 62, PAGE, 0, 0, EINVAL },
		{ "an end that wraps", -PAGE, 2 * PAGE, 0, 0, EINVAL },
		{ "all there is", 0, -1ULL, 0, 0, EINVAL },
		{ "all there is from the middle on", PAGE, -PAGE, 0, 0, EINVAL },
		{ "addresses that wrap", 0, 2 * PAGE, -PAGE, 0, EINVAL },
		{ "another place in its page", 0, PAGE, 1, 0, EINVAL },
		{ "remote write without local", 0, PAGE, 0, IBV_ACCESS_REMOTE_WRITE, EINVAL },
		{ "on demand", 0, PAGE, 0, IBV_ACCESS_ON_DEMAND, 0 },
		{ "rights that there are not", 0, PAGE, 0, 1 << 19, 0 },
	};
	struct ibv_mr *mr;
	unsigned int i;
	uint8_t *map;
	int fd;

	(void)arg;
	fd = make_buffer(p, SIZE, O_RDWR, &map);
	undo_later(p, close_fd, (void *)(intptr_t)fd, "close");
	undo_later(p, unmap, map, "munmap");
	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		errno = 0;
		mr = ibv_reg_dmabuf_mr(p->pd, tries[i].offset, tries[i].len, tries[i].iova, fd,
				       tries[i].access);
		check(p, !mr, "%s is registered", tries[i].what);
		check(p, errno && (!tries[i].error || errno == tries[i].error), "%s: %s",
		      tries[i].what, strerror(errno));
	}
	/* And then it works, to the last byte. */
	mr = ibv_reg_dmabuf_mr(p->pd, SIZE - 1, 1, PAGE - 1, fd, 0);
	check(p, mr, "the last byte: %s", strerror(errno));
	check(p, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
	      "it is registered again, where that should be refused");
	check(p, !ibv_dereg_mr(mr), "ibv_dereg_mr");
}

/* Files that are no dma-bufs cannot be registered. */
static void run_files(struct pair *p, const void *arg)
{
	static const char *const names[] = { "/dev/null", "/proc/self/maps", "/tmp" };
	int fd, pipes[2];
	unsigned int i;

	(void)arg;
	check(p, !ibv_reg_dmabuf_mr(p->pd, 0, PAGE, 0, -1, 0) && errno == EBADF, "no file: %s",
	      strerror(errno));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		fd = open(names[i], O_RDONLY);
		check(p, !ibv_reg_dmabuf_mr(p->pd, 0, PAGE, 0, fd, 0) && errno == EINVAL,
		      "%s: %s", names[i], strerror(errno));
		close(fd);
	}
	check(p, !pipe(pipes), "pipe");
	check(p, !ibv_reg_dmabuf_mr(p->pd, 0, PAGE, 0, pipes[1], 0) && errno == EINVAL,
	      "a pipe: %s", strerror(errno));
	close(pipes[0]);
	close(pipes[1]);
	fd = p->ctx->cmd_fd;
	check(p, !ibv_reg_dmabuf_mr(p->pd, 0, PAGE, 0, fd, 0) && errno == EINVAL,
	      "the device itself: %s", strerror(errno));
}

/* A read-only file cannot be registered for writing. */
static void run_read_only(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, PAGE, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 100);
	struct ibv_mr *mr;
	struct ibv_send_wr wr;
	struct conn *c;
	uint32_t mine, key;
	uint8_t *map;
	int fd;

	(void)arg;
	fd = make_buffer(p, SIZE, O_RDONLY, &map);
	undo_later(p, unmap, map, "munmap");
	mr = ibv_reg_dmabuf_mr(p->pd, 0, SIZE, 0, fd, IBV_ACCESS_LOCAL_WRITE);
	check(p, !mr && errno == EACCES, "for writing: %s", strerror(errno));
	mr = ibv_reg_dmabuf_mr(p->pd, 0, SIZE, 0, fd, IBV_ACCESS_REMOTE_READ);
	check(p, mr, "for reading: %s", strerror(errno));
	undo_later(p, dereg, mr, "ibv_dereg_mr");
	close(fd);
	mine = mr->rkey;
	pair_swap(p, &mine, &key, sizeof(key));
	memset(r->buf, 0x55, 100);
	c = conn_open(p, &attr);
	if (end_a(p)) {
		wr = wr_rdma(1, IBV_WR_RDMA_READ, &sge, 1, IBV_SEND_SIGNALED, 300, key);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		check(p, !r->buf[0] && !r->buf[99] && r->buf[100] == 0, "READ: wrong data");
		wr.opcode = IBV_WR_RDMA_WRITE;
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_REM_ACCESS_ERR);
	}
	pair_sync(p);
}

/* ---- whose it is ---- */

#define MANY 40

/* Many regions of one buffer are registered and deregistered; each has its own offset. */
static void run_many(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, PAGE, ALL_ACCESS);
	struct ibv_sge sge = sge_of(r, 0, 64);
	struct ibv_mr *mr[MANY];
	uint32_t mine[MANY], keys[MANY];
	struct ibv_send_wr wr;
	struct conn *c;
	uint8_t *map;
	int fd, i;

	(void)arg;
	fd = make_buffer(p, SIZE, O_RDWR, &map);
	undo_later(p, unmap, map, "munmap");
	memset(map, 0, SIZE);
	for (i = 0; i < MANY; i++) {
		mr[i] = ibv_reg_dmabuf_mr(p->pd, i * 128, 64, i * 128, fd, ALL_ACCESS);
		check(p, mr[i], "region %d: %s", i, strerror(errno));
		mine[i] = mr[i]->rkey;
		undo_later(p, dereg, mr[i], "ibv_dereg_mr");
	}
	close(fd);
	for (i = 0; i < MANY; i += 2)
		undo_now(p, mr[i]);
	pair_swap(p, mine, keys, sizeof(keys));
	c = conn_open(p, &attr);
	for (i = 1; i < MANY && end_a(p); i += 2) {
		memset(r->buf, i, 64);
		wr = wr_rdma(i, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, i * 128, keys[i]);
		conn_send(c, &wr);
		queue_want(c->send, i, IBV_WC_SUCCESS);
	}
	if (end_a(p)) {
		wr = wr_rdma(0, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED, 0, keys[0]);
		conn_send(c, &wr);
		queue_want(c->send, 0, IBV_WC_REM_ACCESS_ERR);
	}
	pair_sync(p);
	for (i = 0; i < (int)SIZE && end_b(p); i++) {
		int n = i / 128, want = n < MANY && n % 2 && i % 128 < 64 ? n : 0;

		check(p, map[i] == want, "byte %d is %d, not %d", i, map[i], want);
	}
}

/* The file is closed and the mapping removed: only the region is left. */
static void run_alone(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 2 * SIZE, ALL_ACCESS);
	struct ibv_send_wr wr[2];
	struct ibv_sge sge[2];
	struct conn *c;
	uint8_t *map;
	uint32_t key;

	(void)arg;
	part(p, &map, &key);
	undo_now(p, map);
	c = conn_open(p, &attr);
	if (end_a(p)) {
		pattern_fill(r->buf, LEN, 9);
		sge[0] = sge_of(r, 0, LEN);
		sge[1] = sge_of(r, SIZE, LEN);
		wr[0] = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge[0], 1, IBV_SEND_SIGNALED, IOVA, key);
		wr[1] = wr_rdma(2, IBV_WR_RDMA_READ, &sge[1], 1, IBV_SEND_SIGNALED, IOVA, key);
		wr[0].next = &wr[1];
		conn_send(c, wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
		check(p, !memcmp(r->buf, r->buf + SIZE, LEN), "what was written is not read");
	}
	pair_sync(p);
}

/* ---- an exporter that looks at what is done (selftests/kmod/kbuf.c) ---- */

#define KBUF_PAGES 4

struct kbuf {
	int dev, fd;
	uint8_t *map;
	struct ibv_mr *mr;
	struct remote peer;
};

static int unmap_kbuf(void *map)
{
	return munmap(map, KBUF_PAGES * PAGE);
}

static void kbuf_new(struct pair *p, struct kbuf *k, unsigned int flags)
{
	struct kbuf_make make = { .pages = KBUF_PAGES, .flags = flags };

	k->dev = open("/dev/rover_kbuf", O_RDWR | O_CLOEXEC);
	if (k->dev < 0)
		skip(p, "no exporter for tests");
	undo_later(p, close_fd, (void *)(intptr_t)k->dev, "close");
	check(p, !ioctl(k->dev, KBUF_MAKE, &make), "no buffer: %s", strerror(errno));
	k->fd = make.fd;
	undo_later(p, close_fd, (void *)(intptr_t)k->fd, "close");
	k->map = mmap(NULL, KBUF_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, k->fd, 0);
	check(p, k->map != MAP_FAILED, "mmap: %s", strerror(errno));
	undo_later(p, unmap_kbuf, k->map, "munmap");
}

static void kbuf_reg(struct pair *p, struct kbuf *k, int access)
{
	k->mr = ibv_reg_dmabuf_mr(p->pd, 0, KBUF_PAGES * PAGE, (uintptr_t)k->map, k->fd, access);
	check(p, k->mr, "ibv_reg_dmabuf_mr: %s", strerror(errno));
	undo_later(p, dereg, k->mr, "ibv_dereg_mr");
	k->peer = remote_swap(p, k->map, k->mr);
}

static struct kbuf_counts kbuf_counts(struct pair *p, const struct kbuf *k)
{
	struct kbuf_counts counts = { .fd = k->fd };

	check(p, !ioctl(k->dev, KBUF_COUNT, &counts), "KBUF_COUNT: %s", strerror(errno));
	return counts;
}

/* A WRITE from a to b's buffer, all of it but the last page. */
static void kbuf_write(struct conn *c, struct kbuf *k, struct region *r, int seed,
		       enum ibv_wc_status status)
{
	struct ibv_sge sge = sge_of(r, 0, (KBUF_PAGES - 1) * PAGE);
	struct ibv_send_wr wr = wr_rdma(seed, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
					k->peer.addr, k->peer.rkey);

	pattern_fill(r->buf, r->len, seed);
	if (end_a(c->p)) {
		conn_send(c, &wr);
		queue_want(c->send, seed, status);
	}
	pair_sync(c->p);
}

/* Each access by the CPU is enclosed by begin and end, with the right direction. */
static void run_brackets(struct pair *p, const void *arg)
{
	const int access = *(const int *)arg;
	struct kbuf_counts n;
	struct kbuf k;

	kbuf_new(p, &k, 0);
	check(p, !ibv_reg_dmabuf_mr(p->pd, PAGE, KBUF_PAGES * PAGE, PAGE, k.fd, access),
	      "a page too many is registered");
	kbuf_reg(p, &k, access);
	n = kbuf_counts(p, &k);
	check(p, n.vmaps == 1 && n.begins == 1 && !n.ends && !n.outside,
	      "%u mappings, %u begins, %u ends", n.vmaps, n.begins, n.ends);
	/* DMA_BIDIRECTIONAL to write, DMA_FROM_DEVICE to read. */
	check(p, n.directions == (access ? 1 << 0 : 1 << 2), "directions 0x%x", n.directions);
	check(p, !n.attached, "%u attachments", n.attached);
	undo_now(p, k.mr);
	n = kbuf_counts(p, &k);
	check(p, !n.vmaps && n.begins == 1 && n.ends == 1 && !n.outside,
	      "then %u mappings, %u begins, %u ends, %u outside", n.vmaps, n.begins, n.ends,
	      n.outside);
}

/* Write-combined memory is accessed by the mapping of its exporter. */
static void run_combined(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, KBUF_PAGES * PAGE, ALL_ACCESS);
	struct kbuf_counts n;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct conn *c;
	struct kbuf k;

	(void)arg;
	kbuf_new(p, &k, KBUF_WC);
	kbuf_reg(p, &k, ALL_ACCESS);
	c = conn_open(p, &attr);
	n = kbuf_counts(p, &k);
	check(p, !n.touched, "%u pages are used before", n.touched);
	pair_sync(p);
	kbuf_write(c, &k, r, 1, IBV_WC_SUCCESS);
	n = kbuf_counts(p, &k);
	if (end_b(p)) {
		check(p, n.touched == KBUF_PAGES - 1, "%u pages used by the mapping of %lu",
		      n.touched, KBUF_PAGES - 1UL);
		check(p, !memcmp(k.map, r->buf, (KBUF_PAGES - 1) * PAGE), "wrong data");
	}
	pair_sync(p);
	/* And what is sent. */
	memset(k.map, 0x77, PAGE);
	sge = (struct ibv_sge){ (uintptr_t)k.map, PAGE, k.mr->lkey };
	wr = wr_rdma(2, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
		     k.peer.addr + 3 * PAGE, k.peer.rkey);
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, 2, IBV_WC_SUCCESS);
		n = kbuf_counts(p, &k);
		check(p, n.touched == 1, "%u pages used by the mapping of 1", n.touched);
	}
	pair_sync(p);
	if (end_b(p))
		check(p, k.map[3 * PAGE] == 0x77 && k.map[4 * PAGE - 1] == 0x77, "wrong data");
}

static void run_device_memory(struct pair *p, const void *arg)
{
	struct kbuf_counts n;
	struct kbuf k;

	(void)arg;
	kbuf_new(p, &k, KBUF_IO | KBUF_MOVES);
	check(p, !ibv_reg_dmabuf_mr(p->pd, 0, PAGE, 0, k.fd, 0) && errno == EOPNOTSUPP,
	      "it is registered: %s", strerror(errno));
	n = kbuf_counts(p, &k);
	check(p, !n.vmaps && !n.pins && !n.attached && n.begins == n.ends,
	      "left behind: %u mappings, %u pins, %u attachments", n.vmaps, n.pins, n.attached);
}

/* Movable memory is pinned, and is not used after it is revoked. */
static void run_revoked(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, KBUF_PAGES * PAGE, ALL_ACCESS);
	struct kbuf_counts n;
	struct kbuf k;
	struct conn *c;

	(void)arg;
	kbuf_new(p, &k, KBUF_MOVES);
	kbuf_reg(p, &k, ALL_ACCESS);
	n = kbuf_counts(p, &k);
	check(p, n.pins == 1 && n.attached == 1 && n.vmaps == 1, "%u pins, %u attachments", n.pins,
	      n.attached);
	c = conn_open(p, &attr);
	kbuf_write(c, &k, r, 1, IBV_WC_SUCCESS);
	if (end_b(p)) {
		check(p, !memcmp(k.map, r->buf, (KBUF_PAGES - 1) * PAGE), "wrong data");
		check(p, !ioctl(k.dev, KBUF_REVOKE, &k.fd), "KBUF_REVOKE: %s", strerror(errno));
		memset(k.map, 0x11, KBUF_PAGES * PAGE);
	}
	pair_sync(p);
	kbuf_write(c, &k, r, 2, IBV_WC_REM_ACCESS_ERR);
	if (end_b(p))
		check(p, k.map[0] == 0x11 && k.map[2 * PAGE] == 0x11, "it was written to");
	undo_now(p, k.mr);
	n = kbuf_counts(p, &k);
	check(p, !n.pins && !n.attached && !n.vmaps && n.begins == n.ends && !n.outside,
	      "left behind: %u pins, %u attachments, %u mappings", n.pins, n.attached, n.vmaps);
}

static void exporter(struct pair *p)
{
	static const int reads, writes = ALL_ACCESS;

	pair_case(p, run_brackets, &reads,
		  "reads are enclosed by begin_cpu_access and end_cpu_access");
	pair_case(p, run_brackets, &writes,
		  "writes are enclosed by begin_cpu_access and end_cpu_access");
	pair_case(p, run_combined, NULL,
		  "write-combined memory is accessed by the vmap of the dma-buf");
	pair_case(p, run_device_memory, NULL, "a dma-buf of device memory is refused");
	pair_case(p, run_revoked, NULL, "a movable dma-buf is pinned, and can be revoked");
}

static void all_kinds(struct pair *p)
{
	pair_case(p, run_files, NULL, "files that are no dma-bufs are refused");
	for (kind = 0; kind < BUFFER_KINDS; kind++) {
		const char *name = buffer_names[kind];

		pair_case(p, run_data, NULL, "%s: all operations carry data at both ends", name);
		pair_case(p, run_atomics, NULL, "%s: atomics", name);
		pair_case(p, run_part, NULL, "%s: a region of a part has the right bounds", name);
		pair_case(p, run_refused, NULL,
			  "%s: bad offsets, lengths and access flags are refused", name);
		pair_case(p, run_many, NULL, "%s: many regions of one buffer", name);
		pair_case(p, run_alone, NULL,
			  "%s: the region is the only user of the buffer", name);
	}
	kind = BUFFER_HEAP;
	pair_case(p, run_read_only, NULL,
		  "%s: a read-only file cannot be registered for writing", buffer_names[kind]);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "kinds"))
		all_kinds(&p);
	if (pair_wants(&p, "exporter"))
		exporter(&p);
	kind = BUFFER_UDMABUF;
	if (pair_wants(&p, "ordinary"))
		pair_case(&p, run_sent, NULL,
			  "packets in flight refer to the pages of ordinary memory");
	if (pair_wants(&p, "sent"))
		pair_case(&p, run_sent, &p,
			  "packets in flight hold copies of the pages of a %s", buffer_names[kind]);
	return pair_close(&p);
}
