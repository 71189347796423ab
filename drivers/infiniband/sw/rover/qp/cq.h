/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cq - completion queues
 *
 * Completions are written in place into the shared ring under cq->lock; the
 * event, if the program armed for it, is raised after the lock is dropped.
 * For user queues arming and polling never enter the kernel.
 *
 * A queue's completion vector is the processor on which its events are raised, by
 * an interrupt where the completion comes about on another one.  Only processors
 * that do housekeeping have a vector, so no program can interrupt an isolated one.
 * Vector 0 of a program, which is what it asks for when it does not care, is any:
 * the event is raised where the completion is written.
 *
 * An event may be moderated: it waits until so many completions are there, or
 * so long, whichever comes first.  It has answered an arming, as it has when it
 * is raised at once.  A timer ends its waiting, one of the queue's own: only a
 * completion starts it, and the end of the queue, when there is nobody left to
 * complete anything, waits for it.
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
 * struct rover_cq - a completion queue
 * @ib: the core's part
 * @lock: protects all below; a leaf, taken with softirqs off, a kernel user's with
 *	interrupts off
 * @ring: completions; @ring.head is used by kernel queues only
 * @fired: arm word that has been answered (user queues)
 * @armed: what was asked for through rover_cq_arm(): ROVER_ARM_*
 * @moderate_count: completions that an event waits for; 0 for any number
 * @moderate_usec: and for how long at most; 0 not to wait at all
 * @gathered: completions that the event that waits stands for; 0 without one
 * @period: ends its waiting; in softirq, takes @lock.  Runs on when the event is
 *	raised sooner, until the next one that waits moves it
 * @cpu: on which events are raised; ROVER_CPU_ANY for wherever; constant
 * @owed: events that wait for @call to come there; without a lock
 * @call: to that processor, where it starts @payer
 * @payer: raises what is owed
 * @emptied: times that a completion found the ring empty; read without the lock
 * @overflow: no completion can be written any more
 * @heard: @emptied at the last doorbell of a queue pair that sends here; this
 *	and the next two are hints of poller's, without a lock
 * @streak: such doorbells since that was any different
 * @doubts: doublings of how many make a stream
 * @user: mapped by a program; constant
 * @stamped: completions carry the time; constant
 * @resizing: one resize at a time; outside of @lock
 */
struct rover_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct rover_ring ring;
	u32 fired;
	u32 armed;
	u16 moderate_count;
	u16 moderate_usec;
	u32 gathered;
	struct hrtimer period;
	int cpu;
	atomic_t owed;
	call_single_data_t call;
	struct tasklet_struct payer;
	u32 emptied;
	u32 heard;
	u32 streak;
	u8 doubts;
	bool overflow;
	bool user;
	bool stamped;
	struct mutex resizing;
};

static inline struct rover_cq *rover_cq(struct ib_cq *ib)
{
	return container_of(ib, struct rover_cq, ib);
}

/* Verbs; signatures are those of struct ib_device_ops on the newest kernel. */
int rover_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int rover_cq_destroy(struct ib_cq *ib, struct ib_udata *udata);
int rover_cq_resize(struct ib_cq *ib, unsigned int cqe, struct ib_udata *udata);
int rover_cq_modify(struct ib_cq *ib, u16 count, u16 usec);
int rover_cq_poll(struct ib_cq *ib, int num, struct ib_wc *wc);
int rover_cq_arm(struct ib_cq *ib, enum ib_cq_notify_flags flags);

/**
 * rover_cq_vectors() - number of completion vectors
 *
 * Return: one for each housekeeping processor; at least one.
 */
unsigned int rover_cq_vectors(void);

/**
 * rover_cq_post() - complete a work request
 * @cq: completion queue
 * @qp: alive; kernel users are told which one it was
 * @cqe: completion but for timestamp and phase, which are filled in here
 * @solicited: raises the event also when armed for solicited ones only;
 *	completions in error always do
 *
 * Raises IB_EVENT_CQ_ERR once when the queue overflows; later completions are
 * lost then, and counted.
 *
 * Context: softirqs off; callers hold tx_lock or rx_lock.
 * Return: false when the queue has overflowed: the queue pair must go to error.
 */
bool rover_cq_post(struct rover_cq *cq, struct ib_qp *qp,
		   const struct rover_cqe *cqe, bool solicited);

/**
 * rover_cq_unread() - completions that nobody has polled yet
 * @cq: alive
 *
 * Context: softirqs off.
 * Return: no more than it has room for, whatever the program says.
 */
u32 rover_cq_unread(struct rover_cq *cq);

/**
 * rover_cq_forget() - take the completions of a queue pair out of a kernel queue
 * @cq: alive; of a program's queue the provider takes them out
 * @qp: was reset or is being destroyed: no completion of it comes any more
 *
 * A completion leads its user to the queue pair, which may be gone when it is
 * polled.
 *
 * Context: any but with @cq locked.
 */
void rover_cq_forget(struct rover_cq *cq, const struct ib_qp *qp);

/**
 * rover_cq_settle() - wait until no event is under way
 * @cq: nobody completes anything there meanwhile, or who does may be late
 *
 * ib_free_cq() stops what polls a kernel user's queue, then destroys the queue:
 * an event in between would start it again.  So a queue pair's end waits here.
 *
 * Context: may sleep.
 */
void rover_cq_settle(struct rover_cq *cq);

#endif /* ROVER_CQ_H */
