/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cc - congestion control
 *
 * Reports events to the algorithm of a queue pair (rover_cc_ops), which sets
 * cc.packets, cc.train and the rate (pace).
 */
#ifndef ROVER_CC_H
#define ROVER_CC_H

#include <linux/jiffies.h>

#include "qp/qp.h"

struct rover_cc_ops;

/* Without packets in flight for so long, a queue pair is idle. */
#define ROVER_CC_IDLE	(HZ / 2)

/* Events; tx_lock held. */

/* A connection starts; its path MTU is known. */
void rover_cc_init(struct rover_qp *qp);
void rover_cc_acked(struct rover_qp *qp, u32 packets);
/* A packet sent once was acknowledged after @rtt ns. */
void rover_cc_rtt_sample(struct rover_qp *qp, u64 rtt, u64 now);
/* A flight is going to have losses, which rover_cc_undo() may take back. */
void rover_cc_flight(struct rover_qp *qp);
/* @lost packets were found missing. */
void rover_cc_lost(struct rover_qp *qp, u32 lost, u64 now);
/* The losses of this flight were none. */
void rover_cc_undo(struct rover_qp *qp);
/* Packets were ECN-marked; @cnp: a CNP has come, or one is due. */
void rover_cc_marked(struct rover_qp *qp, bool cnp);
/* Before a test of the rate, which changes with time. */
void rover_cc_tick(struct rover_qp *qp);
/* The queue pair was idle for a while: what it knows is old. */
void rover_cc_idle(struct rover_qp *qp);
/* Send a single packet next. */
void rover_cc_probe(struct rover_qp *qp);

/**
 * rover_cc_find() - find an algorithm
 * @name: its name
 * Return: NULL if there is none.
 */
const struct rover_cc_ops *rover_cc_find(const char *name);

/* Return the name of an algorithm. */
const char *rover_cc_name(const struct rover_cc_ops *ops);

/**
 * rover_cc_names() - list all algorithms
 * @buf: for their names, separated by spaces
 * @size: its bytes
 */
void rover_cc_names(char *buf, size_t size);

/* That of new namespaces */
extern const struct rover_cc_ops * const rover_cc_default;

/* Set the knobs to their defaults; new connections follow the namespace. */
void rover_cc_config_init(struct rover_cc_config *config);

/**
 * rover_cc_is_idle() - test whether to call rover_cc_idle()
 * @qp: about to send; tx_lock held
 */
static inline bool rover_cc_is_idle(const struct rover_qp *qp)
{
	return !rover_qp_inflight(qp) &&
	       unlikely((u32)jiffies - qp->cc.active > ROVER_CC_IDLE);
}

#endif /* ROVER_CC_H */
