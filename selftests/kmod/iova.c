// SPDX-License-Identifier: GPL-2.0
/*
 * iova - what ib_map_mr_sg() sets in a region, and how users address the region
 *
 * A mapped region starts at the DMA address of its first byte, has the length
 * that was mapped and the requested page size.  Users pass that address to the
 * peer without reading the region (SMC), read it from the region (storage), or
 * choose another one before they register (RDS, NFS).
 *
 * Process context.
 */
#include "ktest.h"

#define P	PAGE_SIZE

/* Memory to map; @mapped of its entries fit a region of @max entries. */
struct iova_shape {
	const char *name;
	enum ib_mr_type type;
	unsigned int page_size;
	unsigned int offset;
	struct piece pieces[8];
	int max;
	int mapped;
};

static const struct iova_shape iova_shapes[] = {
	{ "a byte inside a page", IB_MR_TYPE_MEM_REG, P, 0,
	  { { 3 * P + 17, 1 } }, 8, 1 },
	{ "pages in any order", IB_MR_TYPE_MEM_REG, P, 0,
	  { { 3 * P, P }, { 0, P }, { 9 * P, P } }, 8, 3 },
	{ "one entry across pages", IB_MR_TYPE_MEM_REG, P, 0,
	  { { 100, 4 * P } }, 8, 1 },
	{ "contiguous entries", IB_MR_TYPE_MEM_REG, P, 0,
	  { { 2 * P + 8, 1000 }, { 2 * P + 1008, P }, { 3 * P + 1008, 50 } }, 8, 3 },
	{ "from an offset into the first entry", IB_MR_TYPE_MEM_REG, P, 1000,
	  { { 3 * P, P }, { 7 * P, P }, { P, 77 } }, 8, 3 },
	{ "pages of 8 KiB, from an offset", IB_MR_TYPE_MEM_REG, 2 * P, P + 1,
	  { { 4 * P, 2 * P }, { 10 * P, 2 * P } }, 8, 2 },
	{ "more entries than fit", IB_MR_TYPE_MEM_REG, P, 16,
	  { { 8 * P, P }, { 6 * P, P }, { 4 * P, P }, { 2 * P, P } }, 2, 2 },
	{ "entries with gaps", IB_MR_TYPE_SG_GAPS, P, 0,
	  { { 13, 500 }, { 2 * P + 7, 1 }, { 6 * P + 1, 2000 }, { P, P } }, 8, 4 },
	{ "entries with gaps, from an offset", IB_MR_TYPE_SG_GAPS, P, 499,
	  { { 13, 500 }, { 2 * P + 7, 3 }, { 4 * P - 96, 96 } }, 8, 3 },
};

static u32 iova_shape_len(const struct iova_shape *s)
{
	u32 len = 0;
	int i;

	for (i = 0; i < s->mapped; i++)
		len += s->pieces[i].len;
	return len - s->offset;
}

/* Compare the region with the pattern. */
static void iova_compare(struct stage *st, const struct iova_shape *s,
			 unsigned int seed)
{
	const u8 *from = ktest_pattern(st->t, seed);
	u32 skip = s->offset, len;
	int i;

	for (i = 0; i < s->mapped; i++) {
		len = s->pieces[i].len - skip;
		check(st->t, !memcmp(st->b.buf + s->pieces[i].at + skip, from, len),
		      "wrong data in entry %d", i);
		from += len;
		skip = 0;
	}
}

/* The peer accesses the region at @at: all of it, then its last byte. */
static void iova_use(struct stage *st, const struct iova_shape *s, u64 at,
		     u32 key)
{
	u32 lkey = st->pd->local_dma_lkey, len = iova_shape_len(s);
	struct side *a = &st->a;

	side_fill(a, 2);
	want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, len, lkey, at, key),
	     IB_WC_SUCCESS);
	iova_compare(st, s, 2);
	memset(a->buf, ~a->buf[len - 1], 1);
	want(post_rdma(a, IB_WR_RDMA_READ, a->dma, 1, lkey, at + len - 1, key),
	     IB_WC_SUCCESS);
	check(st->t, a->buf[0] == ktest_pattern(st->t, 2)[len - 1],
	      "wrong data at the end");
}

