/* SPDX-License-Identifier: GPL-2.0 */
/*
 * odp_work - the threads that bring a program's pages in
 *
 * Pages may take their time, or never come: those of a file whose server is dead,
 * or is the program itself.  So each program has threads of its own to wait for
 * them: few enough for a host to bear, and in nobody else's way.
 */
#ifndef ROVER_ODP_WORK_H
#define ROVER_ODP_WORK_H

#include <linux/workqueue.h>

struct rover_odp_work;

/**
 * rover_odp_work_get() - of the program that calls
 *
 * The same one for all its regions.  Its mm is to be there as long as it is used.
 *
 * Context: process, of the program; sleeps.
 * Return: referenced; NULL without memory.
 */
struct rover_odp_work *rover_odp_work_get(void);

/**
 * rover_odp_work_put() - not needed any more
 * @pager: referenced; what was queued may be under way, and may be what calls
 *
 * Context: process; sleeps.
 */
void rover_odp_work_put(struct rover_odp_work *pool);

/**
 * rover_odp_work_queue() - have a thread do this
 * @pager: referenced
 * @work: not queued
 *
 * Context: any.
 */
void rover_odp_work_queue(struct rover_odp_work *pool, struct work_struct *work);

/**
 * rover_odp_work_init() - at module load
 *
 * Return: 0 or -ENOMEM.
 */
int rover_odp_work_init(void);

/**
 * rover_odp_work_exit() - at module unload: wait for all threads
 */
void rover_odp_work_exit(void);

#endif /* ROVER_ODP_WORK_H */
