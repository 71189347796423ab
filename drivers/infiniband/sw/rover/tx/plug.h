/* SPDX-License-Identifier: GPL-2.0 */
/*
 * plug - what several queue pairs send in one go leaves in one train
 */
#ifndef ROVER_PLUG_H
#define ROVER_PLUG_H

#include "tx/train.h"

/**
 * rover_plug_start() - queue pairs are about to be run one after the other
 *
 * Until rover_plug_finish() small packets may wait here for those of others.
 *
 * Context: softirqs off, and they stay so.
 */
void rover_plug_start(void);

/**
 * rover_plug_finish() - that was all; what waits is sent
 *
 * Context: as for rover_plug_start(), no queue pair's lock held.
 */
void rover_plug_finish(void);

/**
 * rover_plug_begin() - a train, perhaps one that others have begun
 * @train: as for rover_train_begin()
 * @qp: as for rover_train_begin()
 * @ip_id: as for rover_train_begin()
 * @max: as for rover_train_begin(); who may send fewer than ROVER_TRAIN_MAX goes alone
 *
 * Context: the queue pair's lock held, softirqs off.
 */
void rover_plug_begin(struct rover_train *train, struct rover_qp *qp,
		      u16 *ip_id, unsigned int max);

/**
 * rover_plug_send() - off it goes, or it waits for others
 * @train: begun with rover_plug_begin(); may be empty, and is so afterwards
 *
 * Context: the queue pair's lock held, softirqs off.
 */
void rover_plug_send(struct rover_train *train);

#endif /* ROVER_PLUG_H */
