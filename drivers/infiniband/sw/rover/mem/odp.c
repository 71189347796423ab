// SPDX-License-Identifier: GPL-2.0
/*
 * odp - on-demand paging
 *
 * A result of hmm_range_fault() is valid only if, under the leaf's lock, the
 * sequence of the leaf's MMU notifier shows no invalidation since.  What a queue
 * pair does until its page is there: rc/page_wait.c.
 *
 * Empty leaves are kept until there are many: leaves take about as much memory
 * as page tables.
 *
 * Making and removing leaves may wait for mm locks: notifiers must not take
 * rover_odp.lock.
 */
#include <linux/bottom_half.h>
#include <linux/highmem.h>
#include <linux/hmm.h>
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "mem/odp.h"
#include "mem/odp_pool.h"

#if !IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING)
#error "rover needs a kernel with CONFIG_INFINIBAND_ON_DEMAND_PAGING"
#endif

/* User addresses of a leaf: its 8-byte entries fill a page. */
#define LEAF_SHIFT	21
#define LEAF_SIZE	(1UL << LEAF_SHIFT)
#define LEAF_PAGES	(LEAF_SIZE >> PAGE_SHIFT)

/* Pages per page-in: 256 KiB, for sequential access. */
#define PAGES_AT_ONCE		64U

/* Fewest leaves to trim. */
#define MIN_TRIM_LEAVES	64U

/* Entry of a leaf: PFN and flags; 0 for no page. */
#define WRITABLE	BIT(0)
#define WRITTEN		BIT(1)	/* by rover: set_page_dirty() is due */
#define PFN_SHIFT	2

/**
 * struct rover_leaf - pages of a range of user addresses
 * @notifier: of the range
 * @odp: owner
 * @lock: protects @entries and @present, and orders them with the notifier's
 *	sequence; innermost
 * @entries: one per page
 * @present: pages present
 * @users: page-ins; under rover_odp.lock
 * @rcu: for freeing
 */
struct rover_leaf {
	struct mmu_interval_notifier notifier;
	struct rover_odp *odp;
	spinlock_t lock;
	unsigned long *entries;
	unsigned int present;
	unsigned int users;
	struct rcu_head rcu;
};

/**
 * struct rover_odp - user memory of ODP regions
 * @refs: regions, page-ins and prefetches
 * @regions: number of regions; page-ins need one
 * @id: never reused
 * @mm: grabbed
 * @work: threads of the process
 * @leaves: by user address
 * @lock: serialises making and removing leaves
 * @num_leaves: entries of @leaves
 * @trim_at: @num_leaves at which to remove empty ones
 * @closed: no region is left
 * @counts: enum rover_odp_count
 * @dev_lock: protects @dev
 * @dev: device that counts, too; NULL when closed
 */
struct rover_odp {
	refcount_t refs;
	refcount_t regions;
	u64 id;
	struct mm_struct *mm;
	struct rover_odp_pool *work;
	struct xarray leaves;
	struct mutex lock;
	unsigned int num_leaves;
	unsigned int trim_at;
	bool closed;
	atomic64_t counts[ROVER_ODP_COUNTS];
	spinlock_t dev_lock;
	struct rover_dev *dev;
};

static atomic64_t odp_last_id;

const u8 rover_odp_stats[ROVER_ODP_COUNTS] = {
	[ROVER_ODP_FAULTS] = ROVER_STAT_PAGE_FAULTS,
	[ROVER_ODP_INVALIDATIONS] = ROVER_STAT_PAGE_INVALIDATIONS,
	[ROVER_ODP_PREFETCHES] = ROVER_STAT_PAGE_PREFETCH,
};

static void odp_count(struct rover_odp *odp, enum rover_odp_count count, u64 n)
{
	if (!n)
		return;
	atomic64_add(n, &odp->counts[count]);
	spin_lock_bh(&odp->dev_lock);
	if (odp->dev)
		rover_stat_add(odp->dev->stats, rover_odp_stats[count], n);
	spin_unlock_bh(&odp->dev_lock);
}

u64 rover_odp_read(const struct rover_odp *odp, enum rover_odp_count count)
{
	return atomic64_read(&odp->counts[count]);
}

/* Leaves *********************************************************************/

static unsigned int odp_leaf_index(unsigned long va)
{
	return (va & (LEAF_SIZE - 1)) >> PAGE_SHIFT;
}

