// SPDX-License-Identifier: GPL-2.0
/*
 * dmabuf - memory of other drivers, which programs hand over as a file
 *
 * Process context, of a verb.
 */
#include <linux/dma-buf.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "dmabuf.h"

/* Pages between two looks at whether others want the CPU. */
#define RESCHED_EVERY	4096

MODULE_IMPORT_NS("DMA_BUF");

/* What a program could not do by mmap() it shall not do by our hands. */
static int check(const struct dma_buf *buf, u64 offset, u64 length,
		 bool writable)
{
	fmode_t need = FMODE_READ | (writable ? FMODE_WRITE : 0);

	if (offset > buf->size || length > buf->size - offset)
		return -EINVAL;
	if ((buf->file->f_mode & need) != need)
		return -EACCES;
	/* To ask for what an exporter does not have is a bug, to dma-buf. */
	return buf->ops->vmap ? 0 : -EOPNOTSUPP;
}

/* Memory of a device, or what is not in whole pages, is nothing for us. */
static int map(struct rover_dmabuf *dmabuf)
{
	int err;

	err = dma_buf_vmap_unlocked(dmabuf->buf, &dmabuf->map);
	if (err)
		return err;
	if (dmabuf->map.is_iomem || offset_in_page(dmabuf->map.vaddr)) {
		dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* For the processor, from now on; others may have it in their caches. */
static int open(struct rover_dmabuf *dmabuf)
{
	int err = map(dmabuf);

	if (err)
		return err;
	err = dma_buf_begin_cpu_access(dmabuf->buf, DMA_BIDIRECTIONAL);
	if (err)
		dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
	return err;
}

struct rover_dmabuf *rover_dmabuf_get(int fd, u64 offset, u64 length,
				      bool writable)
{
	struct rover_dmabuf *dmabuf;
	int err;

	dmabuf = kzalloc_obj(*dmabuf, GFP_KERNEL_ACCOUNT);
	if (!dmabuf)
		return ERR_PTR(-ENOMEM);
	dmabuf->buf = dma_buf_get(fd);
	if (IS_ERR(dmabuf->buf)) {
		err = PTR_ERR(dmabuf->buf);
		goto err_free;
	}
	err = check(dmabuf->buf, offset, length, writable);
	err = err ?: open(dmabuf);
	if (!err)
		return dmabuf;

	dma_buf_put(dmabuf->buf);
err_free:
	kfree(dmabuf);
	return ERR_PTR(err);
}

/* A page that the kernel's own map has, too, and that a reference can hold. */
static struct page *page_at(const void *addr)
{
	struct page *page;

	if (is_vmalloc_addr(addr))
		page = vmalloc_to_page(addr);
	else
		page = virt_addr_valid(addr) ? virt_to_page(addr) : NULL;
	if (!page || !pfn_valid(page_to_pfn(page)) ||
	    is_zone_device_page(page) || PageReserved(page))
		return NULL;
	return page;
}

int rover_dmabuf_pages(const struct rover_dmabuf *dmabuf, u64 first, u32 num,
		       struct page **page)
{
	const void *addr = dmabuf->map.vaddr + (first << PAGE_SHIFT);
	u32 i;

	for (i = 0; i < num; i++, addr += PAGE_SIZE) {
		page[i] = page_at(addr);
		if (!page[i])
			return -EOPNOTSUPP;
		if (i % RESCHED_EVERY == RESCHED_EVERY - 1)
			cond_resched();
	}
	return 0;
}

void rover_dmabuf_put(struct rover_dmabuf *dmabuf)
{
	dma_buf_end_cpu_access(dmabuf->buf, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
	dma_buf_put(dmabuf->buf);
	kfree(dmabuf);
}
