/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mr - memory regions
 *
 * A pinned region is a table of chunks of one power-of-two size: a shift finds
 * the chunk of an address, and a huge page is one chunk.
 */
#ifndef ROVER_MR_H
#define ROVER_MR_H

#include <rdma/ib_verbs.h>

#include "core/dev.h"
#include "mem/dmabuf.h"
#include "mem/mkey.h"
#include "mem/odp.h"
#include "wire/fault.h"

struct ib_dmah;

enum rover_mr_kind {
	ROVER_MR_USER,		/* pinned user pages */
	ROVER_MR_PAGES,		/* pages of another object (dm) */
	ROVER_MR_DMA,		/* all kernel memory, by kernel address */
	ROVER_MR_FAST,		/* last fast registration (fastreg) */
	ROVER_MR_ODP,		/* user pages, by ODP */
	ROVER_MR_DMABUF,	/* dma-buf, by its exporter's mapping */
};

/* Kinds up to this one have chunks. */
#define ROVER_MR_CHUNKS		ROVER_MR_PAGES

#define ROVER_MR_REMOTE		(IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | \
				 IB_ACCESS_REMOTE_ATOMIC)
#define ROVER_MR_RIGHTS		(IB_ACCESS_LOCAL_WRITE | ROVER_MR_REMOTE | \
				 IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL)

/* IBTA 10.6.3.1: remote write and atomic require local write. */
static inline bool rover_mr_may_grant(u32 access)
{
	return access & IB_ACCESS_LOCAL_WRITE ||
	       !(access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC));
}

#define ROVER_MR_WRITES		(IB_ACCESS_LOCAL_WRITE | \
				 IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct rover_piece - contiguous kernel memory
 * @at: offset in the region
 * @addr: kernel address
 */
struct rover_piece {
	u64 at;
	u64 addr;
};

/**
 * struct rover_mr - memory region
 * @ib: the core's part
 * @mkey: key; lkey and rkey are equal
 * @kind: enum rover_mr_kind; constant
 * @access: IB_ACCESS_*
 * @rcu: for freeing
 * @iova: first virtual address
 * @length: bytes
 * @shift: log2 of the chunk size
 * @offset: of the first byte in the first chunk
 * @chunks: first page of each chunk
 * @nchunks: entries of @chunks
 * @umem: pinned pages
 * @dmabuf: ROVER_MR_DMABUF: buffer
 * @windows: bound MWs; incremented under mkey.lock
 * @borrowed: @chunks and @umem belong to another region (rereg)
 * @pieces: ROVER_MR_FAST: memory, in order
 * @npieces: entries of @pieces
 * @mapped: ROVER_MR_FAST: the consumer's next @pieces
 * @nmapped: entries of @mapped
 * @max_pieces: capacity of both
 * @odp: ROVER_MR_ODP: user memory
 * @start: ROVER_MR_ODP: first user address; ROVER_MR_DMABUF: offset
 *
 * While the key is open, only @windows, @mapped and @nmapped change.
 */
struct rover_mr {
	struct ib_mr ib;
	struct rover_mkey mkey;
	u8 kind;
	int access;
	struct rcu_head rcu;
	u64 iova;
	u64 length;
	unsigned int shift;
	u32 offset;
	struct page **chunks;
	u32 nchunks;
	struct ib_umem *umem;
	struct rover_dmabuf *dmabuf;
	atomic_t windows;
	bool borrowed;
	struct rover_piece *pieces;
	u32 npieces;
	struct rover_piece *mapped;
	u32 nmapped;
	u32 max_pieces;
	struct rover_odp *odp;
	u64 start;
};

/**
 * struct rover_use - region in use, found by a key
 * @mr: region; NULL if none
 * @mkey: the region's or a window's, referenced
 * @shift: region's virtual address minus that of @mkey
 * @leaf: locked ODP leaf of the current page, or NULL
 */
struct rover_use {
	struct rover_mr *mr;
	struct rover_mkey *mkey;
	u64 shift;
	struct rover_leaf *leaf;
};

static inline struct rover_mr *rover_mr(struct ib_mr *ib)
{
	return container_of(ib, struct rover_mr, ib);
}

/* Verbs, as in the newest struct ib_device_ops. */
struct ib_mr *rover_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata);
struct ib_mr *rover_mr_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access,
				  struct ib_dmah *dmah,
				  struct uverbs_attr_bundle *attrs);
