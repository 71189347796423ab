// SPDX-License-Identifier: GPL-2.0
/*
 * rc_data - each operation of a reliable connection carries data, in all sizes, SGE
 * layouts and modes
 *
 *	rc_data a|b PORT [GROUP...]	see main() for the groups
 *
 * The transfers themselves, and how they are judged, are in lib/plan.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pattern.h"
#include "lib/plan.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	enum ibv_wr_opcode opcode;
	const char *name;
} ops[] = {
	{ IBV_WR_SEND, "SEND" },
	{ IBV_WR_SEND_WITH_IMM, "SEND_IMM" },
	{ IBV_WR_RDMA_WRITE, "WRITE" },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, "WRITE_IMM" },
	{ IBV_WR_RDMA_READ, "READ" },
};

/* What a case of the groups that go through operations and MTUs is about. */
struct job_arg {
	enum ibv_mtu mtu;
	enum ibv_wr_opcode opcode;
	bool extended;
	uint32_t smallest, biggest, depth;
	bool one_way;
};

static unsigned int bytes_of(enum ibv_mtu mtu)
{
	return 128U << mtu;
}

static int max_sge(struct pair *p)
{
	return p->attr.max_sge < MAX_PIECES ? p->attr.max_sge : MAX_PIECES;
}

/* ---- every operation, every path MTU, every size ---- */

/* The sizes around which something changes: packets, pages, words. */
static int sizes_of(enum ibv_mtu mtu, uint32_t biggest, uint32_t *sizes)
{
	uint32_t m = bytes_of(mtu);
	const uint32_t all[] = {
		0, 1, 2, 3, 4, 5, 7, 8, m - 1, m, m + 1, 2 * m - 1, 2 * m, 2 * m + 1,
		4095, 4096, 4097, 65535, 65536, 65537, (1 << 20) + 3, 8 << 20,
	};
	unsigned int i;
	int n = 0;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] <= biggest)
			sizes[n++] = all[i];
	return n;
}

static void run_op(struct pair *p, const void *data)
{
	const struct job_arg *arg = data;
	struct conn_attr attr = conn_defaults(p);
	/* The requester is a for IPv4 and b for IPv6. */
	struct plan *plan = plan_new(p, p->ipv6, arg->mtu * 100 + arg->opcode);
	uint32_t sizes[32];
	int i, n = sizes_of(arg->mtu, arg->biggest, sizes);

	attr.mtu = arg->mtu;
	attr.extended = arg->extended;
	attr.inline_data = 64;
	attr.send_sge = max_sge(p);
	attr.recv_sge = max_sge(p);
	for (i = 0; i < n; i++) {
		if (sizes[i] <= 64)
			plan_add(plan, arg->opcode, sizes[i], 2, 1,
				 arg->opcode != IBV_WR_RDMA_READ);
		if (sizes[i] > 65537) {
			plan_add(plan, arg->opcode, sizes[i], 3, 5, false);
			continue;
		}
		if (!sizes[i])
			plan_add(plan, arg->opcode, 0, 0, 0, false);
		plan_add(plan, arg->opcode, sizes[i], 1, 1, false);
		plan_add(plan, arg->opcode, sizes[i], 3, 2, false);
		if (i % 4 == 1)
			plan_add(plan, arg->opcode, sizes[i], max_sge(p), max_sge(p), false);
	}
	plan_run(conn_open(p, &attr), plan);
}

/* Messages in 1 to max_sge pieces. */
static void run_sgl(struct pair *p, const void *data)
{
	const struct job_arg *arg = data;
	struct conn_attr attr = conn_defaults(p);
	struct plan *plan = plan_new(p, false, 7 + arg->opcode);
	int n;

	attr.mtu = IBV_MTU_512;
	attr.send_sge = max_sge(p);
	attr.recv_sge = max_sge(p);
	for (n = 1; n <= max_sge(p); n++)
		plan_add(plan, arg->opcode, draw(&plan->seed, n, 3000), n, max_sge(p) + 1 - n,
			 false);
	plan_run(conn_open(p, &attr), plan);
}

/* All of the five, or the least, the middle and the greatest. */
static int mtu_step(const struct pair *p)
{
	return pair_once(p) ? 2 : 1;
}

