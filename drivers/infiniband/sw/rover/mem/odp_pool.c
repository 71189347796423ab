// SPDX-License-Identifier: GPL-2.0
/*
 * odp_pool - threads that page in user memory
 *
 * Each process with ODP regions has two workqueues, found by its mm.  Its own
 * threads may drop the last reference: odp_pool_destroy_wq destroys them.
 */
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "mem/odp_pool.h"

/* Per process: keeps a disk busy with PAGES_AT_ONCE each. */
#define ODP_WORK_THREADS	16

/* Likewise, for advice. */
#define ODP_ADVICE_THREADS	4

/**
 * struct rover_odp_pool - threads of one process
 * @node: in odp_pool_table
 * @mm: only compared
 * @refs: drops to 0 under odp_pool_lock
 * @wq: high priority: packets wait for it
 * @advice_wq: normal priority; long advice does not delay @wq
 * @destroy_work: frees this object
 */
struct rover_odp_pool {
	struct hlist_node node;
	const struct mm_struct *mm;
	refcount_t refs;
	struct workqueue_struct *wq;
	struct workqueue_struct *advice_wq;
	struct work_struct destroy_work;
};

/* Protects odp_pool_table. */
static DEFINE_MUTEX(odp_pool_lock);
static DEFINE_HASHTABLE(odp_pool_table, 6);

static atomic_t odp_pool_unfreed;

static struct workqueue_struct *odp_pool_destroy_wq;

static void odp_pool_destroy(struct work_struct *work)
{
	struct rover_odp_pool *pool = container_of(work, struct rover_odp_pool,
						   destroy_work);

	destroy_workqueue(pool->advice_wq);
	destroy_workqueue(pool->wq);
	kfree(pool);
	if (atomic_dec_and_test(&odp_pool_unfreed))
		wake_up_var(&odp_pool_unfreed);
}

static struct rover_odp_pool *odp_pool_find(const struct mm_struct *mm)
{
	struct rover_odp_pool *pool;

	hash_for_each_possible(odp_pool_table, pool, node, (unsigned long)mm)
		if (pool->mm == mm)
			return pool;
	return NULL;
}

static struct rover_odp_pool *odp_pool_create(const struct mm_struct *mm)
{
	struct rover_odp_pool *pool = kzalloc_obj(*pool, GFP_KERNEL_ACCOUNT);

	if (!pool)
		return NULL;
	pool->wq = alloc_workqueue("rover_odp/%d", WQ_UNBOUND | WQ_HIGHPRI,
				   ODP_WORK_THREADS, task_tgid_nr(current));
	if (!pool->wq)
		goto err_pool;
	pool->advice_wq = alloc_workqueue("rover_advice/%d", WQ_UNBOUND,
					  ODP_ADVICE_THREADS,
					  task_tgid_nr(current));
	if (!pool->advice_wq)
		goto err_wq;
	pool->mm = mm;
	refcount_set(&pool->refs, 1);
	INIT_WORK(&pool->destroy_work, odp_pool_destroy);
	hash_add(odp_pool_table, &pool->node, (unsigned long)mm);
	atomic_inc(&odp_pool_unfreed);
	return pool;

err_wq:
	destroy_workqueue(pool->wq);
err_pool:
	kfree(pool);
	return NULL;
}

struct rover_odp_pool *rover_odp_pool_get(void)
{
	struct rover_odp_pool *pool;

	mutex_lock(&odp_pool_lock);
	pool = odp_pool_find(current->mm);
	if (pool)
		refcount_inc(&pool->refs);
	else
		pool = odp_pool_create(current->mm);
	mutex_unlock(&odp_pool_lock);
	return pool;
}

void rover_odp_pool_put(struct rover_odp_pool *pool)
{
	if (!refcount_dec_and_mutex_lock(&pool->refs, &odp_pool_lock))
		return;
	hash_del(&pool->node);
	mutex_unlock(&odp_pool_lock);
	queue_work(odp_pool_destroy_wq, &pool->destroy_work);
}

void rover_odp_pool_queue(struct rover_odp_pool *pool, struct work_struct *work)
{
	queue_work(pool->wq, work);
}

void rover_odp_pool_queue_advice(struct rover_odp_pool *pool,
				 struct work_struct *work)
{
	queue_work(pool->advice_wq, work);
}

int rover_odp_pool_init(void)
{
	odp_pool_destroy_wq = alloc_workqueue("rover_odp", WQ_UNBOUND, 0);
	return odp_pool_destroy_wq ? 0 : -ENOMEM;
}

void rover_odp_pool_exit(void)
{
	/* The last page-ins may outlive regions and queue pairs. */
	wait_var_event(&odp_pool_unfreed, !atomic_read(&odp_pool_unfreed));
	/* Waits for the work that counted down to zero, too. */
	destroy_workqueue(odp_pool_destroy_wq);
}