struct ib_mr *rover_mr_get_dma(struct ib_pd *pd, int access);
struct ib_mr *rover_mr_rereg(struct ib_mr *ib, int flags, u64 start, u64 length,
			     u64 iova, int access, struct ib_pd *pd,
			     struct ib_udata *udata);
int rover_mr_dereg(struct ib_mr *ib, struct ib_udata *udata);

/**
 * rover_mr_alloc() - allocate a region without a key
 * @pd: PD
 * @kind: enum rover_mr_kind
 * @access: IB_ACCESS_*
 * Context: may sleep.
 * Return: NULL if out of memory.
 */
struct rover_mr *rover_mr_alloc(struct ib_pd *pd, enum rover_mr_kind kind,
				int access);

/**
 * rover_mr_publish() - assign a region's key
 * @mr: complete region
 * @open: open the key, too
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rover_mr_publish(struct rover_mr *mr, bool open);

/**
 * rover_mr_reg_pages() - register pages that outlive the region
 * @pd: PD
 * @page: pages
 * @offset: first byte
 * @length: bytes, may be 0
 * @access: IB_ACCESS_*; virtual addresses begin at 0
 * Context: may sleep.
 * Return: the region; -EOPNOTSUPP for other rights, -EINVAL, -ENOMEM.
 */
struct ib_mr *rover_mr_reg_pages(struct ib_pd *pd, struct page **page,
				 u64 offset, u64 length, int access);

/**
 * rover_mr_bind() - hold a region for a window
 * @pd: PD
 * @key: the region's
 * @access: the window's IB_ACCESS_REMOTE_*
 * @addr: first byte of the window
 * @len: bytes, not 0
 * Context: softirqs off.
 * Return: the region, held until rover_mr_unbind(); NULL if not allowed.
 */
struct rover_mr *rover_mr_bind(struct ib_pd *pd, u32 key, int access, u64 addr,
			       u64 len);

/**
 * rover_mr_unbind() - release a window's region
 * @mr: region
 * Context: any.
 */
static inline void rover_mr_unbind(struct rover_mr *mr)
{
	/* Pairs with mr_mark_dead() in mr.c: accesses are over. */
	smp_mb__before_atomic();
	atomic_dec(&mr->windows);
}

static inline bool rover_mr_within(const struct rover_mr *mr, u64 addr, u64 len)
{
	u64 from = addr - mr->iova;

	return addr >= mr->iova && from <= mr->length &&
	       len <= mr->length - from;
}

/**
 * rover_mr_find() - look up a region by a local key
 * @pd: PD
 * @key: local key
 * @access: IB_ACCESS_* needed; 0 for local reads
 * @addr: first byte
 * @len: bytes; do not call for 0 (IBTA 9.7.5.2.4)
 * @use: result, referenced
 * Context: softirqs off until rover_mr_put().
 * Return: ROVER_OK, or KEY, ACCESS, BOUNDS.
 */
enum rover_fault rover_mr_find(struct ib_pd *pd, u32 key, int access,
			       u64 addr, u64 len, struct rover_use *use);

/**
 * rover_mr_use() - rover_mr_find() for a key already found
 * @mkey: a region's; the reference moves to @use, or is dropped
 * @pd: PD
 * @access: IB_ACCESS_* needed
 * @addr: first byte
 * @len: bytes
 * @use: result
 */
static inline enum rover_fault rover_mr_use(struct rover_mkey *mkey,
					    struct ib_pd *pd, int access,
					    u64 addr, u64 len,
					    struct rover_use *use)
{
	struct rover_mr *mr = container_of(mkey, struct rover_mr, mkey);
	enum rover_fault fault;

	if (unlikely(mr->ib.pd != pd)) {
		fault = ROVER_FAULT_KEY;
	} else if (unlikely((mr->access & access) != access)) {
		fault = ROVER_FAULT_ACCESS;
	} else if (unlikely(!rover_mr_within(mr, addr, len))) {
		fault = ROVER_FAULT_BOUNDS;
	} else {
		*use = (struct rover_use) { .mr = mr, .mkey = mkey };
		return ROVER_OK;
	}
	rover_mkey_put(mkey);
	return fault;
}

/**
 * rover_mr_put() - drop the reference to a region
 * @use: empty afterwards
 * Context: any.
 */