static void all_ops(struct pair *p, const char *family, uint32_t biggest)
{
	struct job_arg arg = { .extended = false };
	unsigned int i;

	for (arg.mtu = IBV_MTU_256; arg.mtu <= IBV_MTU_4096; arg.mtu += mtu_step(p)) {
		for (i = 0; i < ARRAY_SIZE(ops); i++) {
			arg.opcode = ops[i].opcode;
			arg.biggest = p->ipv6 ? 65537 : biggest;
			if (p->quick)
				arg.biggest = p->ipv6 || arg.mtu != IBV_MTU_4096 ? 4097 : 65537;
			if (arg.mtu > p->port.active_mtu)
				continue;
			pair_case(p, run_op, &arg, "%s: %s at MTU %u, sizes 0 to %u", family,
				  ops[i].name, bytes_of(arg.mtu), arg.biggest);
		}
	}
}

static void all_extended(struct pair *p)
{
	static const enum ibv_mtu mtus[] = { IBV_MTU_1024, IBV_MTU_4096 };
	struct job_arg arg = { .extended = true, .biggest = p->quick ? 4097 : 65537 };
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(mtus); k++) {
		arg.mtu = mtus[k];
		for (i = 0; i < ARRAY_SIZE(ops) && arg.mtu <= p->port.active_mtu; i++) {
			arg.opcode = ops[i].opcode;
			pair_case(p, run_op, &arg, "ibv_wr_*() and ibv_cq_ex: %s at MTU %u",
				  ops[i].name, bytes_of(arg.mtu));
		}
	}
}

/* Each gives up a key of the receiver's. */
static void all_invalidating(struct pair *p)
{
	struct job_arg arg = {
		.opcode = IBV_WR_SEND_WITH_INV, .biggest = p->quick ? 4097 : 65537,
	};
	int ipv6;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		pair_family(p, ipv6);
		arg.mtu = IBV_MTU_256;
		for (; arg.mtu <= p->port.active_mtu; arg.mtu += 1 + !!p->quick) {
			arg.extended = arg.mtu == IBV_MTU_1024;
			pair_case(p, run_op, &arg, "%s: SEND_INV at MTU %u, sizes 0 to %u",
				  ipv6 ? "IPv6" : "IPv4", bytes_of(arg.mtu), arg.biggest);
		}
	}
	pair_family(p, false);
}

/* ---- inline ---- */

/* The largest power of two that a queue pair can be made with. */
static uint32_t longest_inline(struct pair *p)
{
	struct queue *q = queue_new(p, 16, false, false);
	struct ibv_qp_init_attr init = {
		.send_cq = q->cq, .recv_cq = q->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_inline_data = 4096 },
	};
	struct ibv_qp *qp;

	do {
		init.cap.max_inline_data /= 2;
		qp = ibv_create_qp(p->pd, &init);
	} while (!qp && init.cap.max_inline_data);
	check(p, qp, "no queue pair with inline data can be made");
	ibv_destroy_qp(qp);
	return init.cap.max_inline_data;
}

static void run_inline(struct pair *p, const void *data)
{
	const struct job_arg *arg = data;
	struct conn_attr attr = conn_defaults(p);
	struct plan *plan = plan_new(p, true, 31 + arg->opcode);
	uint32_t size;

	attr.inline_data = longest_inline(p);
	check(p, attr.inline_data >= 64, "inline data of %u bytes at most", attr.inline_data);
	attr.extended = arg->extended;
	attr.mtu = IBV_MTU_256;
	/* No more of them than there are receives. */
	for (size = 0; size <= attr.inline_data; size += size < 20 ? 3 : p->quick ? 61 : 13)
		plan_add(plan, arg->opcode, size, 1 + size % 4, 1 + size % 3, true);
	plan_add(plan, arg->opcode, attr.inline_data, 4, 1, true);
	plan_run(conn_open(p, &attr), plan);
}

