// SPDX-License-Identifier: GPL-2.0
/* test_gap - missing packets before delivered ones, by example */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/slab.h>

#include "gap_sound.h"
#include "ktap.h"
#include "qp/gap.h"
#include "wire/psn.h"

/* First PSN of all examples: they go round. */
#define UNA		0xfffff0

#define JOIN_NS		100000

static u32 at(s32 n)
{
	return rover_psn_add(UNA, n);
}

static const char state_names[] = "WLRA";

/* A list as text: the state, first and last packet of each gap, then high. */
static const char *show(const struct rover_gaps *gaps)
{
	static char text[512];
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < gaps->num; i++)
		len += snprintf(text + len, sizeof(text) - len, "%c%d-%d ",
				state_names[gaps->list[i].state],
				rover_psn_diff(gaps->list[i].psn, UNA),
				rover_psn_diff(gaps->list[i].end, UNA) - 1);
	if (gaps->num)
		snprintf(text + len, sizeof(text) - len, "| %d",
			 rover_psn_diff(gaps->high, UNA));
	return text;
}

static bool is(const struct rover_gaps *gaps, const char *want, const char *what)
{
	bool good = gap_sound(gaps) && !strcmp(show(gaps), want);

	if (!good)
		ktap_note("got '%s', want '%s'", show(gaps), want);
	return ktap_ok(good, "%s", what);
}

static int deliver(struct rover_gaps *gaps, s32 una, s32 psn, s32 end, u64 now)
{
	return rover_gaps_deliver(gaps, at(una), at(psn), at(end), now);
}

/* Packets 0-9, 12-17 and 20-31 are missing of 34. */
static void three(struct rover_gaps *gaps)
{
	*gaps = (struct rover_gaps) {};
	deliver(gaps, 0, 10, 12, 1000);
	deliver(gaps, 0, 18, 20, 2000);
	deliver(gaps, 0, 32, 34, 3000);
}

static void delivered(void)
{
	struct rover_gaps gaps = {};

	ktap_eq(deliver(&gaps, 0, 0, 4, 0), 4, "deliver: without a gap");
	is(&gaps, "", "deliver: without a gap, there is none");
	ktap_eq(deliver(&gaps, 0, 10, 12, 0), 2, "deliver: behind a gap");
	is(&gaps, "W0-9 | 12", "deliver: behind a gap");
	ktap_eq(deliver(&gaps, 0, 10, 12, 0), 0, "deliver: twice");
	ktap_eq(deliver(&gaps, 0, 12, 13, 0), 1, "deliver: the next one");
	is(&gaps, "W0-9 | 13", "deliver: the next one moves high");
	ktap_eq(deliver(&gaps, 0, 4, 6, 0), 2, "deliver: from the middle of a gap");
	is(&gaps, "W0-3 W6-9 | 13", "deliver: splits a gap");
	ktap_eq(deliver(&gaps, 0, 6, 7, 0), 1, "deliver: the first of a gap");
	ktap_eq(deliver(&gaps, 0, 9, 11, 0), 1, "deliver: the last of a gap, and more");
	is(&gaps, "W0-3 W7-8 | 13", "deliver: trims both ends");
	ktap_eq(deliver(&gaps, 0, 2, 20, 0), 11, "deliver: over gaps and high");
	is(&gaps, "W0-1 | 20", "deliver: over gaps and high");
	ktap_eq(deliver(&gaps, 1, -5, 1, 0), 0, "deliver: before una");
	ktap_eq(deliver(&gaps, 0, -5, 1, 0), 1, "deliver: partly before una");
	ktap_eq(deliver(&gaps, 0, 7, 7, 0), 0, "deliver: nothing");
	is(&gaps, "W1-1 | 20", "deliver: before una");
	ktap_eq(deliver(&gaps, 0, 1, 2, 0), 1, "deliver: the last missing one");
	is(&gaps, "", "deliver: no gap is left");
	ktap_eq(gaps.missing + gaps.lost, 0, "deliver: nothing is missing");
	rover_gaps_free(&gaps);
}

