// SPDX-License-Identifier: GPL-2.0
/*
 * cq - completion queues
 *
 * Of a program's queue the kernel reads two words, head and arm, each once,
 * and believes neither: a head that makes no sense is a queue that is full.
 * What the kernel has written there it never reads back, but for resizing,
 * where it only moves it.  The names K4 to K6 are those of rover-abi.h.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <rdma/uverbs_ioctl.h>

#include "core/dev.h"
#include "qp/cq.h"

static_assert(sizeof(struct rover_cqe) == 64);
static_assert(offsetof(struct rover_cqe, phase) == 63);
static_assert(sizeof(struct rover_ring_hdr) <= ROVER_RING_HDR_SIZE);
static_assert(sizeof(struct rover_uapi_create_cq_resp) == 32);
static_assert(sizeof(struct rover_uapi_resize_cq_resp) == 32);

/* Completions moved without looking up, under the lock and without it. */
#define MOVE_LOCKED	256
#define MOVE_BATCH	16384

/* Events told in one round. */
#define PAY_AT_ONCE	64

/* Completions looked at in one go when a queue pair goes. */
#define FORGET_BATCH	256

/*
 * A kernel queue's completions are memory nobody else sees, hence the place
 * for the queue pair that the core wants to hear of.  NULL marks a completion of
 * one that was reset or destroyed: see rover_cq_forget().
 */
static struct ib_qp **kernel_qp(struct rover_cqe *cqe)
{
	static_assert(offsetof(struct rover_cqe, reserved_28) % sizeof(void *) == 0);
	return (struct ib_qp **)cqe->reserved_28;
}

/*
 * Who completes has softirqs off.  A program's queue needs no more; a kernel user
 * may poll in a hard interrupt, and its queue's lock is of another class.
 */
static struct lock_class_key kernel_class, user_class;

static unsigned long lock(struct rover_cq *cq) __acquires(&cq->lock)
{
	unsigned long flags = 0;

	if (cq->user)
		spin_lock(&cq->lock);
	else
		spin_lock_irqsave(&cq->lock, flags);
	return flags;
}

static void unlock(struct rover_cq *cq, unsigned long flags)
	__releases(&cq->lock)
{
	if (cq->user)
		spin_unlock(&cq->lock);
	else
		spin_unlock_irqrestore(&cq->lock, flags);
}

static struct rover_dev *dev_of(const struct rover_cq *cq)
{
	return rover_dev(cq->ib.device);
}

/* The n-th lap around the ring is marked 1 for even n: see K4. */
static u8 phase_at(const struct rover_ring *ring, u32 index)
{
	return !(index & (ring->mask + 1));
}

/*
 * What was asked for is rounded up to a power of two, and all of it is granted:
 * the phase bit needs no empty entry between tail and head.
 */
static int new_ring(struct rover_cq *cq, struct rover_ring *ring, u32 cqe,
		    struct ib_ucontext *ucontext, struct rover_uapi_ring *uapi)
{
	int err;

	if (!cqe || cqe > cq->ib.device->attrs.max_cqe)
		return -EINVAL;
	err = rover_ring_create(ring, ucontext, cqe, sizeof(struct rover_cqe),
				uapi);
	if (err)
		return err;
	ring->limit = ring->mask + 1;
	return 0;
}

/* Vectors ********************************************************************/

unsigned int rover_cq_vectors(void)
{
	unsigned int cpu, n = 0;

	for_each_possible_cpu(cpu)
		n += rover_cpu_housekeeping(cpu);
	return max(n, 1U);
}

/*
 * Vector n is the n-th housekeeping processor.  A cpuset may have isolated some
 * since the device was made; then several vectors share a processor.
 */
static int cq_vector_cpu(unsigned int vector)
{
	unsigned int cpu;

	vector %= rover_cq_vectors();
	for_each_possible_cpu(cpu)
		if (rover_cpu_housekeeping(cpu) && !vector--)
			return cpu;
	return ROVER_CPU_ANY;
}

/* Events *********************************************************************/

