/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sgl - walking scatter/gather lists: the one copy, and the pages of none
 *
 * A cursor over a list of (address, length, key), local or remote, that
 * resolves keys as it goes, copies into and out of the memory, or hands out
 * its pages for zero-copy transmit.  It holds at most one region's reference,
 * dropped by rover_sgl_release() before the caller lets go of its lock.
 *
 * Memory on demand may not be there.  Then the fault is ROVER_FAULT_PAGE, the
 * cursor is where it was before the call, and the memory is brought in for
 * @demand's owner, who hears of it and comes again.  Bytes that were written
 * before the one that is not there have been written.
 * Softirqs off; does not sleep.
 */
#ifndef ROVER_SGL_H
#define ROVER_SGL_H

#include <linux/skbuff.h>
#include <rdma/rover-abi.h>

#include "mem/mw.h"

/**
 * struct rover_sgl - a cursor
 * @pd: whose keys these are
 * @qpn: queue pair that the peer's key came to; 0 when the keys are local
 * @sge: the list, in kernel memory, stable while the cursor is used
 * @num: entries
 * @cur: current entry
 * @off: bytes of it already passed
 * @access: rights needed
 * @total: sum of all lengths
 * @demand: who waits for memory that is not there; NULL: nobody will
 * @use: region of the current entry, referenced; without one until needed
 * @proved: bytes of that entry known to be inside it; all, or those of a receive that is longer;
 *	0 when it has not been looked at, and @use may be that of another
 * @one: room for a list of one entry, for remote memory
 */
struct rover_sgl {
	struct ib_pd *pd;
	u32 qpn;
	const struct rover_sge *sge;
	u8 num;
	u8 cur;
	u32 off;
	int access;
	u64 total;
	struct rover_demand *demand;
	struct rover_use use;
	u32 verified;
	struct rover_sge one;
};

/* A piece of a page; the page carries a reference of its own. */
struct rover_frag {
	struct page *page;
	u32 offset;
	u32 len;
};

/**
 * rover_sgl_aim() - to the head of a local list
 * @sgl: initialised before; a region it holds stays in use until another is looked
 *	for, as messages that follow each other often name the same
 * @pd: protection domain of the queue pair
 * @sge: entries, already copied from the ring
 * @num: how many; at most ROVER_MAX_SGE
 * @access: IB_ACCESS_LOCAL_WRITE to write to it, 0 to read
 * @demand: who waits for its memory; NULL when only rover_sgl_check() is to come
 */
static inline void rover_sgl_aim(struct rover_sgl *sgl, struct ib_pd *pd,
				 const struct rover_sge *sge, u8 num,
				 int access, struct rover_demand *demand)
{
	u64 total = 0;
	u8 i;

	for (i = 0; i < num; i++)
		total += sge[i].length;
	sgl->pd = pd;
	sgl->qpn = 0;
	sgl->sge = sge;
	sgl->num = num;
	sgl->cur = 0;
	sgl->off = 0;
	sgl->access = access;
	sgl->total = total;
	sgl->demand = demand;
	sgl->verified = 0;
}

/**
 * rover_sgl_aim_one() - to a single range, as a RETH names it
 * @sgl: as above
 * @pd: protection domain of the queue pair
 * @qpn: its number
 * @addr: first byte
 * @len: bytes
 * @key: its key
 * @access: rights needed, IB_ACCESS_*
 * @demand: as above
 */
static inline void rover_sgl_aim_one(struct rover_sgl *sgl, struct ib_pd *pd,
				     u32 qpn, u64 addr, u32 len, u32 key,
				     int access, struct rover_demand *demand)
{
	sgl->one.addr = addr;
	sgl->one.length = len;
	sgl->one.lkey = key;
	rover_sgl_aim(sgl, pd, &sgl->one, 1, access, demand);
	sgl->qpn = qpn;
}

/* rover_sgl_aim() of a cursor that holds nothing, whatever is in it. */
static inline void rover_sgl_init(struct rover_sgl *sgl, struct ib_pd *pd,
				  const struct rover_sge *sge, u8 num,
				  int access, struct rover_demand *demand)
{
	sgl->use.mr = NULL;
	sgl->use.leaf = NULL;
	rover_sgl_aim(sgl, pd, sge, num, access, demand);
}

