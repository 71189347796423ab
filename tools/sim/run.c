// SPDX-License-Identifier: GPL-2.0
/* run - one simulation, from the options to its results */
#include "clock.h"
#include "host.h"
#include "model.h"
#include "net.h"
#include "options.h"
#include "pair.h"
#include "rc/cc.h"
#include "report.h"
#include "run.h"
#include "wire/wire.h"

/* Events after which to look for a stall. */
#define STALL_EVERY	1024

static struct pair **run_pairs;

static bool run_over(void)
{
	u32 i;

	for (i = 0; i < opts.pairs; i++)
		if (!flow_over(&run_pairs[i]->ends[0].out) ||
		    !flow_over(&run_pairs[i]->ends[1].out))
			return false;
	return true;
}

static bool run_batch(void)
{
	u32 n;

	for (n = 0; n < STALL_EVERY && !model_failed; n++)
		if (!clock_step())
			return false;
	return true;
}

static void run_sample(void *arg)
{
	if (run_over() || model_failed)
		return;
	report_sample(run_pairs);
	clock_at(clock_now + opts.sample, run_sample, NULL);
}

static void run_flows(void)
{
	if (opts.sample)
		clock_at(clock_now + opts.sample, run_sample, NULL);
	while (!run_over() && !model_failed) {
		if (!run_batch() && !run_over())
			model_fail(NULL, "nothing goes on, but messages are left");
		if (clock_now - model_progress_at > opts.stall)
			model_fail(NULL, "no progress for a long time");
	}
}

static void run_begin(void)
{
	u32 i;

	clock_reset();
	clock_now += 1;
	sim_locks = 0;
	sim_softirq = false;
	sim_tracing = opts.ladder;
	sim_skb_init(opts.mtu + ROVER_MAX_HDR + 64);
	memset(&pair_stats, 0, sizeof(pair_stats));
	memset(&host_counts, 0, sizeof(host_counts));
	pair_dev.stats = &pair_stats;
	rover_cc_config_init(&pair_dev.cc);
	pair_dev.cc.ops = rover_cc_find(options_ccs[opts.cc]);
	for (i = 0; i < knob_rule_count; i++)
		pair_dev.cc.dcqcn[knob_rules[i].knob] = knob_rules[i].value;
	model_reset();
	net_reset();
	run_pairs = calloc(opts.pairs, sizeof(*run_pairs));
	for (i = 0; i < opts.pairs; i++)
		run_pairs[i] = pair_create(i);
}

static void run_for_pairs(void (*call)(struct pair *pair))
{
	u32 i;

	for (i = 0; i < opts.pairs; i++)
		call(run_pairs[i]);
}

/* Let all end that is under way. */
static void run_drain(void)
{
	while (clock_step())
		;
}

static void run_end(void)
{
	model_closing = true;
	/* A run that has failed may never end by itself. */
	if (!model_failed) {
		while (net_carried && clock_step())
			;
		run_for_pairs(pair_fail);
		run_drain();
		run_for_pairs(pair_check);
	}
	run_for_pairs(pair_destroy);
	run_drain();
	run_for_pairs(pair_free);
	free(run_pairs);
	clock_reset();
	if (sim_skbs)
		model_fail(NULL, "%ld skbs are left", sim_skbs);
	if (unit_allocs)
		model_fail(NULL, "%ld allocations are left", unit_allocs);
}

/* Nothing was lost.  A few probes may come before round trips are known. */
static void run_check_quiet(void)
{
	const u64 *v = pair_stats.v;

	if (v[ROVER_STAT_ACK_TIMEOUT] || v[ROVER_STAT_TX_LOST] ||
	    v[ROVER_STAT_PROBES] > 4 * opts.pairs)
		model_fail(NULL, "%llu timeouts, %llu losses, %llu probes",
			   (unsigned long long)v[ROVER_STAT_ACK_TIMEOUT],
			   (unsigned long long)v[ROVER_STAT_TX_LOST],
			   (unsigned long long)v[ROVER_STAT_PROBES]);
}

bool run_once(bool report)
{
	run_begin();
	run_flows();
	if (opts.quiet)
		run_check_quiet();
	if (report)
		report_print(run_pairs);
	run_end();
	return !model_failed;
}
