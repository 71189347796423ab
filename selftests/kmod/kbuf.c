// SPDX-License-Identifier: GPL-2.0
/*
 * kbuf - exporter of dma-bufs that records what importers do (rover_kbuf.ko)
 *
 * /dev/rover_kbuf creates buffers of ordinary pages for mmap() and vmap(), but
 * not for DMA.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#ifdef CONFIG_X86
#include <asm/pgtable.h>
#endif

#include "kbuf.h"

#define KBUF_MAX_PAGES	1024

/**
 * struct kbuf - a buffer
 * @counts: calls of importers; under the buffer's dma_resv lock, except those
 *	made within a mapping
 * @flags: KBUF_*
 * @num: number of pages
 * @addr: kernel mapping
 * @page: the pages
 */
struct kbuf {
	struct kbuf_counts counts;
	u32 flags;
	u32 num;
	void *addr;
	struct page *page[];
};

static int kbuf_attach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	struct kbuf *k = buf->priv;

	k->counts.attached++;
	return 0;
}

static void kbuf_detach(struct dma_buf *buf, struct dma_buf_attachment *attach)
{
	struct kbuf *k = buf->priv;

	k->counts.attached--;
}

static int kbuf_pin(struct dma_buf_attachment *attach)
{
	struct kbuf *k = attach->dmabuf->priv;

	k->counts.pins++;
	return 0;
}

static void kbuf_unpin(struct dma_buf_attachment *attach)
{
	struct kbuf *k = attach->dmabuf->priv;

	k->counts.pins--;
}

static struct sg_table *kbuf_map_dma(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void kbuf_unmap_dma(struct dma_buf_attachment *attach,
			   struct sg_table *sgt, enum dma_data_direction dir)
{
}

static int kbuf_begin(struct dma_buf *buf, enum dma_data_direction dir)
{
	struct kbuf *k = buf->priv;

	k->counts.begins++;
	k->counts.directions |= BIT(dir);
	if (!k->counts.vmaps)
		k->counts.outside++;
	return 0;
}

static int kbuf_end(struct dma_buf *buf, enum dma_data_direction dir)
{
	struct kbuf *k = buf->priv;

	k->counts.ends++;
	if (!k->counts.vmaps || k->counts.ends > k->counts.begins)
		k->counts.outside++;
	return 0;
}

/*
 * Without accessed and dirty bits: those that appear were set through this
 * mapping.
 */
static pgprot_t kbuf_unused_wc(void)
{
	pgprot_t prot = PAGE_KERNEL;

#ifdef CONFIG_X86
	pgprot_val(prot) &= ~(_PAGE_DIRTY | _PAGE_ACCESSED);
#endif
	return pgprot_writecombine(prot);
}

static int kbuf_vmap(struct dma_buf *buf, struct iosys_map *map)
{
	struct kbuf *k = buf->priv;

	k->addr = vmap(k->page, k->num, VM_MAP,
		       k->flags & KBUF_WC ? kbuf_unused_wc() : PAGE_KERNEL);
	if (!k->addr)
		return -ENOMEM;
	k->counts.vmaps++;
	if (k->flags & KBUF_IO)
		iosys_map_set_vaddr_iomem(map, (void __iomem __force *)k->addr);
	else
		iosys_map_set_vaddr(map, k->addr);
	return 0;
}

static void kbuf_vunmap(struct dma_buf *buf, struct iosys_map *map)
{
	struct kbuf *k = buf->priv;

	if (k->counts.begins != k->counts.ends)
		k->counts.outside++;
	k->counts.vmaps--;
	vunmap(k->addr);
	k->addr = NULL;
}

static int kbuf_mmap(struct dma_buf *buf, struct vm_area_struct *vma)
{
	struct kbuf *k = buf->priv;

	return vm_map_pages_zero(vma, k->page, k->num);
}

static void kbuf_free(struct kbuf *k)
{
	while (k->num)
		put_page(k->page[--k->num]);
	kfree(k);
}

static void kbuf_release(struct dma_buf *buf)
{
	kbuf_free(buf->priv);
}

static const struct dma_buf_ops kbuf_ops = {
	.attach = kbuf_attach,
	.detach = kbuf_detach,
	.map_dma_buf = kbuf_map_dma,
	.unmap_dma_buf = kbuf_unmap_dma,
	.begin_cpu_access = kbuf_begin,
	.end_cpu_access = kbuf_end,
	.mmap = kbuf_mmap,
	.vmap = kbuf_vmap,
	.vunmap = kbuf_vunmap,
	.release = kbuf_release,
};

static const struct dma_buf_ops kbuf_moving_ops = {
	.attach = kbuf_attach,
	.detach = kbuf_detach,
	.pin = kbuf_pin,
	.unpin = kbuf_unpin,
	.map_dma_buf = kbuf_map_dma,
	.unmap_dma_buf = kbuf_unmap_dma,
	.begin_cpu_access = kbuf_begin,
	.end_cpu_access = kbuf_end,
	.mmap = kbuf_mmap,
	.vmap = kbuf_vmap,
	.vunmap = kbuf_vunmap,
	.release = kbuf_release,
};

/* ioctl **********************************************************************/

static struct kbuf *kbuf_alloc(u32 num)
{
	struct kbuf *k = kzalloc(struct_size(k, page, num), GFP_KERNEL);

	if (!k)
		return NULL;
	for (; k->num < num; k->num++) {
		k->page[k->num] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!k->page[k->num]) {
			kbuf_free(k);
			return NULL;
		}
	}
	return k;
}

