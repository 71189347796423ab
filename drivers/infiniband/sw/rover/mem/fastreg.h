/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fastreg - regions that kernel users register by work requests
 *
 * The consumer lays out memory on the side (map), then a work request makes it
 * what the region is, under a new key; another one, or the peer, invalidates
 * it.  In between the region has no key (see mkey.h).
 */
#ifndef ROVER_FASTREG_H
#define ROVER_FASTREG_H

#include "mem/mr.h"

/* Most pieces of a region: max_fast_reg_page_list_len. */
#define ROVER_MAX_PIECES	512

struct scatterlist;

/* Verbs; signatures are those of struct ib_device_ops on the newest kernel. */
struct ib_mr *rover_fastreg_alloc(struct ib_pd *pd, enum ib_mr_type type,
				  u32 max_num_sg);
int rover_fastreg_map(struct ib_mr *ib, struct scatterlist *sgl, int nents,
		      unsigned int *offset);

/**
 * struct rover_fastreg - what a work request says of a registration
 * @key: the region's upper 24 bits, with new lower ones
 * @access: IB_ACCESS_*
 * @iova: address of the first byte in the region's own terms
 * @length: bytes
 */
struct rover_fastreg {
	u32 key;
	u32 access;
	u64 iova;
	u64 length;
};

/**
 * rover_fastreg_register() - what was mapped last is the region from now on
 * @pd: protection domain of the queue pair
 * @reg: how
 *
 * Context: softirqs off.
 * Return: ROVER_OK; OPERATION when the region is another domain's, no such
 * region, or has a key already.
 */
enum rover_fault rover_fastreg_register(struct ib_pd *pd,
					const struct rover_fastreg *reg);

/**
 * rover_fastreg_invalidate() - nobody uses the region any more on return
 * @mkey: a region's, locked
 * @pd: protection domain of the queue pair
 * @key: the whole key
 * @remote: the peer says so, who must have rights to it
 *
 * Context: softirqs off; the caller holds no reference to any key.
 * Return: ROVER_OK; OPERATION when this is not its key, or it may not be
 * invalidated.
 */
enum rover_fault rover_fastreg_invalidate(struct rover_mkey *mkey,
					  struct ib_pd *pd, u32 key,
					  bool remote);

#endif /* ROVER_FASTREG_H */
