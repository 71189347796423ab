/* SPDX-License-Identifier: GPL-2.0 */
/* run - run a queue pair until it has nothing to do */
#ifndef ROVER_RUN_H
#define ROVER_RUN_H

#include "qp/qp.h"

/**
 * rover_run() - do the work of the work bits
 * @qp: found under RCU or referenced
 *
 * Bounded: the rest is kicked or goes to a worker.
 *
 * Context: process or softirq, interrupts on; does not sleep.
 */
void rover_run(struct rover_qp *qp);

/**
 * rover_run_turn() - do one turn of rover_run() here
 * @qp: found under RCU or referenced
 * Context: process, softirqs on.
 * Return: false if there was nothing to do here.
 */
bool rover_run_turn(struct rover_qp *qp);

/**
 * rover_run_flush() - flush all requests posted so far
 * @qp: alive; its state demands a flush of one ring or both
 * Context: process, may sleep; ctl held.
 */
void rover_run_flush(struct rover_qp *qp);

/**
 * rover_run_posted() - run after a post to the send ring
 * @qp: found under RCU or referenced
 * Context: any; only kicks with interrupts off.
 */
void rover_run_posted(struct rover_qp *qp);

/**
 * rover_run_receives() - tell a waiting peer that receives were posted
 * @qp: found under RCU or referenced
 *
 * Does not run the requester, which could overtake the poller's packets.
 *
 * Context: any; only kicks with interrupts off.
 */
void rover_run_receives(struct rover_qp *qp);

/* Callback of rover_kick_init(). */
void rover_run_kicked(struct rover_kick *kick);

#endif /* ROVER_RUN_H */
