/* SPDX-License-Identifier: GPL-2.0 */
/* timer - timers of a queue pair: ACK timeout and RNR wait, pacing */
#ifndef ROVER_TIMER_H
#define ROVER_TIMER_H

#include "qp/qp.h"

/**
 * rover_timer_init() - set up the timers
 * @qp: being created
 */
void rover_timer_init(struct rover_qp *qp);

/**
 * rover_timer_stop() - stop the timers and wait for them
 * @qp: cannot arm them again
 * Context: process, no lock held.
 */
void rover_timer_stop(struct rover_qp *qp);

#endif /* ROVER_TIMER_H */
