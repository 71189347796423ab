/* SPDX-License-Identifier: GPL-2.0 */
/* poller - poll the send rings of streams */
#ifndef ROVER_POLLER_H
#define ROVER_POLLER_H

#include "qp/qp.h"

/**
 * rover_poller_doorbell() - leave a stream's doorbell to the poller
 * @qp: found under RCU, work bits set
 * Context: process, under rcu_read_lock().
 * Return: false if the caller is to run @qp.
 */
bool rover_poller_doorbell(struct rover_qp *qp);

/**
 * rover_poller_posted() - leave a kernel QP's post to the poller
 * @qp: post counted by rover_poll_adapt_post()
 * Context: any.
 * Return: false if the caller is to run @qp.
 */
bool rover_poller_posted(struct rover_qp *qp);

/**
 * rover_poller_init() - set up at module load
 */
void rover_poller_init(void);

/**
 * rover_poller_exit() - stop at module unload, without queue pairs
 */
void rover_poller_exit(void);

#endif /* ROVER_POLLER_H */
