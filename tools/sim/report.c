// SPDX-License-Identifier: GPL-2.0
/* report - results of a run */
#include <stdio.h>

#include "clock.h"
#include "host.h"
#include "model.h"
#include "net.h"
#include "options.h"
#include "pair.h"
#include "report.h"
#include "wire/psn.h"

/* Bytes of a full packet without payload: see fake_train.c. */
#define REPORT_OVERHEAD	(12 + 20 + 8 + 4 + 38)

struct report_flows {
	u64 begun;
	u64 ended;
	u64 bytes;
	double sum;		/* of rates */
	double squares;
	u32 count;
};

static void report_add_flow(struct report_flows *sum, const struct flow *flow)
{
	u64 time = flow->ended - flow->begun;
	double rate = time ? (double)flow->bytes / time : 0;

	if (!flow->done || flow->failed)
		return;
	if (!sum->begun || flow->begun < sum->begun)
		sum->begun = flow->begun;
	sum->ended = max(sum->ended, flow->ended);
	sum->bytes += flow->bytes;
	sum->sum += rate;
	sum->squares += rate * rate;
	sum->count++;
}

static void report_num(const char *key, double value, const char *unit)
{
	if (opts.kv)
		printf("%s=%.6g ", key, value);
	else
		printf("  %-16s %12.6g %s\n", key, value, unit);
}

static void report_net(const char *way, const struct net_counts *c)
{
	static const char * const keys[] = {
		"packets", "lost", "queue_drops", "marked", "duplicated",
		"queue_max", "queue_mean",
	};
	const double values[] = {
		c->packets, c->lost, c->full, c->marked, c->copied,
		c->queue_max, c->packets ? (double)c->queue_sum / c->packets : 0,
	};
	char key[32];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(key, sizeof(key), "%s%s", way, keys[i]);
		report_num(key, values[i], i > 4 ? "bytes" : "");
	}
}

static void report_latencies(void)
{
	size_t count;
	u64 *times = model_latencies(&count);

	if (!count)
		return;
	report_num("p50", times[count / 2] / 1e3, "us");
	report_num("p99", times[count * 99 / 100] / 1e3, "us");
	report_num("max", times[count - 1] / 1e3, "us");
}

static void report_counters(void)
{
	u32 i;

	for (i = 0; i < ROVER_STAT_COUNT; i++)
		if (pair_stats.v[i])
			report_num(rover_stat_names[i], pair_stats.v[i], "");
}

static void report_rates(const struct report_flows *sum)
{
	double time = sum->ended - sum->begun;
	double rate = time > 0 ? sum->bytes * 8 / time : 0;
	double best = opts.rate / 1e9 * opts.mtu / (opts.mtu + REPORT_OVERHEAD) *
		      (1 + opts.both);

	report_num("time", time / 1e6, "ms");
	report_num("goodput", rate, "Gb/s");
	report_num("part", rate / best, "of the best with this MTU");
	if (sum->count > 1)
		report_num("jain", sum->sum * sum->sum /
				   (sum->count * sum->squares), "");
}

static void report_recovery(void)
{
	const u64 *v = pair_stats.v;

	report_num("retransmitted", net_counts(false)->again +
				    net_counts(true)->again, "packets");
	report_num("spurious", host_counts.spurious, "of them had arrived");
	report_num("discarded", v[ROVER_STAT_DROP_SEQ], "packets after a gap");
	report_num("timeouts", v[ROVER_STAT_ACK_TIMEOUT], "");
	report_num("naks", v[ROVER_STAT_NAK_SENT], "");
	report_num("rnr_naks", v[ROVER_STAT_RNR_NAK_SENT], "");
	report_num("acks", v[ROVER_STAT_TX_ACKS], "");
	report_num("cnps", v[ROVER_STAT_CNP_SENT], "");
}

static void report_flow(const struct flow *flow)
{
	double time = flow->ended - flow->begun;

	if (!opts.flows || !flow->done)
		return;
	printf("flow %-5s begun %.3f us, %.3f us, %llu bytes, %.6g Gb/s%s\n",
	       flow->from->name, (flow->begun - NSEC_PER_SEC) / 1e3, time / 1e3,
	       (unsigned long long)flow->bytes, flow->bytes * 8 / time,
	       flow->failed ? ", failed" : "");
}

void report_sample(struct pair **pairs)
{
	u32 i;

	printf("at %.3f ms:", (clock_now - NSEC_PER_SEC) / 1e6);
	for (i = 0; i < opts.pairs; i++) {
		struct end *end = &pairs[i]->ends[0];
		const struct rover_cc *cc = &end->qp.cc;
		u32 una = end->qp.req.una;

		printf(" %.4g(%u,%.3g)", rover_psn_diff(una, end->sampled) *
		       8.0 * opts.mtu / opts.sample, cc->packets,
		       cc->rate * 8 / 1e9);
		end->sampled = una;
	}
	puts(" Gb/s (window, rate)");
}

void report_print(struct pair **pairs)
{
	struct report_flows sum = { };
	u32 i, j;

	for (i = 0; i < opts.pairs; i++)
		for (j = 0; j < 2; j++) {
			report_add_flow(&sum, &pairs[i]->ends[j].out);
			report_flow(&pairs[i]->ends[j].out);
		}
	report_num("seed", opts.seed, "");
	report_num("failed", model_failed, "");
	report_rates(&sum);
	report_latencies();
	report_recovery();
	report_net("", net_counts(false));
	report_net("r_", net_counts(true));
	if (opts.counters)
		report_counters();
	if (opts.kv)
		puts("");
}
