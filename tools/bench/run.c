// SPDX-License-Identifier: GPL-2.0
/*
 * run: one run at one end, from the first message to the tally
 *
 * The window that is measured begins and ends with a completion, so that a message of 8 MiB that
 * takes a third of the window is neither counted twice nor lost: the last one before it opens, and
 * the first one after it has closed. Were it the first one after it has opened, a time in which
 * nothing came would not count, and what then came at once would be all there is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

/* Samples of one run; a run that makes more keeps the first ones. */
#define MAX_DELAYS (1u << 18)
/* The first message must have come by then, and at the end of the window what is under way. */
#define PATIENCE_NS (8 * NSEC_PER_SEC)
/* Unless it may stay there. */
#define LOOSE_NS (2 * NSEC_PER_SEC)

void fail(struct run *run, const char *what, int error)
{
	if (run->tally.failure[0])
		return;
	snprintf(run->tally.failure, sizeof(run->tally.failure), "%s%s%s", what, error ? ": " : "",
		 error ? strerror(error) : "");
}

static void set_mark(struct run *run, unsigned int number)
{
	run->mark[number].at = now_ns();
	run->mark[number].sent = run->sent;
	run->mark[number].got = run->got;
}

/* To be called when something has just come. */
void note_phase(struct run *run)
{
	unsigned int phase = run_phase(run);

	atomic_store_explicit(&run->rolling, true, memory_order_relaxed);
	if (phase == PHASE_WARM || !run->mark[0].at)
		set_mark(run, 0);
	if (phase == run->seen)
		return;
	if (phase >= PHASE_DRAIN && run->seen < PHASE_DRAIN)
		set_mark(run, 1);
	run->seen = phase;
	atomic_store_explicit(&run->marked, true, memory_order_relaxed);
}

void note_delay(struct run *run, uint64_t ns)
{
	if (run_phase(run) == PHASE_MEASURE && run->delays < run->room)
		run->delay[run->delays++] = ns > UINT32_MAX ? UINT32_MAX : ns;
}

bool run_over(struct run *run)
{
	return run_phase(run) == PHASE_STOP || run->tally.failure[0];
}

static int by_value(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

	return one < two ? -1 : one > two;
}

static void sum_delays(struct run *run)
{
	struct delays *sum = &run->tally.delays;
	uint32_t *delay = run->delay;
	size_t n = run->delays;
	uint64_t total = 0;

	if (!n)
		return;
	qsort(delay, n, sizeof(*delay), by_value);
	for (size_t i = 0; i < n; i++)
		total += delay[i];
	sum->n = n;
	sum->min = delay[0];
	sum->median = delay[n / 2];
	sum->mean = total / n;
	sum->p99 = delay[n * 99 / 100];
	sum->p999 = delay[n * 999 / 1000];
	sum->max = delay[n - 1];
}

static void sleep_ms(unsigned int ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000l};

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

struct mover {
	struct run *run;
	const struct carrier *carrier;
};

/*
 * Two that spin on one processor would wait for the scheduler's tick with every message, until it
 * takes them apart; each gets one of its own where there are two.
 */
static void sit_apart(const struct run *run)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(run->driving ? 0 : 1 % processors, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *move(void *data)
{
	struct mover *mover = data;
	struct run *run = mover->run;

	if (run->set.ping && !run->set.event)
		sit_apart(run);
	if (run->set.count) {
		atomic_store(&run->counter, open_counter());
		if (run->counter < 0)
			fail(run, "counting system calls", errno);
	}
	mover->carrier->move(run);
	note_phase(run);
	atomic_store(&run->drained, true);
	return NULL;
}

static void await_flag(struct run *run, atomic_bool *flag, const char *failure)
{
	uint64_t deadline = now_ns() + PATIENCE_NS;

	while (!atomic_load(flag) && !run->tally.failure[0]) {
		sleep_ms(1);
		if (now_ns() > deadline)
			fail(run, failure, 0);
	}
}

/* Packets in flight on a network that loses may take minutes to arrive. */
static void drain(struct run *run)
{
	uint64_t deadline = now_ns() + LOOSE_NS;

	if (!run->set.loose) {
		await_flag(run, &run->drained, "messages under way never arrived");
		return;
	}
	while (!atomic_load(&run->drained) && !run->tally.failure[0] && now_ns() < deadline)
		sleep_ms(1);
	run->tally.undrained = !atomic_load(&run->drained);
}

/* One byte from the end that says so to the other one. */
static void tell(struct run *run, int control, bool speaking)
{
	char mark = 0;

	if ((speaking ? write(control, &mark, 1) : read(control, &mark, 1)) != 1)
		fail(run, "the other end went away", 0);
}

/*
 * The driving end keeps the time, the other one hears of it. Filling a thousand queues takes longer
 * than any warming up, and is over with the first completion; a window without any is no window.
 */
static void turn(struct run *run, int control, unsigned int ms, atomic_bool *flag)
{
	if (run->driving) {
		sleep_ms(ms);
		await_flag(run, flag, "no message arrived");
	}
	tell(run, control, run->driving);
}

/*
 * Costs are those between the marks. The driving end is the last to stop, so that what it sends
 * still arrives when the other end's window closes.
 */
static void keep_time(struct run *run, int control)
{
	struct cost before;

	turn(run, control, run->set.warm_ms, &run->rolling);
	take_cost(&before, atomic_load(&run->counter));
	atomic_store(&run->phase, PHASE_MEASURE);
	turn(run, control, run->set.ms, &run->marked);
	take_cost(&run->tally.cost, atomic_load(&run->counter));
	subtract_cost(&run->tally.cost, &before);
	if (run->driving)
		tell(run, control, false);
	atomic_store(&run->phase, PHASE_DRAIN);
	if (!run->driving)
		tell(run, control, true);
	if (run_sends(run))
		drain(run);
}

static struct span span_of(const struct run *run, uint64_t first, uint64_t last)
{
	struct span span = {last - first, run->mark[1].at - run->mark[0].at};

	/* Nothing came at all, as at the target of a WRITE. */
	if (!run->mark[1].at)
		return (struct span){0, 0};
	return span;
}

/* A run, as both ends go through it at once. The tally says how it went. */
void run_both(struct run *run, const struct carrier *carrier, int control)
{
	struct mover mover = {run, carrier};
	pthread_t thread;
	char ready = 0, other;

	run->counter = -1;
	run->room = run->set.ping && run->driving ? MAX_DELAYS : 0;
	run->delay = run->room ? malloc(run->room * sizeof(*run->delay)) : NULL;
	if (pthread_create(&thread, NULL, move, &mover)) {
		fail(run, "pthread_create", errno);
		return;
	}
	keep_time(run, control);
	/* The other end may still need what this one receives. */
	if (!swap(control, &ready, &other, 1))
		fail(run, "the other end went away", 0);
	atomic_store(&run->phase, PHASE_STOP);
	/* It may be asleep in a system call, or about to be: hence again and again. */
	while (pthread_tryjoin_np(thread, NULL)) {
		pthread_kill(thread, SIGUSR1);
		sleep_ms(1);
	}
	if (run->counter >= 0)
		close(run->counter);
	run->tally.sent = span_of(run, run->mark[0].sent, run->mark[1].sent);
	run->tally.got = span_of(run, run->mark[0].got, run->mark[1].got);
	sum_delays(run);
	free(run->delay);
}
