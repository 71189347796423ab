/* SPDX-License-Identifier: GPL-2.0 */
/* plug - share trains between queue pairs */
#ifndef ROVER_PLUG_H
#define ROVER_PLUG_H

#include "tx/train.h"

/**
 * rover_plug_start() - let small packets wait
 * Context: softirqs off until rover_plug_finish().
 */
void rover_plug_start(void);

/**
 * rover_plug_finish() - send the waiting train
 * Context: as for rover_plug_start(), no queue pair's lock held.
 */
void rover_plug_finish(void);

/**
 * rover_plug_begin() - begin a train, or continue the waiting one
 * @train: train
 * @qp: sender
 * @ip_id: counter of IPv4 identifications
 * @max: most packets; below ROVER_TRAIN_MAX it is not shared
 * Context: queue pair's lock held.
 */
void rover_plug_begin(struct rover_train *train, struct rover_qp *qp,
		      u16 *ip_id, unsigned int max);

/**
 * rover_plug_send() - send a train, or let it wait
 * @train: may be empty; is empty afterwards
 * Context: queue pair's lock held.
 */
void rover_plug_send(struct rover_train *train);

#endif /* ROVER_PLUG_H */