static struct page *odp_entry_page(unsigned long entry)
{
	return pfn_to_page(entry >> PFN_SHIFT);
}

/*
 * Forget pages @i to @last; mark those dirty that rover has written: page
 * tables do not know.  A notifier's caller may hold the page lock, and keeps
 * the page mapped; others have to lock it.
 */
static void odp_forget(struct rover_leaf *leaf, unsigned int i,
		       unsigned int last, bool notified)
{
	struct page *written[16];
	unsigned int gone = 0;

	while (i <= last) {
		unsigned int n = 0;

		spin_lock_bh(&leaf->lock);
		if (!leaf->present)
			i = last + 1;
		for (; i <= last && n < ARRAY_SIZE(written); i++) {
			unsigned long entry = leaf->entries[i];

			if (!entry)
				continue;
			leaf->entries[i] = 0;
			leaf->present--;
			gone++;
			if (entry & WRITTEN) {
				get_page(odp_entry_page(entry));
				written[n++] = odp_entry_page(entry);
			}
		}
		spin_unlock_bh(&leaf->lock);
		while (n--) {
			if (notified)
				set_page_dirty(compound_head(written[n]));
			else
				set_page_dirty_lock(written[n]);
			put_page(written[n]);
		}
	}
	if (notified)
		odp_count(leaf->odp, ROVER_ODP_INVALIDATIONS, gone);
}

/* Does not sleep, even if @range is blockable. */
static bool odp_invalidate(struct mmu_interval_notifier *notifier,
			   const struct mmu_notifier_range *range,
			   unsigned long seq)
{
	struct rover_leaf *leaf = container_of(notifier, struct rover_leaf,
					       notifier);
	unsigned long first = max(range->start, notifier->interval_tree.start);
	unsigned long last = min(range->end - 1, notifier->interval_tree.last);

	/* From here on odp_publish() rejects earlier results. */
	spin_lock_bh(&leaf->lock);
	mmu_interval_set_seq(notifier, seq);
	spin_unlock_bh(&leaf->lock);
	odp_forget(leaf, odp_leaf_index(first), odp_leaf_index(last), true);
	return true;
}

static const struct mmu_interval_notifier_ops odp_notifier_ops = {
	.invalidate = odp_invalidate,
};

static void odp_free_leaf(struct rcu_head *rcu)
{
	struct rover_leaf *leaf = container_of(rcu, struct rover_leaf, rcu);

	kfree(leaf->entries);
	kfree(leaf);
}

/* No page-in or access uses @leaf. */
static void odp_remove_leaf(struct rover_odp *odp, struct rover_leaf *leaf)
{
	xa_erase(&odp->leaves, leaf->notifier.interval_tree.start >> LEAF_SHIFT);
	odp->num_leaves--;
	odp_forget(leaf, 0, LEAF_PAGES - 1, false);
	mmu_interval_notifier_remove(&leaf->notifier);
	/* rover_odp_enter() may just have found it. */
	call_rcu(&leaf->rcu, odp_free_leaf);
}

/* A leaf without users stays empty: only page-ins fill it. */
static void odp_remove_empty_leaves(struct rover_odp *odp)
{
	struct rover_leaf *leaf;
	unsigned long index;

	xa_for_each(&odp->leaves, index, leaf)
		if (!leaf->users && !READ_ONCE(leaf->present))
			odp_remove_leaf(odp, leaf);
	/* Doubling keeps the search cheap per new leaf. */
	odp->trim_at = max(2 * odp->num_leaves, MIN_TRIM_LEAVES);
}

static struct rover_leaf *odp_make_leaf(struct rover_odp *odp, unsigned long va)
{
	struct rover_leaf *leaf = kzalloc_obj(*leaf, GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!leaf)
		return ERR_PTR(err);
	leaf->odp = odp;
	spin_lock_init(&leaf->lock);
	leaf->entries = kzalloc_objs(*leaf->entries, LEAF_PAGES,
				     GFP_KERNEL_ACCOUNT);
	if (!leaf->entries)
		goto err_leaf;
	err = mmu_interval_notifier_insert(&leaf->notifier, odp->mm,
					   ALIGN_DOWN(va, LEAF_SIZE), LEAF_SIZE,
					   &odp_notifier_ops);
	if (err)
		goto err_leaf;
	err = xa_err(xa_store(&odp->leaves, va >> LEAF_SHIFT, leaf,
			      GFP_KERNEL_ACCOUNT));
	if (err)
		goto err_notifier;
	odp->num_leaves++;
	return leaf;

err_notifier:
	mmu_interval_notifier_remove(&leaf->notifier);
err_leaf:
	kfree(leaf->entries);
	kfree(leaf);
	return ERR_PTR(err);
}

