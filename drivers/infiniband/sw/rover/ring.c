// SPDX-License-Identifier: GPL-2.0
/*
 * ring - queues that a program and the kernel share
 *
 * A ring is single pages: the kernel sees them through one vmap(), programs
 * through page table entries that hold references of their own.  So a mapping
 * outlives the ring, the device and the module: nothing of ours hangs on the
 * VMA, and the last to let go of a page frees it.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ring.h"

/* More than any queue may have: what is above is a mistake of the caller. */
#define MAX_ENTRIES	(1U << 24)
#define MAX_STRIDE	(1U << 12)

/*
 * struct rover_ring_mem - the pages
 * @entry: of a program's ring: what its mmap() finds.  Its reference count is
 *	that of all of this: one while the ring lives, one during each mmap().
 * @user: @entry is in use
 * @base: where the kernel sees the pages
 * @pages: each with a reference
 * @npages: how many
 */
struct rover_ring_mem {
	struct rdma_user_mmap_entry entry;
	bool user;
	void *base;
	struct page **pages;
	unsigned int npages;
};

static void free_mem(struct rover_ring_mem *mem)
{
	vunmap(mem->base);
	/* Those that a program has mapped stay until it unmaps them. */
	while (mem->npages)
		__free_page(mem->pages[--mem->npages]);
	kvfree(mem->pages);
	kfree(mem);
}

static struct rover_ring_mem *alloc_mem(unsigned int npages)
{
	struct rover_ring_mem *mem = kzalloc_obj(*mem, GFP_KERNEL_ACCOUNT);

	if (!mem)
		return NULL;
	mem->pages = kvmalloc_objs(*mem->pages, npages, GFP_KERNEL_ACCOUNT);
	if (!mem->pages)
		goto fail;
	while (mem->npages < npages) {
		struct page *page;

		/* Whom the OOM killer chose is no longer held to its limit. */
		if (fatal_signal_pending(current))
			goto fail;
		/* Zeroed: programs see all of it. */
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
		if (!page)
			goto fail;
		mem->pages[mem->npages++] = page;
		cond_resched();
	}
	mem->base = vmap(mem->pages, npages, VM_MAP, PAGE_KERNEL);
	if (mem->base)
		return mem;
fail:
	free_mem(mem);
	return NULL;
}

/* Rounds up what was wanted, and says how large that makes the mapping. */
static int ring_size(u32 *entries, u32 *stride, size_t *size)
{
	size_t slots;

	if (!*entries || *entries > MAX_ENTRIES ||
	    !*stride || *stride > MAX_STRIDE)
		return -EINVAL;
	*entries = roundup_pow_of_two(*entries);
	*stride = ALIGN(*stride, ROVER_SLOT_SIZE);
	if (check_mul_overflow((size_t)*entries, (size_t)*stride, &slots) ||
	    check_add_overflow(slots, (size_t)ROVER_RING_HDR_SIZE, size) ||
	    *size > INT_MAX)
		return -EINVAL;
	*size = PAGE_ALIGN(*size);
	return 0;
}

int rover_ring_create(struct rover_ring *ring, struct ib_ucontext *ucontext,
		      u32 entries, u32 stride, struct rover_uapi_ring *uapi)
{
	struct rover_ring_mem *mem;
	u32 limit = entries;
	size_t size;
	int err;

	err = ring_size(&entries, &stride, &size);
	if (err)
		return err;
	mem = alloc_mem(size >> PAGE_SHIFT);
	if (!mem)
		return -ENOMEM;
	*ring = (struct rover_ring) {
		.hdr = mem->base,
		.slots = mem->base + ROVER_RING_HDR_SIZE,
		.mem = mem,
		.mask = entries - 1,
		.stride = stride,
		.limit = limit,
	};
	if (!ucontext)
		return 0;

	err = rdma_user_mmap_entry_insert(ucontext, &mem->entry, size);
	if (err) {
		*ring = (struct rover_ring) {};
		free_mem(mem);
		return err;
	}
	mem->user = true;
	*uapi = (struct rover_uapi_ring) {
		.offset = rdma_user_mmap_get_offset(&mem->entry),
		.size = size,
		.entries = entries,
		.stride = stride,
	};
	return 0;
}

void rover_ring_destroy(struct rover_ring *ring)
{
	struct rover_ring_mem *mem = ring->mem;

	*ring = (struct rover_ring) {};
	if (!mem)
		return;
	/* An mmap() under way may still need it; then that one frees it. */
	if (mem->user)
		rdma_user_mmap_entry_remove(&mem->entry);
	else
		free_mem(mem);
}

void rover_ring_mmap_free(struct rdma_user_mmap_entry *entry)
{
	free_mem(container_of(entry, struct rover_ring_mem, entry));
}

int rover_ring_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct rover_ring_mem *mem;
	int err;

	/* Data only, now and after any mprotect(). */
	if (vma->vm_flags & VM_EXEC)
		return -EINVAL;
	/* Only shared, only from its first page, only the whole of it. */
	entry = rdma_user_mmap_entry_get(ucontext, vma);
	if (!entry)
		return -EINVAL;
	mem = container_of(entry, struct rover_ring_mem, entry);
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	/* Takes a reference on each page; what is there is all there ever is. */
	err = vm_map_pages_zero(vma, mem->pages, mem->npages);
	rdma_user_mmap_entry_put(entry);
	return err;
}
