// SPDX-License-Identifier: GPL-2.0
/*
 * mmap - memory that a program and the kernel share
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/mmap.h"

static void free_pages_now(struct rover_pages *pages)
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

		/* Whom the OOM killer chose is no longer held to its limit. */
		if (fatal_signal_pending(current))
			goto fail;
		/* Zeroed: programs see all of it. */
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
		if (!page)
			goto fail;
		pages->page[pages->num++] = page;
		cond_resched();
	}
	return pages;
fail:
	free_pages_now(pages);
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
	/* An mmap() under way may still need it; then that one frees it. */
	if (pages->shown)
		rdma_user_mmap_entry_remove(&pages->entry);
	else
		free_pages_now(pages);
}

void rover_mmap_free(struct rdma_user_mmap_entry *entry)
{
	free_pages_now(container_of(entry, struct rover_pages, entry));
}

int rover_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct rover_pages *pages;
	int err;

	/* Data only, now and after any mprotect(). */
	if (vma->vm_flags & VM_EXEC)
		return -EINVAL;
	/* Only shared, only from its first page, only the whole of it. */
	entry = rdma_user_mmap_entry_get(ucontext, vma);
	if (!entry)
		return -EINVAL;
	pages = container_of(entry, struct rover_pages, entry);
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	/* Takes a reference on each page; what is there is all there ever is. */
	err = vm_map_pages_zero(vma, pages->page, pages->num);
	rdma_user_mmap_entry_put(entry);
	return err;
}