static void run_inline_too_long(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct plan *plan = plan_new(p, false, 1);
	static char bytes[65536];
	struct ibv_sge sge = { (uintptr_t)bytes, 0, 0 };
	struct ibv_send_wr wr = wr_send(1, &sge, 1, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	struct conn *c;

	attr.inline_data = 32;
	attr.extended = arg;
	c = conn_open(p, &attr);
	if (end_a(p)) {
		sge.length = c->cap.max_inline_data + 1;
		check(p, conn_post(c, &wr), "%u bytes inline are accepted where %u are allowed",
		      sge.length, c->cap.max_inline_data);
		/* A sum of 2^32 + 1 must not pass for 1. */
		if (c->cap.max_send_sge >= 2 && !arg) {
			struct ibv_sge two[2] = {
				{ (uintptr_t)bytes, 0x80000001, 0 },
				{ (uintptr_t)bytes, 0x80000000, 0 },
			};

			wr = wr_send(1, two, 2, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
			check(p, conn_post(c, &wr), "4 GiB and a byte inline are accepted");
		}
	}
	/* The queue pair goes on as if nothing had been posted. */
	plan_add(plan, IBV_WR_SEND, 32, 2, 1, true);
	plan_run(c, plan);
	queue_quiet(c->send, 20);
}

static void all_inline(struct pair *p)
{
	struct job_arg arg = { .mtu = IBV_MTU_1024 };
	unsigned int i, extended;

	for (extended = 0; extended < 2; extended++) {
		arg.extended = extended;
		for (i = 0; i < ARRAY_SIZE(ops) - 1; i++) {
			arg.opcode = ops[i].opcode;
			pair_case(p, run_inline, &arg, "inline %s%s: the buffer is reused at once",
				  ops[i].name, extended ? " by ibv_wr_*()" : "");
		}
		pair_case(p, run_inline_too_long, extended ? p : NULL,
			  "inline data that is too long is refused%s",
			  extended ? " by ibv_wr_complete()" : "");
	}
}

static void all_sgl(struct pair *p)
{
	struct job_arg arg = { .mtu = IBV_MTU_512 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		arg.opcode = ops[i].opcode;
		pair_case(p, run_sgl, &arg, "%s with 1 to %d gather and scatter entries",
			  ops[i].name, max_sge(p));
	}
}

/* ---- atomics ---- */

struct atomic_try {
	uint64_t before, compare_add, swap, after;
	bool add;
};

static const struct atomic_try tries[] = {
	{ 5, 5, 9, 9, false },
	{ 5, 6, 9, 5, false },
	{ 0, 0, 0, 0, false },
	{ UINT64_MAX, UINT64_MAX, 0x0123456789abcdefULL, 0x0123456789abcdefULL, false },
	{ 0x0123456789abcdefULL, 0x0123456789abcdeeULL, 1, 0x0123456789abcdefULL, false },
	{ 0xfedcba9876543210ULL, 0xfedcba9876543210ULL, 0, 0, false },
	{ 5, 7, 0, 12, true },
	{ 5, 0, 0, 5, true },
	{ UINT64_MAX, 1, 0, 0, true },
	{ 0x00000000ffffffffULL, 1, 0, 0x100000000ULL, true },
	{ 0x8000000000000000ULL, 0x8000000000000001ULL, 0, 1, true },
	{ 10, -3ULL, 0, 7, true },
};

static void ask_atomics(struct pair *p, struct conn *c, struct region *r)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		const struct atomic_try *try = &tries[i];
		/* The result may go anywhere, aligned or not. */
		struct ibv_sge sge = sge_of(r, 100 + i * 24 + i % 8, 8);
		struct ibv_send_wr wr = wr_atomic(i, try->add ? IBV_WR_ATOMIC_FETCH_AND_ADD :
						  IBV_WR_ATOMIC_CMP_AND_SWP, &sge,
						  r->peer_addr + 16 + i * 24, r->peer_rkey,
						  try->compare_add, try->swap);
		struct ibv_wc wc;
		uint64_t was;

		conn_send(c, &wr);
		queue_next(c->send, &wc);
		check(p, wc.wr_id == i && wc.status == IBV_WC_SUCCESS, "atomic %u: %s", i,
		      ibv_wc_status_str(wc.status));
		check(p, wc.opcode == (try->add ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP) &&
		      wc.byte_len == 8 && wc.qp_num == c->qp->qp_num,
		      "atomic %u: opcode %d, byte_len %u, qp_num 0x%x", i, wc.opcode, wc.byte_len,
		      wc.qp_num);
		memcpy(&was, (void *)(uintptr_t)sge.addr, 8);
		check(p, was == try->before, "atomic %u returns 0x%llx, not 0x%llx", i,
		      (unsigned long long)was, (unsigned long long)try->before);
	}
}

