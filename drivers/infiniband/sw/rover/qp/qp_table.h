/* SPDX-License-Identifier: GPL-2.0 */
/* qp_table - look-up and lifetime of queue pairs */
#ifndef ROVER_QP_TABLE_H
#define ROVER_QP_TABLE_H

#include "qp/qp.h"

/* Of all devices, by number */
extern struct rover_table rover_qpns;

/**
 * rover_qp_find() - look up a queue pair by number
 * @qpn: from the wire or from userspace
 * Context: under rcu_read_lock().  Test @alive after taking a lock.
 */
static inline struct rover_qp *rover_qp_find(u32 qpn)
{
	struct rover_obj *obj = rover_table_find(&rover_qpns, qpn);

	return obj ? container_of(obj, struct rover_qp, obj) : NULL;
}

/**
 * rover_qp_drop() - count and trace a dropped packet
 * @qp: queue pair
 * @why: counter of the reason
 * @opcode: of the packet; 0 if unknown
 * @psn: likewise
 * Context: as rover_qp_count().
 */
void rover_qp_drop(const struct rover_qp *qp, enum rover_stat why, u8 opcode,
		   u32 psn);

/**
 * rover_qp_get() - take a reference
 * @qp: referenced, or found under RCU and @alive under a lock
 */
static inline void rover_qp_get(struct rover_qp *qp)
{
	refcount_inc(&qp->refs);
}

/**
 * rover_qp_get_ib() - get the queue pair of a core object
 * @ib: maybe being destroyed
 *
 * For restrack: cores of 6.1 and 6.12 call query_qp and fill_res_qp_entry until
 * destroy_qp has returned.
 * Context: any.
 * Return: referenced; NULL if destroyed.
 */
struct rover_qp *rover_qp_get_ib(struct ib_qp *ib);

/**
 * rover_qp_put() - drop a reference
 * @qp: freed a grace period after the last one
 * Context: any.
 */
void rover_qp_put(struct rover_qp *qp);

/**
 * rover_qp_kick() - run a queue pair soon
 * @qp: alive or referenced, or found under RCU; work bits are set
 * Context: any.
 */
void rover_qp_kick(struct rover_qp *qp);

/**
 * rover_qp_table_init() - initialise
 * Return: 0 or -ENOMEM.
 */
int rover_qp_table_init(void);

/**
 * rover_qp_table_exit() - wait until all queue pairs are freed
 */
void rover_qp_table_exit(void);

/**
 * rover_qp_table_alloc() - allocate a queue pair
 * Return: zeroed, with one reference; NULL without memory.
 */
struct rover_qp *rover_qp_table_alloc(void);

#endif /* ROVER_QP_TABLE_H */
