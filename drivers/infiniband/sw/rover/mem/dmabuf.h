/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dmabuf - dma-bufs: memory of other drivers
 *
 * CPUs copy the bytes in the exporter's kernel mapping, with the caching that
 * the buffer needs.  An exporter that can move a buffer also pins it, and may
 * revoke it (decision 0044).
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
 * struct rover_dmabuf - dma-buf in use
 * @buf: referenced
 * @attach: holds the pin; NULL if the exporter never moves buffers
 * @map: the exporter's mapping
 * @addr: its address; NULL if revoked; written under the dma_resv lock
 * @revoked: by the exporter; under this lock
 * @dir: direction of CPU access
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
 * rover_dmabuf_get() - get, pin and map a dma-buf
 * @dev: device to attach with
 * @fd: the caller's file
 * @offset: first byte
 * @length: bytes
 * @writable: to be written
 * Context: may sleep.
 * Return: the buffer; -EBADF or -EINVAL for no dma-buf; -EINVAL beyond its end;
 * -EACCES if the file forbids it; -EOPNOTSUPP without plain loads and stores.
 */
struct rover_dmabuf *rover_dmabuf_get(struct device *dev, int fd, u64 offset,
				      u64 length, bool writable);

/**
 * rover_dmabuf_addr() - return the address of the buffer
 * @dmabuf: buffer
 * Context: softirqs off during use, which delays revoking.
 * Return: NULL if revoked.
 */
static inline void *rover_dmabuf_addr(const struct rover_dmabuf *dmabuf)
{
	return READ_ONCE(dmabuf->addr);
}

/**
 * rover_dmabuf_put() - release a dma-buf
 * @dmabuf: buffer
 * Context: may sleep.
 */
void rover_dmabuf_put(struct rover_dmabuf *dmabuf);

#endif /* ROVER_DMABUF_H */
