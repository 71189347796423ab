// SPDX-License-Identifier: GPL-2.0
/*
 * mr - memory regions
 *
 * Pages are accessed in the direct map: CONFIG_INFINIBAND_VIRT_DMA excludes
 * highmem.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/uverbs_ioctl.h>

#include "mem/mr.h"

#ifndef CONFIG_INFINIBAND_VIRT_DMA
#error "rover needs a kernel with CONFIG_INFINIBAND_VIRT_DMA"
#endif

/* 1 GiB, the largest page: offsets fit in 32 bits. */
#define MAX_CHUNK_SHIFT	30

/* Table entries per cond_resched(). */
#define RESCHED_ENTRIES	4096

struct rover_mr *rover_mr_alloc(struct ib_pd *pd, enum rover_mr_kind kind,
				int access)
{
	struct rover_mr *mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->kind = kind;
	mr->access = access;
	/* The core sets both only after the key is in the table. */
	mr->ib.device = pd->device;
	mr->ib.pd = pd;
	return mr;
}

int rover_mr_publish(struct rover_mr *mr, bool open)
{
	u32 key = rover_mkey_publish(&rover_dev(mr->ib.device)->mrs, &mr->mkey,
				     open);

	if (!key)
		return -ENOMEM;
	mr->ib.lkey = key;
	mr->ib.rkey = key;
	return 0;
}

/*
 * Find the largest chunk size at which each break in contiguity ends a chunk.
 * The first chunk begins @lead bytes before the first page, so that the first
 * break ends it; then the size has to divide all distances between breaks.
 */
static unsigned int mr_best_shift(struct ib_umem *umem, u64 total, u64 *lead)
{
	unsigned int shift = MAX_CHUNK_SHIFT, i;
	u64 pos = 0, first = 0, distances = 0;
	struct page *next = NULL;
	struct scatterlist *sg;

	for_each_sgtable_sg(&umem->sgt_append.sgt, sg, i) {
		/* Entry sizes are limited: neighbours may be contiguous. */
		if (pos && sg_page(sg) != next) {
			first = first ?: pos;
			distances |= pos - first;
		}
		pos += sg->length;
		next = sg_page(sg) + (sg->length >> PAGE_SHIFT);
		if (i % RESCHED_ENTRIES == RESCHED_ENTRIES - 1)
			cond_resched();
	}

	/* Without a single struct page array, a chunk is one page. */
	if (IS_ENABLED(CONFIG_SPARSEMEM) && !IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP))
		shift = PAGE_SHIFT;
	if (distances)
		shift = min_t(unsigned int, shift, __ffs64(distances));
	shift = min_t(unsigned int, shift,
		      max_t(unsigned int, fls64(total - 1), PAGE_SHIFT));
	*lead = -first & (BIT_ULL(shift) - 1);
	return shift;
}

/* The first @lead bytes of the first chunk are never accessed. */
static int mr_fill_chunks(struct rover_mr *mr, u64 lead)
{
	u64 at = lead, chunk = 0;
	struct scatterlist *sg;
	unsigned int i;
	u32 n = 0;

	for_each_sgtable_sg(&mr->umem->sgt_append.sgt, sg, i) {
		u64 end = at + sg->length;

		for (; chunk < end; chunk += BIT_ULL(mr->shift)) {
			if (WARN_ON_ONCE(n == mr->nchunks))
				return -EINVAL;
			mr->chunks[n++] = sg_page(sg) +
				((s64)(chunk - at) >> PAGE_SHIFT);
			if (n % RESCHED_ENTRIES == 0)
				cond_resched();
		}
		at = end;
	}
	return WARN_ON_ONCE(n != mr->nchunks) ? -EINVAL : 0;
}

static int mr_make_chunks(struct rover_mr *mr)
{
	u64 total = (u64)ib_umem_num_pages(mr->umem) << PAGE_SHIFT;
	u64 lead, n;

	mr->shift = mr_best_shift(mr->umem, total, &lead);
	mr->offset = lead + ib_umem_offset(mr->umem);
	n = (lead + total + BIT_ULL(mr->shift) - 1) >> mr->shift;
	if (n > U32_MAX)
		return -EINVAL;
	mr->nchunks = n;
	mr->chunks = kvmalloc_objs(*mr->chunks, n, GFP_KERNEL_ACCOUNT);
	if (!mr->chunks)
		return -ENOMEM;
	return mr_fill_chunks(mr, lead);
}

