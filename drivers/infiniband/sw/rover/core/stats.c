// SPDX-License-Identifier: GPL-2.0
/* stats - counters of a device, per CPU */
#include "core/stats.h"

const char * const rover_stat_names[ROVER_STAT_COUNT] = {
#define X(id, name, text) name,
	ROVER_STATS(X)
#undef X
};

u64 rover_stat_read(struct rover_stats __percpu *stats, enum rover_stat id)
{
	u64 sum = 0;
	int cpu;

	/* CPUs that went offline keep their counts. */
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->v[id]);
	return sum;
}
