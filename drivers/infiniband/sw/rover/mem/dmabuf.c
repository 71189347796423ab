// SPDX-License-Identifier: GPL-2.0
/* dmabuf - dma-bufs: memory of other drivers */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "mem/dmabuf.h"

MODULE_IMPORT_NS("DMA_BUF");

/* Deny userspace what mmap() of the file would deny. */
static int dmabuf_check(const struct dma_buf *buf, u64 offset, u64 length,
			bool writable)
{
	fmode_t need = FMODE_READ | (writable ? FMODE_WRITE : 0);

	if (offset > buf->size || length > buf->size - offset)
		return -EINVAL;
	if ((buf->file->f_mode & need) != need)
		return -EACCES;
	/* dma-buf warns about vmap without exporter support. */
	return buf->ops->vmap ? 0 : -EOPNOTSUPP;
}

/* Final for importers that pin: see dma_buf_invalidate_mappings(). */
static void dmabuf_revoked(struct dma_buf_attachment *attach)
{
	struct rover_dmabuf *dmabuf = attach->importer_priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	dmabuf->revoked = true;
	/* Pairs with rover_dmabuf_addr(): a grace period ends all uses. */
	WRITE_ONCE(dmabuf->addr, NULL);
	synchronize_rcu();
}

static const struct dma_buf_attach_ops dmabuf_attach_ops = {
	.invalidate_mappings = dmabuf_revoked,
};

/*
 * Exporters that never move buffers need no attachment; old kernels would map
 * it for DMA at once, which needs a DMA device.
 */
static int dmabuf_pin(struct rover_dmabuf *dmabuf, struct device *dev)
{
	struct dma_buf_attachment *attach;
	int err;

	if (!dma_buf_is_dynamic(dmabuf->buf))
		return 0;
	attach = dma_buf_dynamic_attach(dmabuf->buf, dev, &dmabuf_attach_ops,
					dmabuf);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	dma_resv_lock(dmabuf->buf->resv, NULL);
	err = dma_buf_pin(attach);
	dma_resv_unlock(dmabuf->buf->resv);
	if (err)
		dma_buf_detach(dmabuf->buf, attach);
	else
		dmabuf->attach = attach;
	return err;
}

static void dmabuf_unpin(struct rover_dmabuf *dmabuf)
{
	if (!dmabuf->attach)
		return;
	dma_resv_lock(dmabuf->buf->resv, NULL);
	dma_buf_unpin(dmabuf->attach);
	dma_resv_unlock(dmabuf->buf->resv);
	dma_buf_detach(dmabuf->buf, dmabuf->attach);
}

/* Refuse device memory: it needs special loads and stores. */
static int dmabuf_map(struct rover_dmabuf *dmabuf)
{
	int err;

	err = dma_buf_vmap_unlocked(dmabuf->buf, &dmabuf->map);
	if (err)
		return err;
	if (dmabuf->map.is_iomem) {
		dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int dmabuf_open(struct rover_dmabuf *dmabuf)
{
	int err;

	err = dmabuf_map(dmabuf);
	if (err)
		return err;
	err = dma_buf_begin_cpu_access(dmabuf->buf, dmabuf->dir);
	if (err) {
		dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
		return err;
	}
	/* The exporter may have revoked it after dmabuf_pin(). */
	dma_resv_lock(dmabuf->buf->resv, NULL);
	if (!dmabuf->revoked)
		dmabuf->addr = dmabuf->map.vaddr;
	dma_resv_unlock(dmabuf->buf->resv);
	return 0;
}

struct rover_dmabuf *rover_dmabuf_get(struct device *dev, int fd, u64 offset,
				      u64 length, bool writable)
{
	struct rover_dmabuf *dmabuf;
	int err;

	dmabuf = kzalloc_obj(*dmabuf, GFP_KERNEL_ACCOUNT);
	if (!dmabuf)
		return ERR_PTR(-ENOMEM);
	dmabuf->dir = writable ? DMA_BIDIRECTIONAL : DMA_FROM_DEVICE;
	dmabuf->buf = dma_buf_get(fd);
	if (IS_ERR(dmabuf->buf)) {
		err = PTR_ERR(dmabuf->buf);
		goto err_free;
	}
	err = dmabuf_check(dmabuf->buf, offset, length, writable);
	err = err ?: dmabuf_pin(dmabuf, dev);
	if (err)
		goto err_put;
	err = dmabuf_open(dmabuf);
	if (err)
		goto err_unpin;
	return dmabuf;

err_unpin:
	dmabuf_unpin(dmabuf);
err_put:
	dma_buf_put(dmabuf->buf);
err_free:
	kfree(dmabuf);
	return ERR_PTR(err);
}

void rover_dmabuf_put(struct rover_dmabuf *dmabuf)
{
	dma_buf_end_cpu_access(dmabuf->buf, dmabuf->dir);
	dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
	dmabuf_unpin(dmabuf);
	dma_buf_put(dmabuf->buf);
	kfree(dmabuf);
}