static inline void rover_mr_put(struct rover_use *use)
{
	rover_mkey_put(use->mkey);
	use->mr = NULL;
}

/**
 * rover_mr_has_key() - test whether a region in use has an open key
 * @use: region or none
 * @key: from a WQE or the peer
 *
 * False for windows, which may be another queue pair's.
 */
static inline bool rover_mr_has_key(const struct rover_use *use, u32 key)
{
	return use->mr && !use->mkey->window && READ_ONCE(use->mkey->key) == key;
}

/* 0 for ROVER_MR_DMA, which never closes. */
static inline struct rover_mkey_id rover_mr_id(const struct rover_use *use)
{
	if (use->mr->kind == ROVER_MR_DMA)
		return (struct rover_mkey_id) {};
	return rover_mkey_id(use->mkey);
}

/* rover_mr_page() for regions without chunks. */
struct page *rover_mr_page_slow(struct rover_use *use, u64 addr, bool write,
				u32 *offset, size_t *run);

/**
 * rover_mr_page() - find the longest contiguous run at an address
 * @use: referenced
 * @addr: under the key, in bounds
 * @write: to be written
 * @offset: result, offset in the page
 * @run: result, bytes contiguous in struct pages and direct map
 * Context: softirqs off.
 * Return: the first page, for rover_mr_leave(); NULL if absent: see
 * rover_mr_pagein().
 */
static inline struct page *rover_mr_page(struct rover_use *use, u64 addr,
					 bool write, u32 *offset, size_t *run)
{
	const struct rover_mr *mr = use->mr;
	u64 from, pos;
	u32 in_chunk;

	if (mr->kind > ROVER_MR_CHUNKS)
		return rover_mr_page_slow(use, addr, write, offset, run);

	from = addr + use->shift - mr->iova;
	pos = from + mr->offset;
	in_chunk = pos & (BIT_ULL(mr->shift) - 1);
	*offset = offset_in_page(in_chunk);
	*run = min_t(u64, BIT_ULL(mr->shift) - in_chunk, mr->length - from);
	return mr->chunks[pos >> mr->shift] + (in_chunk >> PAGE_SHIFT);
}

/**
 * rover_mr_dmabuf() - find a byte of a dma-buf
 * @use: referenced ROVER_MR_DMABUF
 * @addr: under the key, in bounds
 * @run: result, bytes from @addr on
 * Context: softirqs off while the memory is used.
 * Return: its kernel address; NULL if revoked.
 */
static inline void *rover_mr_dmabuf(const struct rover_use *use, u64 addr,
				    size_t *run)
{
	const struct rover_mr *mr = use->mr;
	u64 from = addr + use->shift - mr->iova;
	void *base = rover_dmabuf_addr(mr->dmabuf);

	*run = mr->length - from;
	return base ? base + mr->start + from : NULL;
}

/**
 * rover_mr_leave() - unlock the page of rover_mr_page()
 * @use: referenced
 */
static inline void rover_mr_leave(struct rover_use *use)
{
	if (unlikely(use->leaf)) {
		rover_odp_leave(use->leaf);
		use->leaf = NULL;
	}
}

/**
 * rover_mr_pagein() - request ODP pages
 * @use: referenced; rover_mr_page() returned NULL
 * @addr: missing byte, under the key
 * @len: bytes needed, not 0
 * @write: to be written
 * @pagein: request; NULL for none
 * Context: softirqs off, lock of @pagein's owner held.
 * Return: see rover_odp_pagein().
 */
enum rover_fault rover_mr_pagein(const struct rover_use *use, u64 addr, u64 len,
				 bool write, struct rover_pagein *pagein);

/**
 * rover_mr_find_odp() - look up the memory of an ODP region
 * @pd: PD
 * @key: local key
 * @access: IB_ACCESS_* needed
 * @addr: first byte
 * @len: bytes
 * @va: result, first user address
 * Context: softirqs off.
 * Return: the memory, referenced; -ENOENT for no such key, -EINVAL if not ODP,
 * -EPERM for another PD or missing rights, -EFAULT out of bounds.
 */
struct rover_odp *rover_mr_find_odp(struct ib_pd *pd, u32 key, int access,
				    u64 addr, u64 len, u64 *va);

#endif /* ROVER_MR_H */
