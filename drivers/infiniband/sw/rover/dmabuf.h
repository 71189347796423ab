/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dmabuf - memory of other drivers, which programs hand over as a file
 *
 * rover is no device that could reach memory by itself: it wants the pages, in
 * the kernel's own map of all memory.  So the exporter is asked to map the
 * buffer for the kernel, as long as it is used here, which also has it stay
 * where it is; and of that mapping we take the pages.
 */
#ifndef ROVER_DMABUF_H
#define ROVER_DMABUF_H

#include <linux/iosys-map.h>
#include <linux/mm_types.h>

struct dma_buf;

/**
 * struct rover_dmabuf - a buffer in use
 * @buf: the buffer, with a reference
 * @map: where the exporter has mapped it
 */
struct rover_dmabuf {
	struct dma_buf *buf;
	struct iosys_map map;
};

/**
 * rover_dmabuf_get() - use a buffer
 * @fd: the caller's file
 * @offset: first byte that is wanted
 * @length: bytes; none of them outside of the buffer
 * @writable: they may be changed
 *
 * Context: may sleep, also for what other devices are doing to the buffer.
 * Return: the buffer, or an error: -EBADF or -EINVAL for what is no buffer,
 * -EINVAL for bytes it has not, -EACCES for what the file does not allow,
 * -EOPNOTSUPP when the kernel cannot reach them.
 */
struct rover_dmabuf *rover_dmabuf_get(int fd, u64 offset, u64 length,
				      bool writable);

/**
 * rover_dmabuf_pages() - its pages
 * @dmabuf: the buffer
 * @first: page to begin with
 * @num: how many; not beyond its end
 * @page: where to put them
 *
 * Context: may sleep.
 * Return: 0, or -EOPNOTSUPP when there are none, or not of ordinary memory.
 */
int rover_dmabuf_pages(const struct rover_dmabuf *dmabuf, u64 first, u32 num,
		       struct page **page);

/**
 * rover_dmabuf_put() - and nobody here uses it any more
 * @dmabuf: the buffer
 *
 * Context: may sleep.
 */
void rover_dmabuf_put(struct rover_dmabuf *dmabuf);

#endif /* ROVER_DMABUF_H */
