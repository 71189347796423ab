// SPDX-License-Identifier: GPL-2.0
/*
 * srq_abuse - a program that overwrites a shared receive queue loses the queue
 * pairs that use it, and affects no other
 *
 *	srq_abuse a|b PORT [GROUP...]	see main() for the groups
 *
 * End b is hostile. A bystander in the same process, with its own receives, has to
 * work all the time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/rover-abi.h>

#include "lib/hostile.h"
#include "lib/pattern.h"
#include "lib/shared.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define SILENCE 30

static void need_rover(struct pair *p)
{
	if (p->rxe)
		skip(p, "these are the rings of rover only");
}

static struct conn *bystander_new(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	return conn_open(p, &attr);
}

static void touch_bystander(struct conn *c)
{
	struct ibv_send_wr wr = wr_send(3, NULL, 0, IBV_SEND_SIGNALED);

	if (end_b(c->p))
		conn_recv(c, 4, NULL, 0);
	pair_sync(c->p);
	if (end_a(c->p)) {
		conn_send(c, &wr);
		queue_want(c->send, 3, IBV_WC_SUCCESS);
	} else {
		queue_want(c->recv, 4, IBV_WC_SUCCESS);
	}
}

/* The slot of a receive, two pieces of which fit in one line. */
static uint8_t *slot_of(struct group *g, uint32_t index)
{
	return (uint8_t *)g->s->ring + ROVER_RING_HDR_SIZE + index * 64;
}

static void want_gone(struct group *g, int i)
{
	check(g->p, event_wait(g->p, IBV_EVENT_QP_LAST_WQE_REACHED, g->c[i]->qp, SOON(g->p)),
	      "no IBV_EVENT_QP_LAST_WQE_REACHED of queue pair %d", i);
	conn_want_state(g->c[i], IBV_QPS_ERR);
}

/* ---- receives that make no sense ---- */

struct mutation {
	const char *what;
	size_t at, len;
	uint64_t value;
	enum ibv_wc_status status;
	bool dgram;
};

#define WQE(field) offsetof(struct rover_recv_wqe, field), \
	sizeof(((struct rover_recv_wqe *)NULL)->field)
#define SGE(field) ROVER_RECV_WQE_HDR + offsetof(struct rover_sge, field), \
	sizeof(((struct rover_sge *)NULL)->field)

static const struct mutation mutations[] = {
	{ "more SGEs than fit", WQE(num_sge), 4, IBV_WC_LOC_QP_OP_ERR },
	{ "33 SGEs", WQE(num_sge), 33, IBV_WC_LOC_QP_OP_ERR },
	{ "2^32 - 1 SGEs", WQE(num_sge), 0xffffffff, IBV_WC_LOC_QP_OP_ERR },
	{ "lkey 0", SGE(lkey), 0, IBV_WC_LOC_PROT_ERR },
	{ "an address of the kernel", SGE(addr), 0xffff888000000000ULL, IBV_WC_LOC_PROT_ERR },
	{ "2^32 - 1 SGEs, for a datagram", WQE(num_sge), 0xffffffff, IBV_WC_LOC_QP_OP_ERR, true },
	{ "lkey 0, for a datagram", SGE(lkey), 0, IBV_WC_LOC_PROT_ERR, true },
};

/*
 * The queue pair that takes the receive fails and reports it; the next one takes the next
 * receive.
 */
static void run_mutation(struct pair *p, const void *arg)
{
	const struct mutation *m = arg;
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct group *g;
	int victim;

	need_rover(p);
	g = group_new(p, 2, m->dgram, false);
	victim = m->dgram ? 2 : 0;
	if (end_b(p)) {
		shared_fill(g->s, 0, 3);
		memcpy(slot_of(g, 0) + m->at, &m->value, m->len);
	}
	pair_sync(p);
	sge = sge_of(g->from, 0, 300);
	wr = m->dgram ? wr_dgram(g->c[victim], 1, &sge, 1, IBV_SEND_SIGNALED) :
			wr_send(1, &sge, 1, IBV_SEND_SIGNALED);
	if (end_a(p)) {
		conn_send(g->c[victim], &wr);
		queue_want(g->send, 1, m->dgram ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR);
	} else {
		queue_want(g->recv, 0, m->status);
		want_gone(g, victim);
		check(p, event_next(p, NULL, SILENCE) < 0, "an event that nobody needs");
	}
	group_message(g, 1);
	group_message(g, 1);
}

/* ---- a ring that makes no sense ---- */

