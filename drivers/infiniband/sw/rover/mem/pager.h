/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pager - the threads that bring a program's pages in
 *
 * Pages may take their time, or never come: those of a file whose server is dead,
 * or is the program itself.  So each program has threads of its own to wait for
 * them: few enough for a host to bear, and in nobody else's way.
 */
#ifndef ROVER_PAGER_H
#define ROVER_PAGER_H

#include <linux/workqueue.h>

struct rover_pager;

/**
 * rover_pager_get() - of the program that calls
 *
 * The same one for all its regions.  Its mm is to be there as long as it is used.
 *
 * Context: process, of the program; sleeps.
 * Return: referenced; NULL without memory.
 */
struct rover_pager *rover_pager_get(void);

/**
 * rover_pager_put() - not needed any more
 * @pager: referenced; what was queued may be under way, and may be what calls
 *
 * Context: process; sleeps.
 */
void rover_pager_put(struct rover_pager *pager);

/**
 * rover_pager_queue() - have a thread do this
 * @pager: referenced
 * @work: not queued
 *
 * Context: any.
 */
void rover_pager_queue(struct rover_pager *pager, struct work_struct *work);

/**
 * rover_pager_init() - at module load
 *
 * Return: 0 or -ENOMEM.
 */
int rover_pager_init(void);

/**
 * rover_pager_exit() - at module unload: wait for all threads
 */
void rover_pager_exit(void);

#endif /* ROVER_PAGER_H */