static void run_atomic(struct pair *p, const void *data)
{
	const struct job_arg *arg = data;
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 4096, ALL_ACCESS);
	uint8_t *want = malloc(r->len);
	struct conn *c;
	unsigned int i;
	size_t at;

	attr.mtu = arg->mtu;
	attr.extended = arg->extended;
	c = conn_open(p, &attr);
	region_swap(p, r);
	pattern_fill(r->buf, r->len, 3);
	if (end_b(p))
		for (i = 0; i < ARRAY_SIZE(tries); i++)
			memcpy(r->buf + 16 + i * 24, &tries[i].before, 8);
	pair_sync(p);
	if (end_a(p))
		ask_atomics(p, c, r);
	pair_sync(p);
	pattern_fill(want, r->len, 3);
	for (i = 0; i < ARRAY_SIZE(tries); i++)
		memcpy(want + (end_b(p) ? 16 + i * 24 : 100 + i * 24 + i % 8),
		       end_b(p) ? &tries[i].after : &tries[i].before, 8);
	at = pattern_differ(r->buf, want, r->len);
	check(p, at == r->len, "memory is wrong at byte %zu: %s", at,
	      pattern_show(r->buf, want, at, r->len));
	free(want);
}

#define ADDERS 6

/* Many queue pairs add one to the same word: each value is returned once. */
static void run_contention(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *r = region_new(p, 65536, ALL_ACCESS);
	int rounds = p->quick ? 10 : 60, total = ADDERS * rounds, i, done;
	struct conn *c[ADDERS];
	uint8_t *seen = calloc(1, total);
	struct ibv_wc wc;
	uint64_t was;

	(void)arg;
	attr.send = queue_new(p, 1024, false, false);
	attr.recv = attr.send;
	attr.send_wr = rounds;
	for (i = 0; i < ADDERS; i++)
		c[i] = conn_open(p, &attr);
	region_swap(p, r);
	for (i = 0; i < total && end_a(p); i++) {
		struct ibv_sge sge = sge_of(r, 8 * i, 8);
		struct ibv_send_wr wr = wr_atomic(i, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge,
						  r->peer_addr + 4096, r->peer_rkey, 1, 0);

		conn_send(c[i % ADDERS], &wr);
	}
	for (done = 0; done < total && end_a(p); done++) {
		queue_next(attr.send, &wc);
		check(p, wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
		memcpy(&was, r->buf + 8 * wc.wr_id, 8);
		check(p, was < (uint64_t)total && !seen[was], "%llu is returned twice, or too much",
		      (unsigned long long)was);
		seen[was] = 1;
	}
	pair_sync(p);
	memcpy(&was, r->buf + 4096, 8);
	if (end_b(p))
		check(p, was == (uint64_t)total, "the sum is %llu, not %d",
		      (unsigned long long)was, total);
	free(seen);
}

static void all_atomics(struct pair *p)
{
	struct job_arg arg = { .extended = false };
	int ipv6;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		pair_family(p, ipv6);
		for (arg.mtu = IBV_MTU_256; arg.mtu <= p->port.active_mtu; arg.mtu += mtu_step(p))
			pair_case(p, run_atomic, &arg,
				  "%s: CMP_AND_SWP and FETCH_AND_ADD at MTU %u",
				  ipv6 ? "IPv6" : "IPv4", bytes_of(arg.mtu));
	}
	pair_family(p, false);
	arg.mtu = IBV_MTU_1024;
	arg.extended = true;
	pair_case(p, run_atomic, &arg, "CMP_AND_SWP and FETCH_AND_ADD by ibv_wr_*()");
	pair_case(p, run_contention, NULL, "FETCH_AND_ADD of %d queue pairs on one word", ADDERS);
}

/* ---- mixtures ---- */

static struct plan *mixture(struct pair *p, bool from_b, const struct job_arg *arg, int n)
{
	struct plan *plan = plan_new(p, from_b, 77 + from_b + arg->mtu);
	unsigned int op;
	uint32_t size;

	while (n--) {
		op = draw(&plan->seed, 0, ARRAY_SIZE(ops) - 1);
		size = draw(&plan->seed, arg->smallest,
			    draw(&plan->seed, 0, 3) ? arg->biggest : 64);
		plan_add(plan, ops[op].opcode, size, draw(&plan->seed, 1, 4),
			 draw(&plan->seed, 1, 4),
			 ops[op].opcode != IBV_WR_RDMA_READ && size <= 64 && n % 2);
	}
	return plan;
}

