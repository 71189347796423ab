/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gap - missing packets before delivered ones
 *
 * A sender keeps those that it knows of to send them again, a receiver those
 * before packets that it holds (early), to report them.  Gaps are in PSN order,
 * disjoint and not empty.
 */
#ifndef ROVER_GAP_H
#define ROVER_GAP_H

#include <linux/types.h>

/* Gaps without an allocation */
#define ROVER_GAPS_FEW	4
/* Packets whose arrival would make more gaps count as missing. */
#define ROVER_GAPS_MAX	1024

enum rover_gap_state {
	ROVER_GAP_WAIT,		/* perhaps reordered */
	ROVER_GAP_LOST,		/* to be sent again */
	ROVER_GAP_RESENT,	/* in flight again */
	ROVER_GAP_ASKED,	/* the peer has the READ, and has to answer */
};

/**
 * struct rover_gap - consecutive missing packets
 * @psn: first one
 * @end: PSN after the last one
 * @passed: RESENT, ASKED: a packet from here on was first sent later
 * @state: enum rover_gap_state
 * @at: when it got its state, ns
 */
struct rover_gap {
	u32 psn;
	u32 end;
	u32 passed;
	u8 state;
	u64 at;
};

/**
 * struct rover_gaps - all gaps of one direction
 * @list: in PSN order
 * @num: how many; while 0, @high and @resent_* do not count
 * @max: room
 * @high: PSN after the last delivered one
 * @missing: PSNs in gaps
 * @lost: of these, in gaps that are LOST
 * @asked: of these, in gaps that are ASKED
 * @resent_psn: newest resent packet that was delivered: its PSN
 * @resent_passed: its @passed
 * @losses: gaps that became LOST since this was zeroed
 * @late: most ns that a packet came later than one sent after it, since this
 *	was zeroed
 * @late_resent: likewise, most ns that it came after it was sent again, but too
 *	soon for that
 * @least: ns that a resent packet takes at least
 * @few: room for the first
 */
struct rover_gaps {
	struct rover_gap *list;
	u16 num;
	u16 max;
	u32 high;
	u32 missing;
	u32 lost;
	u32 asked;
	u32 resent_psn;
	u32 resent_passed;
	u32 losses;
	u64 late;
	u64 late_resent;
	u64 least;
	struct rover_gap few[ROVER_GAPS_FEW];
};

/**
 * rover_gaps_reset() - forget all gaps
 * @gaps: all zero before the first use
 */
void rover_gaps_reset(struct rover_gaps *gaps);

/* Free memory; @gaps is unused afterwards. */
void rover_gaps_free(struct rover_gaps *gaps);

/**
 * rover_gaps_deliver() - note that packets have arrived
 * @gaps: gaps
 * @una: oldest PSN that has not arrived
 * @psn: first one that has
 * @end: PSN after the last one
 * @now: ns
 * Return: PSNs not known to have arrived before; -ENOMEM if they would leave
 * too many gaps: nothing is noted.
 */
int rover_gaps_deliver(struct rover_gaps *gaps, u32 una, u32 psn, u32 end,
		       u64 now);

/**
 * rover_gaps_pass() - note that a later packet than those before @psn is there
 * @gaps: gaps
 * @una: oldest PSN that has not arrived
 * @psn: PSN
 * @now: ns
 * Return: 0, or -ENOMEM: nothing is noted.
 */
int rover_gaps_pass(struct rover_gaps *gaps, u32 una, u32 psn, u64 now);

/**
 * rover_gaps_overtake() - note that a packet sent at @sent_at has arrived
 * @gaps: gaps
 * @sent_at: ns; packets sent again or asked for before may be lost again
 * @now: ns
 */
void rover_gaps_overtake(struct rover_gaps *gaps, u64 sent_at, u64 now);

/* All packets before @una have arrived at @now or earlier. */
void rover_gaps_ack(struct rover_gaps *gaps, u32 una, u64 now);

/**
 * rover_gaps_lose() - note packets to be sent again
 * @gaps: gaps
 * @una: oldest PSN that has not arrived
 * @end: PSN after the last packet not delivered that counts as lost
 */
void rover_gaps_lose(struct rover_gaps *gaps, u32 una, u32 end);

/**
 * rover_gaps_expire() - find lost packets
 * @gaps: gaps
 * @now: ns
 * @reorder: ns that a packet may come later than one sent after it
 * @least: ns that a resent packet takes at least
 * Return: when to call again; 0 if no gap waits.
 */
u64 rover_gaps_expire(struct rover_gaps *gaps, u64 now, u64 reorder, u64 least);

/**
 * rover_gaps_lost() - return the first packet to be sent again
 * @gaps: with lost packets
 */
u32 rover_gaps_lost(const struct rover_gaps *gaps);

/**
 * rover_gaps_left() - return how many packets to send again from @psn on
 * @gaps: gaps
 * @psn: PSN
 * Return: 0 if @psn is not LOST.
 */
u32 rover_gaps_left(const struct rover_gaps *gaps, u32 psn);

/**
 * rover_gaps_resent() - note that missing packets are in flight again
 * @gaps: gaps
 * @psn: first one
 * @end: PSN after the last one; those delivered are left out
 * @next: first PSN never sent
 * @state: RESENT or ASKED
 * @now: ns
 */
void rover_gaps_resent(struct rover_gaps *gaps, u32 psn, u32 end, u32 next,
		       enum rover_gap_state state, u64 now);

/**
 * rover_gaps_find() - return the gap that has a PSN
 * @gaps: gaps
 * @psn: PSN
 * Return: NULL if it has arrived, or no later one has.
 */
const struct rover_gap *rover_gaps_find(const struct rover_gaps *gaps, u32 psn);

#endif /* ROVER_GAP_H */
