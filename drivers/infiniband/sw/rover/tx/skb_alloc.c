// SPDX-License-Identifier: GPL-2.0
/*
 * skb_alloc - socket buffers that are not cleared
 *
 * With init_on_alloc the slab would clear 8 KiB for a packet of 4 KiB. So small
 * skbs use NAPI's page of the CPU; large ones, for netdevs without
 * scatter-gather, a page pool (decision 0031).
 *
 * Softirqs off: only its CPU allocates from a pool; others return pages through
 * its ring. A destroyed pool lives until its last page is back.
 */
#include <linux/percpu.h>
#include <net/page_pool/helpers.h>

#include "tx/skb_alloc.h"

/* A packet of path MTU 4096, with all headers. */
#define LARGE_ORDER	1
#define LARGE_SIZE	(PAGE_SIZE << LARGE_ORDER)

/* Two trains of maximum length. */
#define LARGE_POOL_SIZE	256

static DEFINE_PER_CPU(struct page_pool *, skb_alloc_pools);

static struct sk_buff *alloc_small_skb(unsigned int size)
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

static struct sk_buff *alloc_large_skb(void)
{
	struct page_pool *pool = __this_cpu_read(skb_alloc_pools);
	struct page *page = page_pool_dev_alloc_pages(pool);
	struct sk_buff *skb;

	if (!page)
		return NULL;
	skb = napi_build_skb(page_address(page), LARGE_SIZE);
	if (skb)
		skb_mark_for_recycle(skb);
	else
		page_pool_put_full_page(pool, page, false);
	return skb;
}

struct sk_buff *rover_skb_alloc(unsigned int size)
{
	/* napi_alloc_frag() allocates up to a page. */
	if (size <= SKB_WITH_OVERHEAD(PAGE_SIZE))
		return alloc_small_skb(size);
	return size <= SKB_WITH_OVERHEAD(LARGE_SIZE) ? alloc_large_skb() : NULL;
}

int rover_skb_alloc_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_pool_params params = {
			.order = LARGE_ORDER,
			.pool_size = LARGE_POOL_SIZE,
			.nid = cpu_to_node(cpu),
		};
		struct page_pool *pool = page_pool_create(&params);

		if (IS_ERR(pool)) {
			rover_skb_alloc_exit();
			return PTR_ERR(pool);
		}
		per_cpu(skb_alloc_pools, cpu) = pool;
	}
	return 0;
}

void rover_skb_alloc_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		page_pool_destroy(per_cpu(skb_alloc_pools, cpu));
		per_cpu(skb_alloc_pools, cpu) = NULL;
	}
}