static void passed(void)
{
	struct rover_gaps gaps = {};

	rover_gaps_pass(&gaps, at(0), at(0), 0);
	is(&gaps, "", "pass: una");
	rover_gaps_pass(&gaps, at(0), at(5), 0);
	is(&gaps, "W0-4 | 5", "pass: a gap with nothing behind");
	rover_gaps_pass(&gaps, at(0), at(3), 0);
	is(&gaps, "W0-4 | 5", "pass: less");
	rover_gaps_pass(&gaps, at(0), at(8), 7);
	is(&gaps, "W0-4 W5-7 | 8", "pass: more");
	rover_gaps_reset(&gaps);
	rover_gaps_pass(&gaps, at(20), at(21), 0);
	is(&gaps, "W20-20 | 21", "reset: begins anew");
	rover_gaps_free(&gaps);
}

static void acknowledged(void)
{
	struct rover_gaps gaps;

	three(&gaps);
	is(&gaps, "W0-9 W12-17 W20-31 | 34", "three gaps, round the circle");
	rover_gaps_ack(&gaps, at(0), 4000);
	is(&gaps, "W0-9 W12-17 W20-31 | 34", "ack: of nothing");
	rover_gaps_ack(&gaps, at(4), 4000);
	is(&gaps, "W4-9 W12-17 W20-31 | 34", "ack: into a gap");
	rover_gaps_ack(&gaps, at(10), 4000);
	is(&gaps, "W12-17 W20-31 | 34", "ack: a whole gap");
	rover_gaps_ack(&gaps, at(25), 4000);
	is(&gaps, "W25-31 | 34", "ack: over a gap");
	rover_gaps_ack(&gaps, at(40), 4000);
	is(&gaps, "", "ack: all and more");
	ktap_eq(deliver(&gaps, 40, 42, 43, 0), 1, "ack: then a new gap");
	is(&gaps, "W40-41 | 43", "ack: a new gap begins at una");
	rover_gaps_free(&gaps);
}

static void found(void)
{
	struct rover_gaps gaps;
	bool good = true;

	three(&gaps);
	for (s32 i = -3; i < 40; i++) {
		bool in = (i >= 0 && i < 10) || (i >= 12 && i < 18) ||
			  (i >= 20 && i < 32);
		const struct rover_gap *gap = rover_gaps_find(&gaps, at(i));

		if (!gap != !in ||
		    (gap && (rover_psn_diff(at(i), gap->psn) < 0 ||
			     rover_psn_diff(at(i), gap->end) >= 0)))
			good = ktap_note("packet %d", i);
	}
	ktap_ok(good, "find: each packet");
	rover_gaps_expire(&gaps, 12500, 10000, 0);
	is(&gaps, "L0-9 L12-17 W20-31 | 34", "find: two gaps are lost");
	ktap_eq(rover_gaps_lost(&gaps), at(0), "lost: the first");
	ktap_eq(rover_gaps_left(&gaps, at(3)), 7, "left: of a lost gap");
	ktap_eq(rover_gaps_left(&gaps, at(9)), 1, "left: the last packet");
	ktap_eq(rover_gaps_left(&gaps, at(10)), 0, "left: none that has arrived");
	ktap_eq(rover_gaps_left(&gaps, at(20)), 0, "left: none that waits");
	ktap_eq(rover_gaps_left(&gaps, at(50)), 0, "left: none behind high");
	rover_gaps_resent(&gaps, at(0), at(10), at(40), ROVER_GAP_RESENT, 13000);
	ktap_eq(rover_gaps_lost(&gaps), at(12), "lost: not one in flight again");
	rover_gaps_free(&gaps);
}

