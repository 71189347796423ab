// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz - random networks and workloads, by classes
 *
 * A class has a few things go wrong; all share the random rest.  Runs are in a
 * process of their own, which may die.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/minmax.h>

#include "fuzz.h"
#include "ktap.h"
#include "options.h"
#include "random.h"
#include "run.h"
#include "wire/opcode.h"

/* Wall time of a run, seconds. */
#define FUZZ_ALARM	20
/* A class that breaks so often has said enough. */
#define FUZZ_ENOUGH	5

struct fuzz_class {
	const char *name;
	void (*choose)(u64 *rng);
};

static u64 fuzz_pick(u64 *rng, const u64 *list, unsigned int count)
{
	return list[random_below(rng, count)];
}

#define PICK(rng, ...) \
	fuzz_pick(rng, (const u64[]) { __VA_ARGS__ }, \
		  sizeof((const u64[]) { __VA_ARGS__ }) / sizeof(u64))

#define PERCENT		(OPTION_ONE / 100)

/* Workload and hosts. */
static void fuzz_choose_load(u64 *rng)
{
	opts.verb = random_below(rng, 2) ? VERB_MIXED :
					   random_below(rng, VERBS);
	opts.mtu = PICK(rng, 256, 1024, 1024, 4096);
	opts.size = PICK(rng, 8, 64, 1000, 4096, 16384, 65536, 262144);
	opts.min_size = random_below(rng, 2) ? 0 : OPTION_SAME;
	opts.depth = PICK(rng, 1, 2, 4, 16, 64);
	opts.messages = random_between(rng, 10, 100);
	/* Long messages, but not many packets. */
	while (opts.messages > 2 && opts.messages * opts.size / opts.mtu > 3000)
		opts.messages /= 2;
	opts.depth = min(opts.depth, opts.messages);
	/* New memory is slow. */
	while (opts.depth > 1 && opts.depth * opts.size > 1 << 19)
		opts.depth /= 2;
	opts.pairs = PICK(rng, 1, 1, 1, 2, 4);
	opts.both = random_below(rng, 2);
	opts.sges = random_between(rng, 1, 4);
	opts.unsignaled = PICK(rng, 0, 50 * PERCENT);
	opts.gap = PICK(rng, 0, 0, 0, 20000);
	opts.stagger = PICK(rng, 0, 100000);
	opts.app = PICK(rng, 0, 1000, 20000);
	opts.rd_atomic = PICK(rng, 1, 2, 16);
	/* Often near the end of the circle. */
	if (random_below(rng, 2))
		opts.psn = (0x1000000 - random_below(rng, 200)) & 0xffffff;
}

static void fuzz_choose_net(u64 *rng)
{
	opts.rate = PICK(rng, 1000000000, 10000000000, 100000000000);
	opts.cpu_tx = PICK(rng, 0, 0, 500);
	opts.delay = PICK(rng, 1000, 20000, 500000);
	opts.fresh = PICK(rng, 0, 1);
	opts.tick = PICK(rng, 0, 1000, 4000, 50000);
	opts.batch = PICK(rng, 1, 8, 64);
	opts.cpu = PICK(rng, 0, 200, 1000);
	opts.txq = PICK(rng, 64, 64, 2);
	opts.train = PICK(rng, 1, 1, 8, 64);
	opts.cc = PICK(rng, CC_WINDOW, CC_WINDOW, CC_DCQCN);
}

static void fuzz_clean(u64 *rng)
{
	opts.queue = 1 << 30;
	opts.quiet = 1;
}

static void fuzz_loss(u64 *rng)
{
	opts.loss = PICK(rng, PERCENT / 10, PERCENT, 5 * PERCENT, 10 * PERCENT);
	opts.rloss = PICK(rng, OPTION_SAME, 0, 10 * PERCENT);
}

static void fuzz_ack_loss(u64 *rng)
{
	opts.rloss = PICK(rng, PERCENT, 5 * PERCENT, 10 * PERCENT);
}

static void fuzz_burst(u64 *rng)
{
	opts.loss = PICK(rng, PERCENT / 10, PERCENT, 3 * PERCENT);
	opts.burst = PICK(rng, 3, 10, 20);
}

static void fuzz_reorder(u64 *rng)
{
	opts.jitter = PICK(rng, 1000, 10000, 100000, 1000000);
	opts.rjitter = PICK(rng, OPTION_SAME, 0, 300000);
}

static void fuzz_copies(u64 *rng)
{
	opts.dup = PICK(rng, PERCENT, 10 * PERCENT, 50 * PERCENT);
	opts.jitter = PICK(rng, 0, 0, 50000, 500000);
}

static void fuzz_queue(u64 *rng)
{
	opts.pairs = PICK(rng, 2, 4, 6);
	opts.queue = PICK(rng, 20000, 60000, 200000);
	opts.nic = PICK(rng, 0, 100000000000);
}

static void fuzz_ecn(u64 *rng)
{
	fuzz_queue(rng);
	opts.ecn_min = opts.queue / PICK(rng, 4, 8);
	opts.ecn_max = opts.queue / PICK(rng, 2, 3);
	opts.loss = PICK(rng, 0, PERCENT);
	opts.red = PICK(rng, 0, 0, 1);
}

