// SPDX-License-Identifier: GPL-2.0
/*
 * seal - the end of a packet whose payload travels by reference
 *
 * Each processor has a page that it takes seals from, never twice the same: one
 * that has been given away is read until the last skb that refers to the page
 * is gone.  The page is known again by a mark in its private field, which the
 * allocator clears in pages that are not ours any more.
 *
 * Giving: softirqs off, under some queue pair's lock.  Finding: anywhere.
 */
#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "seal.h"

static_assert(PAGE_SIZE % sizeof(struct rover_seal) == 0);

struct stock {
	struct page *page;	/* with a reference of ours; NULL at first */
	unsigned int left;	/* bytes that have not been given away */
};

static DEFINE_PER_CPU(struct stock, stocks);

/* Its address is the mark: nobody else has a reason to write it anywhere. */
static const char mark;

static bool restock(struct stock *stock)
{
	struct page *page = alloc_page(GFP_ATOMIC | __GFP_NOWARN);

	if (!page)
		return false;
	set_page_private(page, (unsigned long)&mark);
	if (stock->page)
		put_page(stock->page);
	stock->page = page;
	stock->left = PAGE_SIZE;
	return true;
}

struct rover_seal *rover_seal_get(void)
{
	struct stock *stock = this_cpu_ptr(&stocks);

	if (!stock->left && !restock(stock))
		return NULL;
	get_page(stock->page);
	stock->left -= sizeof(struct rover_seal);
	return page_address(stock->page) + stock->left;
}

const struct rover_seal *rover_seal_find(const struct sk_buff *skb,
					 unsigned int payload_at,
					 unsigned int payload,
					 unsigned int pad)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	const skb_frag_t *last;
	struct page *page;
	unsigned int off;

	/* Headers in the linear part, all the rest and nothing else in frags. */
	if (!info->nr_frags || payload_at != skb_headlen(skb) ||
	    payload_at + payload + pad + ROVER_ICRC_SIZE != skb_pagelen(skb))
		return NULL;
	last = &info->frags[info->nr_frags - 1];
	page = skb_frag_page(last);
	off = skb_frag_off(last);
	if (!page || page_private(page) != (unsigned long)&mark ||
	    off >= PAGE_SIZE || !IS_ALIGNED(off, sizeof(struct rover_seal)) ||
	    skb_frag_size(last) != pad + ROVER_ICRC_SIZE)
		return NULL;
	return page_address(page) + off;
}

void rover_seal_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stock *stock = per_cpu_ptr(&stocks, cpu);

		if (stock->page)
			put_page(stock->page);
		stock->page = NULL;
		stock->left = 0;
	}
}