static struct rover_leaf *odp_get_leaf(struct rover_odp *odp, unsigned long va)
{
	struct rover_leaf *leaf;

	mutex_lock(&odp->lock);
	leaf = xa_load(&odp->leaves, va >> LEAF_SHIFT);
	if (!leaf) {
		if (odp->num_leaves >= odp->trim_at)
			odp_remove_empty_leaves(odp);
		leaf = odp_make_leaf(odp, va);
	}
	if (!IS_ERR(leaf))
		leaf->users++;
	mutex_unlock(&odp->lock);
	return leaf;
}

static void odp_put_leaf(struct rover_odp *odp, struct rover_leaf *leaf)
{
	mutex_lock(&odp->lock);
	leaf->users--;
	mutex_unlock(&odp->lock);
}

/* Lifetime *******************************************************************/

struct rover_odp *rover_odp_new(struct rover_dev *dev)
{
	struct rover_odp *odp = kzalloc_obj(*odp, GFP_KERNEL_ACCOUNT);

	if (!odp)
		return NULL;
	odp->work = rover_odp_pool_get();
	if (!odp->work) {
		kfree(odp);
		return NULL;
	}
	refcount_set(&odp->refs, 1);
	refcount_set(&odp->regions, 1);
	odp->id = atomic64_inc_return(&odp_last_id);
	xa_init(&odp->leaves);
	mutex_init(&odp->lock);
	odp->trim_at = MIN_TRIM_LEAVES;
	spin_lock_init(&odp->dev_lock);
	odp->dev = dev;
	odp->mm = current->mm;
	mmgrab(odp->mm);
	return odp;
}

struct rover_odp *rover_odp_get(struct rover_odp *odp)
{
	refcount_inc(&odp->refs);
	return odp;
}

void rover_odp_put(struct rover_odp *odp)
{
	struct rover_leaf *leaf;
	unsigned long index;

	if (!refcount_dec_and_test(&odp->refs))
		return;
	xa_for_each(&odp->leaves, index, leaf)
		odp_remove_leaf(odp, leaf);
	xa_destroy(&odp->leaves);
	mutex_destroy(&odp->lock);
	rover_odp_pool_put(odp->work);
	mmdrop(odp->mm);
	kfree(odp);
}

struct rover_odp *rover_odp_share(struct rover_odp *odp)
{
	refcount_inc(&odp->regions);
	return rover_odp_get(odp);
}

void rover_odp_close(struct rover_odp *odp)
{
	if (refcount_dec_and_test(&odp->regions)) {
		WRITE_ONCE(odp->closed, true);
		/* @odp may outlive the device. */
		spin_lock_bh(&odp->dev_lock);
		odp->dev = NULL;
		spin_unlock_bh(&odp->dev_lock);
	}
	rover_odp_put(odp);
}

/* Page access ****************************************************************/

struct page *rover_odp_enter(struct rover_odp *odp, u64 va, bool write,
			     struct rover_leaf **entered)
{
	unsigned long *entry, right = write ? WRITABLE : 0;
	struct rover_leaf *leaf = NULL;

	rcu_read_lock();
	if (va <= ULONG_MAX)
		leaf = xa_load(&odp->leaves, va >> LEAF_SHIFT);
	if (!leaf)
		goto absent;
	spin_lock(&leaf->lock);
	entry = &leaf->entries[odp_leaf_index(va)];
	if (!*entry || (*entry & right) != right)
		goto unlock;
	if (write)
		*entry |= WRITTEN;
	*entered = leaf;
	return odp_entry_page(*entry);

unlock:
	spin_unlock(&leaf->lock);
absent:
	rcu_read_unlock();
	return NULL;
}

void rover_odp_leave(struct rover_leaf *leaf)
{
	spin_unlock(&leaf->lock);
	rcu_read_unlock();
}

/* Page-in ********************************************************************/

/* memfd_secret: only user instructions may access it. */
static bool odp_is_secret(struct page *page)
{
	struct address_space *mapping = folio_mapping(page_folio(page));

	return mapping && mapping->host &&
	       mapping->host->i_sb->s_magic == SECRETMEM_MAGIC;
}

