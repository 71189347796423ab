/* SPDX-License-Identifier: GPL-2.0 */
/* run - run a queue pair until it has nothing to do */
#ifndef ROVER_RUN_H
#define ROVER_RUN_H

#include "qp/qp.h"

/**
 * rover_run() - do the work of the work bits
 * @qp: found under RCU or referenced
 *
 * Sends, continues READ responses, flushes in error. Another context that holds
 * a lock does the work instead before it leaves. Bounded: the rest is kicked,
 * and a long flush goes to a worker.
 *
 * Context: process or softirq, interrupts on; does not sleep.
 */
void rover_run(struct rover_qp *qp);

/**
 * rover_run_turn() - one turn of rover_run(), never moved elsewhere
 * @qp: found under RCU or referenced
 *
 * Context: process, softirqs on.
 * Return: false if there was nothing to do, or another context does it.
 */
bool rover_run_turn(struct rover_qp *qp);

/**
 * rover_run_flush() - flush all requests posted so far
 * @qp: alive; its state demands a flush of one ring or both
 *
 * In portions, with softirqs on in between; other contexts may flush some, in
 * the same order.
 *
 * Context: process, may sleep; ctl held.
 */
void rover_run_flush(struct rover_qp *qp);

/**
 * rover_run_posted() - run after a post to the send ring
 * @qp: found under RCU or referenced
 *
 * Context: any; with interrupts off it only kicks.
 */
void rover_run_posted(struct rover_qp *qp);

/**
 * rover_run_receives() - tell a waiting peer that receives were posted
 * @qp: found under RCU or referenced
 *
 * Does not run the requester, which could pass packets of the poller's CPU.
 *
 * Context: any; with interrupts off it only kicks.
 */
void rover_run_receives(struct rover_qp *qp);

/* Callback of kick for each kicked queue pair. */
void rover_run_kicked(struct rover_kick *kick);

#endif /* ROVER_RUN_H */
