// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * ring.c: maps and unmaps rings. The kernel is believed, but a module built
 * from another tree is not: a description must hold together.
 */
#include <errno.h>
#include <sys/mman.h>

#include "ring.h"

static bool makes_sense(const struct rover_uapi_ring *desc, size_t stride)
{
	if (!desc->entries || desc->entries & (desc->entries - 1))
		return false;
	if (!desc->stride || desc->stride % ROVER_SLOT_SIZE ||
	    desc->stride < stride)
		return false;
	if (desc->size > SIZE_MAX)
		return false;
	return desc->size >= ROVER_RING_HDR_SIZE +
			     (uint64_t)desc->entries * desc->stride;
}

int rover_ring_map(struct rover_ring *ring, int fd,
		   const struct rover_uapi_ring *desc, size_t stride)
{
	void *map;

	*ring = (struct rover_ring) { 0 };
	if (!desc->entries && !desc->size)
		return 0;
	if (!makes_sense(desc, stride))
		return -EPROTO;

	map = mmap(NULL, desc->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   desc->offset);
	if (map == MAP_FAILED)
		return -errno;

	ring->hdr = map;
	ring->slots = (char *)map + ROVER_RING_HDR_SIZE;
	ring->entries = desc->entries;
	ring->stride = desc->stride;
	ring->size = desc->size;
	return 0;
}

int rover_queue_map(struct rover_queue *q, int fd,
		    const struct rover_uapi_ring *desc, uint32_t cap,
		    uint32_t max_sge, size_t stride)
{
	int err = rover_ring_map(&q->ring, fd, desc, stride);

	if (err)
		return err;
	if (cap > q->ring.entries) {
		/* A queue that does not exist takes nothing. */
		if (q->ring.hdr)
			return -EPROTO;
		cap = 0;
	}
	q->cap = cap;
	q->max_sge = max_sge;
	return 0;
}

void rover_ring_unmap(struct rover_ring *ring)
{
	if (ring->hdr)
		munmap(ring->hdr, ring->size);
	*ring = (struct rover_ring) { 0 };
}
