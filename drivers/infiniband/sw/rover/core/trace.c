// SPDX-License-Identifier: GPL-2.0
/* trace - tracepoints */
#define CREATE_TRACE_POINTS
#include "core/trace.h"

void rover_drop(struct rover_stats __percpu *stats, enum rover_stat why,
		u32 qpn, u8 opcode, u32 psn)
{
	if (stats)
		rover_stat_inc(stats, why);
	trace_rover_drop(rover_stat_names[why], qpn, opcode, psn);
}
