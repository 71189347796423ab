// SPDX-License-Identifier: GPL-2.0
/*
 * test_gap_random - random operations on a list of gaps, and on a model that
 * has a state for each PSN
 */
#include <string.h>

#include <linux/slab.h>

#include "gap_sound.h"
#include "ktap.h"
#include "qp/gap.h"
#include "wire/psn.h"

#define SPAN	6000	/* PSNs of the model, from una on */
#define ROUNDS	200000

/* Close to the end of the circle */
#define FIRST	0xfffff0

#define JOIN_NS	100000

/* What a packet is: one of enum rover_gap_state, or this. */
enum { ARRIVED = 4 };

/**
 * struct model - the same as a list, by packet
 * @first: PSN of packet 0, which is una
 * @high: packets before it have a state
 * @state: of each packet
 * @passed: as in struct rover_gap
 * @at: when it got its state
 * @fuzz: that is at most so much earlier in the list
 * @any: there is a packet missing: the next two count
 * @newest: of the resent packets delivered: passed and PSN
 */
struct model {
	u32 first;
	u32 high;
	u8 state[SPAN];
	u32 passed[SPAN];
	u64 at[SPAN];
	u64 fuzz[SPAN];
	u32 resent_passed;
	u32 resent_psn;
	u64 late;
	bool any;
};

static u64 seed = 0x9e3779b97f4a7c15;

static u32 below(u32 n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 20) % n;
}

static bool model_any(const struct model *m)
{
	for (u32 i = 0; i < m->high; i++)
		if (m->state[i] != ARRIVED)
			return true;
	return false;
}

static void model_reset(struct model *m)
{
	m->high = 0;
	m->any = false;
}

static u32 model_psn(const struct model *m, u32 i)
{
	return rover_psn_add(m->first, i);
}

static void model_begin(struct model *m)
{
	if (m->any)
		return;
	m->high = 0;
	m->resent_passed = m->first;
	m->resent_psn = m->first;
}

static bool model_is_newer(const struct model *m, u32 passed, u32 psn)
{
	s32 later = rover_psn_diff(passed, m->resent_passed);

	return later > 0 || (!later && rover_psn_diff(psn, m->resent_psn) > 0);
}

static void model_pass(struct model *m, u32 to, u8 state, u64 now)
{
	model_begin(m);
	for (u32 i = m->high; i < to; i++) {
		m->state[i] = state;
		m->at[i] = now;
		m->fuzz[i] = 0;
		m->passed[i] = 0;
	}
	if (to > m->high)
		m->high = to;
	m->any = model_any(m);
}

/* Packet @i arrives; return whether it was missing. */
static bool model_arrive(struct model *m, u32 i, u64 now)
{
	u8 before = m->state[i];

	if (before == ROVER_GAP_WAIT && now - m->at[i] > m->late)
		m->late = now - m->at[i];
	if (before == ROVER_GAP_RESENT &&
	    model_is_newer(m, m->passed[i], model_psn(m, i))) {
		m->resent_passed = m->passed[i];
		m->resent_psn = model_psn(m, i);
	}
	m->state[i] = ARRIVED;
	return before != ARRIVED;
}

/* An answer has overtaken those before it. */
static void model_pass_asked(struct model *m, u32 to, u64 now)
{
	for (u32 i = 0; i < to; i++) {
		if (m->state[i] != ROVER_GAP_ASKED)
			continue;
		m->state[i] = ROVER_GAP_WAIT;
		m->at[i] = now;
	}
}

static int model_deliver(struct model *m, u32 from, u32 to, u64 now)
{
	bool asked = false;
	int fresh = 0;

	if (from >= to)
		return 0;
	model_pass(m, from, ROVER_GAP_WAIT, now);
	for (u32 i = from; i < to && i < m->high; i++) {
		asked |= m->state[i] == ROVER_GAP_ASKED;
		fresh += model_arrive(m, i, now);
	}
	if (asked)
		model_pass_asked(m, from, now);
	for (; m->high < to; m->high++, fresh++)
		m->state[m->high] = ARRIVED;
	m->any = model_any(m);
	return fresh;
}

static void model_ack(struct model *m, u32 n, u64 now)
{
	for (u32 i = 0; i < n && i < m->high; i++)
		if (m->state[i] != ARRIVED)
			model_arrive(m, i, now);
	if (n < m->high) {
		u32 rest = m->high - n;

		memmove(m->state, m->state + n, rest * sizeof(m->state[0]));
		memmove(m->passed, m->passed + n, rest * sizeof(m->passed[0]));
		memmove(m->at, m->at + n, rest * sizeof(m->at[0]));
		memmove(m->fuzz, m->fuzz + n, rest * sizeof(m->fuzz[0]));
		m->high = rest;
	} else {
		m->high = 0;
	}
	m->first = rover_psn_add(m->first, n);
	m->any = model_any(m);
}

