/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mmap - pages shared with userspace
 *
 * Page table entries hold page references: a mapping may outlive its object,
 * device and module.
 */
#ifndef ROVER_MMAP_H
#define ROVER_MMAP_H

#include <rdma/ib_verbs.h>

/**
 * struct rover_pages - pages shared with userspace
 * @entry: for mmap(); each running mmap() has a reference
 * @shown: @entry is in use
 * @page: the pages, each referenced
 * @num: number of pages
 */
struct rover_pages {
	struct rdma_user_mmap_entry entry;
	bool shown;
	struct page **page;
	unsigned int num;
};

/**
 * rover_mmap_pages_alloc() - allocate zeroed pages
 * @num: number of pages, charged to the caller's memory cgroup
 * Context: may sleep.
 * Return: NULL without memory, or if the caller is being killed.
 */
struct rover_pages *rover_mmap_pages_alloc(unsigned int num);

/**
 * rover_mmap_offer() - let userspace map pages
 * @pages: not offered before
 * @ucontext: may map them
 * @offset: set to the offset for mmap()
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rover_mmap_offer(struct rover_pages *pages, struct ib_ucontext *ucontext,
		     u64 *offset);

/**
 * rover_mmap_pages_free() - free pages
 * @pages: unused in the kernel; mapped ones stay until unmapped
 * Context: may sleep.
 */
void rover_mmap_pages_free(struct rover_pages *pages);

/**
 * rover_mmap() - ib_device_ops.mmap
 * @ucontext: of the file
 * @vma: must be shared, and exactly the offered range
 * Context: mmap lock held.
 * Return: 0 or -EINVAL.
 */
int rover_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma);

/**
 * rover_mmap_free() - ib_device_ops.mmap_free
 * @entry: without references
 */
void rover_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* ROVER_MMAP_H */