static int mr_check_access(int access)
{
	/* ODP does not depend on the page size. */
	if (access & IB_ACCESS_ON_DEMAND)
		access &= ~(IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB);
	if (access & ~(ROVER_MR_RIGHTS | IB_ACCESS_OPTIONAL))
		return -EOPNOTSUPP;
	/* The core does not check kernel callers. */
	return rover_mr_may_grant(access) ? 0 : -EINVAL;
}

static struct rover_mr *mr_new_user(struct ib_pd *pd, u64 length, u64 iova,
				    int access)
{
	struct rover_mr *mr;
	u64 last;

	if (!length || check_add_overflow(iova, length - 1, &last) ||
	    length > SIZE_MAX)
		return ERR_PTR(-EINVAL);
	mr = rover_mr_alloc(pd, access & IB_ACCESS_ON_DEMAND ?
			    ROVER_MR_ODP : ROVER_MR_USER, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->iova = iova;
	mr->length = length;
	return mr;
}

static void mr_free(struct rover_mr *mr)
{
	if (!mr->borrowed) {
		kvfree(mr->chunks);
		if (mr->umem)
			ib_umem_release(mr->umem);
		if (mr->dmabuf)
			rover_dmabuf_put(mr->dmabuf);
	}
	if (mr->odp)
		rover_odp_close(mr->odp);
	/* RCU readers may still see the closed key. */
	kfree_rcu(mr, rcu);
}

static int mr_pin(struct rover_mr *mr, u64 start)
{
	struct ib_umem *umem;

	if (start > ULONG_MAX)
		return -EINVAL;
	umem = ib_umem_get_va(mr->ib.device, start, mr->length, mr->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mr->umem = umem;
	return mr_make_chunks(mr);
}

/* An implicit region (the whole address space) uses user addresses. */
static int mr_init_odp(struct rover_mr *mr, u64 start)
{
	u64 last;

	if (mr->length == U64_MAX && (start || mr->iova))
		return -EINVAL;
	if (check_add_overflow(start, mr->length - 1, &last) ||
	    (last > ULONG_MAX && mr->length != U64_MAX))
		return -EINVAL;
	mr->start = start;
	mr->odp = rover_odp_new(rover_dev(mr->ib.device));
	return mr->odp ? 0 : -ENOMEM;
}

static int mr_get_memory(struct rover_mr *mr, u64 start)
{
	return mr->kind == ROVER_MR_ODP ? mr_init_odp(mr, start) :
					  mr_pin(mr, start);
}

struct ib_mr *rover_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata)
{
	struct rover_mr *mr;
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	err = mr_check_access(access);
	err = err ?: ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);
	mr = mr_new_user(pd, length, iova, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = mr_get_memory(mr, start);
	err = err ?: rover_mr_publish(mr, true);
	if (err) {
		mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

/* Prevent binding and return true, unless a window is bound. */
static bool mr_mark_dead(struct rover_mr *mr)
{
	bool free;

	spin_lock_bh(&mr->mkey.lock);
	free = !atomic_read(&mr->windows);
	if (free)
		mr->mkey.dead = true;
	spin_unlock_bh(&mr->mkey.lock);
	return free;
}

/*
 * Use @old's memory (rereg).  Pages pinned read-only are pinned again for
 * writing, which only their own process can do.
 */
static int mr_keep_memory(struct rover_mr *mr, struct rover_mr *old)
{
	if (mr->kind != old->kind)
		return -EOPNOTSUPP;
	if (mr->kind == ROVER_MR_ODP) {
		mr->odp = rover_odp_share(old->odp);
		mr->start = old->start;
		return 0;
	}
	if (ib_access_writable(mr->access) && !old->umem->writable) {
		if (old->umem->owning_mm != current->mm)
			return -EINVAL;
		return mr_pin(mr, old->umem->address);
	}
	mr->umem = old->umem;
	mr->chunks = old->chunks;
	mr->nchunks = old->nchunks;
	mr->shift = old->shift;
	mr->offset = old->offset;
	mr->borrowed = true;
	return 0;
}

/*
 * The core deregisters @old afterwards.  After an error, as with bound windows
 * (IBTA 10.6.7.2.5), @old is unchanged.
 */
struct ib_mr *rover_mr_rereg(struct ib_mr *ib, int flags, u64 start, u64 length,
			     u64 iova, int access, struct ib_pd *pd,
			     struct ib_udata *udata)
{
	struct rover_mr *old = rover_mr(ib), *mr;
	bool trans = flags & IB_MR_REREG_TRANS;
	int err;

	if (flags & ~IB_MR_REREG_SUPPORTED ||
	    (old->kind != ROVER_MR_USER && old->kind != ROVER_MR_ODP))
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->access;
	err = mr_check_access(access);
	err = err ?: ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);
	mr = mr_new_user(flags & IB_MR_REREG_PD ? pd : ib->pd,
			 trans ? length : old->length, trans ? iova : old->iova,
			 access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = trans ? mr_get_memory(mr, start) : mr_keep_memory(mr, old);
	if (!err && !mr_mark_dead(old))
		err = -EBUSY;
	if (err) {
		mr_free(mr);
		return ERR_PTR(err);
	}
	swap(mr->borrowed, old->borrowed);
	mr->ib.lkey = ib->lkey;
	mr->ib.rkey = ib->rkey;
	mr->ib.iova = mr->iova;
	mr->ib.length = mr->length;
	rover_mkey_replace(&rover_dev(ib->device)->mrs, &old->mkey, &mr->mkey);
	return &mr->ib;
}

/* The core has checked the range: nothing overflows. */
static int mr_alloc_page_chunks(struct rover_mr *mr, u64 offset)
{
	u64 n = PAGE_ALIGN(offset_in_page(offset) + mr->length) >> PAGE_SHIFT;

	if (n > U32_MAX)
		return -EINVAL;
	mr->shift = PAGE_SHIFT;
	mr->offset = offset_in_page(offset);
	mr->nchunks = n;
	mr->chunks = kvmalloc_objs(*mr->chunks, n, GFP_KERNEL_ACCOUNT);
	return mr->chunks ? 0 : -ENOMEM;
}

struct ib_mr *rover_mr_reg_pages(struct ib_pd *pd, struct page **page,
				 u64 offset, u64 length, int access)
{
	struct rover_mr *mr;
	int err;

	if (access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	err = mr_check_access(access & ~IB_ZERO_BASED);
	if (err)
		return ERR_PTR(err);
	mr = rover_mr_alloc(pd, ROVER_MR_PAGES, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->length = length;
	mr->ib.length = length;
	err = mr_alloc_page_chunks(mr, offset);
	if (!err) {
		memcpy(mr->chunks, page + (offset >> PAGE_SHIFT),
		       mr->nchunks * sizeof(*page));
		err = rover_mr_publish(mr, true);
	}
	if (err) {
		mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

static int mr_get_dmabuf(struct rover_mr *mr, int fd, u64 offset)
{
	struct rover_dmabuf *dmabuf;

	dmabuf = rover_dmabuf_get(&mr->ib.device->dev, fd, offset, mr->length,
				  ib_access_writable(mr->access));
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	mr->dmabuf = dmabuf;
	mr->start = offset;
	return 0;
}

struct ib_mr *rover_mr_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access,
				  struct ib_dmah *dmah,
				  struct uverbs_attr_bundle *attrs)
{
	struct rover_mr *mr;
	int err;

	if (dmah || access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	err = mr_check_access(access);
	err = err ?: ib_is_udata_in_empty(&attrs->driver_udata);
	if (err)
		return ERR_PTR(err);
	mr = mr_new_user(pd, length, iova, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->kind = ROVER_MR_DMABUF;
	mr->ib.iova = iova;
	mr->ib.length = length;
	err = mr_get_dmabuf(mr, fd, offset);
	err = err ?: rover_mr_publish(mr, true);
	if (err) {
		mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

/* Remote rights would give the peer all memory. */
struct ib_mr *rover_mr_get_dma(struct ib_pd *pd, int access)
{
	struct rover_mr *mr;
	int err;

	if (access & ~IB_ACCESS_LOCAL_WRITE)
		return ERR_PTR(-EOPNOTSUPP);
	mr = rover_mr_alloc(pd, ROVER_MR_DMA, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->length = U64_MAX;
	err = rover_mr_publish(mr, true);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

int rover_mr_dereg(struct ib_mr *ib, struct ib_udata *udata)
{
	struct rover_mr *mr = rover_mr(ib);

	if (!mr_mark_dead(mr))
		return -EBUSY;
	rover_mkey_retire(&rover_dev(ib->device)->mrs, &mr->mkey);
	kvfree(mr->pieces);
	kvfree(mr->mapped);
	mr_free(mr);
	return 0;
}

enum rover_fault rover_mr_find(struct ib_pd *pd, u32 key, int access,
			       u64 addr, u64 len, struct rover_use *use)
{
	struct rover_mkey *mkey = rover_mkey_find(&rover_dev(pd->device)->mrs,
						  key);

	if (!mkey)
		return ROVER_FAULT_KEY;
	/* Windows are for the peer only. */
	if (unlikely(mkey->window)) {
		rover_mkey_put(mkey);
		return ROVER_FAULT_KEY;
	}
	return rover_mr_use(mkey, pd, access, addr, len, use);
}

/* IBTA 10.6.7.2.2, the region's part */
static bool mr_may_bind(const struct rover_mr *mr, struct ib_pd *pd, u32 key,
			int access, u64 addr, u64 len)
{
	if (mr->mkey.window || mr->mkey.key != key || mr->ib.pd != pd ||
	    !(mr->access & IB_ACCESS_MW_BIND))
		return false;
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return rover_mr_within(mr, addr, len);
}

struct rover_mr *rover_mr_bind(struct ib_pd *pd, u32 key, int access, u64 addr,
			       u64 len)
{
	struct rover_mkey *mkey = rover_mkey_lock(&rover_dev(pd->device)->mrs,
						  key);
	struct rover_mr *mr;

	if (!mkey)
		return NULL;
	mr = container_of(mkey, struct rover_mr, mkey);
	if (mr_may_bind(mr, pd, key, access, addr, len))
		atomic_inc(&mr->windows);
	else
		mr = NULL;
	rover_mkey_unlock(mkey);
	return mr;
}

/* @addr is a kernel address: the direct map is contiguous. */
static struct page *mr_dma_page(u64 addr, u32 *offset, size_t *run)
{
	*offset = offset_in_page(addr);
	*run = SIZE_MAX - addr;
	return virt_to_page((void *)(uintptr_t)addr);
}

static struct page *mr_piece_page(const struct rover_mr *mr, u64 from,
				  u32 *offset, size_t *run)
{
	u32 first = 0, last = mr->npieces - 1;
	const struct rover_piece *piece;
	struct page *page;

	while (first < last) {
		u32 middle = last - (last - first) / 2;

		if (mr->pieces[middle].at <= from)
			first = middle;
		else
			last = middle - 1;
	}
	piece = &mr->pieces[first];
	page = mr_dma_page(piece->addr + (from - piece->at), offset, run);
	*run = (first + 1 < mr->npieces ? piece[1].at : mr->length) - from;
	return page;
}

static u64 mr_user_va(const struct rover_use *use, u64 addr)
{
	const struct rover_mr *mr = use->mr;

	return addr + use->shift - mr->iova + mr->start;
}

struct page *rover_mr_page_slow(struct rover_use *use, u64 addr, bool write,
				u32 *offset, size_t *run)
{
	const struct rover_mr *mr = use->mr;

	switch (mr->kind) {
	case ROVER_MR_DMA:
		return mr_dma_page(addr + use->shift, offset, run);
	case ROVER_MR_FAST:
		return mr_piece_page(mr, addr + use->shift - mr->iova, offset,
				     run);
	default:
		*offset = offset_in_page(mr_user_va(use, addr));
		*run = PAGE_SIZE - *offset;
		return rover_odp_enter(mr->odp, mr_user_va(use, addr), write,
				       &use->leaf);
	}
}

enum rover_fault rover_mr_pagein(const struct rover_use *use, u64 addr, u64 len,
				 bool write, struct rover_pagein *pagein)
{
	if (!pagein)
		return ROVER_FAULT_PAGE;
	return rover_odp_pagein(use->mr->odp, pagein, mr_user_va(use, addr),
				len, write);
}

struct rover_odp *rover_mr_find_odp(struct ib_pd *pd, u32 key, int access,
				    u64 addr, u64 len, u64 *va)
{
	struct rover_mkey *mkey = rover_mkey_find(&rover_dev(pd->device)->mrs,
						  key);
	struct rover_odp *odp = NULL;
	struct rover_use use;
	int err = 0;

	if (!mkey)
		return ERR_PTR(-ENOENT);
	if (mkey->window ||
	    container_of(mkey, struct rover_mr, mkey)->kind != ROVER_MR_ODP) {
		rover_mkey_put(mkey);
		return ERR_PTR(-EINVAL);
	}
	switch (rover_mr_use(mkey, pd, access, addr, len, &use)) {
	case ROVER_OK:
		*va = mr_user_va(&use, addr);
		odp = rover_odp_get(use.mr->odp);
		rover_mr_put(&use);
		break;
	case ROVER_FAULT_BOUNDS:
		err = -EFAULT;
		break;
	default:
		err = -EPERM;
	}
	return err ? ERR_PTR(err) : odp;
}