static void model_lose(struct model *m, u32 to)
{
	model_begin(m);
	for (u32 i = 0; i < m->high && i < to; i++)
		if (m->state[i] != ARRIVED)
			m->state[i] = ROVER_GAP_LOST;
	if (to > m->high)
		model_pass(m, to, ROVER_GAP_LOST, 0);
	m->any = model_any(m);
}

static void model_resent(struct model *m, u32 from, u32 to, u32 next, u8 state,
			 u64 now)
{
	for (u32 i = from; i < to && i < m->high; i++) {
		if (m->state[i] == ARRIVED)
			continue;
		m->state[i] = state;
		m->passed[i] = next;
		m->at[i] = now;
		m->fuzz[i] = JOIN_NS - 1;
	}
}

/* All packets of a gap are passed with its last one. */
static bool model_is_passed(const struct model *m, u32 i, u32 last)
{
	if (m->state[i] != ROVER_GAP_RESENT && m->state[i] != ROVER_GAP_ASKED)
		return false;
	if (rover_psn_diff(model_psn(m, m->high), m->passed[i]) > 0)
		return true;
	return m->state[i] == ROVER_GAP_RESENT &&
	       !model_is_newer(m, m->passed[i], last);
}

static u64 model_expire(struct model *m, const struct rover_gaps *gaps, u64 now,
			u64 reorder, u64 least)
{
	u64 next = 0;

	for (unsigned int n = 0; n < gaps->num; n++) {
		u32 from = rover_psn_diff(gaps->list[n].psn, m->first);
		u32 to = rover_psn_diff(gaps->list[n].end, m->first);
		u32 last = rover_psn_add(gaps->list[n].end, -1);

		for (u32 i = from; i < to; i++) {
			u64 when = 0;

			if (model_is_passed(m, i, last)) {
				if (now - m->at[i] < least) {
					when = m->at[i] + least;
				} else {
					m->state[i] = ROVER_GAP_WAIT;
					m->at[i] = now;
				}
			}
			if (m->state[i] == ROVER_GAP_WAIT) {
				if (now - m->at[i] >= reorder)
					m->state[i] = ROVER_GAP_LOST;
				else
					when = m->at[i] + reorder;
			}
			if (when && (!next || when < next))
				next = when;
		}
	}
	return next;
}

/* Compare all; what was joined in time takes the time of the list. */
static bool model_same(struct model *m, const struct rover_gaps *gaps)
{
	unsigned int n = 0;

	if (!gap_sound(gaps))
		return false;
	if (!gaps->num != !m->any)
		return ktap_note("%u gaps", gaps->num);
	if (gaps->num && rover_psn_diff(gaps->high, m->first) != (s32)m->high)
		return ktap_note("high %d, want %u",
				 rover_psn_diff(gaps->high, m->first), m->high);
	for (u32 i = 0; m->any && i < m->high; i++) {
		const struct rover_gap *gap = NULL;
		u32 psn = model_psn(m, i);

		while (n < gaps->num && rover_psn_diff(gaps->list[n].end, psn) <= 0)
			n++;
		if (n < gaps->num && rover_psn_diff(gaps->list[n].psn, psn) <= 0)
			gap = &gaps->list[n];
		if (rover_gaps_find(gaps, psn) != gap)
			return ktap_note("packet %u is not found", i);
		if ((gap ? gap->state : ARRIVED) != m->state[i])
			return ktap_note("packet %u has state %u, want %u", i,
					 gap ? gap->state : ARRIVED, m->state[i]);
		if (!gap || gap->state == ROVER_GAP_LOST)
			continue;
		if (m->at[i] - gap->at > m->fuzz[i])
			return ktap_note("packet %u has its state since %llu, want %llu",
					 i, gap->at, m->at[i]);
		m->at[i] = gap->at;
		m->fuzz[i] = 0;
		if (gap->state != ROVER_GAP_WAIT && gap->passed != m->passed[i])
			return ktap_note("packet %u was passed at %#x, want %#x", i,
					 gap->passed, m->passed[i]);
	}
	if (gaps->late != m->late)
		return ktap_note("late %llu, want %llu", gaps->late, m->late);
	return true;
}

/**
 * struct operation - its numbers
 * @from: first packet
 * @to: packet after the last one
 * @now: time
 */
struct operation {
	u32 from;
	u32 to;
	u64 now;
};

