/* SPDX-License-Identifier: GPL-2.0 */
/*
 * run - run a queue pair until it has nothing to do
 */
#ifndef ROVER_RUN_H
#define ROVER_RUN_H

#include "qp/qp.h"

/**
 * rover_run() - do what the work bits say
 * @qp: found under RCU or referenced
 *
 * Sends what may be sent, goes on with READ responses, flushes a queue pair in
 * error.  When another context holds a lock it does the work instead, before
 * it leaves.  Bounded: what is left over is kicked, and a
 * long flush goes to a thread.
 *
 * Context: process or softirq, interrupts on; does not sleep.
 */
void rover_run(struct rover_qp *qp);

/**
 * rover_run_turn() - a part of the same, which is not given to another context
 * @qp: found under RCU or referenced
 *
 * Context: process, softirqs on.
 * Return: false when there was nothing to do, or another context is at it.
 */
bool rover_run_turn(struct rover_qp *qp);

/**
 * rover_run_flush() - flush all that is posted by now
 * @qp: alive; its state demands a flush, of one ring or both
 *
 * In portions, with softirqs on between them; other contexts may flush some of them
 * meanwhile, in the same order.
 *
 * Context: process, may sleep; ctl held.
 */
void rover_run_flush(struct rover_qp *qp);

/**
 * rover_run_posted() - something was posted to the send ring
 * @qp: found under RCU or referenced
 *
 * Context: any; with interrupts off it only kicks.
 */
void rover_run_posted(struct rover_qp *qp);

/**
 * rover_run_receives() - receives were posted that the peer waits for: tell it
 * @qp: found under RCU or referenced
 *
 * Nothing is sent from the send ring: what another processor sends from there (poller)
 * would be passed.
 *
 * Context: any; with interrupts off it only kicks.
 */
void rover_run_receives(struct rover_qp *qp);

/* What kick calls for each queue pair that was kicked. */
void rover_run_kicked(struct rover_kick *kick);

#endif /* ROVER_RUN_H */
