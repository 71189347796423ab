/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dmabuf - dma-bufs: memory of other drivers
 *
 * CPUs move the bytes, so rover is no DMA device: the exporter maps the buffer
 * for the kernel, with the caching that it needs, and all accesses use that
 * mapping.  An exporter that can move its buffers is asked to pin this one, and
 * can revoke it: then the mapping is not used any more (decision 0044).
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
 * @buf: buffer, referenced
 * @attach: holds the pin if the exporter can move buffers; else NULL
 * @map: the exporter's mapping
 * @addr: its address; NULL if revoked.  Written under the buffer's dma_resv
 *	lock, like
 * @revoked: revoked by the exporter
 * @dir: direction of the CPU's access
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
 * @writable: the bytes may be written
 *
 * Context: may sleep, also for other devices' accesses.
 * Return: the buffer; -EBADF or -EINVAL if @fd is no dma-buf; -EINVAL if the
 * bytes exceed it; -EACCES if the file forbids it; -EOPNOTSUPP if plain loads
 * and stores cannot reach it.
 */
struct rover_dmabuf *rover_dmabuf_get(struct device *dev, int fd, u64 offset,
				      u64 length, bool writable);

/**
 * rover_dmabuf_addr() - return the address of the buffer
 * @dmabuf: the buffer
 *
 * Context: softirqs off while the memory is used: revoking waits for that.
 * Return: NULL if revoked.
 */
static inline void *rover_dmabuf_addr(const struct rover_dmabuf *dmabuf)
{
	return READ_ONCE(dmabuf->addr);
}

/**
 * rover_dmabuf_put() - release a dma-buf
 * @dmabuf: the buffer
 *
 * Context: may sleep.
 */
void rover_dmabuf_put(struct rover_dmabuf *dmabuf);

#endif /* ROVER_DMABUF_H */