/* Both ends are requester and responder at once on one connection. */
static void run_mixture(struct pair *p, const void *data)
{
	const struct job_arg *arg = data;
	struct conn_attr attr = conn_defaults(p);
	int i, n = p->quick ? 40 : 200;
	struct job *job[2];
	struct conn *c;
	unsigned int count = 0;

	attr.mtu = arg->mtu;
	attr.extended = arg->extended;
	attr.inline_data = 64;
	attr.recv_wr = n;
	attr.send_wr = 24;
	c = conn_open(p, &attr);
	for (i = 0; i < 2 - arg->one_way; i++)
		job[i] = job_new(c, mixture(p, i, arg, n));
	while (!(job_go(job[0]) & (arg->one_way || job_go(job[1]))))
		relax(p, &count);
	pair_sync(p);
	while (i--)
		job_judge(job[i]);
}

#define MANY 32

/* Many connections on one completion queue, all at once. */
static void run_many(struct pair *p, const void *arg)
{
	struct conn_attr attr = conn_defaults(p);
	struct region *from = region_new(p, MANY * 4096, ALL_ACCESS);
	struct region *to = region_new(p, MANY * 4096, ALL_ACCESS);
	int rounds = p->quick ? 4 : 24, i, k, next[MANY] = {}, left = MANY * rounds;
	struct conn *c[MANY];
	struct ibv_wc wc;
	size_t at;

	attr.extended = arg;
	attr.send_wr = rounds;
	attr.recv_wr = rounds;
	attr.send = queue_new(p, 2 * MANY * rounds, attr.extended, false);
	attr.recv = attr.send;
	pattern_fill(from->buf, from->len, 1);
	for (i = 0; i < MANY; i++)
		c[i] = conn_open(p, &attr);
	for (i = 0; i < MANY && end_b(p); i++)
		for (k = 0; k < rounds; k++) {
			struct ibv_sge sge = sge_of(to, i * 4096 + 100 * k, 100);

			conn_recv(c[i], i * 1000 + k, &sge, 1);
		}
	pair_sync(p);
	for (k = 0; k < rounds && end_a(p); k++)
		for (i = 0; i < MANY; i++) {
			struct ibv_sge sge = sge_of(from, i * 4096 + 100 * k, 100);
			struct ibv_send_wr wr = wr_send(i * 1000 + k, &sge, 1, IBV_SEND_SIGNALED);

			conn_send(c[i], &wr);
		}
	while (left--) {
		queue_next(attr.send, &wc);
		check(p, wc.status == IBV_WC_SUCCESS, "%s", ibv_wc_status_str(wc.status));
		i = wc.wr_id / 1000;
		check(p, wc.wr_id % 1000 == (unsigned int)next[i]++, "%d completes out of order",
		      (int)wc.wr_id);
		check(p, wc.qp_num == c[i]->qp->qp_num, "qp_num 0x%x is not that of QP %d",
		      wc.qp_num, i);
	}
	for (i = 0; i < MANY && end_b(p); i++) {
		at = pattern_differ(to->buf + i * 4096, from->buf + i * 4096, 100 * rounds);
		check(p, at == (size_t)100 * rounds, "QP %d: wrong data at byte %zu", i, at);
	}
}

static void all_mixtures(struct pair *p)
{
	struct job_arg arg = { .biggest = p->quick ? 3000 : 20000 };
	int ipv6;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		pair_family(p, ipv6);
		for (arg.mtu = IBV_MTU_256; arg.mtu <= p->port.active_mtu; arg.mtu += mtu_step(p)) {
			arg.extended = arg.mtu / mtu_step(p) % 2;
			pair_case(p, run_mixture, &arg, "%s: both ends mix operations at MTU %u",
				  ipv6 ? "IPv6" : "IPv4", bytes_of(arg.mtu));
		}
	}
	pair_family(p, false);
	pair_case(p, run_many, NULL, "%d queue pairs share one completion queue", MANY);
	pair_case(p, run_many, p, "%d queue pairs share one completion queue, ibv_cq_ex", MANY);
}

/* A little of everything, for those who want to know whether RC works at all. */
static void all_brief(struct pair *p)
{
	struct job_arg arg = { .mtu = IBV_MTU_1024, .biggest = p->quick ? 3000 : 20000 };

	pair_case(p, run_mixture, &arg, "both ends mix all operations");
	pair_case(p, run_atomic, &arg, "CMP_AND_SWP and FETCH_AND_ADD");
	pair_family(p, true);
	arg.extended = true;
	pair_case(p, run_mixture, &arg, "both ends mix all operations over IPv6, by ibv_wr_*()");
	pair_family(p, false);
}