struct nonsense {
	const char *what;
	uint32_t tail;
	bool dgram;
};

static const struct nonsense nonsenses[] = {
	{ "one more than fits", 33 },
	{ "one before the head", 0xffffffff },
	{ "2^31 ahead", 0x80000000 },
	{ "one more than fits, for datagrams", 33, true },
};

/* All that is heard of: b's events until there are no more. */
struct heard {
	int srq_err, last[MAX_QPS], fatal[MAX_QPS], others;
};

static void listen_to(struct group *g, struct heard *heard, int fatal)
{
	struct ibv_qp *qp;
	int i, event, sum = 0;

	while ((event = event_next(g->p, &qp, sum < fatal ? SOON(g->p) : SILENCE)) >= 0) {
		if (event == IBV_EVENT_SRQ_ERR && (void *)qp == g->s->srq) {
			heard->srq_err++;
			continue;
		}
		for (i = 0; i < g->n && g->c[i]->qp != qp; i++)
			;
		if (i < g->n && event == IBV_EVENT_QP_FATAL)
			heard->fatal[i]++;
		else if (i < g->n && event == IBV_EVENT_QP_LAST_WQE_REACHED)
			heard->last[i]++, sum++;
		else
			heard->others++;
	}
}

/* a sends on a queue pair whose peer is about to find out. */
static void send_into(struct group *g, int i)
{
	struct ibv_send_wr wr = wr_send(1, NULL, 0, IBV_SEND_SIGNALED);

	if (g->c[i]->attr.type == IBV_QPT_UD)
		wr = wr_dgram(g->c[i], 1, NULL, 0, IBV_SEND_SIGNALED);
	conn_send(g->c[i], &wr);
	queue_want(g->send, 1, g->c[i]->ah ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR);
}

static void run_nonsense(struct pair *p, const void *arg)
{
	const struct nonsense *nonsense = arg;
	struct rover_ring_hdr *ring;
	struct heard heard = {};
	struct conn *bystander;
	struct group *g;
	int i;

	need_rover(p);
	g = nonsense->dgram ? group_new(p, 0, 2, false) : group_new(p, 2, 0, false);
	bystander = bystander_new(p);
	ring = end_b(p) ? g->s->ring : NULL;
	for (i = 0; i < 2; i++) {
		if (end_b(p))
			store(&ring->tail, nonsense->tail);
		pair_sync(p);
		if (end_a(p)) {
			send_into(g, i);
		} else {
			listen_to(g, &heard, 1);
			check(p, heard.fatal[i] == 1 && heard.last[i] == 1,
			      "queue pair %d: %d times QP_FATAL, %d times QP_LAST_WQE_REACHED", i,
			      heard.fatal[i], heard.last[i]);
			check(p, heard.srq_err == 1 && !heard.others,
			      "%d times SRQ_ERR, %d other events", heard.srq_err, heard.others);
			conn_want_state(g->c[i], IBV_QPS_ERR);
			/* What was wrong once stays so. */
			store(&ring->tail, 0);
			check(p, shared_modify(g->s, IBV_SRQ_MAX_WR, 100, 0) == EINVAL,
			      "a resize with a corrupt ring works");
		}
		pair_sync(p);
		touch_bystander(bystander);
	}
}

/* ---- scribbling ---- */

struct scribbler {
	struct group *g;
	pthread_t thread;
	atomic_bool stop;
};

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	uint32_t *base = s->g->s->ring;
	size_t words = s->g->s->pages * 1024;
	uint64_t seed = 4711;

	while (!atomic_load(&s->stop)) {
		/* The header's four words, or anything; at times all is well for a moment. */
		size_t at = draw(&seed, 0, 3) ? 1024 + draw(&seed, 0, words - 1025) :
						draw(&seed, 0, 3) * 16;

		store(base + at, nasty(&seed, base[at]));
		if (draw(&seed, 0, 7))
			store(base, load(base + 16) + draw(&seed, 0, SLOTS));
	}
	return NULL;
}

static int stop_scribbler(void *what)
{
	struct scribbler *s = what;

	atomic_store(&s->stop, true);
	return pthread_join(s->thread, NULL);
}

/* b receives with whatever is in the ring; its program resizes it meanwhile, or tries to. */
static void suffer(struct group *g)
{
	struct ibv_wc wc[8];
	int k;

	for (k = 0; k < 60; k++) {
		shared_post(g->s, k, NULL, 0);
		ibv_poll_cq(g->recv->cq, 8, wc);
		if (k % 20 == 10)
			shared_modify(g->s, IBV_SRQ_LIMIT, 0, k / 4);
		usleep(100);
	}
}

