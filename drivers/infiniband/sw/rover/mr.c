// SPDX-License-Identifier: GPL-2.0
/*
 * mr - memory regions: keys, rights, and where the bytes are
 *
 * Pages are used through the kernel's own map of all memory: rover depends on
 * CONFIG_INFINIBAND_VIRT_DMA, which excludes highmem.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/uverbs_ioctl.h>

#include "mr.h"

#ifndef CONFIG_INFINIBAND_VIRT_DMA
#error "rover needs a kernel with CONFIG_INFINIBAND_VIRT_DMA"
#endif

/* Chunks of 1 GiB, the largest page there is, keep offsets in 32 bits. */
#define MAX_CHUNK_SHIFT	30

/* Entries of a table between two looks at whether others want the CPU. */
#define RESCHED_EVERY	4096

struct rover_mr *rover_mr_alloc(struct ib_pd *pd, enum rover_mr_kind kind,
				int access)
{
	struct rover_mr *mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->kind = kind;
	mr->access = access;
	/* The core sets both too, but only after the key can be found. */
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
 * The largest chunk size for which every place where pages stop being
 * contiguous is the end of a chunk.  Chunks need no alignment of their own,
 * neither in memory nor in the program's addresses: the first one is thought
 * to begin so far ahead of the first page (@lead) that the first such place
 * ends it, and then it is the distances to the other ones that count.
 */
static unsigned int best_shift(struct ib_umem *umem, u64 total, u64 *lead)
{
	unsigned int shift = MAX_CHUNK_SHIFT, i;
	u64 pos = 0, first = 0, odd = 0;
	struct page *next = NULL;
	struct scatterlist *sg;

	for_each_sgtable_sg(&umem->sgt_append.sgt, sg, i) {
		/* An entry has a largest size: not all begin at a break. */
		if (pos && sg_page(sg) != next) {
			first = first ?: pos;
			odd |= pos - first;
		}
		pos += sg->length;
		next = sg_page(sg) + (sg->length >> PAGE_SHIFT);
		if (i % RESCHED_EVERY == RESCHED_EVERY - 1)
			cond_resched();
	}

	/* Where page structures are not one array, a chunk is a page. */
	if (IS_ENABLED(CONFIG_SPARSEMEM) && !IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP))
		shift = PAGE_SHIFT;
	if (odd)
		shift = min_t(unsigned int, shift, __ffs64(odd));
	/* No larger than all of it. */
	shift = min_t(unsigned int, shift,
		      max_t(unsigned int, fls64(total - 1), PAGE_SHIFT));
	*lead = -first & (BIT_ULL(shift) - 1);
	return shift;
}

/*
 * @at runs over the entries and @chunk over the chunks, both counted from the
 * beginning of the first chunk, which lies whole pages before its first page;
 * those are never looked at.
 */
static int fill_chunks(struct rover_mr *mr, u64 lead)
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
			if (n % RESCHED_EVERY == 0)
				cond_resched();
		}
		at = end;
	}
	return WARN_ON_ONCE(n != mr->nchunks) ? -EINVAL : 0;
}

static int make_chunks(struct rover_mr *mr)
{
	u64 total = (u64)ib_umem_num_pages(mr->umem) << PAGE_SHIFT;
	u64 lead, n;

	mr->shift = best_shift(mr->umem, total, &lead);
	mr->offset = lead + ib_umem_offset(mr->umem);
	n = (lead + total + BIT_ULL(mr->shift) - 1) >> mr->shift;
	if (n > U32_MAX)
		return -EINVAL;
	mr->nchunks = n;
	mr->chunks = kvmalloc_objs(*mr->chunks, n, GFP_KERNEL_ACCOUNT);
	if (!mr->chunks)
		return -ENOMEM;
	return fill_chunks(mr, lead);
}

struct ib_mr *rover_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata)
{
	struct rover_mr *mr;
	u64 last;
	int err;