static void tell(struct rover_cq *cq)
{
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/*
 * On the processor that the queue's events are for, or where that one is gone: in
 * softirq, as handlers take locks.  What is owed when it is none any more is paid.
 */
static void pay(struct tasklet_struct *tasklet)
{
	struct rover_cq *cq = container_of(tasklet, struct rover_cq, payer);
	unsigned int left = PAY_AT_ONCE;

	do {
		tell(cq);
		if (atomic_dec_and_test(&cq->owed))
			return;
	} while (--left);
	/* More is owed all the time: others have their turn. */
	tasklet_schedule(tasklet);
}

/* In that processor's hard interrupt. */
static void called(void *info)
{
	struct rover_cq *cq = info;

	tasklet_schedule(&cq->payer);
}

/* Return false when it is here that the event is to be raised. */
static bool tell_there(struct rover_cq *cq)
{
	bool there;

	if (cq->cpu == ROVER_CPU_ANY)
		return false;
	/* Nor does a processor that is online go away meanwhile. */
	preempt_disable();
	there = cq->cpu != smp_processor_id() && cpu_online(cq->cpu) &&
		rover_cpu_housekeeping(cq->cpu);
	/* Full barrier.  Who finds some that are owed leaves it to whoever pays. */
	if (there && atomic_fetch_inc(&cq->owed) == 0 &&
	    smp_call_function_single_async(cq->cpu, &cq->call))
		called(cq);
	preempt_enable();
	return there;
}

static void raise_event(struct rover_cq *cq)
{
	if (!cq->ib.comp_handler)
		return;
	rover_count(dev_of(cq), ROVER_STAT_CQ_EVENTS);
	if (!tell_there(cq))
		tell(cq);
}

void rover_cq_settle(struct rover_cq *cq)
{
	/* Pairs with the barrier in pay(): all that was told has been heard. */
	while (atomic_read_acquire(&cq->owed))
		usleep_range(10, 50);
}

/* What an event has waited for does not come any more: is there one? */
static bool stop_waiting(struct rover_cq *cq)
{
	bool event;

	lockdep_assert_held(&cq->lock);
	event = cq->gathered;
	cq->gathered = 0;
	return event;
}

static enum hrtimer_restart period_over(struct hrtimer *timer)
{
	struct rover_cq *cq = container_of(timer, struct rover_cq, period);
	bool event;

	/* A program's: see rover_cq_modify(). */
	spin_lock(&cq->lock);
	event = stop_waiting(cq);
	spin_unlock(&cq->lock);
	if (event)
		raise_event(cq);
	return HRTIMER_NORESTART;
}

int rover_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct rover_uapi_create_cq_resp resp = {};
	struct ib_ucontext *ucontext = NULL;
	struct rover_cq *cq = rover_cq(ib);
	int err;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (attr->comp_vector >= ib->device->num_comp_vectors)
		return -EINVAL;
	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	spin_lock_init(&cq->lock);
	lockdep_set_class(&cq->lock, udata ? &user_class : &kernel_class);
	mutex_init(&cq->resizing);
	hrtimer_setup(&cq->period, period_over, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	cq->user = !!udata;
	/* Programs say 0 when they do not care. */
	cq->cpu = cq->user && !attr->comp_vector ?
		  ROVER_CPU_ANY : cq_vector_cpu(attr->comp_vector);
	INIT_CSD(&cq->call, called, cq);
	tasklet_setup(&cq->payer, pay);
	cq->stamped = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	if (udata)
		ucontext = &rdma_udata_to_drv_context(udata,
						      struct rover_ucontext,
						      ib)->ib;
	err = new_ring(cq, &cq->ring, attr->cqe, ucontext, &resp.ring);
	if (err)
		return err;
	if (udata) {
		err = ib_respond_udata(udata, resp);
		if (err) {
			rover_ring_destroy(&cq->ring);
			return err;
		}
	}
	ib->cqe = cq->ring.limit;
	return 0;
}

int rover_cq_destroy(struct ib_cq *ib, struct ib_udata *udata)
{
	struct rover_cq *cq = rover_cq(ib);

	/* Nobody completes anything here any more, so it is not started again. */
	hrtimer_cancel(&cq->period);
	rover_cq_settle(cq);
	tasklet_kill(&cq->payer);
	rover_ring_destroy(&cq->ring);
	mutex_destroy(&cq->resizing);
	return 0;
}

/* Completions outstanding: more than there can be when the program errs. */
static u32 ring_used(const struct rover_cq *cq)
{
	const struct rover_ring *ring = &cq->ring;

	lockdep_assert_held(&cq->lock);
	/* K5: what the program has read may be written again. */
	return ring->tail - (cq->user ? smp_load_acquire(&ring->hdr->head) :
					ring->head);
}

u32 rover_cq_unread(struct rover_cq *cq)
{
	unsigned long flags = lock(cq);
	u32 used = min(ring_used(cq), cq->ring.limit);

	unlock(cq, flags);
	return used;
}

static void write_cqe(struct rover_cq *cq, struct ib_qp *qp,
		      const struct rover_cqe *cqe)
{
	struct rover_cqe *slot = rover_ring_slot(&cq->ring, cq->ring.tail);

	lockdep_assert_held(&cq->lock);
	memcpy(slot, cqe, offsetof(struct rover_cqe, phase));
	slot->timestamp = cq->stamped ? ktime_get_ns() : 0;
	if (!cq->user)
		*kernel_qp(slot) = qp;
	/* K4 */
	smp_store_release(&slot->phase, phase_at(&cq->ring, cq->ring.tail));
	cq->ring.tail++;
}

/* Did somebody ask to be told of this completion?  Told once. */
static bool take_arm(struct rover_cq *cq, bool solicited)
{
	u32 want = ROVER_ARM_NEXT | (solicited ? ROVER_ARM_SOLICITED : 0);
	u32 word;

	lockdep_assert_held(&cq->lock);
	if (cq->armed & want) {
		cq->armed = 0;
		return true;
	}
	if (!cq->user)
		return false;
	/* K6: the program sees the completion, or we its arm word. */
	smp_mb();
	word = READ_ONCE(cq->ring.hdr->arm);
	if (word == cq->fired || !(word & want))
		return false;
	cq->fired = word;
	return true;
}

/*
 * Is an event due with this completion?  Under moderation it waits for more of
 * them, and the end of the period raises it; but an error it tells at once,
 * since nothing may come after it.
 *
 * While one waits nobody looks whether the program has armed again: whatever it
 * wants to hear of is written before the event is raised, as both are under the
 * lock here and in period_over().  What comes later finds that arming.
 */
static bool event_due(struct rover_cq *cq, bool solicited, bool error)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->gathered && !take_arm(cq, solicited))
		return false;
	if (!cq->moderate_usec || error) {
		cq->gathered = 0;
		return true;
	}
	cq->gathered++;
	if (cq->moderate_count && cq->gathered >= cq->moderate_count)
		return stop_waiting(cq);
	/* If it still runs, for an event that was raised, it is moved. */
	if (cq->gathered == 1)
		hrtimer_start(&cq->period,
			      ns_to_ktime(cq->moderate_usec * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	return false;
}

static void raise_overflow(struct rover_cq *cq)
{
	struct ib_event event = {
		.device = cq->ib.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ib,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

bool rover_cq_post(struct rover_cq *cq, struct ib_qp *qp,
		   const struct rover_cqe *cqe, bool solicited)
{
	bool event = false, overflow = false, dead;
	bool error = cqe->status != IB_WC_SUCCESS;
	unsigned long flags;
	u32 used;

	flags = lock(cq);
	used = ring_used(cq);
	if (!used)
		WRITE_ONCE(cq->emptied, cq->emptied + 1);
	if (!cq->overflow && used >= cq->ring.limit) {
		cq->overflow = true;
		overflow = true;
		rover_ring_flag(&cq->ring, ROVER_RING_DEAD);
	}
	dead = cq->overflow;
	if (!dead) {
		write_cqe(cq, qp, cqe);
		event = event_due(cq, solicited || error, error);
	}
	unlock(cq, flags);

	if (dead)
		rover_count(dev_of(cq), ROVER_STAT_CQ_OVERFLOW);
	if (overflow)
		raise_overflow(cq);
	if (event)
		raise_event(cq);
	return !dead;
}

static enum ib_wc_opcode wc_opcode(u8 opcode)
{
	switch (opcode) {
	case ROVER_CQE_WRITE:
		return IB_WC_RDMA_WRITE;
	case ROVER_CQE_READ:
		return IB_WC_RDMA_READ;
	case ROVER_CQE_CMP_SWAP:
		return IB_WC_COMP_SWAP;
	case ROVER_CQE_FETCH_ADD:
		return IB_WC_FETCH_ADD;
	case ROVER_CQE_RECV:
		return IB_WC_RECV;
	case ROVER_CQE_RECV_WRITE_IMM:
		return IB_WC_RECV_RDMA_WITH_IMM;
	case ROVER_CQE_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case ROVER_CQE_REG_MR:
		return IB_WC_REG_MR;
	case ROVER_CQE_BIND_MW:
		return IB_WC_BIND_MW;
	case ROVER_CQE_ATOMIC_WRITE:
		return IB_WC_ATOMIC_WRITE;
	case ROVER_CQE_FLUSH:
		return IB_WC_FLUSH;
	default:
		return IB_WC_SEND;
	}
}

static u8 network_type(u8 sl)
{
	switch (sl) {
	case ROVER_CQE_SL_IPV4:
		return RDMA_NETWORK_IPV4;
	case ROVER_CQE_SL_IPV6:
		return RDMA_NETWORK_IPV6;
	default:
		return RDMA_NETWORK_ROCE_V1;
	}
}

static void fill_wc(struct ib_wc *wc, struct rover_cqe *cqe)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = wc_opcode(cqe->opcode),
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp = *kernel_qp(cqe),
		.src_qp = cqe->src_qpn,
		.port_num = 1,
	};
	if (cqe->flags & ROVER_CQE_GRH) {
		wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = network_type(cqe->sl);
	}
	if (cqe->flags & ROVER_CQE_VLAN) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = cqe->vlan_id;
	}
	if (cqe->flags & ROVER_CQE_WITH_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = (__force __be32)cqe->imm;
	}
	if (cqe->flags & ROVER_CQE_WITH_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->imm;
	}
}

