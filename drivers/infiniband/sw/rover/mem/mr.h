/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mr - memory regions: keys, rights, and where the bytes are
 *
 * A program's region is a table of chunks, all of one power-of-two size, so that
 * the chunk of an address is a shift away and a huge page is one chunk.  What
 * kernel users register by work requests (fastreg) is pieces of any length.
 * Of memory on demand (odp) the program's page tables know where it is.
 * Look-up under RCU takes a reference; rover_mr_dereg() makes the key unfindable
 * and waits until the last reference is gone, so no reference may be kept
 * across waiting for the wire: take it, move the bytes, put it.
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
	ROVER_MR_USER,		/* pinned pages of a program */
	ROVER_MR_PAGES,		/* pages that somebody else holds */
	ROVER_MR_DMA,		/* all of kernel memory: address is the kernel's own */
	ROVER_MR_FAST,		/* what a work request last registered (fastreg) */
	ROVER_MR_ODP,		/* pages of a program that are there on demand */
	ROVER_MR_DMABUF,	/* a dma-buf, by its exporter's mapping */
};

/* Kinds up to this one have chunks. */
#define ROVER_MR_CHUNKS		ROVER_MR_PAGES

/* What a region may grant. */
#define ROVER_MR_REMOTE		(IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | \
				 IB_ACCESS_REMOTE_ATOMIC)
#define ROVER_MR_RIGHTS		(IB_ACCESS_LOCAL_WRITE | ROVER_MR_REMOTE | \
				 IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL)

/* Where the peer may write, its owner has to, too (IBTA 10.6.3.1). */
static inline bool rover_mr_may_grant(u32 access)
{
	return access & IB_ACCESS_LOCAL_WRITE ||
	       !(access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC));
}

/* Those by which memory changes. */
#define ROVER_MR_WRITES		(IB_ACCESS_LOCAL_WRITE | \
				 IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct rover_piece - kernel memory without a gap
 * @at: where it begins, counted from the beginning of the region
 * @addr: the kernel's own address
 */
struct rover_piece {
	u64 at;
	u64 addr;
};

/**
 * struct rover_mr - a memory region
 * @ib: the core's part
 * @mkey: key; lkey and rkey are the same number
 * @kind: enum rover_mr_kind; constant
 * @access: IB_ACCESS_*
 * @rcu: readers may still look at us after removal
 * @iova: address of the first byte in the region's own terms
 * @length: bytes
 * @shift: log2 of the chunk size
 * @offset: of the first byte in the first chunk
 * @chunks: first page of each chunk; kvmalloc'ed
 * @nchunks: how many
 * @umem: the pinned pages
 * @dmabuf: ROVER_MR_DMABUF: the buffer
 * @windows: bound to it; the first under mkey.change
 * @lent: @chunks and @umem belong to the region that took over (rereg)
 * @pieces: ROVER_MR_FAST: where the bytes are, in order
 * @npieces: how many
 * @mapped: ROVER_MR_FAST: the consumer's, where they are to be next
 * @nmapped: how many
 * @max_pieces: room in each
 * @odp: ROVER_MR_ODP: the program's memory
 * @start: and its address of the first byte; ROVER_MR_DMABUF: offset of that in the
 *	buffer
 *
 * All fields but the consumer's are constant while the region can be found: see
 * mkey.h.
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
	bool lent;
	struct rover_piece *pieces;
	u32 npieces;
	struct rover_piece *mapped;
	u32 nmapped;
	u32 max_pieces;
	struct rover_odp *odp;
	u64 start;
};

/**
 * struct rover_use - a region in use, as a key names it
 * @mr: the region; NULL when there is none
 * @mkey: whose key it was, the region's or a window's; referenced
 * @shift: to be added to the address named to get the region's
 * @in: the page that we are in, where memory is on demand; else NULL
 */
struct rover_use {
	struct rover_mr *mr;
	struct rover_mkey *mkey;
	u64 shift;
	struct rover_leaf *in;
};