static void lost(void)
{
	struct rover_gaps gaps;

	three(&gaps);
	rover_gaps_lose(&gaps, at(0), at(13));
	is(&gaps, "L0-9 L12-12 W13-17 W20-31 | 34", "lose: a part of a gap");
	rover_gaps_lose(&gaps, at(0), at(18));
	is(&gaps, "L0-9 L12-12 L13-17 W20-31 | 34", "lose: whole gaps");
	rover_gaps_lose(&gaps, at(0), at(40));
	is(&gaps, "L0-9 L12-12 L13-17 L20-31 L34-39 | 40", "lose: all, and more than high");
	rover_gaps_reset(&gaps);
	rover_gaps_lose(&gaps, at(5), at(40));
	is(&gaps, "L5-39 | 40", "lose: without a gap before");
	rover_gaps_free(&gaps);
}

static void resent(void)
{
	struct rover_gaps gaps;

	three(&gaps);
	rover_gaps_lose(&gaps, at(0), at(34));
	rover_gaps_resent(&gaps, at(0), at(3), at(34), ROVER_GAP_RESENT, 5000);
	is(&gaps, "R0-2 L3-9 L12-17 L20-31 | 34", "in flight again: the front of a gap");
	rover_gaps_resent(&gaps, at(3), at(5), at(34), ROVER_GAP_RESENT, 5000 + JOIN_NS - 1);
	is(&gaps, "R0-4 L5-9 L12-17 L20-31 | 34", "in flight again: soon after, one gap");
	rover_gaps_resent(&gaps, at(5), at(6), at(34), ROVER_GAP_RESENT, 5000 + JOIN_NS);
	is(&gaps, "R0-4 R5-5 L6-9 L12-17 L20-31 | 34", "in flight again: later, two");
	rover_gaps_resent(&gaps, at(6), at(7), at(35), ROVER_GAP_RESENT, 5000 + JOIN_NS);
	is(&gaps, "R0-4 R5-5 R6-6 L7-9 L12-17 L20-31 | 34",
	   "in flight again: after a new packet, another");
	rover_gaps_resent(&gaps, at(14), at(15), at(35), ROVER_GAP_ASKED, 200000);
	is(&gaps, "R0-4 R5-5 R6-6 L7-9 L12-13 A14-14 L15-17 L20-31 | 34",
	   "in flight again: from the middle");
	rover_gaps_resent(&gaps, at(16), at(22), at(35), ROVER_GAP_RESENT, 300000);
	is(&gaps, "R0-4 R5-5 R6-6 L7-9 L12-13 A14-14 L15-15 R16-17 R20-21 L22-31 | 34",
	   "in flight again: not those delivered");
	rover_gaps_resent(&gaps, at(40), at(50), at(50), ROVER_GAP_RESENT, 400000);
	rover_gaps_resent(&gaps, at(10), at(12), at(50), ROVER_GAP_RESENT, 400000);
	ktap_ok(gap_sound(&gaps) && gaps.num == 10, "in flight again: none that is no gap");
	rover_gaps_free(&gaps);
}

/* Rules of RACK **************************************************************/

static void waits(void)
{
	struct rover_gaps gaps = {};

	ktap_eq(rover_gaps_expire(&gaps, 5000, 100, 100), 0, "expire: no gap");
	three(&gaps);
	ktap_eq(rover_gaps_expire(&gaps, 3000, 5000, 0), 6000, "expire: the next time");
	is(&gaps, "W0-9 W12-17 W20-31 | 34", "expire: too early");
	ktap_eq(rover_gaps_expire(&gaps, 5999, 5000, 0), 6000, "expire: a moment before");
	ktap_eq(rover_gaps_expire(&gaps, 6000, 5000, 0), 7000, "expire: at that time");
	is(&gaps, "L0-9 W12-17 W20-31 | 34", "expire: the oldest is lost");
	ktap_eq(rover_gaps_expire(&gaps, 9000, 5000, 0), 0, "expire: nothing more to wait for");
	is(&gaps, "L0-9 L12-17 L20-31 | 34", "expire: all are lost");
	rover_gaps_free(&gaps);
}

