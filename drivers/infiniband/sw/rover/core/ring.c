// SPDX-License-Identifier: GPL-2.0
/* ring - queues shared with userspace */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>

#include "core/mmap.h"
#include "core/ring.h"

/* Above the limits of all queues */
#define RING_MAX_ENTRIES	(1U << 24)
#define RING_MAX_STRIDE	(1U << 12)

static int ring_size(u32 *entries, u32 *stride, size_t *size)
{
	size_t slots;

	if (!*entries || *entries > RING_MAX_ENTRIES ||
	    !*stride || *stride > RING_MAX_STRIDE)
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
	struct rover_pages *pages;
	u32 limit = entries;
	void *base = NULL;
	u64 offset = 0;
	size_t size;
	int err;

	err = ring_size(&entries, &stride, &size);
	if (err)
		return err;
	pages = rover_mmap_pages_alloc(size >> PAGE_SHIFT);
	if (!pages)
		return -ENOMEM;
	err = -ENOMEM;
	base = vmap(pages->page, pages->num, VM_MAP, PAGE_KERNEL);
	if (!base)
		goto fail;
	err = ucontext ? rover_mmap_offer(pages, ucontext, &offset) : 0;
	if (err)
		goto fail;
	*ring = (struct rover_ring) {
		.hdr = base,
		.slots = base + ROVER_RING_HDR_SIZE,
		.pages = pages,
		.mask = entries - 1,
		.stride = stride,
		.limit = limit,
	};
	if (ucontext)
		*uapi = (struct rover_uapi_ring) {
			.offset = offset,
			.size = size,
			.entries = entries,
			.stride = stride,
		};
	return 0;
fail:
	vunmap(base);
	rover_mmap_pages_free(pages);
	return err;
}

/* All share one header: its indices stay zero, and nothing reads its flags. */
void rover_ring_init_absent(struct rover_ring *ring)
{
	static struct rover_ring_hdr empty_hdr;

	*ring = (struct rover_ring) { .hdr = &empty_hdr };
}

void rover_ring_destroy(struct rover_ring *ring)
{
	struct rover_pages *pages = ring->pages;
	void *base = ring->hdr;

	*ring = (struct rover_ring) {};
	if (!pages)
		return;
	vunmap(base);
	rover_mmap_pages_free(pages);
}
