// SPDX-License-Identifier: GPL-2.0
/*
 * fastreg - fast registration of memory by kernel users
 *
 * Regions of either type are lists of pieces of any length and alignment,
 * merged where contiguous.  The consumer may map the next list while the region
 * is in use.
 *
 * A mapped region begins at the DMA address of its first byte, as with
 * ib_sg_to_pages(): some consumers tell peers this address without reading
 * @iova (decision 0038).
 */
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "mem/fastreg.h"

struct ib_mr *rover_fastreg_alloc(struct ib_pd *pd, enum ib_mr_type type,
				  u32 max_num_sg)
{
	struct rover_mr *mr;
	int err = -ENOMEM;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > ROVER_MAX_PIECES)
		return ERR_PTR(-EINVAL);
	mr = rover_mr_alloc(pd, ROVER_MR_FAST, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pieces = max_num_sg;
	mr->pieces = kvmalloc_objs(*mr->pieces, max_num_sg);
	mr->mapped = kvmalloc_objs(*mr->mapped, max_num_sg);
	if (mr->pieces && mr->mapped)
		err = rover_mr_publish(mr, false);
	if (!err)
		return &mr->ib;

	kvfree(mr->pieces);
	kvfree(mr->mapped);
	kfree(mr);
	return ERR_PTR(err);
}

static bool fastreg_add_piece(struct rover_mr *mr, u64 addr, u64 len)
{
	struct rover_piece *next = mr->mapped + mr->nmapped;

	if (mr->nmapped &&
	    next[-1].addr + (mr->ib.length - next[-1].at) == addr) {
		mr->ib.length += len;
		return true;
	}
	if (mr->nmapped == mr->max_pieces)
		return false;
	next->at = mr->ib.length;
	next->addr = addr;
	mr->nmapped++;
	mr->ib.length += len;
	return true;
}

int rover_fastreg_map(struct ib_mr *ib, struct scatterlist *sgl, int nents,
		      unsigned int *offset)
{
	unsigned int skip = offset ? *offset : 0;
	struct rover_mr *mr = rover_mr(ib);
	struct scatterlist *sg;
	int i;

	if (mr->kind != ROVER_MR_FAST || nents <= 0 || skip > sg_dma_len(sgl))
		return -EINVAL;
	mr->nmapped = 0;
	ib->iova = sg_dma_address(sgl) + skip;
	ib->length = 0;
	for_each_sg(sgl, sg, nents, i) {
		unsigned int len = sg_dma_len(sg) - skip;

		if (len &&
		    !fastreg_add_piece(mr, sg_dma_address(sg) + skip, len))
			break;
		skip = 0;
	}
	/* Entries are mapped entirely or not at all. */
	if (offset)
		*offset = 0;
	return i;
}

static bool fastreg_access_ok(u32 access)
{
	return !(access & ~(IB_ACCESS_LOCAL_WRITE | ROVER_MR_REMOTE |
			    IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_OPTIONAL)) &&
	       rover_mr_may_grant(access);
}

static bool fastreg_is_valid(const struct rover_mr *mr, struct ib_pd *pd,
			     const struct rover_fastreg *reg)
{
	const struct rover_piece *last;
	u64 end;

	/* Test @window first: a window is no struct rover_mr. */
	if (mr->mkey.window || mr->kind != ROVER_MR_FAST || mr->ib.pd != pd ||
	    mr->mkey.key || !mr->nmapped || !fastreg_access_ok(reg->access))
		return false;
	/* The region must end in the last piece. */
	last = mr->mapped + mr->nmapped - 1;
	return reg->length > last->at && reg->length <= mr->ib.length &&
	       !check_add_overflow(reg->iova, reg->length - 1, &end);
}

enum rover_fault rover_fastreg_register(struct ib_pd *pd,
					const struct rover_fastreg *reg)
{
	struct rover_mkey *mkey = rover_mkey_lock(&rover_dev(pd->device)->mrs,
						  reg->key);
	enum rover_fault fault = ROVER_FAULT_OPERATION;
	struct rover_mr *mr;

	if (!mkey)
		return fault;
	mr = container_of(mkey, struct rover_mr, mkey);
	if (fastreg_is_valid(mr, pd, reg)) {
		fault = ROVER_OK;
		mr->access = reg->access;
		mr->iova = reg->iova;
		mr->length = reg->length;
		mr->npieces = mr->nmapped;
		memcpy(mr->pieces, mr->mapped,
		       mr->nmapped * sizeof(*mr->pieces));
		rover_mkey_open(mkey, reg->key);
	}
	rover_mkey_unlock(mkey);
	return fault;
}

enum rover_fault rover_fastreg_invalidate(struct rover_mkey *mkey,
					  struct ib_pd *pd, u32 key,
					  bool remote)
{
	struct rover_mr *mr = container_of(mkey, struct rover_mr, mkey);

	if (mr->kind != ROVER_MR_FAST || mr->ib.pd != pd || mkey->key != key ||
	    (remote && !(mr->access & ROVER_MR_REMOTE)))
		return ROVER_FAULT_OPERATION;
	rover_mkey_close(mkey);
	return ROVER_OK;
}
