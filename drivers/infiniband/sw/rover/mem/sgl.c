// SPDX-License-Identifier: GPL-2.0
/*
 * sgl - cursor over scatter/gather lists
 *
 * The cursor moves by runs: bytes contiguous in their entry, region and memory
 * (the direct map, or a dma-buf's mapping).  It leaves a run before it looks up
 * the next.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/string.h>

#include "mem/sgl.h"

/* @len bytes at @off of @page, or at @addr in a dma-buf. */
struct sgl_run {
	void *addr;
	struct page *page;
	u32 off;
	u32 len;
};

static void *sgl_run_addr(const struct sgl_run *run)
{
	return unlikely(run->addr) ? run->addr :
				     page_address(run->page) + run->off;
}

static enum rover_fault sgl_find_region(const struct rover_sgl *sgl,
					const struct rover_sge *sge, u32 len,
					struct rover_use *use)
{
	if (sgl->qpn)
		return rover_mw_find(sgl->pd, sgl->qpn, sge->lkey, sgl->access,
				     sge->addr, len, use);
	return rover_mr_find(sgl->pd, sge->lkey, sgl->access, sge->addr, len,
			     use);
}

/* Switch to the entry's region; often it is in use. */
static enum rover_fault sgl_use_region(struct rover_sgl *sgl,
				       const struct rover_sge *sge, u32 len)
{
	struct rover_mkey *mkey;

	if (!rover_mr_has_key(&sgl->use, sge->lkey)) {
		rover_sgl_release(sgl);
		return sgl_find_region(sgl, sge, len, &sgl->use);
	}
	mkey = sgl->use.mkey;
	sgl->use.mr = NULL;
	return rover_mr_use(mkey, sgl->pd, sgl->access, sge->addr, len,
			    &sgl->use);
}

enum rover_fault rover_sgl_check(struct rover_sgl *sgl)
{
	enum rover_fault fault = ROVER_OK;
	u8 i;

	sgl->verified = 0;
	for (i = 0; i < sgl->num && !fault; i++)
		if (sgl->sge[i].length)
			fault = sgl_use_region(sgl, &sgl->sge[i],
					       sgl->sge[i].length);
	return fault;
}

static void sgl_move_to(struct rover_sgl *sgl, u8 cur, u32 off)
{
	if (cur != sgl->cur)
		sgl->verified = 0;
	sgl->cur = cur;
	sgl->off = off;
}

void rover_sgl_seek(struct rover_sgl *sgl, u64 pos)
{
	u8 cur = 0;

	while (cur < sgl->num && pos >= sgl->sge[cur].length)
		pos -= sgl->sge[cur++].length;
	/* The end has offset 0. */
	sgl_move_to(sgl, cur, cur < sgl->num ? pos : 0);
}

/*
 * Check the whole entry, so that later runs need no check.  As on RNICs, a
 * receive may be longer than its region if the message is not: then check up to
 * the @max bytes wanted now.  Other local lists have been checked before, or
 * are for one packet, which needs them whole.
 */
static enum rover_fault sgl_verify(struct rover_sgl *sgl, u32 max)
{
	const struct rover_sge *sge = &sgl->sge[sgl->cur];
	enum rover_fault fault;

	sgl->verified = sge->length;
	fault = sgl_use_region(sgl, sge, sgl->verified);
	if (likely(fault != ROVER_FAULT_BOUNDS) || sgl->qpn)
		return fault;
	sgl->verified = sgl->off + min(max, sge->length - sgl->off);
	return sgl_use_region(sgl, sge, sgl->verified);
}

static enum rover_fault sgl_dmabuf_run(const struct rover_sgl *sgl, u32 max,
				       struct sgl_run *run)
{
	size_t len;

	run->addr = rover_mr_dmabuf(&sgl->use,
				    sgl->sge[sgl->cur].addr + sgl->off, &len);
	run->len = min3(len, (size_t)max, (size_t)(sgl->verified - sgl->off));
	return run->addr ? ROVER_OK : ROVER_FAULT_KEY;
}

static enum rover_fault sgl_get_run(struct rover_sgl *sgl, u32 max,
				    struct sgl_run *run)
{
	bool write = sgl->access & ROVER_MR_WRITES;
	const struct rover_sge *sge;
	enum rover_fault fault;
	size_t len;

	while (sgl->cur < sgl->num && sgl->off >= sgl->sge[sgl->cur].length)
		sgl_move_to(sgl, sgl->cur + 1, 0);
	if (sgl->cur == sgl->num)
		return ROVER_FAULT_LENGTH;