/* Read-only to user instructions; hmm_range_fault() does not check that. */
static bool odp_has_shadow_stack(struct mm_struct *mm, unsigned long va,
				 unsigned long end)
{
	struct vm_area_struct *vma;

	mmap_assert_locked(mm);
	for (; (vma = find_vma_intersection(mm, va, end)); va = vma->vm_end)
		if (vma->vm_flags & VM_SHADOW_STACK)
			return true;
	return false;
}

/* Record the pages found; -EBUSY if any was invalidated since. */
static int odp_publish(struct rover_leaf *leaf, const struct hmm_range *range)
{
	unsigned int first = odp_leaf_index(range->start), i;
	unsigned int n = (range->end - range->start) >> PAGE_SHIFT;
	int found = 0;

	spin_lock_bh(&leaf->lock);
	if (mmu_interval_read_retry(&leaf->notifier, range->notifier_seq))
		found = -EBUSY;
	for (i = 0; i < n && found >= 0; i++) {
		unsigned long pfn = range->hmm_pfns[i];
		unsigned long *entry = &leaf->entries[first + i];
		struct page *page;

		if (!(pfn & HMM_PFN_VALID))
			continue;
		page = hmm_pfn_to_page(pfn);
		if (odp_is_secret(page)) {
			found = -EFAULT;
			break;
		}
		if (!*entry) {
			leaf->present++;
			found++;
		}
		/* A set entry has this page: invalidation would clear it. */
		*entry |= page_to_pfn(page) << PFN_SHIFT;
		if (pfn & HMM_PFN_WRITE)
			*entry |= WRITABLE;
	}
	spin_unlock_bh(&leaf->lock);
	return found;
}

/*
 * Any invalidation in the leaf forces a retry; the first page alone is fastest
 * then.
 */
static int odp_fault_range(struct rover_odp *odp, struct rover_leaf *leaf,
			   unsigned long va, unsigned int *pages,
			   enum rover_odp_want want)
{
	unsigned long until = jiffies +
			      msecs_to_jiffies(HMM_RANGE_DEFAULT_TIMEOUT);
	unsigned long pfns[PAGES_AT_ONCE] = {};
	struct hmm_range range = {
		.notifier = &leaf->notifier,
		.start = va,
		.hmm_pfns = pfns,
	};
	int ret;

	if (want != ROVER_ODP_PRESENT)
		range.default_flags |= HMM_PFN_REQ_FAULT;
	if (want == ROVER_ODP_WRITE)
		range.default_flags |= HMM_PFN_REQ_WRITE;
	do {
		if (READ_ONCE(odp->closed))
			return -ECANCELED;
		range.end = va + *pages * PAGE_SIZE;
		range.notifier_seq = mmu_interval_read_begin(&leaf->notifier);
		mmap_read_lock(odp->mm);
		ret = odp_has_shadow_stack(odp->mm, va, range.end) ? -EFAULT :
		      hmm_range_fault(&range);
		mmap_read_unlock(odp->mm);
		if (!ret)
			ret = odp_publish(leaf, &range);
		if (ret == -EBUSY)
			*pages = 1;
	} while (ret == -EBUSY && time_before(jiffies, until));
	return ret;
}

static int odp_fault_leaf(struct rover_odp *odp, unsigned long va,
			  unsigned int *pages, enum rover_odp_want want)
{
	struct rover_leaf *leaf = odp_get_leaf(odp, va);
	int ret;

	if (IS_ERR(leaf))
		return PTR_ERR(leaf);
	ret = odp_fault_range(odp, leaf, va & PAGE_MASK, pages, want);
	odp_put_leaf(odp, leaf);
	return ret;
}

/*
 * Page in from @va on, in one leaf; may reduce @pages.  Return the number of
 * new pages, or an error.  A page may never come, and nothing ends a thread's
 * wait for it: meanwhile, unloading the module fails.
 */