typedef bool operation_fn(struct rover_gaps *gaps, struct model *m,
			  const struct operation *op);

static bool do_deliver(struct rover_gaps *gaps, struct model *m,
		       const struct operation *op)
{
	int got = rover_gaps_deliver(gaps, m->first, model_psn(m, op->from),
				     model_psn(m, op->to), op->now);
	int want = model_deliver(m, op->from, op->to, op->now);

	return got == want ||
	       ktap_note("deliver %u-%u: %d, want %d", op->from, op->to, got, want);
}

static bool do_pass(struct rover_gaps *gaps, struct model *m,
		    const struct operation *op)
{
	u32 to = below(m->high + 20);

	if (rover_gaps_pass(gaps, m->first, model_psn(m, to), op->now))
		return ktap_note("pass fails");
	model_pass(m, to, ROVER_GAP_WAIT, op->now);
	return true;
}

static bool do_ack(struct rover_gaps *gaps, struct model *m,
		   const struct operation *op)
{
	model_ack(m, below(8) ? below(8) : below(m->high + 10), op->now);
	rover_gaps_ack(gaps, m->first, op->now);
	return true;
}

static bool do_lose(struct rover_gaps *gaps, struct model *m,
		    const struct operation *op)
{
	u32 to = below(m->high + 10);

	(void)op;
	if (below(20))
		return true;
	model_lose(m, to);
	rover_gaps_lose(gaps, m->first, model_psn(m, to));
	return true;
}

/* Any packets, or more often those that are lost */
static bool do_resent(struct rover_gaps *gaps, struct model *m,
		      const struct operation *op)
{
	u8 state = below(4) ? ROVER_GAP_RESENT : ROVER_GAP_ASKED;
	u32 next = model_psn(m, m->high + below(7));
	u32 from = op->from, to = op->to;

	if (gaps->lost && below(4)) {
		from = rover_psn_diff(rover_gaps_lost(gaps), m->first);
		to = from + 1 + below(6);
	}
	model_resent(m, from, to, next, state, op->now);
	rover_gaps_resent(gaps, model_psn(m, from), model_psn(m, to), next,
			  state, op->now);
	return true;
}

static bool do_expire(struct rover_gaps *gaps, struct model *m,
		      const struct operation *op)
{
	u64 reorder = below(3) * 40000, least = below(3) * 70000;
	u64 want = model_expire(m, gaps, op->now, reorder, least);
	u64 got = rover_gaps_expire(gaps, op->now, reorder, least);

	return got == want || ktap_note("expire: %llu, want %llu", got, want);
}

static bool do_reset(struct rover_gaps *gaps, struct model *m,
		     const struct operation *op)
{
	(void)op;
	if (below(2000))
		return true;
	rover_gaps_reset(gaps);
	model_reset(m);
	return true;
}

/* One operation on both; return false after a difference. */
static bool operate(struct rover_gaps *gaps, struct model *m, u32 most, u64 now)
{
	static operation_fn * const operations[] = {
		do_ack, do_expire, do_reset, do_deliver, do_deliver, do_deliver,
		do_deliver, do_deliver, do_pass, do_lose, do_resent, do_resent,
	};
	u32 n = below(sizeof(operations) / sizeof(operations[0]));
	struct operation op = { .from = below(most), .now = now };

	op.to = op.from + 1 + below(below(4) ? 4 : 60);
	/* The model has no limit: near it, only take away. */
	if (gaps->num + 2 > ROVER_GAPS_MAX)
		n = below(2);
	return operations[n](gaps, m, &op) && model_same(m, gaps);
}

/* Packets up to @most; more means more gaps. */
static void random_operations(u32 most, u32 rounds, const char *what)
{
	static struct model m;
	struct rover_gaps gaps = {};
	unsigned int peak = 0;
	u64 now = 1000000;
	bool good = true;

	m = (struct model) { .first = rover_psn_add(FIRST, below(4)) };
	for (u32 n = 0; n < rounds && good; n++) {
		now += below(3) * 30000;
		good = operate(&gaps, &m, most, now);
		peak = gaps.num > peak ? gaps.num : peak;
		if (!good)
			ktap_note("operation %u", n);
		if (!below(500)) {
			gaps.late = 0;
			m.late = 0;
		}
	}
	rover_gaps_free(&gaps);
	ktap_ok(good && !unit_allocs, "%u random operations, %s (up to %u gaps)",
		rounds, what, peak);
}

int main(void)
{
	random_operations(60, ROUNDS, "few gaps");
	random_operations(5000, ROUNDS / 40, "many gaps");
	return ktap_done();
}
