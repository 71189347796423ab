// SPDX-License-Identifier: GPL-2.0
/*
 * skb_alloc - socket buffers that are not cleared before they are filled
 *
 * Where the kernel is hardened all that slabs give is cleared first
 * (init_on_alloc), all of it for every packet, and for one of 4 KiB that is
 * 8 KiB.  What is sent is written to the last byte anyway.
 *
 * small	a piece of the page that NAPI has on each CPU, which is cleared once
 * large	pages of a pool on each CPU, to which the stack returns them
 *
 * Large ones are for netdevs that gather nothing: there payload is copied.
 *
 * Softirqs off: each pool has one CPU that takes from it.  Whatever CPU returns
 * something does so through the pool's ring.  A pool that was given up is there
 * until the last of its pages is back, which the kernel sees to.
 */
#include <linux/percpu.h>
#include <net/page_pool/helpers.h>

#include "tx/skb_alloc.h"

/* For a packet of path MTU 4096, with all headers. */
#define LARGE_ORDER	1
#define LARGE		(PAGE_SIZE << LARGE_ORDER)

/* What a CPU keeps for later: two trains as long as they get. */
#define LARGE_KEPT	256

static DEFINE_PER_CPU(struct page_pool *, pools);

static struct sk_buff *get_small(unsigned int size)
{
	struct sk_buff *skb;
	void *data;

	size = SKB_DATA_ALIGN(size) +
	       SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	data = napi_alloc_frag(size);
	if (!data)
		return NULL;
	skb = napi_build_skb(data, size);
	if (!skb)
		skb_free_frag(data);
	return skb;
}

static struct sk_buff *get_large(void)
{
	struct page_pool *pool = __this_cpu_read(pools);
	struct page *page = page_pool_dev_alloc_pages(pool);
	struct sk_buff *skb;

	if (!page)
		return NULL;
	skb = napi_build_skb(page_address(page), LARGE);
	if (skb)
		skb_mark_for_recycle(skb);
	else
		page_pool_put_full_page(pool, page, false);
	return skb;
}

struct sk_buff *rover_skb_alloc(unsigned int size)
{
	/* The page on each CPU is for pieces of up to a page. */
	if (size <= SKB_WITH_OVERHEAD(PAGE_SIZE))
		return get_small(size);
	return size <= SKB_WITH_OVERHEAD(LARGE) ? get_large() : NULL;
}

int rover_skb_alloc_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_pool_params params = {
			.order = LARGE_ORDER,
			.pool_size = LARGE_KEPT,
			.nid = cpu_to_node(cpu),
		};
		struct page_pool *pool = page_pool_create(&params);

		if (IS_ERR(pool)) {
			rover_skb_alloc_exit();
			return PTR_ERR(pool);
		}
		per_cpu(pools, cpu) = pool;
	}
	return 0;
}

void rover_skb_alloc_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		page_pool_destroy(per_cpu(pools, cpu));
		per_cpu(pools, cpu) = NULL;
	}
}
