/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gap_sound - what is true of each list of gaps
 */
#ifndef UNIT_GAP_SOUND_H
#define UNIT_GAP_SOUND_H

#include "ktap.h"
#include "qp/gap.h"
#include "wire/psn.h"

/* Disjoint, sorted, not empty, and summed up right? */
static inline bool gap_sound(const struct rover_gaps *gaps)
{
	u32 missing = 0, lost = 0;

	for (unsigned int i = 0; i < gaps->num; i++) {
		const struct rover_gap *gap = &gaps->list[i];
		s32 len = rover_psn_diff(gap->end, gap->psn);

		if (len <= 0)
			return ktap_note("gap %u is empty", i);
		if (i && rover_psn_diff(gap->psn, gap[-1].end) < 0)
			return ktap_note("gap %u is not behind the one before", i);
		if (gap->state > ROVER_GAP_ASKED)
			return ktap_note("gap %u has state %u", i, gap->state);
		missing += len;
		lost += gap->state == ROVER_GAP_LOST ? len : 0;
	}
	if (gaps->num > gaps->max || gaps->max > ROVER_GAPS_MAX)
		return ktap_note("%u gaps, room for %u", gaps->num, gaps->max);
	if (gaps->num &&
	    rover_psn_diff(gaps->high, gaps->list[gaps->num - 1].end) < 0)
		return ktap_note("the last gap is not before high");
	return (missing == gaps->missing && lost == gaps->lost) ||
	       ktap_note("missing %u, want %u; lost %u, want %u", gaps->missing,
			 missing, gaps->lost, lost);
}

#endif /* UNIT_GAP_SOUND_H */
