/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dmabuf - memory of other drivers, which programs hand over as a file
 *
 * rover moves bytes with the processor, so it is no DMA device: the exporter maps the
 * buffer for the kernel, with the caching that the memory needs, and all access goes
 * through that mapping.  An exporter that can move its buffers is also asked to pin
 * this one, and can revoke it: from then on the mapping is not used any more.
 */
#ifndef ROVER_DMABUF_H
#define ROVER_DMABUF_H

#include <linux/compiler.h>
#include <linux/dma-direction.h>
#include <linux/iosys-map.h>
#include <linux/types.h>

struct device;
struct dma_buf;
struct dma_buf_attachment;

/**
 * struct rover_dmabuf - a buffer in use
 * @buf: the buffer, with a reference
 * @attach: where the exporter can move its buffers: holds the pin; else NULL
 * @map: the exporter's mapping
 * @addr: where that is; NULL when it has been revoked; written under the buffer's
 *	dma_resv lock, as
 * @revoked: its exporter has revoked it
 * @dir: what the processor does to it
 */
struct rover_dmabuf {
	struct dma_buf *buf;
	struct dma_buf_attachment *attach;
	struct iosys_map map;
	void *addr;
	bool revoked;
	enum dma_data_direction dir;
};

/**
 * rover_dmabuf_get() - use a buffer
 * @dev: device to attach with
 * @fd: the caller's file
 * @offset: first byte that is wanted
 * @length: bytes; none of them outside of the buffer
 * @writable: they may be changed
 *
 * Context: may sleep, also for what other devices are doing to the buffer.
 * Return: the buffer, or an error: -EBADF or -EINVAL for what is no buffer,
 * -EINVAL for bytes it has not, -EACCES for what the file does not allow,
 * -EOPNOTSUPP when the kernel cannot reach them by plain loads and stores.
 */
struct rover_dmabuf *rover_dmabuf_get(struct device *dev, int fd, u64 offset,
				      u64 length, bool writable);

/**
 * rover_dmabuf_addr() - where the buffer begins
 * @dmabuf: the buffer
 *
 * Context: softirqs off, as long as the memory is used: an exporter that revokes it
 * waits for that.
 * Return: NULL when it has been revoked.
 */
static inline void *rover_dmabuf_addr(const struct rover_dmabuf *dmabuf)
{
	return READ_ONCE(dmabuf->addr);
}

/**
 * rover_dmabuf_put() - nobody here uses it any more
 * @dmabuf: the buffer
 *
 * Context: may sleep.
 */
void rover_dmabuf_put(struct rover_dmabuf *dmabuf);

#endif /* ROVER_DMABUF_H */