	if (dmah || access & ~(ROVER_MR_RIGHTS | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	err = ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);
	/* For kernel callers, the core does not look (IBTA 10.6.3.1). */
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return ERR_PTR(-EINVAL);
	if (!length || check_add_overflow(iova, length - 1, &last) ||
	    start > ULONG_MAX || length > SIZE_MAX)
		return ERR_PTR(-EINVAL);

	mr = rover_mr_alloc(pd, ROVER_MR_USER, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->iova = iova;
	mr->length = length;
	/* Pins the pages and charges RLIMIT_MEMLOCK. */
	mr->umem = ib_umem_get_va(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		goto free_mr;
	}
	err = make_chunks(mr);
	if (!err)
		err = rover_mr_publish(mr, true);
	if (!err)
		return &mr->ib;

	kvfree(mr->chunks);
	ib_umem_release(mr->umem);
free_mr:
	kfree(mr);
	return ERR_PTR(err);
}

/*
 * The local key of a kernel user's protection domain.  No rights for the peer:
 * it would be trusted with every address there is.
 */
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

	rover_mkey_retire(&rover_dev(ib->device)->mrs, &mr->mkey);
	kvfree(mr->chunks);
	kvfree(mr->pieces);
	kvfree(mr->mapped);
	if (mr->umem)
		ib_umem_release(mr->umem);
	/* A reader may just have found it, about to see that there is no key. */
	kfree_rcu(mr, rcu);
	return 0;
}

enum rover_fault rover_mr_find(struct ib_pd *pd, u32 key, int access,
			       u64 addr, u64 len, struct rover_mr **found)
{
	struct rover_mkey *mkey = rover_mkey_find(&rover_dev(pd->device)->mrs,
						  key);
	enum rover_fault fault = ROVER_OK;
	struct rover_mr *mr;
	u64 from;

	if (!mkey)
		return ROVER_FAULT_KEY;
	mr = container_of(mkey, struct rover_mr, mkey);
	from = addr - mr->iova;
	if (mr->ib.pd != pd)
		fault = ROVER_FAULT_KEY;
	else if ((mr->access & access) != access)
		fault = ROVER_FAULT_ACCESS;
	/* No sum that could overflow: the region itself does not wrap. */
	else if (addr < mr->iova || from > mr->length || len > mr->length - from)
		fault = ROVER_FAULT_BOUNDS;
	if (fault) {
		rover_mr_put(mr);
		return fault;
	}
	*found = mr;
	return ROVER_OK;
}

/* The kernel's own address: its direct map is contiguous, whatever the pages. */
static struct page *dma_page(u64 addr, u32 *offset, size_t *run)
{
	*offset = offset_in_page(addr);
	*run = SIZE_MAX - addr;
	return virt_to_page((void *)(uintptr_t)addr);
}

/* The piece that byte @from is in: few, so that halving finds it soon. */
static struct page *piece_page(const struct rover_mr *mr, u64 from, u32 *offset,
			       size_t *run)
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
	page = dma_page(piece->addr + (from - piece->at), offset, run);
	*run = (first + 1 < mr->npieces ? piece[1].at : mr->length) - from;
	return page;
}

struct page *rover_mr_page(const struct rover_mr *mr, u64 addr, u32 *offset,
			   size_t *run)
{
	u64 from, pos;
	u32 in_chunk;

	if (mr->kind == ROVER_MR_DMA)
		return dma_page(addr, offset, run);

	from = addr - mr->iova;
	if (mr->kind == ROVER_MR_FAST)
		return piece_page(mr, from, offset, run);
	pos = from + mr->offset;
	in_chunk = pos & (BIT_ULL(mr->shift) - 1);
	*offset = offset_in_page(in_chunk);
	*run = min_t(u64, BIT_ULL(mr->shift) - in_chunk, mr->length - from);
	return mr->chunks[pos >> mr->shift] + (in_chunk >> PAGE_SHIFT);
}
