// SPDX-License-Identifier: GPL-2.0
/*
 * odp_work - the threads that bring a program's pages in
 *
 * A workqueue for each program that has memory on demand, found by its mm.  The last
 * who needs it may be one of its own threads, which cannot wait for itself: another
 * one ends it.
 *
 * Process context, but for rover_odp_work_queue().
 */
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "mem/odp_work.h"

/* Of one program: enough to keep a disk busy, with the pages each asks for at once. */
#define THREADS	16

/**
 * struct rover_odp_work - of one program
 * @node: in @pagers
 * @mm: whose; only compared
 * @refs: under @lock when the last one goes, so what is in @pagers has some
 * @threads: wait for disks, and packets wait for them: first of all
 * @end: ends it
 */
struct rover_odp_work {
	struct hlist_node node;
	const struct mm_struct *mm;
	refcount_t refs;
	struct workqueue_struct *threads;
	struct work_struct end;
};

/* Protects @pagers. */
static DEFINE_MUTEX(lock);
static DEFINE_HASHTABLE(pagers, 6);

/* Those that are not freed yet. */
static atomic_t unfreed;

static struct workqueue_struct *enders;

static void end(struct work_struct *work)
{
	struct rover_odp_work *pager = container_of(work, struct rover_odp_work, end);

	destroy_workqueue(pager->threads);
	kfree(pager);
	if (atomic_dec_and_test(&unfreed))
		wake_up_var(&unfreed);
}

static struct rover_odp_work *find(const struct mm_struct *mm)
{
	struct rover_odp_work *pager;

	hash_for_each_possible(pagers, pager, node, (unsigned long)mm)
		if (pager->mm == mm)
			return pager;
	return NULL;
}

static struct rover_odp_work *make(const struct mm_struct *mm)
{
	struct rover_odp_work *pager = kzalloc_obj(*pager, GFP_KERNEL_ACCOUNT);

	if (!pager)
		return NULL;
	pager->threads = alloc_workqueue("rover_odp/%d", WQ_UNBOUND | WQ_HIGHPRI,
					 THREADS, task_tgid_nr(current));
	if (!pager->threads) {
		kfree(pager);
		return NULL;
	}
	pager->mm = mm;
	refcount_set(&pager->refs, 1);
	INIT_WORK(&pager->end, end);
	hash_add(pagers, &pager->node, (unsigned long)mm);
	atomic_inc(&unfreed);
	return pager;
}

struct rover_odp_work *rover_odp_work_get(void)
{
	struct rover_odp_work *pager;

	mutex_lock(&lock);
	pager = find(current->mm);
	if (pager)
		refcount_inc(&pager->refs);
	else
		pager = make(current->mm);
	mutex_unlock(&lock);
	return pager;
}

void rover_odp_work_put(struct rover_odp_work *pager)
{
	if (!refcount_dec_and_mutex_lock(&pager->refs, &lock))
		return;
	hash_del(&pager->node);
	mutex_unlock(&lock);
	queue_work(enders, &pager->end);
}

void rover_odp_work_queue(struct rover_odp_work *pager, struct work_struct *work)
{
	queue_work(pager->threads, work);
}

int rover_odp_work_init(void)
{
	enders = alloc_workqueue("rover_odp", WQ_UNBOUND, 0);
	return enders ? 0 : -ENOMEM;
}

void rover_odp_work_exit(void)
{
	/* Regions and queue pairs are gone; what was their last wish is not. */
	wait_var_event(&unfreed, !atomic_read(&unfreed));
	/* The work that counted down to zero has to return, too. */
	destroy_workqueue(enders);
}
