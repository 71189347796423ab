/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sgl - cursor over scatter/gather lists
 *
 * The cursor looks up keys, copies to and from memory, or hands out pages for
 * zero-copy transmit.  It references at most one region, until
 * rover_sgl_release(), which the caller calls before it drops its lock.
 *
 * ROVER_FAULT_PAGE means an absent ODP page: the cursor is back where the call
 * began; retry after @pagein.
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
 * @pd: PD of the keys
 * @qpn: queue pair that received the key; 0 if local
 * @sge: list in kernel memory, stable while in use
 * @num: entries
 * @cur: current entry
 * @off: bytes of it passed
 * @access: IB_ACCESS_* needed
 * @total: sum of lengths
 * @pagein: request for absent pages, or NULL
 * @use: region, referenced, or none
 * @verified: leading bytes of the current entry known to lie in @use; 0 if
 *	unchecked: @use may be another entry's
 * @one: list of one remote range
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
	struct rover_pagein *pagein;
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
 * rover_sgl_set_local() - move a cursor to a local list
 * @sgl: initialised; keeps its region, which the next message often uses
 * @pd: PD
 * @sge: entries, copied from the ring
 * @num: at most ROVER_MAX_SGE
 * @access: IB_ACCESS_LOCAL_WRITE to write, 0 to read
 * @pagein: request; NULL if only for rover_sgl_check()
 */
static inline void rover_sgl_set_local(struct rover_sgl *sgl, struct ib_pd *pd,
				       const struct rover_sge *sge, u8 num,
				       int access, struct rover_pagein *pagein)
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
	sgl->pagein = pagein;
	sgl->verified = 0;
}

/**
 * rover_sgl_set_remote() - move a cursor to a remote range
 * @sgl: initialised
 * @pd: PD
 * @qpn: QPN
 * @addr: first byte
 * @len: bytes
 * @key: remote key
 * @access: IB_ACCESS_* needed
 * @pagein: request for absent pages
 */
static inline void rover_sgl_set_remote(struct rover_sgl *sgl, struct ib_pd *pd,
					u32 qpn, u64 addr, u32 len, u32 key,
					int access, struct rover_pagein *pagein)
{
	sgl->one.addr = addr;
	sgl->one.length = len;
	sgl->one.lkey = key;
	rover_sgl_set_local(sgl, pd, &sgl->one, 1, access, pagein);
	sgl->qpn = qpn;
}

/* rover_sgl_set_local() for an uninitialised cursor. */
static inline void rover_sgl_init(struct rover_sgl *sgl, struct ib_pd *pd,
				  const struct rover_sge *sge, u8 num,
				  int access, struct rover_pagein *pagein)
{
	sgl->use.mr = NULL;
	sgl->use.leaf = NULL;
	rover_sgl_set_local(sgl, pd, sge, num, access, pagein);
}

/**
 * rover_sgl_check() - check key, rights and bounds of all entries
 * @sgl: cursor
 * Return: ROVER_OK or the first fault.  The last region stays in use.
 */
enum rover_fault rover_sgl_check(struct rover_sgl *sgl);

/**
 * rover_sgl_seek() - move to an offset in the list
 * @sgl: cursor
 * @pos: at most @sgl->total
 */
void rover_sgl_seek(struct rover_sgl *sgl, u64 pos);

/**
 * rover_sgl_write() - copy packet bytes to the memory and advance
 * @sgl: cursor to write
 * @skb: packet; its frag_list is ignored
 * @from: offset in @skb
 * @len: bytes, all in @skb
 * Return: ROVER_OK; LENGTH if the list is too short; KEY, ACCESS, BOUNDS, PAGE,
 * MEMORY.  On a fault some bytes may be written, as by any RNIC.
 */
enum rover_fault rover_sgl_write(struct rover_sgl *sgl, const struct sk_buff *skb,
				 int from, u32 len);

/**
 * rover_sgl_write_mem() - rover_sgl_write() from kernel memory
 * @sgl: cursor to write
 * @from: source
 * @len: bytes
 */
enum rover_fault rover_sgl_write_mem(struct rover_sgl *sgl, const void *from,
				     u32 len);

/**
 * rover_sgl_read() - copy from the memory and advance
 * @sgl: cursor
 * @to: buffer
 * @len: bytes
 * Return: as rover_sgl_write().
 */
enum rover_fault rover_sgl_read(struct rover_sgl *sgl, void *to, u32 len);

/**
 * rover_sgl_frags() - reference the pages of the next bytes and advance
 * @sgl: cursor
 * @len: bytes
 * @frags: result; contiguous pages of one folio are one piece
 * @max: capacity of @frags
 * @num: in: pieces so far, the last of which may grow; out: all, or 0 if the
 *	bytes must be copied (too many pieces or regions, or memory not for
 *	skbs) and the cursor has not moved
 * @key: in and out: key of all pieces
 * Return: as rover_sgl_write(); a fault leaves no new references.
 */
enum rover_fault rover_sgl_frags(struct rover_sgl *sgl, u32 len,
				 struct rover_frag *frags, unsigned int max,
				 unsigned int *num, struct rover_mkey_id *key);

/**
 * rover_sgl_atomic() - fetch-and-add or compare-and-swap
 * @sgl: cursor at eight aligned bytes
 * @swap: compare-and-swap, else fetch-and-add
 * @compare: value to compare with
 * @swap_add: value to store or add
 * @orig: result, previous value
 *
 * Atomic for all CPUs of the host.
 * Return: ROVER_OK; UNALIGNED, KEY, ACCESS, BOUNDS, PAGE, MEMORY.
 */
enum rover_fault rover_sgl_atomic(struct rover_sgl *sgl, bool swap, u64 compare,
				  u64 swap_add, u64 *orig);

/**
 * rover_sgl_store() - store eight bytes at once
 * @sgl: cursor at eight aligned bytes
 * @word: value in memory byte order
 *
 * A reader that sees it sees earlier writes, too.
 * Return: as rover_sgl_atomic().
 */
enum rover_fault rover_sgl_store(struct rover_sgl *sgl, u64 word);

/**
 * rover_sgl_release() - drop the region, keep the position
 * @sgl: cursor, or zeroed
 */
static inline void rover_sgl_release(struct rover_sgl *sgl)
{
	if (sgl->use.mr)
		rover_mr_put(&sgl->use);
}

#endif /* ROVER_SGL_H */
