/* SPDX-License-Identifier: GPL-2.0 */
/*
 * poller - look at a ring again, without being told
 */
#ifndef ROVER_POLLER_H
#define ROVER_POLLER_H

#include "qp/qp.h"

/**
 * rover_poller_takes() - a program rings the doorbell: is it one of a stream?
 * @qp: found under RCU, work bits set
 *
 * Then the queue pair is run soon, and its ring is looked at from time to time
 * until nothing more is posted; meanwhile the program need not ring.
 *
 * Context: process, under rcu_read_lock().
 * Return: false when the caller is to run it.
 */
bool rover_poller_takes(struct rover_qp *qp);

/**
 * rover_poller_posted() - a kernel user has posted sends: are they of a stream?
 * @qp: its posts are counted
 *
 * Context: any.
 * Return: false when the caller is to run it.
 */
bool rover_poller_posted(struct rover_qp *qp);

/**
 * rover_poller_init() - at module load
 */
void rover_poller_init(void);

/**
 * rover_poller_exit() - at module unload, after the last queue pair
 */
void rover_poller_exit(void);

#endif /* ROVER_POLLER_H */
