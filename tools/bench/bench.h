/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench - what the parts of the bench's program share
 *
 * Two copies of it run, one at either end, for as long as a bench takes: programs start slowly in
 * an emulated guest, and a run must not be longer than what it measures. The driving one takes
 * settings from standard input, a line each, and answers each with a line of JSON.
 */
#ifndef BENCH_H
#define BENCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define NSEC_PER_SEC 1000000000ull
#define MAX_SIZE (8u << 20)
#define MAX_QPS 1024
/* Receive queues of perftest's default length. */
#define RECV_DEPTH 512
/* READ requests in flight, where the device allows as many. */
#define READS 16
#define INLINE_MAX 220

enum op { OP_WRITE, OP_READ, OP_SEND, OP_UD, OP_MEMORY };

/* One run, as both ends have to know it. */
struct setting {
	enum op op;
	bool ping; /* there and back, one at a time; else as many as there is room for */
	bool both; /* both ends send */
	bool event; /* sleep until there is a completion; else poll */
	bool count; /* count system calls too, which makes them slower */
	bool loose; /* what is under way at the end may stay there */
	unsigned int size, mtu, qps, depth, list;
	unsigned int warm_ms, ms;
};

/* What has been used up to some moment, at one end. */
struct cost {
	uint64_t wall_ns;
	uint64_t busy_ns; /* of all processors, everything that is not idle */
	uint64_t switches; /* of the whole machine */
	uint64_t user_ns, system_ns; /* of this program */
	uint64_t own_switches;
	uint64_t syscalls;
};

/* Messages between two completions: the last before the window, the first behind it. */
struct span {
	uint64_t n, ns;
};

struct delays {
	uint64_t n, min, median, mean, p99, p999, max;
};

/* One end's result; goes over the control connection as it is. */
struct tally {
	struct cost cost;
	struct span sent, got;
	struct delays delays;
	uint64_t bytes_per_qp;
	uint64_t jain_ppm; /* fairness index of the queue pairs; 0 of one */
	bool undrained;
	char failure[96];
};

/* How far a run is. */
enum phase { PHASE_WARM, PHASE_MEASURE, PHASE_DRAIN, PHASE_STOP };

/*
 * A run at one end. The thread that moves data looks at the phase and answers with marks; the main
 * one sleeps, sets the phase, and takes the costs, so that it disturbs nothing.
 */
struct run {
	struct setting set;
	bool driving;
	atomic_int phase;
	atomic_bool rolling; /* something has come */
	atomic_bool marked; /* and since the window opened */
	atomic_bool drained;
	atomic_int counter; /* descriptor of the thread's system call counter, or -1 */
	unsigned int seen; /* phase that has its mark */
	uint64_t sent, got;
	struct {
		uint64_t at, sent, got;
	} mark[2];
	uint32_t *delay;
	size_t delays, room;
	struct tally tally;
};

/* What carries the data: verbs or TCP. */
struct carrier {
	bool (*open)(const char *device);
	/* Make ready for a setting, unless it is like the one before; both ends call it at once. */
	bool (*prepare)(struct run *run, int control);
	/* The body of the thread that moves data. */
	void (*move)(struct run *run);
	/* After a failure, or undrained: nothing of it may be used again. */
	void (*reset)(void);
};

extern const struct carrier verbs_carrier, tcp_carrier;

/* main.c: the control connection */
bool swap(int control, const void *mine, void *theirs, size_t len);
int accept_data(void);
int connect_data(void);

/* run.c: what every thread that moves data does */
void fail(struct run *run, const char *what, int error);
void note_phase(struct run *run);
void note_delay(struct run *run, uint64_t ns);
bool run_over(struct run *run);
void run_both(struct run *run, const struct carrier *carrier, int control);

static inline int run_phase(struct run *run)
{
	return atomic_load_explicit(&run->phase, memory_order_relaxed);
}

static inline bool run_sends(const struct run *run)
{
	return run->driving || run->set.both;
}

/* cost.c */
uint64_t now_ns(void);
void take_cost(struct cost *cost, int counter);
void subtract_cost(struct cost *cost, const struct cost *before);
int open_counter(void);
uint64_t free_memory(void);

#endif /* BENCH_H */
