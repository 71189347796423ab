// SPDX-License-Identifier: GPL-2.0
/*
 * gap - missing packets before delivered ones
 *
 * Time tells loss from reordering, as in RACK (RFC 8985): a packet is lost when
 * one that was sent later has been there for a while.  Packets are first sent
 * in PSN order; resent ones have the order of (passed, PSN).
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "qp/gap.h"
#include "wire/psn.h"

/* Neighbouring packets resent within this time form one gap. */
#define JOIN_NS		100000

static s32 gap_len(const struct rover_gap *gap)
{
	return rover_psn_diff(gap->end, gap->psn);
}

/* Index of the first gap that ends behind @psn */
static unsigned int gap_lower_bound(const struct rover_gaps *gaps, u32 psn)
{
	unsigned int low = 0, high = gaps->num;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (rover_psn_diff(gaps->list[mid].end, psn) > 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Add @packets of a gap to the sums. */
static void gap_add(struct rover_gaps *gaps, u8 state, s32 packets)
{
	gaps->missing += packets;
	if (state == ROVER_GAP_LOST)
		gaps->lost += packets;
	else if (state == ROVER_GAP_ASKED)
		gaps->asked += packets;
}

/* Count gap @i in; afterwards it may change no more than its place. */
static void gap_count(struct rover_gaps *gaps, unsigned int i)
{
	gap_add(gaps, gaps->list[i].state, gap_len(&gaps->list[i]));
}

static void gap_uncount(struct rover_gaps *gaps, unsigned int i)
{
	gap_add(gaps, gaps->list[i].state, -gap_len(&gaps->list[i]));
}

static int gap_reserve(struct rover_gaps *gaps, unsigned int more)
{
	struct rover_gap *list;
	unsigned int max;

	if (!gaps->list) {
		gaps->list = gaps->few;
		gaps->max = ROVER_GAPS_FEW;
	}
	if (gaps->num + more <= gaps->max)
		return 0;
	max = gaps->max * 4;
	if (max > ROVER_GAPS_MAX)
		return -ENOMEM;
	list = kmalloc_array(max, sizeof(*list), GFP_ATOMIC | __GFP_NOWARN);
	if (!list)
		return -ENOMEM;
	memcpy(list, gaps->list, gaps->num * sizeof(*list));
	if (gaps->list != gaps->few)
		kfree(gaps->list);
	gaps->list = list;
	gaps->max = max;
	return 0;
}

/* There is room. */
static void gap_insert(struct rover_gaps *gaps, unsigned int i,
		       const struct rover_gap *gap)
{
	memmove(&gaps->list[i + 1], &gaps->list[i],
		(gaps->num - i) * sizeof(*gap));
	gaps->list[i] = *gap;
	gaps->num++;
	gap_count(gaps, i);
}

static void gap_remove(struct rover_gaps *gaps, unsigned int i)
{
	gap_uncount(gaps, i);
	gaps->num--;
	memmove(&gaps->list[i], &gaps->list[i + 1],
		(gaps->num - i) * sizeof(*gaps->list));
}

/* Let gap @i be from @psn to @end, which it contains. */
static void gap_resize(struct rover_gaps *gaps, unsigned int i, u32 psn, u32 end)
{
	gap_uncount(gaps, i);
	gaps->list[i].psn = psn;
	gaps->list[i].end = end;
	gap_count(gaps, i);
}

static void gap_set_state(struct rover_gaps *gaps, unsigned int i, u8 state,
			  u64 at)
{
	gap_uncount(gaps, i);
	gaps->list[i].state = state;
	gaps->list[i].at = at;
	gap_count(gaps, i);
}

void rover_gaps_reset(struct rover_gaps *gaps)
{
	gaps->num = 0;
	gaps->missing = 0;
	gaps->lost = 0;
	gaps->asked = 0;
}

void rover_gaps_free(struct rover_gaps *gaps)
{
	if (gaps->list != gaps->few)
		kfree(gaps->list);
	gaps->list = NULL;
	gaps->max = 0;
	rover_gaps_reset(gaps);
}

/* Is (@passed, @psn) sent after the newest resent packet delivered? */
static bool gap_is_newer(const struct rover_gaps *gaps, u32 passed, u32 psn)
{
	s32 later = rover_psn_diff(passed, gaps->resent_passed);

	return later > 0 ||
	       (!later && rover_psn_diff(psn, gaps->resent_psn) > 0);
}

static void gap_note_resent(struct rover_gaps *gaps, const struct rover_gap *gap,
			    u32 end)
{
	u32 last = rover_psn_add(end, -1);

	if (gap->state != ROVER_GAP_RESENT ||
	    !gap_is_newer(gaps, gap->passed, last))
		return;
	gaps->resent_passed = gap->passed;
	gaps->resent_psn = last;
}

/* Take packets out of gap @i, which has some; return how many. */
static int gap_cut(struct rover_gaps *gaps, unsigned int i, u32 psn, u32 end)
{
	struct rover_gap gap = gaps->list[i];
	bool front = rover_psn_diff(psn, gap.psn) > 0;
	bool back = rover_psn_diff(end, gap.end) < 0;

	psn = front ? psn : gap.psn;
	end = back ? end : gap.end;
	if (front && back) {
		gap_resize(gaps, i, gap.psn, psn);
		gap.psn = end;
		gap_insert(gaps, i + 1, &gap);
	} else if (front) {
		gap_resize(gaps, i, gap.psn, psn);
	} else if (back) {
		gap_resize(gaps, i, end, gap.end);
	} else {
		gap_remove(gaps, i);
	}
	return rover_psn_diff(end, psn);
}

/*
 * A peer answers the READs that it holds in order: an answer behind @psn has
 * overtaken those before.
 */
static void gap_pass_asked(struct rover_gaps *gaps, u32 psn, u64 now)
{
	unsigned int i;

	for (i = 0; i < gaps->num; i++) {
		if (rover_psn_diff(gaps->list[i].end, psn) > 0)
			return;
		if (gaps->list[i].state == ROVER_GAP_ASKED)
			gap_set_state(gaps, i, ROVER_GAP_WAIT, now);
	}
}

/* Take packets that have arrived out of gap @i; return how many. */
static int gap_fill(struct rover_gaps *gaps, unsigned int i, u32 psn, u32 end,
		    u64 now)
{
	const struct rover_gap *gap = &gaps->list[i];
	bool asked = gap->state == ROVER_GAP_ASKED;
	int filled;

	if (gap->state == ROVER_GAP_WAIT)
		gaps->late = max(gaps->late, now - gap->at);
	/* Round trips of READs include all responses: only much sooner counts. */
	if (gap->state == ROVER_GAP_RESENT && now - gap->at < gaps->least / 3)
		gaps->late_resent = max(gaps->late_resent, now - gap->at);
	gap_note_resent(gaps, gap,
			rover_psn_diff(end, gap->end) < 0 ? end : gap->end);
	filled = gap_cut(gaps, i, psn, end);
	if (asked)
		gap_pass_asked(gaps, psn, now);
	return filled;
}

/* Packets from @high to @psn are missing. */
static void gap_append(struct rover_gaps *gaps, u32 psn, u8 state, u64 now)
{
	struct rover_gap gap = {
		.psn = gaps->high, .end = psn, .state = state, .at = now,
	};

	gap_insert(gaps, gaps->num, &gap);
}

static void gap_begin(struct rover_gaps *gaps, u32 una)
{
	if (gaps->num)
		return;
	gaps->high = una;
	gaps->resent_passed = una;
	gaps->resent_psn = una;
}

int rover_gaps_pass(struct rover_gaps *gaps, u32 una, u32 psn, u64 now)
{
	if (gap_reserve(gaps, 1))
		return -ENOMEM;
	gap_begin(gaps, una);
	if (rover_psn_diff(psn, gaps->high) > 0) {
		gap_append(gaps, psn, ROVER_GAP_WAIT, now);
		gaps->high = psn;
	}
	return 0;
}

void rover_gaps_overtake(struct rover_gaps *gaps, u64 sent_at, u64 now)
{
	unsigned int i;

	for (i = 0; i < gaps->num; i++)
		if ((gaps->list[i].state == ROVER_GAP_RESENT ||
		     gaps->list[i].state == ROVER_GAP_ASKED) &&
		    gaps->list[i].at < sent_at)
			gap_set_state(gaps, i, ROVER_GAP_WAIT, now);
}

int rover_gaps_deliver(struct rover_gaps *gaps, u32 una, u32 psn, u32 end,
		       u64 now)
{
	unsigned int i;
	int fresh = 0;

	if (rover_psn_diff(psn, una) < 0)
		psn = una;
	if (rover_psn_diff(end, psn) <= 0)
		return 0;
	/* One may be appended, and one split. */
	if (gap_reserve(gaps, 2))
		return -ENOMEM;
	rover_gaps_pass(gaps, una, psn, now);
	for (i = gap_lower_bound(gaps, psn); i < gaps->num; ) {
		unsigned int before = gaps->num;

		if (rover_psn_diff(gaps->list[i].psn, end) >= 0)
			break;
		fresh += gap_fill(gaps, i, psn, end, now);
		i += gaps->num >= before;
	}
	if (rover_psn_diff(end, gaps->high) > 0) {
		fresh += min(rover_psn_diff(end, gaps->high),
			     rover_psn_diff(end, psn));
		gaps->high = end;
	}
	return fresh;
}

void rover_gaps_ack(struct rover_gaps *gaps, u32 una, u64 now)
{
	while (gaps->num && rover_psn_diff(gaps->list[0].psn, una) < 0)
		gap_fill(gaps, 0, gaps->list[0].psn, una, now);
}

/* Let a gap end at @psn if that is inside one, and another begin there. */
static void gap_split(struct rover_gaps *gaps, u32 psn)
{
	unsigned int i = gap_lower_bound(gaps, psn);
	struct rover_gap behind;

	if (i == gaps->num || rover_psn_diff(psn, gaps->list[i].psn) <= 0)
		return;
	behind = gaps->list[i];
	behind.psn = psn;
	gap_resize(gaps, i, gaps->list[i].psn, psn);
	gap_insert(gaps, i + 1, &behind);
}

void rover_gaps_lose(struct rover_gaps *gaps, u32 una, u32 end)
{
	unsigned int i;

	/* Without room for another one all of a gap is lost. */
	if (!gap_reserve(gaps, 2))
		gap_split(gaps, end);
	if (gap_reserve(gaps, 1))
		rover_gaps_reset(gaps);	/* there is room for a few */
	gap_begin(gaps, una);
	for (i = 0; i < gaps->num; i++)
		if (rover_psn_diff(gaps->list[i].psn, end) < 0)
			gap_set_state(gaps, i, ROVER_GAP_LOST, 0);
	if (rover_psn_diff(end, gaps->high) > 0) {
		gap_append(gaps, end, ROVER_GAP_LOST, 0);
		gaps->high = end;
	}
}

/* Did a packet sent later arrive, or an answer to one? */
static bool gap_is_passed(const struct rover_gaps *gaps,
			  const struct rover_gap *gap)
{
	if (gap->state != ROVER_GAP_RESENT && gap->state != ROVER_GAP_ASKED)
		return false;
	return rover_psn_diff(gaps->high, gap->passed) > 0 ||
	       (gap->state == ROVER_GAP_RESENT &&
		!gap_is_newer(gaps, gap->passed, rover_psn_add(gap->end, -1)));
}

/* 0 is never. */
static u64 gap_sooner(u64 a, u64 b)
{
	return a ? min(a, b) : b;
}

u64 rover_gaps_expire(struct rover_gaps *gaps, u64 now, u64 reorder, u64 least)
{
	unsigned int i;
	u64 next = 0;

	gaps->least = least;
	for (i = 0; i < gaps->num; i++) {
		struct rover_gap *gap = &gaps->list[i];

		if (gap_is_passed(gaps, gap)) {
			if (now - gap->at < least) {
				next = gap_sooner(next, gap->at + least);
				continue;
			}
			gap_set_state(gaps, i, ROVER_GAP_WAIT, now);
		}
		if (gap->state != ROVER_GAP_WAIT)
			continue;
		if (now - gap->at >= reorder) {
			gap_set_state(gaps, i, ROVER_GAP_LOST, now);
			gaps->losses++;
		} else {
			next = gap_sooner(next, gap->at + reorder);
		}
	}
	return next;
}

u32 rover_gaps_lost(const struct rover_gaps *gaps)
{
	const struct rover_gap *gap = gaps->list;

	while (gap->state != ROVER_GAP_LOST)
		gap++;
	return gap->psn;
}

const struct rover_gap *rover_gaps_find(const struct rover_gaps *gaps, u32 psn)
{
	unsigned int i = gap_lower_bound(gaps, psn);

	return i < gaps->num && rover_psn_diff(gaps->list[i].psn, psn) <= 0 ?
	       &gaps->list[i] : NULL;
}

u32 rover_gaps_left(const struct rover_gaps *gaps, u32 psn)
{
	const struct rover_gap *gap = rover_gaps_find(gaps, psn);

	return gap && gap->state == ROVER_GAP_LOST ?
	       rover_psn_diff(gap->end, psn) : 0;
}

/* Does @gap follow gap @i, sent again with it? */
static bool gap_joins(const struct rover_gaps *gaps, unsigned int i,
		      const struct rover_gap *gap)
{
	const struct rover_gap *before = &gaps->list[i];

	return before->state == gap->state && before->end == gap->psn &&
	       before->passed == gap->passed && gap->at - before->at < JOIN_NS;
}

/* Insert a gap in flight again before gap @i. */
static void gap_insert_resent(struct rover_gaps *gaps, unsigned int i,
			      const struct rover_gap *gap)
{
	if (i && gap_joins(gaps, i - 1, gap))
		gap_resize(gaps, i - 1, gaps->list[i - 1].psn, gap->end);
	else
		gap_insert(gaps, i, gap);
}

void rover_gaps_resent(struct rover_gaps *gaps, u32 psn, u32 end, u32 next,
		       enum rover_gap_state state, u64 now)
{
	unsigned int i;

	while ((i = gap_lower_bound(gaps, psn)) < gaps->num &&
	       rover_psn_diff(gaps->list[i].psn, end) < 0) {
		struct rover_gap gap = gaps->list[i];

		gap.state = state;
		gap.at = now;
		gap.passed = next;
		if (rover_psn_diff(psn, gap.psn) > 0)
			gap.psn = psn;
		if (rover_psn_diff(end, gap.end) < 0)
			gap.end = end;
		psn = gap.end;
		/* Without room count all of the gap as sent. */
		if (gap_reserve(gaps, 2)) {
			gap_set_state(gaps, i, state, now);
			gaps->list[i].passed = next;
			psn = gaps->list[i].end;
			continue;
		}
		gap_cut(gaps, i, gap.psn, gap.end);
		gap_insert_resent(gaps, gap_lower_bound(gaps, gap.psn), &gap);
	}
}
