/* SPDX-License-Identifier: GPL-2.0 */
/*
 * verbs - the queue pairs of a run, and the work requests every kind of run makes
 */
#ifndef BENCH_VERBS_H
#define BENCH_VERBS_H

#include <infiniband/verbs.h>

#include "bench.h"

#define QKEY 0x11111111

/* Where the other end is; travels over the control connection. */
struct place {
	uint32_t qpn, psn, rkey;
	union ibv_gid gid;
	uint64_t addr;
};

/* A queue pair and its place in the window; lasts from run to run as long as the setting does. */
struct pair {
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct place mine, there;
	unsigned int credits; /* sends there is room for */
	unsigned int since; /* sends since the last one that was signalled */
	unsigned int posted; /* receives waiting */
	uint64_t done; /* sends of the window that is measured */
};

/*
 * Memory of an end: what is sent, then what arrives. All queue pairs share it, as programs that
 * measure do.
 */
struct bench_verbs {
	struct ibv_context *context;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	int gid_index;
	union ibv_gid gid;
	char *out, *in;
	struct pair *pairs;
	unsigned int count; /* of pairs */
	struct setting made_for;
	bool made;
};

extern struct bench_verbs verbs;

/* Completions that carry this belong to receives; the rest of the id is the number of the pair. */
#define RECV_ID 0x100000000ull

/* One signalled send in so many: as perftest, all of them where messages are large. */
static inline unsigned int signal_every(const struct setting *set)
{
	return set->ping || set->size > 8192 || set->depth < 8 ? 1 : set->depth / 4;
}

static inline bool takes_receives(const struct setting *set)
{
	return set->op == OP_SEND || set->op == OP_UD;
}

/* flow.c */
bool post_receives(struct run *run, unsigned int number);
bool post_sends(struct run *run, unsigned int number, unsigned int n, bool signalled);
int await(struct run *run, struct ibv_wc *wc, int room);
void flow(struct run *run);

/* ping.c */
void ping(struct run *run);

#endif /* BENCH_VERBS_H */