/* Thousands of packets, for those whose network does something to one in a hundred. */
static void much(struct pair *p)
{
	struct job_arg arg = { .mtu = IBV_MTU_1024, .biggest = p->quick ? 200000 : 400000 };

	pair_case(p, run_mixture, &arg, "both ends mix all operations, up to %u bytes",
		  arg.biggest);
}

/*
 * The same for those who want to know which end it was.  Nothing is empty: after an empty
 * request rdma_rxe refuses to answer an earlier READ again (interop.rst).
 */
static void much_from_a(struct pair *p)
{
	struct job_arg arg = { .smallest = 1, .biggest = p->quick ? 100000 : 200000,
			       .one_way = true };
	int ipv6;

	for (ipv6 = 0; ipv6 < 2; ipv6++) {
		pair_family(p, ipv6);
		for (arg.mtu = IBV_MTU_256; arg.mtu <= p->port.active_mtu; arg.mtu += 2)
			pair_case(p, run_mixture, &arg,
				  "%s: end a mixes all operations at MTU %u, up to %u bytes",
				  ipv6 ? "IPv6" : "IPv4", bytes_of(arg.mtu), arg.biggest);
	}
	pair_family(p, false);
}

/* Many requests of one operation, up to @depth of them outstanding. */
static void run_each(struct pair *p, const void *data)
{
	const struct job_arg *arg = data;
	struct conn_attr attr = conn_defaults(p);
	struct plan *plan = plan_new(p, false, 91 + arg->opcode);
	int i, n = arg->biggest > bytes_of(arg->mtu) ? 60 : 300;

	attr.mtu = arg->mtu;
	attr.recv_wr = n;
	attr.send_wr = arg->depth;
	for (i = 0; i < n; i++)
		plan_add(plan, arg->opcode, draw(&plan->seed, 1, arg->biggest), 1, 1, false);
	plan_run(conn_open(p, &attr), plan);
}

/*
 * For those who want to know which operation it was.  With two under way what is lost is
 * often the last of them, which only a timer tells; with many the next packet does.
 */
static void each_from_a(struct pair *p)
{
	struct job_arg arg = { .mtu = IBV_MTU_1024 };
	unsigned int i;
	bool long_ones;

	for (arg.depth = p->quick ? 24 : 2; arg.depth <= 24; arg.depth += 22)
		for (i = 0; i < 2 * ARRAY_SIZE(ops); i++) {
			long_ones = i >= ARRAY_SIZE(ops);
			arg.opcode = ops[i % ARRAY_SIZE(ops)].opcode;
			arg.biggest = bytes_of(arg.mtu) * (long_ones ? 16 : 1);
			pair_case(p, run_each, &arg, "end a posts %u at once: %s of %s",
				  arg.depth, ops[i % ARRAY_SIZE(ops)].name,
				  long_ones ? "up to 16 packets" : "a packet");
		}
}

int main(int argc, char **argv)
{
	uint32_t biggest;
	struct pair p;

	pair_open(&p, argc, argv);
	biggest = pair_wants(&p, "ops") ? 8 << 20 : (1 << 20) + 3;
	if (pair_wants(&p, "ops") || pair_wants(&p, "short")) {
		all_ops(&p, "IPv4", biggest);
		pair_family(&p, true);
		all_ops(&p, "IPv6", biggest);
		pair_family(&p, false);
	}
	if (pair_wants(&p, "extended"))
		all_extended(&p);
	if (pair_wants(&p, "invalidate"))
		all_invalidating(&p);
	if (pair_wants(&p, "sgl"))
		all_sgl(&p);
	if (pair_wants(&p, "inline"))
		all_inline(&p);
	if (pair_wants(&p, "atomic"))
		all_atomics(&p);
	if (pair_wants(&p, "mixture"))
		all_mixtures(&p);
	if (pair_wants(&p, "brief"))
		all_brief(&p);
	if (pair_wants(&p, "much"))
		much(&p);
	if (pair_wants(&p, "much_from_a"))
		much_from_a(&p);
	if (pair_wants(&p, "each_from_a"))
		each_from_a(&p);
	return pair_close(&p);
}
