/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pair - two processes, one at each end of the network, that walk through the
 * same test cases in step
 *
 * Both are the same program, started as `PROGRAM a PORT' and `PROGRAM b PORT';
 * a control socket over TCP joins them.  A case is one function that both
 * call; it tests end_a() or end_b() where their parts differ.  Objects created in
 * a case are destroyed at its end.  A failed check calls fail(), which leaves the
 * case at both ends; the next case starts anew.  End a prints the results in
 * KTAP.
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
 * struct pair - state of this process, and data about the other end
 * @server: this is end b
 * @alone: there is no other process: the program is end a and its own peer
 * @quick: 1 for a shorter run, 2 for a still shorter one (see pair_once())
 * @slow: factor for all time limits
 * @rxe, @peer_rxe: this device, or that of the other end, is rdma_rxe's (SOFT_A or SOFT_B is
 *	"rxe" in the environment)
 * @v1: use GIDs of RoCE v1 instead of v2 (ROCE is "v1" in the environment)
 * @dev: name of the device
 * @own, @own6, @peer: addresses of the netdevs
 * @ctx, @attr, @port: the device and its attributes; max_sge and active_mtu are the lesser
 *	values of both ends
 * @pd: protection domain of the case
 * @ipv6: address family of the case
 * @gid, @gid_index: own GID of that family
 * @vector: completion vector of completion queues
 * @region: allocates the memory of a plan in this case; NULL for region_in()
 * @deadline: end of the case, in ms of now_ms()
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

/* Parse arguments, open the device, connect to the other end. */
void pair_open(struct pair *p, int argc, char **argv);

/* The same for a program that is started as `PROGRAM a [GROUP...]' and needs no other end. */
void pair_open_alone(struct pair *p, int argc, char **argv);

/* Print the plan; return the exit status of the program. */
int pair_close(struct pair *p);

/* Is this group of cases among those named on the command line? */
bool pair_wants(struct pair *p, const char *group);

/* QUICK=2, or QUICK=1 on the debug kernel: run each path once; other kernels repeat it. */
static inline bool pair_once(const struct pair *p)
{
	return p->quick > 1 || (p->quick && p->slow > 1);
}

/* Run a case at both ends. */
void pair_case(struct pair *p, void (*run)(struct pair *p, const void *arg), const void *arg,
	       const char *name, ...) __attribute__((format(printf, 4, 5)));

/* Choose IPv4 or IPv6 for the following cases. */
void pair_family(struct pair *p, bool ipv6);

/* Wait until the other end calls this, too. */
void pair_sync(struct pair *p);

/* Exchange @len bytes with the other end. */
void pair_swap(struct pair *p, const void *mine, void *theirs, size_t len);

/* Return, at both ends, the @value that end a passes. */
uint64_t pair_value_of_a(struct pair *p, uint64_t value);

/* Leave the case if the other end has; for loops that wait for the other end. */
void pair_watch(struct pair *p);

/* Leave the case: it failed, or it cannot be run here. */
void fail(struct pair *p, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
void skip(struct pair *p, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Print a diagnostic line. */
void note(struct pair *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Call @undo at the end of the case, in reverse order; or call it now instead. */
void undo_later(struct pair *p, int (*undo)(void *what), void *what, const char *name);
void undo_now(struct pair *p, void *what);

/* Do not undo what this case has created so far: it is released when the program ends. */
void undo_never(struct pair *p);

/* Allocate zeroed memory, freed at the end of the case. */
void *pair_alloc(struct pair *p, size_t len);

uint64_t now_us(void);
static inline uint64_t now_ms(void) { return now_us() / 1000; }

/* Wait at most @ms for this asynchronous event, of @qp if it is not NULL. */
bool event_wait(struct pair *p, enum ibv_event_type type, struct ibv_qp *qp, unsigned int ms);

/* Return the next event of any kind within @ms, or -1. */
int event_next(struct pair *p, struct ibv_qp **qp, unsigned int ms);

/* Sleep or yield in a loop that waits; @count counts the calls. */
void relax(struct pair *p, unsigned int *count);

#define check(p, holds, ...)						\
	do {								\
		if (!(holds))						\
			fail(p, __VA_ARGS__);				\
	} while (0)

#endif /* ROVER_SELFTEST_PAIR_H */
