// SPDX-License-Identifier: GPL-2.0
/*
 * trailer - the end of a packet whose payload travels by reference
 *
 * Each processor has a page that it takes seals from, never twice the same: one
 * that has been given away is read until the last skb that refers to the page
 * is gone.  The page is known again by a mark in its private field, which must
 * not be there any more when the page is freed: old kernels give such a page out
 * again as it is.  So used pages are kept, with a reference, until it is the last
 * one, and are then taken again or freed without the mark.
 *
 * Giving: softirqs off, under some queue pair's lock.  Finding: anywhere.
 */
#include <linux/build_bug.h>
#include <linux/highmem.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "tx/trailer.h"
#include "wire/icrc.h"

static_assert(PAGE_SIZE % sizeof(struct rover_trailer) == 0);

/* Used pages that are looked at for each that is taken: more than one, so they get fewer. */
#define SEAL_LOOKS	4

struct stock {
	struct page *page;	/* with a reference of ours; NULL at first */
	unsigned int left;	/* bytes that have not been given away */
	struct list_head used;	/* pages by their lru, each with a reference */
};

static DEFINE_PER_CPU(struct stock, stocks);

/* Its address is the mark: nobody else has a reason to write it anywhere. */
static const char mark;

static void seal_free_page(struct page *page)
{
	set_page_private(page, 0);
	put_page(page);
}

/*
 * A used page that no skb refers to any more; NULL without one.  Of several the
 * others are freed.
 */
static struct page *seal_reuse(struct stock *stock)
{
	struct page *page, *found = NULL;
	unsigned int i;

	for (i = 0; i < SEAL_LOOKS && !list_empty(&stock->used); i++) {
		page = list_first_entry(&stock->used, struct page, lru);
		if (page_count(page) > 1) {
			list_move_tail(&page->lru, &stock->used);
			continue;
		}
		list_del(&page->lru);
		if (found)
			seal_free_page(page);
		else
			found = page;
	}
	return found;
}

static bool restock(struct stock *stock)
{
	struct page *page = seal_reuse(stock);

	if (!page)
		page = alloc_page(GFP_ATOMIC | __GFP_NOWARN);
	if (!page)
		return false;
	set_page_private(page, (unsigned long)&mark);
	if (stock->page)
		list_add_tail(&stock->page->lru, &stock->used);
	stock->page = page;
	stock->left = PAGE_SIZE;
	return true;
}

struct rover_trailer *rover_trailer_get(void)
{
	struct stock *stock = this_cpu_ptr(&stocks);
	struct rover_trailer *seal;

	if (!stock->left && !restock(stock))
		return NULL;
	get_page(stock->page);
	stock->left -= sizeof(*seal);
	seal = page_address(stock->page) + stock->left;
	*seal = (struct rover_trailer) {};
	return seal;
}

void rover_trailer_drop(struct rover_trailer *seal)
{
	if (seal)
		put_page(virt_to_page(seal));
}

void rover_trailer_append(struct sk_buff *skb, struct rover_trailer *seal,
		       unsigned int n, u32 payload, unsigned int pad)
{
	skb_fill_page_desc(skb, n, virt_to_page(seal), offset_in_page(seal),
			   pad + ROVER_ICRC_SIZE);
	/* Pages others can write to: nobody may encrypt or edit in place. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	payload += pad + ROVER_ICRC_SIZE;
	skb->data_len += payload;
	skb->len += payload;
	skb->truesize += payload;
}

/* Ours, in the last fragment, with so much pad before the ICRC; or NULL. */
static struct rover_trailer *last_frag(const struct sk_buff *skb, unsigned int *pad)
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
	if (!page || page_private(page) != (unsigned long)&mark ||
	    off >= PAGE_SIZE || !IS_ALIGNED(off, sizeof(struct rover_trailer)) ||
	    size < ROVER_ICRC_SIZE || size > sizeof_field(struct rover_trailer, tail))
		return NULL;
	*pad = size - ROVER_ICRC_SIZE;
	return page_address(page) + off;
}

const struct rover_trailer *rover_trailer_last(const struct sk_buff *skb)
{
	unsigned int pad;

	return last_frag(skb, &pad);
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

void rover_trailer_close(const struct sk_buff *skb)
{
	int head = skb_headlen(skb);
	struct rover_trailer *seal;
	unsigned int pad;
	__le32 icrc;

	seal = last_frag(skb, &pad);
	if (!seal)
		return;
	icrc = rover_icrc_end(rover_trailer_sum(seal->headers, skb, head,
					     skb_pagelen(skb) - head -
					     ROVER_ICRC_SIZE));
	memcpy(seal->tail + pad, &icrc, sizeof(icrc));
}

void rover_trailer_close_late(const struct sk_buff *skb)
{
	const struct rover_trailer *seal = rover_trailer_last(skb);
	struct rover_mkey *mkey;

	if (!seal || !seal->zcopy.qpn) {
		rover_trailer_close(skb);
	} else if (rover_zcopy_begin(&seal->zcopy, &mkey)) {
		rover_trailer_close(skb);
		rover_zcopy_end(mkey);
	} else {
		rover_zcopy_drop(&seal->zcopy);
	}
}

const struct rover_trailer *rover_trailer_find(const struct sk_buff *skb,
					 unsigned int payload_at,
					 unsigned int payload,
					 unsigned int pad)
{
	const struct rover_trailer *seal;
	unsigned int own_pad;

	/* Headers in the linear part, all the rest and nothing else in frags. */
	if (payload_at != skb_headlen(skb) ||
	    payload_at + payload + pad + ROVER_ICRC_SIZE != skb_pagelen(skb))
		return NULL;
	seal = last_frag(skb, &own_pad);
	return seal && own_pad == pad ? seal : NULL;
}

void rover_trailer_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu_ptr(&stocks, cpu)->used);
}

void rover_trailer_exit(void)
{
	struct page *page, *next;
	int cpu;

	/* A capture may still refer to this page; rover no longer takes it for a seal. */
	for_each_possible_cpu(cpu) {
		struct stock *stock = per_cpu_ptr(&stocks, cpu);

		if (stock->page)
			seal_free_page(stock->page);
		stock->page = NULL;
		stock->left = 0;
		list_for_each_entry_safe(page, next, &stock->used, lru)
			seal_free_page(page);
		INIT_LIST_HEAD(&stock->used);
	}
}