/**
 * rover_sgl_check() - are key, rights and bounds of every entry good?
 * @sgl: cursor anywhere
 *
 * Return: ROVER_OK or the first fault.  The region of the last stays in use.
 */
enum rover_fault rover_sgl_check(struct rover_sgl *sgl);

/**
 * rover_sgl_seek() - go to a byte counted from the start
 * @sgl: cursor anywhere
 * @pos: at most @sgl->total
 */
void rover_sgl_seek(struct rover_sgl *sgl, u64 pos);

/**
 * rover_sgl_write() - copy from a packet into the memory and move on
 * @sgl: cursor with write access
 * @skb: packet; its own frag_list, if any, is not looked at
 * @from: offset into @skb
 * @len: bytes, all of which @skb has
 *
 * Return: ROVER_OK; LENGTH when the list is too short; KEY, ACCESS, BOUNDS, PAGE,
 * MEMORY.  On a fault some bytes may already have been written, as with any RNIC.
 */
enum rover_fault rover_sgl_write(struct rover_sgl *sgl, const struct sk_buff *skb,
				 int from, u32 len);

/**
 * rover_sgl_write_mem() - the same from kernel memory
 * @sgl: cursor with write access
 * @from: bytes
 * @len: how many
 */
enum rover_fault rover_sgl_write_mem(struct rover_sgl *sgl, const void *from,
				     u32 len);

/**
 * rover_sgl_read() - copy out of the memory and move on
 * @sgl: cursor
 * @to: buffer
 * @len: bytes
 *
 * Return: ROVER_OK; LENGTH when the list is too short; KEY, ACCESS, BOUNDS, PAGE,
 * MEMORY.
 */
enum rover_fault rover_sgl_read(struct rover_sgl *sgl, void *to, u32 len);

/**
 * rover_sgl_frags() - hand out the pages of the next bytes and move on
 * @sgl: cursor
 * @len: bytes wanted
 * @frags: where to put the pieces; contiguous pages of one chunk are one piece
 * @max: pieces there is room for
 * @num: pieces that are there already, of which the last may grow; then pieces
 *	used in all; 0 when these bytes cannot travel by reference (too many
 *	pieces or regions, or memory that an skb must not hold): the cursor has
 *	not moved and the caller copies with rover_sgl_read()
 * @key: of the pieces that are there already; then of all, which are of one region
 *
 * Every piece carries a page reference that now belongs to the caller.
 *
 * Return: ROVER_OK; LENGTH, KEY, ACCESS, BOUNDS, PAGE, MEMORY (no references left
 * behind).
 */
enum rover_fault rover_sgl_frags(struct rover_sgl *sgl, u32 len,
				 struct rover_frag *frags, unsigned int max,
				 unsigned int *num, struct rover_mkey_id *key);

/**
 * rover_sgl_atomic() - fetch-and-add or compare-and-swap on eight bytes
 * @sgl: cursor at an eight-byte-aligned range of eight bytes
 * @swap: compare and swap, else fetch and add
 * @compare: value to compare with
 * @swap_add: value to store, or to add
 * @orig: what was there before
 *
 * Atomic towards every CPU of the host: cmpxchg and xadd on the mapped word.
 *
 * Return: ROVER_OK; UNALIGNED, KEY, ACCESS, BOUNDS, PAGE, MEMORY.
 */
enum rover_fault rover_sgl_atomic(struct rover_sgl *sgl, bool swap, u64 compare,
				  u64 swap_add, u64 *orig);

/**
 * rover_sgl_store() - write eight bytes at once
 * @sgl: cursor at an eight-byte-aligned range of eight bytes
 * @word: what to store, as it will be in memory
 *
 * Whoever sees it sees all of it, and what was written before.
 *
 * Return: ROVER_OK; UNALIGNED, KEY, ACCESS, BOUNDS, PAGE, MEMORY.
 */
enum rover_fault rover_sgl_store(struct rover_sgl *sgl, u64 word);

/**
 * rover_sgl_release() - drop the region's reference; the place is kept
 * @sgl: cursor; all zero is fine
 */
static inline void rover_sgl_release(struct rover_sgl *sgl)
{
	if (sgl->use.mr)
		rover_mr_put(&sgl->use);
}

#endif /* ROVER_SGL_H */
