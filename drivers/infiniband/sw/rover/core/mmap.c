// SPDX-License-Identifier: GPL-2.0
/* mmap - pages shared with userspace */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/mmap.h"

static void mmap_free_pages(struct rover_pages *pages)
{
	while (pages->num)
		__free_page(pages->page[--pages->num]);
	kvfree(pages->page);
	kfree(pages);
}

struct rover_pages *rover_mmap_pages_alloc(unsigned int num)
{
	struct rover_pages *pages = kzalloc_obj(*pages, GFP_KERNEL_ACCOUNT);

	if (!pages)
		return NULL;
	pages->page = kvmalloc_objs(*pages->page, num, GFP_KERNEL_ACCOUNT);
	if (!pages->page)
		goto fail;
	while (pages->num < num) {
		struct page *page;

		/* An OOM victim may exceed its limit: stop. */
		if (fatal_signal_pending(current))
			goto fail;
		/* Zeroed: userspace sees whole pages. */
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
		if (!page)
			goto fail;
		pages->page[pages->num++] = page;
		cond_resched();
	}
	return pages;
fail:
	mmap_free_pages(pages);
	return NULL;
}

int rover_mmap_offer(struct rover_pages *pages, struct ib_ucontext *ucontext,
		     u64 *offset)
{
	int err;

	err = rdma_user_mmap_entry_insert(ucontext, &pages->entry,
					  (size_t)pages->num << PAGE_SHIFT);
	if (err)
		return err;
	pages->shown = true;
	*offset = rdma_user_mmap_get_offset(&pages->entry);
	return 0;
}

void rover_mmap_pages_free(struct rover_pages *pages)
{
	/* Frees them, or a concurrent mmap() does when done. */
	if (pages->shown)
		rdma_user_mmap_entry_remove(&pages->entry);
	else
		mmap_free_pages(pages);
}

void rover_mmap_free(struct rdma_user_mmap_entry *entry)
{
	mmap_free_pages(container_of(entry, struct rover_pages, entry));
}

int rover_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct rover_pages *pages;
	int err;

	/* Never executable, not even by mprotect(). */
	if (vma->vm_flags & VM_EXEC)
		return -EINVAL;
	/* Fails unless shared, from the first page, and of full length. */
	entry = rdma_user_mmap_entry_get(ucontext, vma);
	if (!entry)
		return -EINVAL;
	pages = container_of(entry, struct rover_pages, entry);
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	/* References each page; no faults are served later. */
	err = vm_map_pages_zero(vma, pages->page, pages->num);
	rdma_user_mmap_entry_put(entry);
	return err;
}
