// SPDX-License-Identifier: GPL-2.0
/*
 * region - memory of a side's buffer, registered by work requests
 *
 * Process context.
 */
#include "ktest.h"

bool region_new(struct side *s, struct ib_pd *pd, struct region *r,
		enum ib_mr_type type, u32 max)
{
	*r = (struct region){ .dev = s->t->dev };
	r->mr = ib_alloc_mr(pd, type, max);
	if (!IS_ERR(r->mr))
		return true;
	check(s->t, false, "ib_alloc_mr: %ld", PTR_ERR(r->mr));
	r->mr = NULL;
	return false;
}

static void region_unmap(struct region *r)
{
	if (r->mapped)
		ib_dma_unmap_sg(r->dev, r->sg, r->nents, DMA_BIDIRECTIONAL);
	r->mapped = 0;
}

/* Map the pieces; false if not all of them fit. */
bool region_map(struct side *s, struct region *r, const struct piece *pieces,
		unsigned int *offset, unsigned int page_size)
{
	int n = 0, i;

	region_unmap(r);
	while (n < (int)ARRAY_SIZE(r->sg) && pieces[n].len)
		n++;
	sg_init_table(r->sg, n);
	for (i = 0; i < n; i++)
		sg_set_buf(&r->sg[i], s->buf + pieces[i].at, pieces[i].len);
	r->nents = n;
	r->mapped = ib_dma_map_sg(r->dev, r->sg, n, DMA_BIDIRECTIONAL);
	if (!check(s->t, r->mapped == n, "%d of %d entries for the device",
		   r->mapped, n))
		return false;
	return ib_map_mr_sg(r->mr, r->sg, n, offset, page_size) == n;
}

/* Register the buffer without its last page. */
bool region_simple(struct side *s, struct region *r, int access)
{
	const struct piece pieces[] = { { 0, BUF_SIZE - PAGE_SIZE }, {} };

	if (!region_new(s, s->pd, r, IB_MR_TYPE_MEM_REG,
			1 << BUF_ORDER))
		return false;
	if (check(s->t, region_map(s, r, pieces, NULL, PAGE_SIZE), "not mapped") &&
	    want(post_reg(s, r->mr, r->mr->rkey, access), IB_WC_SUCCESS))
		return true;
	region_free(r);
	return false;
}

void region_free(struct region *r)
{
	region_unmap(r);
	if (r->mr)
		ib_dereg_mr(r->mr);
	r->mr = NULL;
}