static void fuzz_rnr(u64 *rng)
{
	opts.verb = PICK(rng, VERB_SEND, VERB_WRITE_IMM, VERB_MIXED);
	opts.receives = PICK(rng, 1, 2, opts.depth);
	opts.app_slow = PICK(rng, 0, 50000, 2000000);
	opts.rnr_timer = random_between(rng, 1, 14);
	opts.loss = PICK(rng, 0, PERCENT);
}

static void fuzz_all(u64 *rng)
{
	fuzz_queue(rng);
	fuzz_copies(rng);
	fuzz_reorder(rng);
	fuzz_ecn(rng);
	if (random_below(rng, 2))
		fuzz_burst(rng);
	else
		fuzz_loss(rng);
	opts.receives = PICK(rng, OPTION_SAME, 2);
	opts.corrupt = PICK(rng, 0, PERCENT);
}

/* A few chosen packets are lost, and nothing else. */
static void fuzz_drops(u64 *rng)
{
	unsigned int i, rules = random_between(rng, 1, 4);

	opts.messages = min_t(u64, opts.messages, 20);
	for (i = 0; i < rules; i++) {
		struct drop_rule *rule = &drop_rules[drop_rule_count++];

		do {
			rule->opcode = random_below(rng, ROVER_RC_ATOMIC_WRITE + 1);
		} while (!rover_opcode_get(rule->opcode));
		rule->nth = random_between(rng, 1, 20);
		rule->pass = random_below(rng, 3);
		rule->seen = 0;
	}
}

static void fuzz_dead(u64 *rng)
{
	opts.dead = random_between(rng, 1, 3000000);
	opts.timeout = PICK(rng, 8, 14);
	opts.retry = random_between(rng, 0, 7);
}

static const struct fuzz_class fuzz_classes[] = {
	{ "clean", fuzz_clean },
	{ "loss", fuzz_loss },
	{ "ack_loss", fuzz_ack_loss },
	{ "burst", fuzz_burst },
	{ "reorder", fuzz_reorder },
	{ "copies", fuzz_copies },
	{ "queue", fuzz_queue },
	{ "ecn", fuzz_ecn },
	{ "rnr", fuzz_rnr },
	{ "all", fuzz_all },
	{ "drops", fuzz_drops },
	{ "dead", fuzz_dead },
};

#define FUZZ_CLASSES	(sizeof(fuzz_classes) / sizeof(fuzz_classes[0]))

void fuzz_print_classes(void)
{
	size_t i;

	for (i = 0; i < FUZZ_CLASSES; i++)
		printf(" %s", fuzz_classes[i].name);
	puts("");
}

static void fuzz_set(const struct fuzz_class *class, u64 seed)
{
	bool audit = true;
	u64 rng;

	options_reset();
	opts.audit = audit;
	random_seed(&rng, seed, 5 + (class - fuzz_classes));
	fuzz_choose_load(&rng);
	fuzz_choose_net(&rng);
	class->choose(&rng);
	opts.seed = seed;
}

bool fuzz_choose(const char *name, u64 seed)
{
	size_t i;

	for (i = 0; i < FUZZ_CLASSES; i++) {
		if (strcmp(fuzz_classes[i].name, name))
			continue;
		fuzz_set(&fuzz_classes[i], seed);
		return true;
	}
	return false;
}

static double fuzz_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Run seeds from *@seed on, until @end or a failure; in a process of its own. */
static bool fuzz_child(const struct fuzz_class *class, u64 *seed, double end)
{
	while (fuzz_time() < end) {
		alarm(FUZZ_ALARM);
		fuzz_set(class, *seed);
		if (!run_once(false))
			return false;
		++*seed;
	}
	return true;
}

/* Return false after a failure; *@seed is shared with the child. */
static bool fuzz_fork(const struct fuzz_class *class, u64 *seed, double end)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(!fuzz_child(class, seed, end));
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (!status)
		return true;
	return ktap_note("tools/sim/sim --class %s --seed %llu (status %#x)",
			 class->name, (unsigned long long)*seed, status);
}

static void fuzz_class_run(const struct fuzz_class *class, u64 first, double end)
{
	u64 *seed = mmap(NULL, sizeof(*seed), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int broken = 0;

	for (*seed = first; broken < FUZZ_ENOUGH; ++*seed) {
		if (fuzz_fork(class, seed, end))
			break;
		broken++;
	}
	ktap_ok(!broken, "%s: %llu networks", class->name,
		(unsigned long long)(*seed - first));
	munmap(seed, sizeof(*seed));
}

/* Each class takes its part of the time that is left. */
int fuzz_run(int seconds, const char *name)
{
	double now = fuzz_time(), end = now + seconds;
	u64 first = opts.seed;
	size_t i;

	for (i = 0; i < FUZZ_CLASSES; i++, now = fuzz_time())
		if (!name || !strcmp(fuzz_classes[i].name, name))
			fuzz_class_run(&fuzz_classes[i], first, name ? end :
				       now + (end - now) / (FUZZ_CLASSES - i));
	return ktap_done();
}