/* One lost packet, sent again after packet 33; then up to @next were sent. */
static void resend_one(struct rover_gaps *gaps, enum rover_gap_state state)
{
	*gaps = (struct rover_gaps) {};
	deliver(gaps, 0, 1, 20, 0);
	rover_gaps_lose(gaps, at(0), at(20));
	rover_gaps_resent(gaps, at(0), at(1), at(34), state, 10000);
}

/* A probe, sent at 200000, has overtaken what was sent again before it. */
static void passed_by_probe(void)
{
	struct rover_gaps gaps;

	three(&gaps);
	rover_gaps_lose(&gaps, at(0), at(20));
	rover_gaps_resent(&gaps, at(0), at(5), at(34), ROVER_GAP_RESENT, 10000);
	rover_gaps_resent(&gaps, at(5), at(7), at(34), ROVER_GAP_RESENT, 200000);
	rover_gaps_resent(&gaps, at(20), at(32), at(34), ROVER_GAP_ASKED, 10000);
	rover_gaps_overtake(&gaps, 200000, 300000);
	is(&gaps, "W0-4 R5-6 L7-9 L12-17 W20-31 | 34",
	   "a probe has overtaken what was sent again or asked for earlier");
	ktap_eq(rover_gaps_expire(&gaps, 300000, 1000, 0), 301000,
		"what a probe has overtaken waits from now on");
	rover_gaps_free(&gaps);
}

/* The peer answers what it was asked for in order. */
static void asked_in_order(void)
{
	struct rover_gaps gaps;

	three(&gaps);
	rover_gaps_resent(&gaps, at(12), at(32), at(34), ROVER_GAP_ASKED, 10000);
	deliver(&gaps, 0, 12, 14, 20000);
	is(&gaps, "W0-9 A14-17 A20-31 | 34", "asked: the next answer");
	deliver(&gaps, 0, 24, 25, 30000);
	is(&gaps, "W0-9 W14-17 W20-23 A25-31 | 34",
	   "asked: an answer passes those before");
	rover_gaps_free(&gaps);
}

static void resent_is_passed(void)
{
	struct rover_gaps gaps;

	resend_one(&gaps, ROVER_GAP_RESENT);
	deliver(&gaps, 0, 20, 34, 20000);
	ktap_eq(rover_gaps_expire(&gaps, 90000, 100, 100), 0, "in flight again: passed by none");
	is(&gaps, "R0-0 | 34", "in flight again: older ones do not pass it");
	deliver(&gaps, 0, 34, 35, 90000);
	ktap_eq(rover_gaps_expire(&gaps, 91000, 1000, 100000), 110000,
		"in flight again: passed by a new one sooner than possible");
	is(&gaps, "R0-0 | 35", "in flight again: passed by a new one sooner than possible");
	ktap_eq(rover_gaps_expire(&gaps, 110000, 1000, 100000), 111000,
		"in flight again: passed by a new one");
	is(&gaps, "W0-0 | 35", "in flight again: passed by a new one, waits");
	ktap_eq(rover_gaps_expire(&gaps, 111000, 1000, 100000), 0, "in flight again: waited");
	is(&gaps, "L0-0 | 35", "in flight again: lost again");
	rover_gaps_free(&gaps);
}

static void asked_is_passed(void)
{
	struct rover_gaps gaps;

	resend_one(&gaps, ROVER_GAP_ASKED);
	deliver(&gaps, 0, 20, 34, 20000);
	rover_gaps_expire(&gaps, 90000, 0, 0);
	is(&gaps, "A0-0 | 34", "asked: older ones do not pass it");
	deliver(&gaps, 0, 34, 35, 90000);
	rover_gaps_expire(&gaps, 91000, 0, 0);
	is(&gaps, "L0-0 | 35", "asked: a new one does");
	rover_gaps_free(&gaps);
}