static void iova_test_shape(struct stage *st, const void *arg)
{
	const struct iova_shape *s = arg;
	unsigned int offset = s->offset;
	struct region r;
	int mapped;
	u64 at;

	if (!region_new(&st->b, st->pd, &r, s->type, s->max))
		return;
	/* As left by an earlier mapping. */
	r.mr->iova = 1;
	r.mr->length = 1;
	region_map(&st->b, &r, s->pieces, &offset, s->page_size);
	offset = s->offset;
	mapped = ib_map_mr_sg(r.mr, r.sg, r.nents, &offset, s->page_size);
	at = sg_dma_address(r.sg) + s->offset;
	check(st->t, mapped == s->mapped, "%d entries instead of %d", mapped, s->mapped);
	check(st->t, !offset, "offset %u is left", offset);
	check(st->t, r.mr->iova == at, "iova 0x%llx instead of 0x%llx",
	      r.mr->iova, at);
	check(st->t, r.mr->length == iova_shape_len(s),
	      "%llu bytes instead of %u", r.mr->length, iova_shape_len(s));
	check(st->t, r.mr->page_size == s->page_size, "page size %u", r.mr->page_size);
	if (want(post_reg(&st->b, r.mr, r.mr->rkey, ALL_RIGHTS), IB_WC_SUCCESS))
		iova_use(st, s, at, r.mr->rkey);
	region_free(&r);
}

/* Addresses that users choose after mapping. */
enum iova_choice { ZERO, OTHER_UPPER_HALF, OWN_MAPPING, LAST, CHOICES };

static const char *const iova_choice_names[] = {
	[ZERO] = "zero", [OTHER_UPPER_HALF] = "with another upper half",
	[OWN_MAPPING] = "the address of another mapping",
	[LAST] = "so that the range ends at the last address",
};

static u64 iova_chosen(enum iova_choice choice, const struct ib_mr *mr)
{
	switch (choice) {
	case ZERO:
		return 0;
	case OTHER_UPPER_HALF:
		return lower_32_bits(mr->iova) | 0x1234567800000000;
	case OWN_MAPPING:
		return 0xffffc90000123000;
	default:
		return 0 - mr->length;
	}
}

static void iova_test_choice(struct stage *st, const void *arg)
{
	static const struct iova_shape s = {
		.pieces = { { 3 * P, P }, { P, P }, { 9 * P, P } }, .mapped = 3,
	};
	struct side *a = &st->a;
	struct region r;
	u64 at;

	if (!region_new(&st->b, st->pd, &r, IB_MR_TYPE_MEM_REG, 4))
		return;
	check(st->t, region_map(&st->b, &r, s.pieces, NULL, P), "not mapped");
	at = iova_chosen(*(const enum iova_choice *)arg, r.mr);
	r.mr->iova = at;
	if (want(post_reg(&st->b, r.mr, r.mr->rkey, ALL_RIGHTS), IB_WC_SUCCESS)) {
		iova_use(st, &s, at, r.mr->rkey);
		/* The byte before; below address zero there is none. */
		want(post_rdma(a, IB_WR_RDMA_WRITE, a->dma, 2, st->pd->local_dma_lkey,
			       at - 1, r.mr->rkey), IB_WC_REM_ACCESS_ERR);
		want_event(&st->b, IB_EVENT_QP_ACCESS_ERR);
	}
	region_free(&r);
}

/* The region of the PD's local_dma_lkey: addresses of ib_dma_map_*(). */
static void iova_test_local_key(struct stage *st, const void *arg)
{
	const struct ib_mr *mr = st->pd->__internal_mr;
	u32 lkey = st->pd->local_dma_lkey;
	struct side *a = &st->a, *b = &st->b;
	struct mark *recv;

	if (!check(st->t, mr, "the domain has no region"))
		return;
	check(st->t, mr->type == IB_MR_TYPE_DMA && mr->lkey == lkey, "type %d, key 0x%x",
	      mr->type, mr->lkey);
	check(st->t, !mr->iova, "iova 0x%llx", mr->iova);
	side_fill(a, 3);
	memset(b->buf, 0, BUF_SIZE);
	recv = post_recv(b, b->dma + 77, 3 * P, lkey);
	want(post_send(a, a->dma + 5, 3 * P, lkey), IB_WC_SUCCESS);
	want(recv, IB_WC_SUCCESS);
	check(st->t, !memcmp(b->buf + 77, a->buf + 5, 3 * P), "wrong data");
}

void ktest_iova(struct ktest *t)
{
	enum iova_choice choice;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(iova_shapes); i++)
		ktest_run(t, iova_test_shape, &iova_shapes[i],
			  "ib_map_mr_sg() sets iova and length: %s", iova_shapes[i].name);
	for (choice = 0; choice < CHOICES; choice++)
		ktest_run(t, iova_test_choice, &choice,
			  "a user can choose the iova: %s",
			  iova_choice_names[choice]);
	ktest_run(t, iova_test_local_key, NULL,
		  "local_dma_lkey takes DMA addresses");
}