static void disturb(struct group *g)
{
	struct ibv_sge sge = sge_of(g->from, 0, 500);
	struct ibv_wc wc[8];
	struct ibv_send_wr wr;
	int i, k;

	for (k = 0; k < 60; k++) {
		for (i = 0; i < g->n; i++) {
			wr = g->c[i]->ah ? wr_dgram(g->c[i], k, &sge, 1, 0) :
					   wr_send(k, &sge, 1, IBV_SEND_SIGNALED);
			conn_post(g->c[i], &wr);
		}
		ibv_poll_cq(g->send->cq, 8, wc);
		usleep(100);
	}
}

static void run_race(struct pair *p, const void *arg)
{
	int round, rounds = p->quick ? 2 : 8;
	static struct scribbler s;
	struct conn *bystander;
	struct group *g;

	(void)arg;
	need_rover(p);
	bystander = bystander_new(p);
	for (round = 0; round < rounds; round++) {
		g = group_new(p, 2, 1, false);
		if (end_b(p)) {
			shared_fill(g->s, 0, SLOTS);
			s = (struct scribbler){ g };
			pthread_create(&s.thread, NULL, scribble, &s);
			undo_later(p, stop_scribbler, &s, "pthread_join");
		}
		pair_sync(p);
		if (end_a(p))
			disturb(g);
		else
			suffer(g);
		pair_sync(p);
		if (end_b(p))
			undo_now(p, &s);
		touch_bystander(bystander);
	}
}

/* The ring is unmapped. The kernel keeps the posted receives. */
static void run_unmap(struct pair *p, const void *arg)
{
	struct group *g;
	size_t len;

	(void)arg;
	need_rover(p);
	g = group_new(p, 2, 0, false);
	if (end_b(p)) {
		shared_fill(g->s, 0, 4);
		len = g->s->pages * 4096;
		check(p, mmap(g->s->ring, len, PROT_READ | PROT_WRITE,
			      MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == g->s->ring,
		      "mmap over the ring: %s", strerror(errno));
	}
	group_message(g, 0);
	group_message(g, 1);
	group_message(g, 0);
}

/* ---- modify_srq without the provider ---- */

/* As written to the file; old providers sent zero and an address for the new ring. */
static int write_modify(struct group *g, uint32_t mask, uint32_t max_wr, uint64_t comp_mask,
			uint64_t ring, size_t len)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_srq core;
		uint64_t own[2];
	} request = {
		.hdr = { IB_USER_VERBS_CMD_MODIFY_SRQ, len / 4, 0 },
		.core = { g->s->srq->handle, mask, max_wr, 0 },
		.own = { comp_mask, ring },
	};

	return write(g->p->ctx->cmd_fd, &request, len) == (ssize_t)len ? 0 : errno;
}

/* The same command with a response of @len bytes at @resp. */
static int ioctl_modify(struct group *g, uint32_t mask, uint32_t max_wr, uint64_t own,
			uint64_t resp, size_t len)
{
	struct ib_uverbs_modify_srq core = { g->s->srq->handle, mask, max_wr, 0 };
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[4];
	} request = {
		.hdr = {
			.length = sizeof(request), .object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INVOKE_WRITE, .num_attrs = 4,
			.driver_id = ROVER_DRIVER_ID,
		},
		.attrs = {
			{ .attr_id = UVERBS_ATTR_WRITE_CMD, .len = 8,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = IB_USER_VERBS_CMD_MODIFY_SRQ },
			{ .attr_id = UVERBS_ATTR_CORE_IN, .len = sizeof(core),
			  .flags = UVERBS_ATTR_F_MANDATORY, .data = (uintptr_t)&core },
			{ .attr_id = UVERBS_ATTR_UHW_IN, .len = 8,
			  .flags = UVERBS_ATTR_F_MANDATORY, .data = own },
			{ .attr_id = UVERBS_ATTR_UHW_OUT, .len = len,
			  .flags = UVERBS_ATTR_F_MANDATORY, .data = resp },
		},
	};

	return ioctl(g->p->ctx->cmd_fd, RDMA_VERBS_IOCTL, &request) ? errno : 0;
}

static void check_refused(struct group *g, const char *way, unsigned int i, int error, int expected)
{
	check(g->p, error == expected, "%s %u: %s, not %s", way, i, strerror(error),
	      strerror(expected));
	check(g->p, shared_query(g->s).max_wr == SLOTS, "%s %u changed the size", way, i);
}

