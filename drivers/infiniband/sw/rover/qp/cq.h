/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cq - completion queues
 *
 * CQEs are written under cq->lock, events raised without it.
 *
 * A completion vector is a housekeeping CPU, since userspace cannot interrupt
 * isolated ones.  It raises the events; those of vector 0 of a user CQ, the
 * default, are raised where the CQE is written (decision 0025).
 *
 * Moderation delays an event until there are enough CQEs or time is up.  A
 * delayed event has consumed the arming.  So is an event delayed for which the
 * program has left too many unread (channel).
 */
#ifndef ROVER_CQ_H
#define ROVER_CQ_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "core/ring.h"
#include "qp/channel.h"

/**
 * struct rover_cq - completion queue
 * @ib: core object
 * @lock: leaf; protects all below unless noted; softirqs off, kernel CQ:
 *	interrupts off
 * @ring: CQEs; @ring.head for kernel CQs only
 * @arm_answered: user CQ: arm word of the last event
 * @armed: ROVER_ARM_*, by rover_cq_arm()
 * @moderate_count: CQEs that end a delay; 0 for no limit
 * @moderate_usec: longest delay; 0 for none
 * @moderated: CQEs of the delayed event; 0 for none
 * @moderate_timer: ends a delay; an early event leaves it running
 * @unread: user CQ: events raised that may be unread
 * @cpu: raises events; ROVER_CPU_ANY for any; constant
 * @event_pending: events to raise on @cpu; no lock
 * @event_csd: IPI to @cpu
 * @event_task: raises pending events
 * @emptied: completions that found the ring empty; hint
 * @emptied_seen: @emptied at the last doorbell (poller); no lock
 * @streak: doorbells since @emptied changed; likewise
 * @streak_shift: doublings of the @streak of a stream; likewise
 * @overflow: a CQE was lost; no more are written
 * @user: mapped by userspace; constant
 * @timestamps: CQEs carry the time; constant
 * @resizing: serialises resize; outside of @lock
 */
struct rover_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct rover_ring ring;
	u32 arm_answered;
	u32 armed;
	u16 moderate_count;
	u16 moderate_usec;
	u32 moderated;
	struct hrtimer moderate_timer;
	struct rover_unread unread;
	int cpu;
	atomic_t event_pending;
	call_single_data_t event_csd;
	struct tasklet_struct event_task;
	u32 emptied;
	u32 emptied_seen;
	u32 streak;
	u8 streak_shift;
	bool overflow;
	bool user;
	bool timestamps;
	struct mutex resizing;
};

static inline struct rover_cq *rover_cq(struct ib_cq *ib)
{
	return container_of(ib, struct rover_cq, ib);
}

/* ib_device_ops, as in the newest kernel */
int rover_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int rover_cq_destroy(struct ib_cq *ib, struct ib_udata *udata);
int rover_cq_resize(struct ib_cq *ib, unsigned int cqe, struct ib_udata *udata);
int rover_cq_modify(struct ib_cq *ib, u16 count, u16 usec);
int rover_cq_poll(struct ib_cq *ib, int num, struct ib_wc *wc);
int rover_cq_arm(struct ib_cq *ib, enum ib_cq_notify_flags flags);

/**
 * rover_cq_vectors() - count completion vectors
 * Return: housekeeping CPUs, at least one.
 */
unsigned int rover_cq_vectors(void);

/**
 * rover_cq_post() - write a CQE
 * @cq: completion queue
 * @qp: alive; for kernel users
 * @cqe: filled in except timestamp and phase
 * @solicited: satisfies ROVER_ARM_SOLICITED; errors always do
 *
 * Overflow raises CQ_ERR once; lost CQEs are counted.
 * Context: tx_lock or rx_lock held, softirqs off.
 * Return: false after overflow: move the queue pair to ERR.
 */
bool rover_cq_post(struct rover_cq *cq, struct ib_qp *qp,
		   const struct rover_cqe *cqe, bool solicited);

/**
 * rover_cq_unread() - count CQEs not polled yet
 * @cq: alive
 * Context: softirqs off.
 * Return: at most the ring size.
 */
u32 rover_cq_unread(struct rover_cq *cq);

/**
 * rover_cq_forget() - remove the CQEs of a queue pair
 * @cq: alive; for a user CQ the provider does this
 * @qp: was reset or is being destroyed
 * Context: any.
 */
void rover_cq_forget(struct rover_cq *cq, const struct ib_qp *qp);

/**
 * rover_cq_wait_events() - wait for pending events
 * @cq: CQ; later events may be missed
 *
 * ib_free_cq() stops polling, then destroys the CQ; an event in between would
 * restart polling.  So destroy of a queue pair waits.
 * Context: may sleep.
 */
void rover_cq_wait_events(struct rover_cq *cq);

#endif /* ROVER_CQ_H */
