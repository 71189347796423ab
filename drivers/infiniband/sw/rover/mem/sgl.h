/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sgl - cursor over scatter/gather lists
 *
 * The cursor walks a list of (address, length, key), local or remote: it looks
 * up the keys, copies into or out of the memory, or hands out pages for
 * zero-copy transmit.  It holds at most one region's reference, dropped by
 * rover_sgl_release() before the caller drops its lock.
 *
 * On ROVER_FAULT_PAGE an ODP page is not present: the cursor is back where the
 * call began, and @demand's owner retries when notified.  Bytes before that
 * page may have been written.
 *
 * Softirqs off; does not sleep.
 */
#ifndef ROVER_SGL_H
#define ROVER_SGL_H

#include <linux/skbuff.h>
#include <rdma/rover-abi.h>

#include "mem/mw.h"

/**
 * struct rover_sgl - cursor
 * @pd: protection domain of the keys
 * @qpn: queue pair that received the remote key; 0 for local keys
 * @sge: list in kernel memory, stable while in use
 * @num: entries of @sge
 * @cur: current entry
 * @off: bytes of it already passed
 * @access: rights needed
 * @total: sum of all lengths
 * @demand: request for missing pages; NULL for none
 * @use: referenced region, or none
 * @verified: leading bytes of the current entry known to lie in @use; all, or
 *	fewer if a receive is longer than its region; 0 if not checked, and @use
 *	may be another entry's
 * @one: list of one entry, for remote memory
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

/* Contiguous bytes, with a page reference. */
struct rover_frag {
	struct page *page;
	u32 offset;
	u32 len;
};

/**
 * rover_sgl_aim() - point a cursor to the head of a local list
 * @sgl: initialised; keeps its region, which the next message often uses, too
 * @pd: the queue pair's protection domain
 * @sge: entries, copied from the ring
 * @num: entries, at most ROVER_MAX_SGE
 * @access: IB_ACCESS_LOCAL_WRITE to write, 0 to read
 * @demand: request for missing pages; NULL if only rover_sgl_check() follows
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
 * rover_sgl_aim_one() - point a cursor to one remote range (RETH)
 * @sgl: initialised
 * @pd: the queue pair's protection domain
 * @qpn: its number
 * @addr: first byte
 * @len: bytes
 * @key: remote key
 * @access: rights needed, IB_ACCESS_*
 * @demand: request for missing pages
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

/* rover_sgl_aim() for an uninitialised cursor. */
static inline void rover_sgl_init(struct rover_sgl *sgl, struct ib_pd *pd,
				  const struct rover_sge *sge, u8 num,
				  int access, struct rover_demand *demand)
{
	sgl->use.mr = NULL;
	sgl->use.leaf = NULL;
	rover_sgl_aim(sgl, pd, sge, num, access, demand);
}

/**
 * rover_sgl_check() - check key, rights and bounds of every entry
 * @sgl: cursor at any position
 *
 * Return: ROVER_OK or the first fault.  The last region stays in use.
 */
enum rover_fault rover_sgl_check(struct rover_sgl *sgl);

/**
 * rover_sgl_seek() - move to an offset from the start
 * @sgl: cursor at any position
 * @pos: at most @sgl->total
 */
void rover_sgl_seek(struct rover_sgl *sgl, u64 pos);

/**
 * rover_sgl_write() - copy from a packet into the memory and advance
 * @sgl: cursor with write access
 * @skb: packet; its frag_list is ignored
 * @from: offset in @skb
 * @len: bytes, all in @skb
 *
 * Return: ROVER_OK; LENGTH if the list is too short; KEY, ACCESS, BOUNDS, PAGE,
 * MEMORY.  On a fault some bytes may have been written, as with any RNIC.
 */
enum rover_fault rover_sgl_write(struct rover_sgl *sgl, const struct sk_buff *skb,
				 int from, u32 len);

/**
 * rover_sgl_write_mem() - rover_sgl_write() from kernel memory
 * @sgl: cursor with write access
 * @from: source
 * @len: bytes
 */
enum rover_fault rover_sgl_write_mem(struct rover_sgl *sgl, const void *from,
				     u32 len);

/**
 * rover_sgl_read() - copy out of the memory and advance
 * @sgl: cursor
 * @to: buffer
 * @len: bytes
 *
 * Return: ROVER_OK; LENGTH if the list is too short; KEY, ACCESS, BOUNDS, PAGE,
 * MEMORY.
 */
enum rover_fault rover_sgl_read(struct rover_sgl *sgl, void *to, u32 len);

/**
 * rover_sgl_frags() - reference the pages of the next bytes and advance
 * @sgl: cursor
 * @len: bytes
 * @frags: result; contiguous pages of one chunk are one piece
 * @max: capacity of @frags
 * @num: pieces so far, of which the last may grow; then all pieces. 0 if the
 *	bytes cannot be sent by reference (too many pieces or regions, or memory
 *	that an skb must not hold): the cursor has not moved, the caller uses
 *	rover_sgl_read().
 * @key: key of the pieces so far; then of all, which are of one region
 *
 * The caller owns the page references.
 *
 * Return: ROVER_OK; LENGTH, KEY, ACCESS, BOUNDS, PAGE, MEMORY without any new
 * reference.
 */
enum rover_fault rover_sgl_frags(struct rover_sgl *sgl, u32 len,
				 struct rover_frag *frags, unsigned int max,
				 unsigned int *num, struct rover_mkey_id *key);

/**
 * rover_sgl_atomic() - fetch-and-add or compare-and-swap eight bytes
 * @sgl: cursor at an aligned range of eight bytes
 * @swap: compare and swap, else fetch and add
 * @compare: value to compare with
 * @swap_add: value to store or add
 * @orig: result, previous value
 *
 * Atomic for all CPUs of the host: cmpxchg or xadd on the memory itself.
 *
 * Return: ROVER_OK; UNALIGNED, KEY, ACCESS, BOUNDS, PAGE, MEMORY.
 */
enum rover_fault rover_sgl_atomic(struct rover_sgl *sgl, bool swap, u64 compare,
				  u64 swap_add, u64 *orig);

/**
 * rover_sgl_store() - store eight bytes atomically
 * @sgl: cursor at an aligned range of eight bytes
 * @word: value, in memory byte order
 *
 * A reader of the word also sees all earlier writes.
 *
 * Return: ROVER_OK; UNALIGNED, KEY, ACCESS, BOUNDS, PAGE, MEMORY.
 */
enum rover_fault rover_sgl_store(struct rover_sgl *sgl, u64 word);

/**
 * rover_sgl_release() - drop the region's reference, keep the position
 * @sgl: cursor; may be all zero
 */
static inline void rover_sgl_release(struct rover_sgl *sgl)
{
	if (sgl->use.mr)
		rover_mr_put(&sgl->use);
}

#endif /* ROVER_SGL_H */