static int kbuf_export(struct kbuf *k, u32 flags)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *buf;
	int fd;

	k->flags = flags;
	info.ops = flags & KBUF_MOVES ? &kbuf_moving_ops : &kbuf_ops;
	info.size = (size_t)k->num << PAGE_SHIFT;
	info.flags = O_RDWR;
	info.priv = k;
	buf = dma_buf_export(&info);
	if (IS_ERR(buf)) {
		kbuf_free(k);
		return PTR_ERR(buf);
	}
	fd = dma_buf_fd(buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buf);
	return fd;
}

static long kbuf_make(struct kbuf_make __user *arg)
{
	struct kbuf_make make;
	struct kbuf *k;

	if (copy_from_user(&make, arg, sizeof(make)))
		return -EFAULT;
	if (!make.pages || make.pages > KBUF_MAX_PAGES)
		return -EINVAL;
	k = kbuf_alloc(make.pages);
	if (!k)
		return -ENOMEM;
	make.fd = kbuf_export(k, make.flags);
	if (make.fd < 0)
		return make.fd;
	return copy_to_user(arg, &make, sizeof(make)) ? -EFAULT : 0;
}

/* Return a referenced buffer of this exporter. */
static struct dma_buf *kbuf_get(int fd)
{
	struct dma_buf *buf = dma_buf_get(fd);

	if (!IS_ERR(buf) && buf->ops != &kbuf_ops && buf->ops != &kbuf_moving_ops) {
		dma_buf_put(buf);
		return ERR_PTR(-EINVAL);
	}
	return buf;
}

static u32 kbuf_touched(const struct kbuf *k)
{
	u32 touched = 0;

#ifdef CONFIG_X86
	unsigned int level;
	pte_t *pte;
	u32 i;

	for (i = 0; k->addr && i < k->num; i++) {
		pte = lookup_address((unsigned long)k->addr + i * PAGE_SIZE,
				     &level);
		touched += pte && pte_young(*pte);
	}
#endif
	return touched;
}

static long kbuf_count(struct kbuf_counts __user *arg)
{
	struct kbuf_counts counts;
	struct dma_buf *buf;
	struct kbuf *k;
	s32 fd;

	if (get_user(fd, &arg->fd))
		return -EFAULT;
	buf = kbuf_get(fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	k = buf->priv;
	dma_resv_lock(buf->resv, NULL);
	counts = k->counts;
	counts.fd = fd;
	counts.touched = kbuf_touched(k);
	dma_resv_unlock(buf->resv);
	dma_buf_put(buf);
	return copy_to_user(arg, &counts, sizeof(counts)) ? -EFAULT : 0;
}

static long kbuf_revoke(const s32 __user *arg)
{
	struct dma_buf *buf;
	s32 fd;

	if (get_user(fd, arg))
		return -EFAULT;
	buf = kbuf_get(fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	dma_resv_lock(buf->resv, NULL);
	dma_buf_invalidate_mappings(buf);
	dma_resv_unlock(buf->resv);
	dma_buf_put(buf);
	return 0;
}

static long kbuf_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *at = (void __user *)arg;

	switch (cmd) {
	case KBUF_MAKE:
		return kbuf_make(at);
	case KBUF_COUNT:
		return kbuf_count(at);
	case KBUF_REVOKE:
		return kbuf_revoke(at);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations kbuf_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = kbuf_ioctl,
};

static struct miscdevice kbuf_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rover_kbuf",
	.mode = 0666,
	.fops = &kbuf_fops,
};
module_misc_device(kbuf_dev);

MODULE_IMPORT_NS("DMA_BUF");
MODULE_DESCRIPTION("An exporter of dma-bufs for tests");
MODULE_LICENSE("GPL");