static int odp_fault_in(struct rover_odp *odp, unsigned long va,
			unsigned int *pages, enum rover_odp_want want)
{
	struct mem_cgroup *old_memcg, *memcg;
	int ret = -EFAULT;

	if (!mmget_not_zero(odp->mm))
		return ret;
	__module_get(THIS_MODULE);
	/* Charge the process, not this thread: also page cache and leaves. */
	memcg = get_mem_cgroup_from_mm(odp->mm);
	old_memcg = set_active_memcg(memcg);
	if (va < odp->mm->task_size)
		ret = odp_fault_leaf(odp, va, pages, want);
	set_active_memcg(old_memcg);
	mem_cgroup_put(memcg);
	/* If this ends the mm, let another thread clean up. */
	mmput_async(odp->mm);
	/* rover_odp_pool_exit() and uverbs wait for the callers. */
	module_put(THIS_MODULE);
	return ret;
}

static unsigned int odp_pages_at(unsigned long va, u64 len)
{
	u64 bytes = min_t(u64, len, LEAF_SIZE - (va & (LEAF_SIZE - 1)));

	return min_t(u64, (offset_in_page(va) + bytes + PAGE_SIZE - 1) >> PAGE_SHIFT,
		     PAGES_AT_ONCE);
}

int rover_odp_prefetch(struct rover_odp *odp, u64 va, u64 len,
		       enum rover_odp_want want)
{
	while (len) {
		unsigned int pages;
		u64 done;
		int ret;

		if (va > ULONG_MAX)
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		pages = odp_pages_at(va, len);
		ret = odp_fault_in(odp, va, &pages, want);
		if (ret < 0)
			return ret;
		odp_count(odp, ROVER_ODP_PREFETCHES, ret);
		done = pages * PAGE_SIZE - offset_in_page(va);
		va += done;
		len -= min(len, done);
		cond_resched();
	}
	return 0;
}

void rover_odp_queue_advice(struct rover_odp *odp, struct work_struct *work)
{
	rover_odp_pool_queue_advice(odp->work, work);
}

/* Page-in requests ***********************************************************/

/* A buffer may be partly unmapped: then try the first page only. */
static void odp_pagein_work(struct work_struct *work)
{
	struct rover_pagein *pagein = container_of(work, struct rover_pagein,
						   work);
	enum rover_odp_want want = pagein->write ? ROVER_ODP_WRITE :
						   ROVER_ODP_READ;
	struct rover_odp *odp = pagein->odp;
	unsigned int pages = pagein->pages, one = 1;
	int ret;

	ret = odp_fault_in(odp, pagein->va, &pages, want);
	if (ret < 0 && ret != -EBUSY && pages > 1)
		ret = odp_fault_in(odp, pagein->va, &one, want);
	if (ret > 0)
		odp_count(odp, ROVER_ODP_FAULTS, ret);
	rover_odp_put(odp);
	/*
	 * Pairs with rover_pagein_pending(): the effects are visible.  On
	 * -EBUSY the owner asks again.
	 */
	smp_store_release(&pagein->state, ret < 0 && ret != -EBUSY ?
			  ROVER_PAGEIN_FAILED : ROVER_PAGEIN_DONE);
	/* @pagein may be pending again, with another reference. */
	pagein->done(pagein);
}

void rover_pagein_init(struct rover_pagein *pagein, refcount_t *refs,
		       void (*done)(struct rover_pagein *pagein))
{
	INIT_WORK(&pagein->work, odp_pagein_work);
	pagein->refs = refs;
	pagein->done = done;
}

static bool odp_pagein_failed(const struct rover_pagein *pagein,
			      const struct rover_odp *odp, unsigned long va,
			      bool write)
{
	return pagein->state == ROVER_PAGEIN_FAILED && pagein->id == odp->id &&
	       pagein->va >> PAGE_SHIFT == va >> PAGE_SHIFT &&
	       pagein->write == write;
}

enum rover_fault rover_odp_pagein(struct rover_odp *odp,
				  struct rover_pagein *pagein, u64 va, u64 len,
				  bool write)
{
	if (rover_pagein_pending(pagein))
		return ROVER_FAULT_PAGE;
	if (va > ULONG_MAX)
		return ROVER_FAULT_MEMORY;
	if (odp_pagein_failed(pagein, odp, va, write)) {
		pagein->state = ROVER_PAGEIN_IDLE;
		return ROVER_FAULT_MEMORY;
	}
	refcount_inc(pagein->refs);
	pagein->odp = rover_odp_get(odp);
	pagein->id = odp->id;
	pagein->va = va;
	pagein->pages = odp_pages_at(va, len);
	pagein->write = write;
	pagein->state = ROVER_PAGEIN_PENDING;
	rover_odp_pool_queue(odp->work, &pagein->work);
	return ROVER_FAULT_PAGE;
}
