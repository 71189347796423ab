/* SPDX-License-Identifier: GPL-2.0 */
/*
 * early - packets that arrived before their turn
 *
 * A responder holds requests behind a missing one, a requester responses.  They
 * are executed when those before them have been.  Only a peer that sends
 * nothing but missing packets again gains from it (see Documentation/
 * interop.rst).
 */
#ifndef ROVER_EARLY_H
#define ROVER_EARLY_H

#include <linux/xarray.h>

#include "qp/gap.h"
#include "wire/psn.h"

struct rover_held;
struct rover_packet;
struct rover_qp;

/**
 * struct rover_early - held packets of one side of a queue pair
 * @pkts: struct rover_held, by first PSN
 * @gaps: missing packets before them
 * @expected: those before it are gone
 * @num: how many
 * @bytes: memory they count for
 */
struct rover_early {
	struct xarray pkts;
	struct rover_gaps gaps;
	u32 expected;
	u32 num;
	unsigned long bytes;
};

/**
 * rover_early_init() - initialise, once for a queue pair
 * @early: held packets
 */
void rover_early_init(struct rover_early *early);

/**
 * rover_early_hold() - hold a packet
 * @qp: connected to a peer that retransmits selectively
 * @early: of this side
 * @psn: expected PSN, before that of @pkt
 * @end: PSN after the last one that @pkt takes
 * @pkt: packet
 * Context: lock of this side held, under rcu_read_lock().
 * Return: 0; -EEXIST if it is held already; -ENOBUFS beyond a limit; -ENOMEM.
 */
int rover_early_hold(struct rover_qp *qp, struct rover_early *early, u32 psn,
		     u32 end, const struct rover_packet *pkt);

/**
 * rover_early_reaches() - test whether a packet is near enough to be held
 * @qp: queue pair
 * @psn: expected PSN
 * @end: PSN after the last one that the packet takes
 *
 * Beyond what may be held, a PSN is more likely forged than early.
 */
bool rover_early_reaches(const struct rover_qp *qp, u32 psn, u32 end);

/* Packets to take before other work has its turn */
#define ROVER_EARLY_PORTION	64

/**
 * rover_early_is_ready() - test whether the expected packet is there
 * @early: of this side, after rover_early_take() for PSNs before @psn
 * @psn: expected PSN
 * Context: lock of this side held.
 *
 * This is so while packets behind a closed gap are taken in portions.
 */
static inline bool rover_early_is_ready(const struct rover_early *early, u32 psn)
{
	const struct rover_gaps *gaps = &early->gaps;

	return early->num && (!gaps->num ||
			      rover_psn_diff(gaps->list[0].psn, psn) > 0);
}

/**
 * rover_early_first() - return the PSN of the first held packet
 * @early: of this side
 * @psn: expected PSN
 * Context: lock of this side held.
 * Return: @psn if there is none.
 */
u32 rover_early_first(struct rover_early *early, u32 psn);

/**
 * rover_early_take() - take the expected packet
 * @qp: queue pair
 * @early: of this side
 * @psn: expected PSN
 * Context: lock of this side held.
 * Return: for rover_early_put(); NULL if it is missing.
 */
struct rover_held *rover_early_take(struct rover_qp *qp,
				    struct rover_early *early, u32 psn);

const struct rover_packet *rover_early_packet(const struct rover_held *held);

/* Free a packet. */
void rover_early_put(struct rover_held *held);

/**
 * rover_early_purge() - drop all packets
 * @qp: queue pair
 * @early: of this side
 * Context: lock of this side held.
 */
void rover_early_purge(struct rover_qp *qp, struct rover_early *early);

/**
 * rover_early_reset() - drop all packets and free memory
 * @qp: queue pair
 * @early: of this side; as after rover_early_init()
 * Context: lock of this side held.
 */
void rover_early_reset(struct rover_qp *qp, struct rover_early *early);

#endif /* ROVER_EARLY_H */