static inline struct rover_mr *rover_mr(struct ib_mr *ib)
{
	return container_of(ib, struct rover_mr, ib);
}

/* Verbs; signatures are those of struct ib_device_ops on the newest kernel. */
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
 * rover_mr_alloc() - a region that nobody can find yet
 * @pd: protection domain
 * @kind: enum rover_mr_kind
 * @access: IB_ACCESS_*
 *
 * Context: may sleep.
 * Return: NULL without memory.
 */
struct rover_mr *rover_mr_alloc(struct ib_pd *pd, enum rover_mr_kind kind,
				int access);

/**
 * rover_mr_publish() - the last step of making a region
 * @mr: complete
 * @open: it can be used from now on
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rover_mr_publish(struct rover_mr *mr, bool open);

/**
 * rover_mr_reg_pages() - a region of pages that outlive it
 * @pd: protection domain
 * @page: the pages
 * @offset: of the first byte of the region in them
 * @length: bytes; none is fine
 * @access: IB_ACCESS_*; addresses begin with zero
 *
 * Context: may sleep.
 * Return: the region; -EOPNOTSUPP for rights that it cannot grant, -EINVAL,
 * -ENOMEM.
 */
struct ib_mr *rover_mr_reg_pages(struct ib_pd *pd, struct page **page,
				 u64 offset, u64 length, int access);

/**
 * rover_mr_bind() - a window is going to be bound to this region
 * @pd: protection domain of the queue pair
 * @key: the region's
 * @access: rights the window gives, IB_ACCESS_REMOTE_*
 * @addr: first byte of the window
 * @len: bytes of the window, not 0
 *
 * The region stays until rover_mr_unbind().
 *
 * Context: softirqs off.
 * Return: NULL when no such window may be bound.
 */
struct rover_mr *rover_mr_bind(struct ib_pd *pd, u32 key, int access, u64 addr,
			       u64 len);

/**
 * rover_mr_unbind() - and that window is no more
 * @mr: the region
 *
 * Context: any.
 */
static inline void rover_mr_unbind(struct rover_mr *mr)
{
	/* What was done by that window is over before the region goes. */
	smp_mb__before_atomic();
	atomic_dec(&mr->windows);
}

/* Do these bytes lie in the region?  No sum that could overflow. */
static inline bool rover_mr_within(const struct rover_mr *mr, u64 addr, u64 len)
{
	u64 from = addr - mr->iova;

	/* The region itself does not wrap. */
	return addr >= mr->iova && from <= mr->length &&
	       len <= mr->length - from;
}

/**
 * rover_mr_find() - a region, by a local key, for a given use
 * @pd: protection domain of the queue pair
 * @key: the key; those that a peer names are for rover_mw_find()
 * @access: rights needed, IB_ACCESS_*; 0 for local reading
 * @addr: first byte of the use
 * @len: bytes of the use; with 0 neither key nor address is looked at by
 *	callers (IBTA 9.7.5.2.4), so do not call
 * @use: where to put it, with a reference
 *
 * Context: softirqs off, until the reference is dropped.
 * Return: ROVER_OK, or KEY, ACCESS, BOUNDS.
 */
enum rover_fault rover_mr_find(struct ib_pd *pd, u32 key, int access,
			       u64 addr, u64 len, struct rover_use *use);

/**
 * rover_mr_use() - the same of a key that was found
 * @mkey: a region's, with a reference that is @use's from now on, or dropped
 * @pd: protection domain of the queue pair
 * @access: rights needed, IB_ACCESS_*
 * @addr: first byte of the use
 * @len: bytes of the use
 * @use: where to put it
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
 * rover_mr_put() - drop the reference of a use
 * @use: not in use any more; without a region from now on
 *
 * Context: any.
 */
static inline void rover_mr_put(struct rover_use *use)
{
	rover_mkey_put(use->mkey);
	use->mr = NULL;
}

/**
 * rover_mr_is() - is this what that key opens, still?
 * @use: in use, or without a region
 * @key: as a work request or the peer names it
 *
 * While it has the key it is open, and who closes it from now on waits for our
 * reference.  Of a window the answer is no: it may be another queue pair's.
 */
