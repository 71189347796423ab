/* SPDX-License-Identifier: GPL-2.0 */
/*
 * odp_pool - threads that page in user memory
 *
 * A page-in may hang, as on a dead file server.  So each process has its own
 * threads, limited in number.
 */
#ifndef ROVER_ODP_POOL_H
#define ROVER_ODP_POOL_H

#include <linux/workqueue.h>

struct rover_odp_pool;

/**
 * rover_odp_pool_get() - get the threads of the calling process
 *
 * Its mm must outlive them.
 * Context: process, the owner; sleeps.
 * Return: referenced; NULL if out of memory.
 */
struct rover_odp_pool *rover_odp_pool_get(void);

/**
 * rover_odp_pool_put() - drop a reference
 * @pool: its work may be queued, or call this
 * Context: process; sleeps.
 */
void rover_odp_pool_put(struct rover_odp_pool *pool);

/**
 * rover_odp_pool_queue() - run work that packets wait for
 * @pool: referenced
 * @work: not queued
 * Context: any.
 */
void rover_odp_pool_queue(struct rover_odp_pool *pool, struct work_struct *work);

/**
 * rover_odp_pool_queue_advice() - run work that nobody waits for
 * @pool: referenced
 * @work: not queued
 * Context: any.
 */
void rover_odp_pool_queue_advice(struct rover_odp_pool *pool,
				 struct work_struct *work);

/**
 * rover_odp_pool_init() - initialise at module load
 * Return: 0 or -ENOMEM.
 */
int rover_odp_pool_init(void);

/**
 * rover_odp_pool_exit() - wait for all threads at module unload
 */
void rover_odp_pool_exit(void);

#endif /* ROVER_ODP_POOL_H */
