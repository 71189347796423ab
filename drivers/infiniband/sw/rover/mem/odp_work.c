// SPDX-License-Identifier: GPL-2.0
/*
 * odp_work - threads that page in user memory
 *
 * Each process with ODP regions has a workqueue, found by its mm.  Its own
 * threads may drop the last reference: odp_work_destroy_wq destroys it.
 */
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "mem/odp_work.h"

/* Per process: keeps a disk busy with PAGES_AT_ONCE each. */
#define ODP_WORK_THREADS	16

/**
 * struct rover_odp_work - threads of one process
 * @node: in odp_work_table
 * @mm: only compared
 * @refs: drops to 0 under odp_work_lock
 * @wq: high priority: packets wait for it
 * @destroy_work: frees this object
 */
struct rover_odp_work {
	struct hlist_node node;
	const struct mm_struct *mm;
	refcount_t refs;
	struct workqueue_struct *wq;
	struct work_struct destroy_work;
};

/* Protects odp_work_table. */
static DEFINE_MUTEX(odp_work_lock);
static DEFINE_HASHTABLE(odp_work_table, 6);

static atomic_t odp_work_unfreed;

static struct workqueue_struct *odp_work_destroy_wq;

static void odp_work_destroy(struct work_struct *work)
{
	struct rover_odp_work *pool = container_of(work, struct rover_odp_work,
						   destroy_work);

	destroy_workqueue(pool->wq);
	kfree(pool);
	if (atomic_dec_and_test(&odp_work_unfreed))
		wake_up_var(&odp_work_unfreed);
}

static struct rover_odp_work *odp_work_find(const struct mm_struct *mm)
{
	struct rover_odp_work *pool;

	hash_for_each_possible(odp_work_table, pool, node, (unsigned long)mm)
		if (pool->mm == mm)
			return pool;
	return NULL;
}

static struct rover_odp_work *odp_work_create(const struct mm_struct *mm)
{
	struct rover_odp_work *pool = kzalloc_obj(*pool, GFP_KERNEL_ACCOUNT);

	if (!pool)
		return NULL;
	pool->wq = alloc_workqueue("rover_odp/%d", WQ_UNBOUND | WQ_HIGHPRI,
				   ODP_WORK_THREADS, task_tgid_nr(current));
	if (!pool->wq) {
		kfree(pool);
		return NULL;
	}
	pool->mm = mm;
	refcount_set(&pool->refs, 1);
	INIT_WORK(&pool->destroy_work, odp_work_destroy);
	hash_add(odp_work_table, &pool->node, (unsigned long)mm);
	atomic_inc(&odp_work_unfreed);
	return pool;
}

struct rover_odp_work *rover_odp_work_get(void)
{
	struct rover_odp_work *pool;

	mutex_lock(&odp_work_lock);
	pool = odp_work_find(current->mm);
	if (pool)
		refcount_inc(&pool->refs);
	else
		pool = odp_work_create(current->mm);
	mutex_unlock(&odp_work_lock);
	return pool;
}

void rover_odp_work_put(struct rover_odp_work *pool)
{
	if (!refcount_dec_and_mutex_lock(&pool->refs, &odp_work_lock))
		return;
	hash_del(&pool->node);
	mutex_unlock(&odp_work_lock);
	queue_work(odp_work_destroy_wq, &pool->destroy_work);
}

void rover_odp_work_queue(struct rover_odp_work *pool, struct work_struct *work)
{
	queue_work(pool->wq, work);
}

int rover_odp_work_init(void)
{
	odp_work_destroy_wq = alloc_workqueue("rover_odp", WQ_UNBOUND, 0);
	return odp_work_destroy_wq ? 0 : -ENOMEM;
}

void rover_odp_work_exit(void)
{
	/* The last page-ins may outlive regions and queue pairs. */
	wait_var_event(&odp_work_unfreed, !atomic_read(&odp_work_unfreed));
	/* Waits for the work that counted down to zero, too. */
	destroy_workqueue(odp_work_destroy_wq);
}