static inline bool rover_mr_is(const struct rover_use *use, u32 key)
{
	return use->mr && !use->mkey->window && READ_ONCE(use->mkey->key) == key;
}

/* How it is open.  The key of all of kernel memory never closes: then its number is 0. */
static inline struct rover_mkey_id rover_mr_id(const struct rover_use *use)
{
	if (use->mr->kind == ROVER_MR_DMA)
		return (struct rover_mkey_id) {};
	return rover_mkey_id(use->mkey);
}

/* rover_mr_page() of what is not in chunks. */
struct page *rover_mr_page_of(struct rover_use *use, u64 addr, bool write,
			      u32 *offset, size_t *run);

/**
 * rover_mr_page() - the longest run of contiguous bytes at an address
 * @use: referenced
 * @addr: as the key's owner names it, in bounds
 * @write: they are going to be written to
 * @offset: where to put the byte offset into the page returned
 * @run: where to put the length of the run from @addr on; the pages that follow
 *	the one returned are its neighbours, here and in the kernel's own map
 *
 * Context: softirqs off.
 * Return: the page, to be left with rover_mr_leave() before the next one is asked
 * for; NULL when it is not there: see rover_mr_demand().
 */
static inline struct page *rover_mr_page(struct rover_use *use, u64 addr,
					 bool write, u32 *offset, size_t *run)
{
	const struct rover_mr *mr = use->mr;
	u64 from, pos;
	u32 in_chunk;

	if (mr->kind > ROVER_MR_CHUNKS)
		return rover_mr_page_of(use, addr, write, offset, run);

	from = addr + use->shift - mr->iova;
	pos = from + mr->offset;
	in_chunk = pos & (BIT_ULL(mr->shift) - 1);
	*offset = offset_in_page(in_chunk);
	*run = min_t(u64, BIT_ULL(mr->shift) - in_chunk, mr->length - from);
	return mr->chunks[pos >> mr->shift] + (in_chunk >> PAGE_SHIFT);
}

/**
 * rover_mr_dmabuf() - where a byte of a dma-buf is
 * @use: referenced; of a region of kind ROVER_MR_DMABUF
 * @addr: as the key's owner names it, in bounds
 * @run: where to put the length of the region from @addr on
 *
 * Context: softirqs off, as long as the memory is used.
 * Return: the address in the exporter's mapping; NULL when it has been revoked.
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
 * rover_mr_leave() - done with what rover_mr_page() gave
 * @use: referenced
 */
static inline void rover_mr_leave(struct rover_use *use)
{
	if (unlikely(use->in)) {
		rover_odp_leave(use->in);
		use->in = NULL;
	}
}

/**
 * rover_mr_demand() - what is not there is to be there
 * @use: referenced; rover_mr_page() returned NULL
 * @addr: as above
 * @len: bytes from there on that are going to be used, not 0
 * @write: as above
 * @demand: who waits for it; NULL for nobody
 *
 * Context: softirqs off, the lock of the demand's owner held.
 * Return: PAGE, or MEMORY: see rover_odp_demand().
 */
enum rover_fault rover_mr_demand(const struct rover_use *use, u64 addr, u64 len,
				 bool write, struct rover_demand *demand);

/**
 * rover_mr_find_demand() - the memory of a region on demand
 * @pd: protection domain
 * @key: its local key
 * @access: rights needed, IB_ACCESS_*
 * @addr: first byte of the use
 * @len: bytes of the use
 * @va: where to put the program's address of the first byte
 *
 * Context: softirqs off.
 * Return: with a reference, which does not hold up the region's end; -ENOENT when
 * there is no such key, -EINVAL when it is no key of a region on demand, -EPERM
 * for another domain or rights not given, -EFAULT out of bounds.
 */
struct rover_odp *rover_mr_find_demand(struct ib_pd *pd, u32 key, int access,
				       u64 addr, u64 len, u64 *va);

#endif /* ROVER_MR_H */
