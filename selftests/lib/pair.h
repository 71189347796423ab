/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pair - two processes, one at each end of the network, that walk through the
 * same test cases in step
 *
 * Both are the same program, started as `PROGRAM a PORT' and `PROGRAM b PORT';
 * a control socket over TCP joins them.  A case is one function that both
 * call; where their parts differ it asks end_a() or end_b().  What is made in
 * a case is undone at its end.  Whatever does not hold calls fail(), which
 * leaves the case, here and at the other end; the next case starts afresh.
 * End a prints the results in KTAP.
 */
#ifndef ROVER_SELFTEST_PAIR_H
#define ROVER_SELFTEST_PAIR_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "ktap.h"

struct region;
struct undo;

/**
 * struct pair - what a process knows of itself and of the other end
 * @server: this is end b
 * @alone: there is no other process: the program is end a and plays its peer as well
 * @quick: 1 for less of everything, 2 for even less (see pair_once())
 * @slow: factor on all time limits
 * @rxe, @peer_rxe: the device, or that of the other end, is rdma_rxe's (SOFT_A or SOFT_B is "rxe"
 *	in the environment)
 * @v1: GIDs of RoCE v1 instead of v2 (ROCE is "v1" in the environment)
 * @dev: name of the device
 * @own, @own6, @peer: addresses of the netdevs
 * @ctx, @attr, @port: the device and what it says of itself; max_sge and active_mtu are
 *	those of the other end where they are less
 * @pd: protection domain of the case
 * @ipv6: family of the case
 * @gid, @gid_index: own address in that family
 * @vector: of completion queues
 * @region: of the case: what the memory of a plan is; NULL for the usual
 * @deadline: in ms of now_ms(): nothing in this case may last longer
 */
struct pair {
	bool server, alone, rxe, peer_rxe, v1;
	unsigned int quick, slow;
	const char *dev, *own, *own6, *peer;
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	bool ipv6;
	union ibv_gid gid;
	int gid_index;
	int vector;
	struct region *(*region)(struct pair *p, struct ibv_pd *pd, size_t len, int access);
	uint64_t deadline;

	/* private to pair.c */
	int sock;
	struct undo *undo;
	jmp_buf escape;
	char why[512], peer_why[512];
	int result, peer_result;
	struct ktap ktap;
	char **wanted;
};

static inline bool end_a(const struct pair *p) { return !p->server; }
static inline bool end_b(const struct pair *p) { return p->server; }

/* Parse arguments, open the device, meet the other end. */
void pair_open(struct pair *p, int argc, char **argv);

/* The same for a program that is started as `PROGRAM a [GROUP...]' and needs no other end. */
void pair_open_alone(struct pair *p, int argc, char **argv);

/* Print the plan; the exit status of the program. */
int pair_close(struct pair *p);

/* Is this group of cases among those named on the command line? */
bool pair_wants(struct pair *p, const char *group);

/* QUICK=2, or quick on the debug kernel: each path once, since another kernel has repeated it. */
static inline bool pair_once(const struct pair *p)
{
	return p->quick > 1 || (p->quick && p->slow > 1);
}

/* Run a case at both ends. */
void pair_case(struct pair *p, void (*run)(struct pair *p, const void *arg), const void *arg,
	       const char *name, ...) __attribute__((format(printf, 4, 5)));

/* Choose IPv4 or IPv6 for the cases to come. */
void pair_family(struct pair *p, bool ipv6);

/* Wait until the other end is here too. */
void pair_sync(struct pair *p);

/* Give the other end len bytes and take as many from it. */
void pair_swap(struct pair *p, const void *mine, void *theirs, size_t len);

/* Has the other end given up this case? For loops that wait for it. */
void pair_watch(struct pair *p);

/* Leave the case: it failed, or it cannot be run here. */
void fail(struct pair *p, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
void skip(struct pair *p, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* A line for whoever reads the log. */
void note(struct pair *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What to do at the end of the case, the last first; or do it now, and then no more. */
void undo_later(struct pair *p, int (*undo)(void *what), void *what, const char *name);
void undo_now(struct pair *p, void *what);

/* All that this case has made so far is not undone at its end, but goes with the program. */
void undo_never(struct pair *p);

/* Memory of the case, zeroed. */
void *pair_alloc(struct pair *p, size_t len);

uint64_t now_us(void);
static inline uint64_t now_ms(void) { return now_us() / 1000; }

/* Wait ms at most for this asynchronous event, of this queue pair if one is given. */
bool event_wait(struct pair *p, enum ibv_event_type type, struct ibv_qp *qp, unsigned int ms);

/* The next event of any kind within ms, or -1. */
int event_next(struct pair *p, struct ibv_qp **qp, unsigned int ms);

/* Step aside for a moment in a loop that waits; count says for how long it has. */
void relax(struct pair *p, unsigned int *count);

#define check(p, holds, ...)						\
	do {								\
		if (!(holds))						\
			fail(p, __VA_ARGS__);				\
	} while (0)

#endif /* ROVER_SELFTEST_PAIR_H */