	sge = &sgl->sge[sgl->cur];
	if (!sgl->use.mr || unlikely(sgl->off >= sgl->verified)) {
		fault = sgl_verify(sgl, max);
		if (fault)
			return fault;
	}
	if (unlikely(sgl->use.mr->kind == ROVER_MR_DMABUF))
		return sgl_dmabuf_run(sgl, max, run);
	run->addr = NULL;
	run->page = rover_mr_page(&sgl->use, sge->addr + sgl->off, write,
				  &run->off, &len);
	if (unlikely(!run->page))
		return rover_mr_pagein(&sgl->use, sge->addr + sgl->off,
				       sgl->verified - sgl->off, write,
				       sgl->pagein);
	run->len = min3(len, (size_t)max, (size_t)(sgl->verified - sgl->off));
	return ROVER_OK;
}

static void sgl_advance(struct rover_sgl *sgl, const struct sgl_run *run)
{
	rover_mr_leave(&sgl->use);
	sgl->off += run->len;
}

/* On PAGE, return to where the operation began. */
static enum rover_fault sgl_rewind(struct rover_sgl *sgl, u8 cur, u32 off,
				   enum rover_fault fault)
{
	if (fault == ROVER_FAULT_PAGE)
		sgl_move_to(sgl, cur, off);
	return fault;
}

enum rover_fault rover_sgl_write(struct rover_sgl *sgl, const struct sk_buff *skb,
				 int from, u32 len)
{
	enum rover_fault fault;
	u32 off = sgl->off;
	u8 cur = sgl->cur;
	struct sgl_run run;
	int err = 0;

	while (len) {
		fault = sgl_get_run(sgl, len, &run);
		if (fault)
			return sgl_rewind(sgl, cur, off, fault);
		if (from + run.len <= skb_headlen(skb))
			memcpy(sgl_run_addr(&run), skb->data + from, run.len);
		else
			err = skb_copy_bits(skb, from, sgl_run_addr(&run),
					    run.len);
		sgl_advance(sgl, &run);
		if (WARN_ON_ONCE(err))
			return ROVER_FAULT_LENGTH;
		from += run.len;
		len -= run.len;
	}
	return ROVER_OK;
}

enum rover_fault rover_sgl_write_mem(struct rover_sgl *sgl, const void *from,
				     u32 len)
{
	enum rover_fault fault;
	u32 off = sgl->off;
	u8 cur = sgl->cur;
	struct sgl_run run;

	while (len) {
		fault = sgl_get_run(sgl, len, &run);
		if (fault)
			return sgl_rewind(sgl, cur, off, fault);
		memcpy(sgl_run_addr(&run), from, run.len);
		sgl_advance(sgl, &run);
		from += run.len;
		len -= run.len;
	}
	return ROVER_OK;
}

enum rover_fault rover_sgl_read(struct rover_sgl *sgl, void *to, u32 len)
{
	enum rover_fault fault;
	u32 off = sgl->off;
	u8 cur = sgl->cur;
	struct sgl_run run;

	while (len) {
		fault = sgl_get_run(sgl, len, &run);
		if (fault)
			return sgl_rewind(sgl, cur, off, fault);
		memcpy(to, sgl_run_addr(&run), run.len);
		sgl_advance(sgl, &run);
		to += run.len;
		len -= run.len;
	}
	return ROVER_OK;
}

struct sgl_frag_list {
	struct rover_frag *frags;
	unsigned int max;
	unsigned int num;
};

static bool sgl_frag_continues(const struct rover_frag *last,
			       const struct sgl_run *run)
{
	u64 end = (u64)last->offset + last->len;

	return last->page + (end >> PAGE_SHIFT) == run->page &&
	       offset_in_page(end) == run->off &&
	       page_folio(last->page) == page_folio(run->page);
}

/* Add a piece, up to the folio's end: a page reference holds no more. */
static bool sgl_add_frag(struct sgl_frag_list *p, struct sgl_run *run)
{
	struct folio *folio = page_folio(run->page);
	size_t left = folio_size(folio) - run->off -
		(folio_page_idx(folio, run->page) << PAGE_SHIFT);
	u32 len = min_t(size_t, run->len, left);

	if (p->num && sgl_frag_continues(&p->frags[p->num - 1], run)) {
		p->frags[p->num - 1].len += len;
	} else {
		/* A page reference does not hold slab memory. */
		if (p->num == p->max || !sendpage_ok(run->page))
			return false;
		get_page(run->page);
		p->frags[p->num++] = (struct rover_frag) {
			.page = run->page,
			.offset = run->off,
			.len = len,
		};
	}
	run->page += (run->off + len) >> PAGE_SHIFT;
	run->off = offset_in_page(run->off + len);
	run->len -= len;
	return true;
}