static void resent_by_resent(void)
{
	struct rover_gaps gaps;

	three(&gaps);
	rover_gaps_lose(&gaps, at(0), at(34));
	rover_gaps_resent(&gaps, at(0), at(10), at(34), ROVER_GAP_RESENT, 10000);
	rover_gaps_resent(&gaps, at(12), at(18), at(34), ROVER_GAP_RESENT, 10000);
	rover_gaps_resent(&gaps, at(20), at(32), at(34), ROVER_GAP_ASKED, 10000);
	deliver(&gaps, 0, 14, 15, 20000);
	rover_gaps_expire(&gaps, 30000, 1000000, 0);
	is(&gaps, "W0-9 W12-13 R15-17 A20-31 | 34",
	   "in flight again: passed by those resent later, and only they");
	/* The next round: sent in PSN order again. */
	rover_gaps_expire(&gaps, 1000000, 1000, 0);
	rover_gaps_expire(&gaps, 1001000, 1000, 0);
	is(&gaps, "L0-9 L12-13 R15-17 A20-31 | 34", "in flight again: lost again");
	rover_gaps_resent(&gaps, at(0), at(10), at(36), ROVER_GAP_RESENT, 2000000);
	deliver(&gaps, 0, 16, 17, 3000000);
	rover_gaps_expire(&gaps, 3000000, 1000, 0);
	is(&gaps, "R0-9 L12-13 W15-15 R17-17 A20-31 | 34",
	   "in flight again: not passed by those of the round before");
	rover_gaps_ack(&gaps, at(10), 3000000);
	rover_gaps_expire(&gaps, 3000000, 1000000, 0);
	is(&gaps, "L12-13 W15-15 W17-17 A20-31 | 34",
	   "in flight again: an ACK of one resent later passes");
	rover_gaps_free(&gaps);
}

static void late(void)
{
	struct rover_gaps gaps;

	three(&gaps);
	deliver(&gaps, 0, 0, 1, 1500);
	ktap_eq(gaps.late, 500, "lateness: filled by itself");
	deliver(&gaps, 0, 13, 14, 2100);
	ktap_eq(gaps.late, 500, "lateness: the most counts");
	rover_gaps_ack(&gaps, at(13), 9000);
	ktap_eq(gaps.late, 8000, "lateness: acknowledged");
	gaps.late = 0;
	rover_gaps_lose(&gaps, at(13), at(34));
	deliver(&gaps, 13, 14, 20, 99000);
	rover_gaps_resent(&gaps, at(20), at(32), at(34), ROVER_GAP_RESENT, 99000);
	deliver(&gaps, 13, 20, 32, 199000);
	ktap_eq(gaps.late, 0, "lateness: not those that were lost or resent");
	rover_gaps_free(&gaps);
}

/* Room ***********************************************************************/

static void grows(void)
{
	struct rover_gaps gaps = {};
	int err = 0, n;
	u32 high;

	for (n = 0; n < 2 * ROVER_GAPS_MAX; n++) {
		high = gaps.high;
		err = deliver(&gaps, 0, 2 * n + 1, 2 * n + 2, n);
		if (err < 0)
			break;
		/* One place is kept for a split. */
		if (n + 2 == ROVER_GAPS_FEW)
			ktap_ok(gaps.list == gaps.few && !unit_allocs,
				"room: a few need no allocation");
	}
	ktap_eq(err, -ENOMEM, "room: an end");
	ktap_ok(n >= ROVER_GAPS_MAX - 2 && n <= ROVER_GAPS_MAX, "room: for many (%d)", n);
	ktap_eq(unit_allocs, 1, "room: one allocation");
	ktap_ok(gap_sound(&gaps), "room: all in order");
	ktap_eq(gaps.num, n, "room: what fails adds no gap");
	ktap_eq(gaps.high, high, "room: what fails moves nothing");
	rover_gaps_ack(&gaps, at(101), 0);
	ktap_eq(deliver(&gaps, 101, 8000, 8001, 0), 1, "room: again after an ACK");
	ktap_ok(gap_sound(&gaps), "room: all in order after an ACK");
	rover_gaps_lose(&gaps, at(101), at(9000));
	ktap_ok(gap_sound(&gaps) && gaps.lost == gaps.missing, "room: all lost");
	rover_gaps_free(&gaps);
	ktap_eq(unit_allocs, 0, "room: all is freed");
	is(&gaps, "", "free: no gap is left");
	three(&gaps);
	is(&gaps, "W0-9 W12-17 W20-31 | 34", "free: may be used again");
	rover_gaps_free(&gaps);
}

