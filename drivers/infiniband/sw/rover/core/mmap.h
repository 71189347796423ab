/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mmap - memory that a program and the kernel share
 *
 * Single pages, which programs see through page table entries that hold
 * references of their own.  So a mapping outlives what the pages are used for,
 * the device and the module: nothing of ours hangs on the VMA, and the last to
 * let go of a page frees it.
 */
#ifndef ROVER_MMAP_H
#define ROVER_MMAP_H

#include <rdma/ib_verbs.h>

/**
 * struct rover_pages - the pages
 * @entry: what a program's mmap() finds.  Its reference count is that of all of
 *	this: one while it is in use, one during each mmap().
 * @shown: @entry is in use
 * @page: each with a reference
 * @num: how many
 */
struct rover_pages {
	struct rdma_user_mmap_entry entry;
	bool shown;
	struct page **page;
	unsigned int num;
};

/**
 * rover_mmap_pages_alloc() - get zeroed pages
 * @num: how many
 *
 * The memory is charged to the caller's memory cgroup.
 *
 * Context: may sleep.
 * Return: NULL without memory, or when the caller is being killed.
 */
struct rover_pages *rover_mmap_pages_alloc(unsigned int num);

/**
 * rover_mmap_offer() - let a program map them
 * @pages: not shown yet
 * @ucontext: of that program
 * @offset: what it has to give to mmap()
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rover_mmap_offer(struct rover_pages *pages, struct ib_ucontext *ucontext,
		     u64 *offset);

/**
 * rover_mmap_pages_free() - let go of them
 * @pages: nobody in the kernel uses them any more
 *
 * Those that a program has mapped stay until it unmaps them.
 *
 * Context: may sleep.
 */
void rover_mmap_pages_free(struct rover_pages *pages);

/**
 * rover_mmap() - ib_device_ops.mmap
 * @ucontext: whose file is being mapped
 * @vma: must be exactly the mapping announced, shared
 *
 * Context: may sleep, mmap lock held.
 * Return: 0, or -EINVAL.
 */
int rover_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma);

/**
 * rover_mmap_free() - ib_device_ops.mmap_free
 * @entry: its last reference is gone
 */
void rover_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* ROVER_MMAP_H */
