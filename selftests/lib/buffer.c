// SPDX-License-Identifier: GPL-2.0
/*
 * buffer - dma-bufs that need no hardware
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/dma-heap.h>
#include <linux/udmabuf.h>

#include "buffer.h"

#define PAGE 4096
/* Limit of udmabuf */
#define MAX_ITEMS 1024

const char *const buffer_names[BUFFER_KINDS] = {
	[BUFFER_UDMABUF] = "udmabuf", [BUFFER_SHUFFLED] = "udmabuf of shuffled pages",
	[BUFFER_HEAP] = "system heap",
};

static void close_quietly(int fd)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
}

static int from_heap(size_t len, int flags)
{
	struct dma_heap_allocation_data data = { .len = len, .fd_flags = O_CLOEXEC | flags };
	int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC), error;

	if (heap < 0)
		return -1;
	error = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data);
	close_quietly(heap);
	return error ? -1 : (int)data.fd;
}

static int from_memory(int dev, int memory, size_t len, size_t items)
{
	struct udmabuf_create_list *list;
	size_t i, each = len / items;
	int fd;

	list = calloc(1, sizeof(*list) + items * sizeof(list->list[0]));
	if (!list)
		return -1;
	list->flags = UDMABUF_FLAGS_CLOEXEC;
	list->count = items;
	for (i = 0; i < items; i++) {
		list->list[i].memfd = memory;
		list->list[i].offset = len - (i + 1) * each;
		list->list[i].size = each;
	}
	fd = ioctl(dev, UDMABUF_CREATE_LIST, list);
	free(list);
	return fd;
}

static int from_program(size_t len, size_t items)
{
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), memory, fd = -1;

	if (dev < 0)
		return -1;
	if (items > MAX_ITEMS || !items)
		items = 1;
	memory = memfd_create("buffer", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if (memory >= 0 && !ftruncate(memory, len) && !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = from_memory(dev, memory, len, items);
	close_quietly(memory);
	close_quietly(dev);
	return fd;
}

int buffer_make(enum buffer_kind kind, size_t len, int flags)
{
	switch (kind) {
	case BUFFER_UDMABUF:
		return from_program(len, 1);
	case BUFFER_SHUFFLED:
		return from_program(len, len / PAGE);
	case BUFFER_HEAP:
		return from_heap(len, flags);
	default:
		errno = EINVAL;
		return -1;
	}
}