static void no_memory(void)
{
	struct rover_gaps gaps = {};

	unit_alloc_fails = true;
	for (int n = 0; n < ROVER_GAPS_FEW - 1; n++)
		deliver(&gaps, 0, 10 * n + 8, 10 * n + 10, 0);
	is(&gaps, "W0-7 W10-17 W20-27 | 30", "no memory: a few are remembered");
	if (deliver(&gaps, 0, 38, 40, 0) < 0)
		is(&gaps, "W0-7 W10-17 W20-27 | 30", "no memory: nothing is noted");
	rover_gaps_pass(&gaps, at(0), at(38), 0);
	deliver(&gaps, 0, 38, 40, 0);
	ktap_ok(gaps.num == ROVER_GAPS_FEW && gap_sound(&gaps), "no memory: four");
	ktap_eq(deliver(&gaps, 0, 48, 50, 0), -ENOMEM, "no memory: no fifth");
	ktap_eq(rover_gaps_pass(&gaps, at(0), at(48), 0), -ENOMEM, "no memory: no pass");
	ktap_eq(deliver(&gaps, 0, 13, 14, 0), -ENOMEM, "no memory: no split");
	is(&gaps, "W0-7 W10-17 W20-27 W30-37 | 38", "no memory: as before");
	rover_gaps_resent(&gaps, at(0), at(8), at(40), ROVER_GAP_RESENT, 0);
	is(&gaps, "R0-7 W10-17 W20-27 W30-37 | 38", "no memory: resent, a whole gap");
	rover_gaps_lose(&gaps, at(0), at(50));
	is(&gaps, "L0-49 | 50", "no memory: lose all");
	rover_gaps_free(&gaps);
	unit_alloc_fails = false;
}

static const char *frozen;

static void freeze(int sig)
{
	(void)sig;
	printf("# %s does not end\nnot ok 999 %s\n", frozen, frozen);
	fflush(stdout);
	_exit(1);
}

/* A part of a gap is sent again, and there is no room to split it. */
static void no_memory_to_split(void)
{
	struct rover_gaps gaps = {};

	unit_alloc_fails = true;
	deliver(&gaps, 0, 8, 10, 0);
	deliver(&gaps, 0, 18, 20, 0);
	deliver(&gaps, 0, 28, 30, 0);
	rover_gaps_lose(&gaps, at(0), at(30));
	frozen = "no memory: resent, a part of a gap";
	alarm(10);
	rover_gaps_resent(&gaps, at(0), at(3), at(30), ROVER_GAP_RESENT, 0);
	is(&gaps, "R0-7 L10-17 L20-27 | 30", frozen);
	rover_gaps_resent(&gaps, at(12), at(13), at(30), ROVER_GAP_RESENT, 0);
	is(&gaps, "R0-7 R10-17 L20-27 | 30", "no memory: resent, the middle");
	rover_gaps_resent(&gaps, at(15), at(22), at(30), ROVER_GAP_ASKED, 0);
	is(&gaps, "R0-7 A10-17 A20-27 | 30", "no memory: resent, parts of two");
	alarm(0);
	rover_gaps_free(&gaps);
	unit_alloc_fails = false;
}

int main(void)
{
	signal(SIGALRM, freeze);
	delivered();
	passed();
	acknowledged();
	found();
	lost();
	resent();
	waits();
	passed_by_probe();
	asked_in_order();
	resent_is_passed();
	asked_is_passed();
	resent_by_resent();
	late();
	grows();
	no_memory();
	no_memory_to_split();
	return ktap_done();
}
