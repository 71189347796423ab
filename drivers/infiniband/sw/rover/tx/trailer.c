// SPDX-License-Identifier: GPL-2.0
/*
 * trailer - last fragment of a packet with payload by reference
 *
 * Each CPU allocates from a page and never reuses a trailer, which may be read
 * until the last skb that refers to the page is gone. page_private marks these
 * pages. It must be cleared before a page is freed, as old kernels allocate it
 * uncleared: used pages are kept until only we refer to them.
 */
#include <linux/build_bug.h>
#include <linux/highmem.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "tx/trailer.h"
#include "wire/icrc.h"

static_assert(PAGE_SIZE % sizeof(struct rover_trailer) == 0);

/* Used pages checked for each one taken; more than one shrinks the list. */
#define TRAILER_MAX_SCAN	4

struct trailer_pool {
	struct page *page;	/* referenced; NULL at first */
	unsigned int left;	/* unallocated bytes */
	struct list_head used;	/* by lru, referenced */
};

static DEFINE_PER_CPU(struct trailer_pool, trailer_pools);

/* Its address, in page_private, marks a page of trailers. */
static const char trailer_mark;

static void trailer_free_page(struct page *page)
{
	set_page_private(page, 0);
	put_page(page);
}

/* Return a used page that only we refer to; free any others. */
static struct page *trailer_reuse_page(struct trailer_pool *pool)
{
	struct page *page, *found = NULL;
	unsigned int i;

	for (i = 0; i < TRAILER_MAX_SCAN && !list_empty(&pool->used); i++) {
		page = list_first_entry(&pool->used, struct page, lru);
		if (page_count(page) > 1) {
			list_move_tail(&page->lru, &pool->used);
			continue;
		}
		list_del(&page->lru);
		if (found)
			trailer_free_page(page);
		else
			found = page;
	}
	return found;
}

static bool trailer_refill(struct trailer_pool *pool)
{
	struct page *page = trailer_reuse_page(pool);

	if (!page)
		page = alloc_page(GFP_ATOMIC | __GFP_NOWARN);
	if (!page)
		return false;
	set_page_private(page, (unsigned long)&trailer_mark);
	if (pool->page)
		list_add_tail(&pool->page->lru, &pool->used);
	pool->page = page;
	pool->left = PAGE_SIZE;
	return true;
}

struct rover_trailer *rover_trailer_get(void)
{
	struct trailer_pool *pool = this_cpu_ptr(&trailer_pools);
	struct rover_trailer *trailer;

	if (!pool->left && !trailer_refill(pool))
		return NULL;
	get_page(pool->page);
	pool->left -= sizeof(*trailer);
	trailer = page_address(pool->page) + pool->left;
	*trailer = (struct rover_trailer) {};
	return trailer;
}

void rover_trailer_drop(struct rover_trailer *trailer)
{
	if (trailer)
		put_page(virt_to_page(trailer));
}

void rover_trailer_append(struct sk_buff *skb, struct rover_trailer *trailer,
			  unsigned int n, u32 payload, unsigned int pad)
{
	skb_fill_page_desc(skb, n, virt_to_page(trailer),
			   offset_in_page(trailer), pad + ROVER_ICRC_SIZE);
	/* User memory: must not be encrypted or edited in place. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	payload += pad + ROVER_ICRC_SIZE;
	skb->data_len += payload;
	skb->len += payload;
	skb->truesize += payload;
}

/* Return the last fragment's trailer and its @pad, or NULL. */
static struct rover_trailer *trailer_in_last_frag(const struct sk_buff *skb,
						  unsigned int *pad)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	const skb_frag_t *last;
	unsigned int off, size;
	struct page *page;

	if (!info->nr_frags)
		return NULL;
	last = &info->frags[info->nr_frags - 1];
	page = skb_frag_page(last);
	off = skb_frag_off(last);
	size = skb_frag_size(last);
	if (!page || page_private(page) != (unsigned long)&trailer_mark ||
	    off >= PAGE_SIZE ||
	    !IS_ALIGNED(off, sizeof(struct rover_trailer)) ||
	    size < ROVER_ICRC_SIZE ||
	    size > sizeof_field(struct rover_trailer, tail))
		return NULL;
	*pad = size - ROVER_ICRC_SIZE;
	return page_address(page) + off;
}

const struct rover_trailer *rover_trailer_last(const struct sk_buff *skb)
{
	unsigned int pad;

	return trailer_in_last_frag(skb, &pad);
}

u32 rover_trailer_sum(u32 crc, const struct sk_buff *skb, int at, int len)
{
	int head = skb_headlen(skb), n, i;

	if (at < head) {
		n = min(len, head - at);
		crc = rover_icrc_add(crc, skb->data + at, n);
		at += n;
		len -= n;
	}
	at -= head;
	for (i = 0; len > 0 && i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];
		u32 p_off, p_len, copied;
		struct page *p;

		if (at >= (int)skb_frag_size(frag)) {
			at -= skb_frag_size(frag);
			continue;
		}
		n = min_t(int, len, skb_frag_size(frag) - at);
		skb_frag_foreach_page(frag, skb_frag_off(frag) + at, n, p,
				      p_off, p_len, copied) {
			void *va = kmap_local_page(p);

			crc = rover_icrc_add(crc, va + p_off, p_len);
			kunmap_local(va);
		}
		len -= n;
		at = 0;
	}
	return crc;
}

void rover_trailer_write_icrc(const struct sk_buff *skb)
{
	int head = skb_headlen(skb);
	struct rover_trailer *trailer;
	unsigned int pad;
	__le32 icrc;

	trailer = trailer_in_last_frag(skb, &pad);
	if (!trailer)
		return;
	icrc = rover_icrc_end(rover_trailer_sum(trailer->header_crc, skb, head,
						skb_pagelen(skb) - head -
						ROVER_ICRC_SIZE));
	memcpy(trailer->tail + pad, &icrc, sizeof(icrc));
}

void rover_trailer_write_icrc_late(const struct sk_buff *skb)
{
	const struct rover_trailer *trailer = rover_trailer_last(skb);
	struct rover_mkey *mkey;

	if (!trailer || !trailer->zcopy.qpn) {
		rover_trailer_write_icrc(skb);
	} else if (rover_zcopy_begin(&trailer->zcopy, &mkey)) {
		rover_trailer_write_icrc(skb);
		rover_zcopy_end(mkey);
	} else {
		rover_zcopy_drop(&trailer->zcopy);
	}
}

bool rover_trailer_fits(const struct sk_buff *skb, unsigned int payload_at,
			unsigned int payload, unsigned int pad)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	return payload_at == skb_headlen(skb) &&
	       payload_at + payload + pad + ROVER_ICRC_SIZE ==
	       skb_pagelen(skb) &&
	       skb_frag_size(&shinfo->frags[shinfo->nr_frags - 1]) ==
	       pad + ROVER_ICRC_SIZE;
}

void rover_trailer_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu_ptr(&trailer_pools, cpu)->used);
}

void rover_trailer_exit(void)
{
	struct page *page, *next;
	int cpu;

	/* A capture may still refer to such a page. */
	for_each_possible_cpu(cpu) {
		struct trailer_pool *pool = per_cpu_ptr(&trailer_pools, cpu);

		if (pool->page)
			trailer_free_page(pool->page);
		pool->page = NULL;
		pool->left = 0;
		list_for_each_entry_safe(page, next, &pool->used, lru)
			trailer_free_page(page);
		INIT_LIST_HEAD(&pool->used);
	}
}