int rover_cq_poll(struct ib_cq *ib, int num, struct ib_wc *wc)
{
	struct rover_cq *cq = rover_cq(ib);
	struct rover_cqe *cqe;
	unsigned long flags;
	int n = 0;

	/* What is in there is the program's word, and it can read it itself. */
	if (cq->user)
		return -EOPNOTSUPP;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num && cq->ring.head != cq->ring.tail) {
		cqe = rover_ring_slot(&cq->ring, cq->ring.head++);
		if (*kernel_qp(cqe))
			fill_wc(&wc[n++], cqe);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/* Mark the completions of @qp from @from on, a batch at most; where to go on. */
static u32 forget_some(struct rover_cq *cq, const struct ib_qp *qp, u32 from,
		       u32 end)
{
	struct rover_ring *ring = &cq->ring;
	unsigned int left = FORGET_BATCH;
	struct ib_qp **which;

	lockdep_assert_held(&cq->lock);
	/* Some have been polled meanwhile. */
	if ((s32)(ring->head - from) > 0)
		from = ring->head;
	for (; left && (s32)(end - from) > 0; left--, from++) {
		which = kernel_qp(rover_ring_slot(ring, from));
		if (*which == qp)
			*which = NULL;
	}
	/* Free what can be freed without moving the others. */
	while (ring->head != from && !*kernel_qp(rover_ring_slot(ring, ring->head)))
		ring->head++;
	return from;
}

void rover_cq_forget(struct rover_cq *cq, const struct ib_qp *qp)
{
	unsigned long flags;
	u32 from, end;

	if (cq->user)
		return;
	flags = lock(cq);
	from = cq->ring.head;
	end = cq->ring.tail;
	for (;;) {
		from = forget_some(cq, qp, from, end);
		if ((s32)(end - from) <= 0)
			break;
		/* Interrupts have their turn. */
		unlock(cq, flags);
		flags = lock(cq);
	}
	unlock(cq, flags);
}

int rover_cq_arm(struct ib_cq *ib, enum ib_cq_notify_flags how)
{
	struct rover_cq *cq = rover_cq(ib);
	unsigned long flags;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed |= (how & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ?
		ROVER_ARM_SOLICITED : ROVER_ARM_NEXT;
	if (how & IB_CQ_REPORT_MISSED_EVENTS)
		missed = ring_used(cq) != 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

/*
 * A count alone would have an event wait for completions that may never come,
 * so without a period there is no moderation.  Nor is there any for the kernel's
 * own queues: ib_free_cq() stops the worker that polls, then destroys the queue,
 * and in between no event may come that has waited.
 */
int rover_cq_modify(struct ib_cq *ib, u16 count, u16 usec)
{
	struct rover_cq *cq = rover_cq(ib);
	bool event;

	if (!cq->user)
		return -EOPNOTSUPP;

	spin_lock_bh(&cq->lock);
	/* restrack looks without the lock. */
	WRITE_ONCE(cq->moderate_count, count);
	WRITE_ONCE(cq->moderate_usec, usec);
	/* By the old rules it would wait, by the new ones perhaps not. */
	event = stop_waiting(cq);
	spin_unlock_bh(&cq->lock);
	if (event)
		raise_event(cq);
	return 0;
}

/* Copies entries of @old from @from on, @n of them, to the end of @new. */
static void move_cqes(struct rover_ring *new, const struct rover_ring *old,
		      u32 from, u32 n)
{
	for (; n; n--, new->tail++) {
		struct rover_cqe *slot = rover_ring_slot(new, new->tail);

		memcpy(slot, rover_ring_slot(old, from++), sizeof(*slot));
		slot->phase = phase_at(new, new->tail);
	}
}

/*
 * Exchanges the ring of @cq for @new, which becomes the old one, and moves
 * there what has not been polled yet.  A queue may be very long: all but the
 * last few are moved without the lock, since behind the tail nobody but the
 * program writes, and it must not, as it is here.
 */
static int exchange(struct rover_cq *cq, struct rover_ring *new)
{
	u32 head, from, left;

	lockdep_assert_held(&cq->resizing);
	spin_lock_bh(&cq->lock);
	/* K5, and the one look at it: it must not change while we count. */
	head = smp_load_acquire(&cq->ring.hdr->head);
	for (from = head;; from += left) {
		left = cq->ring.tail - from;
		/* Counted from the head that the program said it is at. */
		if (cq->overflow || cq->ring.tail - head > cq->ring.limit ||
		    cq->ring.tail - head > new->limit) {
			spin_unlock_bh(&cq->lock);
			return -EINVAL;
		}
		if (left <= MOVE_LOCKED)
			break;
		spin_unlock_bh(&cq->lock);
		left = min_t(u32, left, MOVE_BATCH);
		move_cqes(new, &cq->ring, from, left);
		cond_resched();
		spin_lock_bh(&cq->lock);
	}
	move_cqes(new, &cq->ring, from, left);
	/* An arming that was not answered yet still stands. */
	WRITE_ONCE(new->hdr->arm, READ_ONCE(cq->ring.hdr->arm));
	swap(cq->ring, *new);
	cq->ib.cqe = cq->ring.limit;
	spin_unlock_bh(&cq->lock);
	return 0;
}

int rover_cq_resize(struct ib_cq *ib, unsigned int cqe, struct ib_udata *udata)
{
	struct rover_uapi_resize_cq_resp resp = {};
	struct rover_cq *cq = rover_cq(ib);
	struct rover_ucontext *ucontext;
	struct rover_ring ring = {};
	int err;

	if (!cq->user || !udata)
		return -EOPNOTSUPP;
	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;
	ucontext = rdma_udata_to_drv_context(udata, struct rover_ucontext, ib);
	err = new_ring(cq, &ring, cqe, &ucontext->ib, &resp.ring);
	if (err)
		return err;
	/* First what can fail: with an error the program keeps its ring. */
	err = ib_respond_udata(udata, resp);
	if (!err) {
		mutex_lock(&cq->resizing);
		err = exchange(cq, &ring);
		mutex_unlock(&cq->resizing);
	}
	/* The old ring, or after an error the new one. */
	rover_ring_destroy(&ring);
	return err;
}