/* Requests that make no sense change nothing; one that does is known to the kernel alone. */
static void abuse_modify(struct group *g)
{
	struct rover_uapi_modify_srq_resp resp = {};
	size_t none = 24, old = none + 16, all = sizeof(resp);
	uint64_t good = (uintptr_t)&resp, nowhere = 4096, kernel = 0xffff888000000000ULL;
	static const uint32_t both = IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT;
	const struct {
		uint32_t mask, max_wr;
		uint64_t own, out;
		size_t len;
		int error;
	} written[] = {
		{ IBV_SRQ_MAX_WR, 50, 0, 0, none, EINVAL },
		{ IBV_SRQ_MAX_WR, 50, 0, 0, old, EINVAL },
		{ IBV_SRQ_MAX_WR, 50, 0, good, old, EOPNOTSUPP },
		{ IBV_SRQ_MAX_WR, 50, 0, kernel, old, EOPNOTSUPP },
		{ IBV_SRQ_LIMIT, 50, 1, 0, old, EOPNOTSUPP },
		{ IBV_SRQ_MAX_WR, 50, 0, 0, none - 8, ENOSPC },
	}, cases[] = {
		{ IBV_SRQ_MAX_WR, 50, 0, nowhere, all, EFAULT },
		{ IBV_SRQ_MAX_WR, 50, 0, kernel, all, EFAULT },
		{ IBV_SRQ_MAX_WR, 50, 1, good, all, EOPNOTSUPP },
		{ IBV_SRQ_MAX_WR, 50, 0, good, all - 8, EINVAL },
		{ IBV_SRQ_MAX_WR, 0, 0, good, all, EINVAL },
		{ IBV_SRQ_MAX_WR, 0xffffffff, 0, good, all, EINVAL },
		{ IBV_SRQ_MAX_WR, 3, 0, good, all, EINVAL },
		{ both, 0x80000000, 0, good, all, EINVAL },
		{ both | 4, 50, 0, good, all, EINVAL },
	};
	unsigned int i;
	int error;

	for (i = 0; i < ARRAY_SIZE(written); i++) {
		error = write_modify(g, written[i].mask, written[i].max_wr, written[i].own,
				     written[i].out, written[i].len);
		check_refused(g, "write", i, error, written[i].error);
	}
	check(g->p, !resp.ring.size, "the kernel wrote to an address in a request");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		error = ioctl_modify(g, cases[i].mask, cases[i].max_wr, cases[i].own, cases[i].out,
				     cases[i].len);
		check_refused(g, "ioctl", i, error, cases[i].error);
	}
	error = ioctl_modify(g, IBV_SRQ_MAX_WR, 50, 0, good, all);
	check(g->p, !error && !resp.comp_mask && resp.ring.entries == 64 && resp.ring.stride == 64,
	      "resized: %s; %u of %u", strerror(error), resp.ring.entries, resp.ring.stride);
}

static void run_modify(struct pair *p, const void *arg)
{
	struct group *g;
	int i;

	(void)arg;
	need_rover(p);
	g = group_new(p, 2, 0, false);
	if (end_b(p)) {
		shared_fill(g->s, 0, 4);
		abuse_modify(g);
	}
	/* What was posted before is there, after that nothing. */
	for (i = 0; i < 4; i++)
		group_message(g, i % 2);
	if (end_b(p))
		shared_fill(g->s, 4, SLOTS);
	pair_sync(p);
	if (end_a(p)) {
		group_send(g, 0);
		queue_quiet(g->send, SILENCE);
	}
}

int main(int argc, char **argv)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < ARRAY_SIZE(mutations) && pair_wants(&p, "wqes"); i++)
		pair_case(&p, run_mutation, &mutations[i], "a forged shared receive with %s",
			  mutations[i].what);
	for (i = 0; i < ARRAY_SIZE(nonsenses) && pair_wants(&p, "tails"); i++)
		pair_case(&p, run_nonsense, &nonsenses[i],
			  "a forged tail of a shared receive queue: %s",
			  nonsenses[i].what);
	if (pair_wants(&p, "others")) {
		pair_case(&p, run_race, NULL,
			  "a shared receive queue is overwritten under traffic");
		pair_case(&p, run_unmap, NULL, "a shared receive queue is unmapped under traffic");
		pair_case(&p, run_modify, NULL,
			  "ibv_modify_srq with invalid attributes is refused");
	}
	return pair_close(&p);
}
