/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mw - memory windows: part of a region, with its own rights and key
 *
 * A bound window holds its region.  Its key is for remote access only.
 *
 * Type 1 is bound again at will, and unbound by binding no bytes.  Type 2
 * belongs to the queue pair it was bound on (type 2B), and must be invalidated,
 * by either end, before it is bound again.
 */
#ifndef ROVER_MW_H
#define ROVER_MW_H

#include "mem/mr.h"

/**
 * struct rover_mw - memory window
 * @mkey: key of the binding
 * @rcu: for freeing
 * @pd: PD; constant
 * @type: enum ib_mw_type; constant
 * @mr: bound region; NULL if unbound
 * @qpn: queue pair it was bound on
 * @access: IB_ACCESS_REMOTE_*
 * @iova: first virtual address
 * @length: bytes
 * @shift: see struct rover_use
 *
 * A binding changes only under mkey.lock, with the key closed.
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

/* The core frees it right after rover_mw_dealloc(). */
struct rover_ibmw {
	struct ib_mw ib;
	struct rover_mw *mw;
};

/* Verbs, as in the newest struct ib_device_ops. */
int rover_mw_alloc(struct ib_mw *ib, struct ib_udata *udata);
int rover_mw_dealloc(struct ib_mw *ib);

/**
 * struct rover_bind - binding requested by a WQE
 * @key: the window's upper 24 bits, with new lower ones
 * @lkey: the region's
 * @access: IB_ACCESS_REMOTE_*, IB_ZERO_BASED
 * @addr: first byte, as the region's virtual address
 * @length: bytes; 0 unbinds type 1
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
 * @pd: PD
 * @qpn: QPN
 * @bind: binding
 * Context: softirqs off; no key referenced.
 * Return: ROVER_OK; OPERATION if not allowed.
 */
enum rover_fault rover_mw_bind(struct ib_pd *pd, u32 qpn,
			       const struct rover_bind *bind);

/**
 * rover_mw_invalidate() - close a key and wait for its users
 * @pd: PD
 * @qpn: QPN
 * @key: of a type 2 window or a fast registration
 * @remote: requested by the peer
 * Context: softirqs off; no key referenced.
 * Return: ROVER_OK; OPERATION for no such key, or if not allowed.
 */
enum rover_fault rover_mw_invalidate(struct ib_pd *pd, u32 qpn, u32 key,
				     bool remote);

/**
 * rover_mw_grants() - test whether a remote key grants rights
 * @pd: PD
 * @qpn: QPN
 * @key: of a region or window
 * @access: IB_ACCESS_* needed
 * Context: softirqs off.
 * Return: ROVER_OK, or KEY, ACCESS.
 */
enum rover_fault rover_mw_grants(struct ib_pd *pd, u32 qpn, u32 key,
				 int access);

/**
 * rover_mw_find() - look up a region by a remote key
 * @pd: PD
 * @qpn: QPN
 * @key: of a region or window
 * @access: IB_ACCESS_REMOTE_* needed
 * @addr: first byte
 * @len: bytes, not 0
 * @use: result, referenced
 * Context: softirqs off until rover_mr_put().
 * Return: ROVER_OK, or KEY, ACCESS, BOUNDS.
 */
enum rover_fault rover_mw_find(struct ib_pd *pd, u32 qpn, u32 key, int access,
			       u64 addr, u64 len, struct rover_use *use);

#endif /* ROVER_MW_H */