/*
 * Test whether packets may point to the memory.  Dma-buf pages are their
 * exporter's; file pages may be rewritten once userspace has unmapped them.
 */
static bool sgl_may_zcopy(const struct rover_use *use,
			  const struct sgl_run *run)
{
	return !run->addr && (!use->leaf || PageAnon(run->page));
}

/* Set @key; return false if the @num pieces have another. */
static bool sgl_same_key(const struct rover_use *use, unsigned int num,
			 struct rover_mkey_id *key)
{
	struct rover_mkey_id here = rover_mr_id(use);

	if (num && !rover_mkey_id_is(&here, key))
		return false;
	*key = here;
	return true;
}

/* Tell rover_localop_waits() that packets use the key. */
static void sgl_note_sent(const struct rover_sgl *sgl)
{
	const struct rover_use *use = &sgl->use;

	if (unlikely(use->mr && use->mr->kind == ROVER_MR_FAST && !sgl->qpn))
		WRITE_ONCE(use->mkey->zcopy_sent, true);
}

enum rover_fault rover_sgl_frags(struct rover_sgl *sgl, u32 len,
				 struct rover_frag *frags, unsigned int max,
				 unsigned int *num, struct rover_mkey_id *key)
{
	struct sgl_frag_list p = { .frags = frags, .max = max, .num = *num };
	enum rover_fault fault = ROVER_OK;
	unsigned int before = *num;
	u32 off = sgl->off;
	u8 cur = sgl->cur;
	struct sgl_run run;

	*num = 0;
	while (len) {
		fault = sgl_get_run(sgl, len, &run);
		if (fault)
			goto undo;
		if (unlikely(!sgl_may_zcopy(&sgl->use, &run) ||
			     !sgl_same_key(&sgl->use, p.num, key)))
			goto undo;
		sgl->off += run.len;
		len -= run.len;
		while (run.len)
			if (!sgl_add_frag(&p, &run))
				goto undo;
		/* The page references suffice from here on. */
		rover_mr_leave(&sgl->use);
	}
	*num = p.num;
	sgl_note_sent(sgl);
	return ROVER_OK;
undo:
	rover_mr_leave(&sgl->use);
	while (p.num > before)
		put_page(frags[--p.num].page);
	sgl_move_to(sgl, cur, off);
	return fault;
}

/* Get the word at the cursor, to be left on success. */
static enum rover_fault sgl_get_word(struct rover_sgl *sgl, u64 **word)
{
	enum rover_fault fault;
	struct sgl_run run;

	if (sgl->cur < sgl->num &&
	    !IS_ALIGNED(sgl->sge[sgl->cur].addr + sgl->off, sizeof(**word)))
		return ROVER_FAULT_UNALIGNED;
	fault = sgl_get_run(sgl, sizeof(**word), &run);
	if (fault)
		return fault;
	*word = sgl_run_addr(&run);
	/* An aligned virtual address may be unaligned in memory. */
	if (!IS_ALIGNED((uintptr_t)*word, sizeof(**word)))
		fault = ROVER_FAULT_UNALIGNED;
	else if (run.len != sizeof(**word))
		fault = ROVER_FAULT_BOUNDS;
	if (fault)
		rover_mr_leave(&sgl->use);
	return fault;
}

enum rover_fault rover_sgl_atomic(struct rover_sgl *sgl, bool swap, u64 compare,
				  u64 swap_add, u64 *orig)
{
	enum rover_fault fault;
	u64 *word;

	fault = sgl_get_word(sgl, &word);
	if (fault)
		return fault;
	if (swap)
		*orig = atomic64_cmpxchg((atomic64_t *)word, compare, swap_add);
	else
		*orig = atomic64_fetch_add(swap_add, (atomic64_t *)word);
	rover_mr_leave(&sgl->use);
	return ROVER_OK;
}

enum rover_fault rover_sgl_store(struct rover_sgl *sgl, u64 word)
{
	enum rover_fault fault;
	u64 *to;

	fault = sgl_get_word(sgl, &to);
	if (fault)
		return fault;
	/* Pairs with userspace polling the word: earlier writes are visible. */
	smp_store_release(to, word);
	rover_mr_leave(&sgl->use);
	return ROVER_OK;
}
