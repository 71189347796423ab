/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fastreg - fast registration of memory by kernel users
 *
 * The consumer maps memory, then posts a WQE that registers it and opens a new
 * key.  A WQE or the peer invalidates (closes) the key.
 */
#ifndef ROVER_FASTREG_H
#define ROVER_FASTREG_H

#include "mem/mr.h"

/* Pieces of a region: max_fast_reg_page_list_len. */
#define ROVER_MAX_PIECES	512

struct scatterlist;

/* Verbs, as in the newest struct ib_device_ops. */
struct ib_mr *rover_fastreg_alloc(struct ib_pd *pd, enum ib_mr_type type,
				  u32 max_num_sg);
int rover_fastreg_map(struct ib_mr *ib, struct scatterlist *sgl, int nents,
		      unsigned int *offset);

/**
 * struct rover_fastreg - registration requested by a WQE
 * @key: the region's upper 24 bits, with new lower ones
 * @access: IB_ACCESS_*
 * @iova: virtual address of the first byte
 * @length: bytes
 */
struct rover_fastreg {
	u32 key;
	u32 access;
	u64 iova;
	u64 length;
};

/**
 * rover_fastreg_register() - register the memory mapped last
 * @pd: PD
 * @reg: registration
 * Context: softirqs off.
 * Return: ROVER_OK; OPERATION for no such region in @pd, or an open key.
 */
enum rover_fault rover_fastreg_register(struct ib_pd *pd,
					const struct rover_fastreg *reg);

/**
 * rover_fastreg_invalidate() - close a region's key, wait for its users
 * @mkey: the region's, locked
 * @pd: PD
 * @key: all 32 bits
 * @remote: requested by the peer, which needs rights
 * Context: softirqs off; no key referenced.
 * Return: ROVER_OK; OPERATION for another key, or if not allowed.
 */
enum rover_fault rover_fastreg_invalidate(struct rover_mkey *mkey,
					  struct ib_pd *pd, u32 key,
					  bool remote);

#endif /* ROVER_FASTREG_H */
