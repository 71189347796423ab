/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cq - completion queues
 *
 * CQEs are written under cq->lock; an armed event is raised without it.
 * Userspace arms and polls without entering the kernel.
 *
 * Completion vectors are housekeeping CPUs: userspace cannot have isolated ones
 * interrupted.  Events are raised there, by IPI if necessary; those of vector 0
 * of a user CQ, the default, where the CQE is written (decision 0025).
 *
 * Moderation delays an event until there are enough CQEs or time is up.  The
 * delayed event has consumed the arming.  Only completions start the timer, so
 * destroy can cancel it.
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

/**
 * struct rover_cq - completion queue
 * @ib: the core's part
 * @lock: leaf, protects what follows except as noted; softirqs off, kernel CQ:
 *	interrupts off
 * @ring: CQEs; @ring.head for kernel CQs only
 * @arm_answered: user CQ: last arm word that got an event
 * @armed: ROVER_ARM_*, by rover_cq_arm()
 * @moderate_count: CQEs that end a delay; 0 for no limit
 * @moderate_usec: longest delay; 0 for no moderation
 * @moderated: CQEs of the delayed event; 0 if none is delayed
 * @moderate_timer: ends a delay, in softirq; not stopped by an early event
 * @cpu: CPU that raises events; ROVER_CPU_ANY for any; constant
 * @event_pending: events to raise on @cpu; no lock
 * @event_csd: IPI to @cpu, schedules @event_task
 * @event_task: raises pending events
 * @emptied: completions that found the ring empty; hint
 * @emptied_seen: @emptied at the last doorbell (poller); hint without lock
 * @streak: doorbells since @emptied changed (poller); hint without lock
 * @streak_shift: doublings of the @streak of a stream (poller); hint without lock
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

/* Verbs, as in struct ib_device_ops of the newest kernel. */
int rover_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int rover_cq_destroy(struct ib_cq *ib, struct ib_udata *udata);
int rover_cq_resize(struct ib_cq *ib, unsigned int cqe, struct ib_udata *udata);
int rover_cq_modify(struct ib_cq *ib, u16 count, u16 usec);
int rover_cq_poll(struct ib_cq *ib, int num, struct ib_wc *wc);
int rover_cq_arm(struct ib_cq *ib, enum ib_cq_notify_flags flags);

/**
 * rover_cq_vectors() - return the number of completion vectors
 *
 * Return: housekeeping CPUs, at least one.
 */
unsigned int rover_cq_vectors(void);

/**
 * rover_cq_post() - write a CQE
 * @cq: completion queue
 * @qp: alive; passed to kernel users
 * @cqe: filled in except timestamp and phase
 * @solicited: answer ROVER_ARM_SOLICITED, as errors always do
 *
 * Overflow raises IB_EVENT_CQ_ERR once; later CQEs are dropped and counted.
 *
 * Context: tx_lock or rx_lock held, softirqs off.
 * Return: false after overflow: move the queue pair to ERR.
 */
bool rover_cq_post(struct rover_cq *cq, struct ib_qp *qp,
		   const struct rover_cqe *cqe, bool solicited);

/**
 * rover_cq_unread() - count CQEs not polled yet
 * @cq: alive
 *
 * Context: softirqs off.
 * Return: at most the ring size, even if userspace corrupts it.
 */
u32 rover_cq_unread(struct rover_cq *cq);

/**
 * rover_cq_forget() - remove the CQEs of a queue pair from a kernel CQ
 * @cq: alive; for a user CQ the provider does this
 * @qp: was reset or is being destroyed
 *
 * CQEs refer to the queue pair, which may be gone when they are polled.
 *
 * Context: any, @cq not locked.
 */
void rover_cq_forget(struct rover_cq *cq, const struct ib_qp *qp);

/**
 * rover_cq_wait_events() - wait for pending events
 * @cq: CQ; events of later completions may be missed
 *
 * ib_free_cq() stops polling, then destroys the CQ.  An event in between would
 * restart polling, so destroy of a queue pair waits here.
 *
 * Context: may sleep.
 */
void rover_cq_wait_events(struct rover_cq *cq);

#endif /* ROVER_CQ_H */
