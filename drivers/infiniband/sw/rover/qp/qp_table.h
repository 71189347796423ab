/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qp_table - all queue pairs: how they are found, what their state allows, and how
 * they go to error and out of memory
 */
#ifndef ROVER_QP_TABLE_H
#define ROVER_QP_TABLE_H

#include "qp/qp.h"
#include "wire/fault.h"

/* All queue pairs of the module, by number. */
extern struct rover_table rover_qpns;

/**
 * rover_qp_find() - a queue pair by its number
 * @qpn: from the wire or from a program
 *
 * Context: under rcu_read_lock(); look at @alive after taking a lock.
 */
static inline struct rover_qp *rover_qp_find(u32 qpn)
{
	struct rover_obj *obj = rover_table_find(&rover_qpns, qpn);

	return obj ? container_of(obj, struct rover_qp, obj) : NULL;
}

/* Permissions that follow from the state (IBTA 10.3.1). */
#define ROVER_MAY_POST_SEND	(1U << 0)
#define ROVER_MAY_POST_RECV	(1U << 1)
#define ROVER_MAY_SEND		(1U << 2)	/* start new requests */
#define ROVER_MAY_COMPLETE	(1U << 3)	/* accept responses, retransmit */
#define ROVER_MAY_RECEIVE	(1U << 4)	/* accept requests */
#define ROVER_MUST_FLUSH	(1U << 5)	/* complete all with FLUSH */
#define ROVER_MUST_FLUSH_SEND	(1U << 6)	/* what is to be sent, at least */

extern const u8 rover_qp_may[IB_QPS_ERR + 1];

/**
 * rover_qp_allows() - may it, in its present state?
 * @qp: any
 * @what: one of ROVER_MAY_* or ROVER_MUST_FLUSH
 */
static inline bool rover_qp_allows(const struct rover_qp *qp, u8 what)
{
	return rover_qp_may[READ_ONCE(qp->state)] & what;
}

/**
 * rover_qp_drop() - a packet goes no further: count it, and say so
 * @qp: whose it is
 * @why: the counter of the reason
 * @opcode: of the packet; 0, as @psn, for many
 * @psn: its number
 *
 * Context: as for rover_qp_count().
 */
void rover_qp_drop(const struct rover_qp *qp, enum rover_stat why, u8 opcode,
		   u32 psn);

/**
 * rover_qp_get() - take a reference
 * @qp: found under RCU with a lock held and @alive seen, or referenced
 */
static inline void rover_qp_get(struct rover_qp *qp)
{
	refcount_inc(&qp->refs);
}

/**
 * rover_qp_get_ib() - the queue pair of an object of the core's, for onlookers
 * @ib: referenced, but perhaps being destroyed
 *
 * The cores of 6.1 and 6.12 show queue pairs (rdma resource) until after they
 * have called destroy_qp, and ask query_qp and fill_res_qp_entry meanwhile.
 *
 * Context: any.
 * Return: with a reference; NULL when it is destroyed.
 */
struct rover_qp *rover_qp_get_ib(struct ib_qp *ib);

/**
 * rover_qp_put() - drop a reference
 * @qp: freed with the last one, after a grace period
 *
 * Context: any.
 */
void rover_qp_put(struct rover_qp *qp);

/**
 * rover_qp_kick() - see to it that a queue pair is run soon
 * @qp: alive or referenced; work bits already set
 *
 * Context: any.
 */
void rover_qp_kick(struct rover_qp *qp);

/**
 * rover_qp_tell() - raise an event of a queue pair
 * @qp: alive
 * @type: of the event
 *
 * Context: tx_lock or rx_lock held.
 */
void rover_qp_tell(struct rover_qp *qp, enum ib_event_type type);

/**
 * rover_qp_forget() - take its completions out of a kernel user's queues
 * @qp: was reset or is being destroyed
 *
 * Context: process.
 */
void rover_qp_forget(struct rover_qp *qp);

/**
 * rover_qp_fail() - a queue pair goes to error now
 * @qp: alive, in any state but RESET
 * @event: what to tell the program; ROVER_EVENT_NONE for nothing
 *
 * Sets the state, marks both rings and leaves the flushing to whoever runs
 * the queue pair next; a kick sees to that.  Going to error twice is fine: the
 * second time nothing is raised.  Who has a completion to write that tells of
 * it comes here first: a program that sees it asks for the state (IBTA 10.3.1),
 * and the flush waits for the caller's lock.
 *
 * Context: tx_lock or rx_lock held.
 */
void rover_qp_fail(struct rover_qp *qp, enum rover_event event);

/**
 * rover_qp_fail_send() - the send queue goes to error, and only that
 * @qp: alive, of an unreliable service (IBTA 10.3.1.7)
 *
 * From RTS or SQD; in other states nothing happens.  What else is posted is flushed
 * by whoever runs the queue pair next: the caller sees to that.
 *
 * Context: tx_lock held.
 */
void rover_qp_fail_send(struct rover_qp *qp);

/**
 * rover_qp_drained() - in SQD, all that was under way is done
 * @qp: alive, in SQD
 *
 * Says so once in this stay there, if asked to.
 *
 * Context: tx_lock held.
 */
void rover_qp_drained(struct rover_qp *qp);

/**
 * rover_qp_last_wqe() - it takes no more receives of those it shares
 * @qp: alive, in error; what it had taken is completed
 *
 * Says so once in this stay there (IBTA 11.6.3).
 *
 * Context: rx_lock held.
 */
void rover_qp_last_wqe(struct rover_qp *qp);

/**
 * rover_qp_table_init() - at module load
 *
 * Return: 0 or -ENOMEM.
 */
int rover_qp_table_init(void);

/**
 * rover_qp_table_exit() - at module unload: wait until every queue pair is freed
 */
void rover_qp_table_exit(void);

/**
 * rover_qp_table_alloc() - memory for a queue pair, counted
 *
 * Return: zeroed, with one reference; NULL without memory.
 */
struct rover_qp *rover_qp_table_alloc(void);

#endif /* ROVER_QP_TABLE_H */
