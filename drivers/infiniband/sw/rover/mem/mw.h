/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mw - memory windows: a part of a region, with rights and a key of its own
 *
 * A window is bound to a region by a work request.  As long as it is, the
 * region stays.  Its key is for the peer only.
 *
 * Type 1 is bound anew at will, and unbound by binding no bytes.  Type 2 belongs
 * to the queue pair it was bound on (type 2B) and must be invalidated, by
 * either end, before it is bound again.
 */
#ifndef ROVER_MW_H
#define ROVER_MW_H

#include "mem/mr.h"

/**
 * struct rover_mw - a memory window
 * @mkey: key of the present binding
 * @rcu: readers may still look at us after removal
 * @pd: protection domain; constant
 * @type: enum ib_mw_type; constant
 * @mr: region it is bound to, and counted in; NULL while it is not
 * @qpn: queue pair it was bound on
 * @access: IB_ACCESS_REMOTE_*
 * @iova: address of the first byte in the window's own terms
 * @length: bytes
 * @shift: to be added to such an address to get the region's
 *
 * What a binding changes is constant while the key is open, and is changed
 * under mkey.change.
 */
struct rover_mw {
	struct rover_mkey mkey;
	struct rcu_head rcu;
	struct ib_pd *pd;
	u8 type;
	struct rover_mr *mr;
	u32 qpn;
	int access;
	u64 iova;
	u64 length;
	u64 shift;
};

/* What the core allocates, and frees as soon as we let it. */
struct rover_ibmw {
	struct ib_mw ib;
	struct rover_mw *mw;
};

/* Verbs; signatures are those of struct ib_device_ops on the newest kernel. */
int rover_mw_alloc(struct ib_mw *ib, struct ib_udata *udata);
int rover_mw_dealloc(struct ib_mw *ib);

/**
 * struct rover_bind - what a work request says of a binding
 * @key: the window's upper 24 bits, with new lower ones
 * @lkey: the region's
 * @access: IB_ACCESS_REMOTE_*, IB_ZERO_BASED
 * @addr: first byte, in the region's terms
 * @length: bytes; with 0 a window of type 1 is unbound
 */
struct rover_bind {
	u32 key;
	u32 lkey;
	u32 access;
	u64 addr;
	u64 length;
};

/**
 * rover_mw_bind() - bind a window
 * @pd: protection domain of the queue pair
 * @qpn: its number
 * @bind: how
 *
 * Context: softirqs off; the caller holds no reference to any key.
 * Return: ROVER_OK; OPERATION when it cannot be.
 */
enum rover_fault rover_mw_bind(struct ib_pd *pd, u32 qpn,
			       const struct rover_bind *bind);

/**
 * rover_mw_invalidate() - nobody uses a key any more on return
 * @pd: protection domain of the queue pair
 * @qpn: its number
 * @key: of a window of type 2, or of what fastreg registered
 * @remote: the peer says so
 *
 * Context: softirqs off; the caller holds no reference to any key.
 * Return: ROVER_OK; OPERATION when there is no such key or it may not be
 * invalidated.
 */
enum rover_fault rover_mw_invalidate(struct ib_pd *pd, u32 qpn, u32 key,
				     bool remote);

/**
 * rover_mw_grants() - does a key that the peer named give these rights?
 * @pd: protection domain of the queue pair
 * @qpn: its number
 * @key: of a region or of a window
 * @access: rights needed, IB_ACCESS_*, for all that the key opens
 *
 * Context: softirqs off.
 * Return: ROVER_OK, or KEY, ACCESS.
 */
enum rover_fault rover_mw_grants(struct ib_pd *pd, u32 qpn, u32 key,
				 int access);

/**
 * rover_mw_find() - a region, by a key that the peer named, for a given use
 * @pd: protection domain of the queue pair
 * @qpn: its number
 * @key: of a region or of a window
 * @access: rights needed, IB_ACCESS_REMOTE_*
 * @addr: first byte of the use
 * @len: bytes of the use; not 0, see rover_mr_find()
 * @use: where to put it, with a reference
 *
 * Context: softirqs off, until the reference is dropped.
 * Return: ROVER_OK, or KEY, ACCESS, BOUNDS.
 */
enum rover_fault rover_mw_find(struct ib_pd *pd, u32 qpn, u32 key, int access,
			       u64 addr, u64 len, struct rover_use *use);

#endif /* ROVER_MW_H */
