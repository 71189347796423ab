// SPDX-License-Identifier: GPL-2.0
/*
 * cq - completion queues
 *
 * The kernel reads head and arm of a user CQ once and trusts neither: an
 * impossible head means full.  K4 to K6 are barriers of rover-abi.h.
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

/* CQEs moved at once under the lock, and without */
#define MOVE_LOCKED	256
#define MOVE_BATCH	16384

/* Events per tasklet run */
#define EVENTS_AT_ONCE	64

/* CQEs tested at once under the lock */
#define FORGET_BATCH	256

/**
 * union cq_kernel_cqe - entry of a kernel CQ
 * @cqe: fields shared with user CQs
 * @before_qp: room of some of them
 * @qp: queue pair; NULL: rover_cq_forget()
 */
union cq_kernel_cqe {
	struct rover_cqe cqe;
	struct {
		u8 before_qp[offsetof(struct rover_cqe, reserved_28)];
		struct ib_qp *qp;
	};
};

static_assert(sizeof(union cq_kernel_cqe) == sizeof(struct rover_cqe));
static_assert(offsetofend(union cq_kernel_cqe, qp) <=
	      offsetof(struct rover_cqe, status));

/* Callers have softirqs off.  Kernel CQs may be polled in hardirq. */
static struct lock_class_key cq_kernel_class, cq_user_class;

static unsigned long cq_lock_ring(struct rover_cq *cq) __acquires(&cq->lock)
{
	unsigned long flags = 0;

	if (cq->user)
		spin_lock(&cq->lock);
	else
		spin_lock_irqsave(&cq->lock, flags);
	return flags;
}

static void cq_unlock_ring(struct rover_cq *cq, unsigned long flags)
	__releases(&cq->lock)
{
	if (cq->user)
		spin_unlock(&cq->lock);
	else
		spin_unlock_irqrestore(&cq->lock, flags);
}

static struct rover_dev *cq_dev(const struct rover_cq *cq)
{
	return rover_dev(cq->ib.device);
}

/* K4: the phase of the n-th lap is 1 for even n. */
static u8 cq_phase_at(const struct rover_ring *ring, u32 index)
{
	return !(index & (ring->mask + 1));
}

/* Phase bits need no empty entry: grant all of the ring. */
static int cq_new_ring(struct rover_cq *cq, struct rover_ring *ring, u32 cqe,
		       struct ib_ucontext *ucontext,
		       struct rover_uapi_ring *uapi)
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

/* The n-th housekeeping CPU, modulo: cpusets may isolate CPUs later. */
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

static void cq_call_handler(struct rover_cq *cq)
{
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/* In softirq, since handlers take locks. */
static void cq_event_tasklet(struct tasklet_struct *tasklet)
{
	struct rover_cq *cq =
		container_of(tasklet, struct rover_cq, event_task);
	unsigned int left = EVENTS_AT_ONCE;

	do {
		cq_call_handler(cq);
		if (atomic_dec_and_test(&cq->event_pending))
			return;
	} while (--left);
	/* Let other softirqs run. */
	tasklet_schedule(tasklet);
}

/* In hardirq on cq->cpu. */
static void cq_event_ipi(void *info)
{
	struct rover_cq *cq = info;

	tasklet_schedule(&cq->event_task);
}

/* Return false to raise the event here. */
static bool cq_raise_remote(struct rover_cq *cq)
{
	bool remote;

	if (cq->cpu == ROVER_CPU_ANY)
		return false;
	/* With preemption off, an online CPU stays online. */
	preempt_disable();
	remote = cq->cpu != smp_processor_id() && cpu_online(cq->cpu) &&
		 rover_cpu_housekeeping(cq->cpu);
	/* Full barrier.  If others are pending, the tasklet raises this too. */
	if (remote && atomic_fetch_inc(&cq->event_pending) == 0 &&
	    smp_call_function_single_async(cq->cpu, &cq->event_csd))
		cq_event_ipi(cq);
	preempt_enable();
	return remote;
}

static void cq_raise_event(struct rover_cq *cq)
{
	if (!cq->ib.comp_handler)
		return;
	rover_dev_count(cq_dev(cq), ROVER_STAT_CQ_EVENTS);
	if (!cq_raise_remote(cq))
		cq_call_handler(cq);
}

void rover_cq_wait_events(struct rover_cq *cq)
{
	/* Pairs with atomic_dec_and_test(): handlers have returned. */
	while (atomic_read_acquire(&cq->event_pending))
		usleep_range(10, 50);
}

static void cq_start_timer(struct rover_cq *cq, u64 ns)
{
	hrtimer_start(&cq->moderate_timer, ns_to_ktime(ns),
		      HRTIMER_MODE_REL_SOFT);
}

/*
 * An event is due.  Return true to raise it.  If too many are unread, the timer
 * tries again; @timer: it has expired.
 */
static bool cq_end_delay(struct rover_cq *cq, bool timer)
{
	lockdep_assert_held(&cq->lock);
	if (likely(rover_channel_admits(&cq->unread))) {
		cq->moderated = 0;
		return true;
	}
	cq->moderated = max(cq->moderated, 1U);
	if (!cq->unread.delay_ns)
		rover_dev_count(cq_dev(cq), ROVER_STAT_CQ_EVENTS_DELAYED);
	else if (!timer)
		return false;
	cq_start_timer(cq, rover_channel_delay(&cq->unread));
	return false;
}

static enum hrtimer_restart cq_moderation_over(struct hrtimer *timer)
{
	struct rover_cq *cq =
		container_of(timer, struct rover_cq, moderate_timer);
	bool event;

	/* A user CQ, see rover_cq_modify(). */
	spin_lock(&cq->lock);
	event = cq->moderated && cq_end_delay(cq, true);
	spin_unlock(&cq->lock);
	if (event)
		cq_raise_event(cq);
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
	lockdep_set_class(&cq->lock, udata ? &cq_user_class : &cq_kernel_class);
	mutex_init(&cq->resizing);
	hrtimer_setup(&cq->moderate_timer, cq_moderation_over, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	cq->user = !!udata;
	cq->cpu = cq->user && !attr->comp_vector ?
		  ROVER_CPU_ANY : cq_vector_cpu(attr->comp_vector);
	INIT_CSD(&cq->event_csd, cq_event_ipi, cq);
	tasklet_setup(&cq->event_task, cq_event_tasklet);
	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	if (udata)
		ucontext = &rdma_udata_to_drv_context(udata,
						      struct rover_ucontext,
						      ib)->ib;
	err = rover_channel_open(&cq->unread, attrs, udata && ib->cq_context);
	if (err)
		return err;
	err = cq_new_ring(cq, &cq->ring, attr->cqe, ucontext, &resp.ring);
	if (err)
		goto err_channel;
	if (udata)
		err = ib_respond_udata(udata, resp);
	if (err)
		goto err_ring;
	ib->cqe = cq->ring.limit;
	return 0;

err_ring:
	rover_ring_destroy(&cq->ring);
err_channel:
	rover_channel_close(&cq->unread);
	return err;
}

int rover_cq_destroy(struct ib_cq *ib, struct ib_udata *udata)
{
	struct rover_cq *cq = rover_cq(ib);

	/* No completion can restart the timer. */
	hrtimer_cancel(&cq->moderate_timer);
	rover_cq_wait_events(cq);
	tasklet_kill(&cq->event_task);
	rover_ring_destroy(&cq->ring);
	rover_channel_close(&cq->unread);
	mutex_destroy(&cq->resizing);
	return 0;
}

/* May exceed the ring if userspace corrupts head. */
static u32 cq_ring_used(const struct rover_cq *cq)
{
	const struct rover_ring *ring = &cq->ring;

	lockdep_assert_held(&cq->lock);
	/* K5.  Pairs with P5: CQEs before head may be overwritten. */
	return ring->tail - (cq->user ? smp_load_acquire(&ring->hdr->head) :
					ring->head);
}

u32 rover_cq_unread(struct rover_cq *cq)
{
	unsigned long flags = cq_lock_ring(cq);
	u32 used = min(cq_ring_used(cq), cq->ring.limit);

	cq_unlock_ring(cq, flags);
	return used;
}

static void cq_write_cqe(struct rover_cq *cq, struct ib_qp *qp,
			 const struct rover_cqe *cqe)
{
	union cq_kernel_cqe *entry = rover_ring_slot(&cq->ring, cq->ring.tail);
	struct rover_cqe *slot = &entry->cqe;

	lockdep_assert_held(&cq->lock);
	memcpy(slot, cqe, offsetof(struct rover_cqe, phase));
	slot->timestamp = cq->timestamps ? ktime_get_ns() : 0;
	if (!cq->user)
		entry->qp = qp;
	/* K4.  Pairs with P4: the CQE is visible. */
	smp_store_release(&slot->phase, cq_phase_at(&cq->ring, cq->ring.tail));
	cq->ring.tail++;
}

static bool cq_take_arm(struct rover_cq *cq, bool solicited)
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
	/* K6.  Pairs with P6: userspace sees the CQE, or we its arm word. */
	smp_mb();
	word = READ_ONCE(cq->ring.hdr->arm);
	if (word == cq->arm_answered || !(word & want))
		return false;
	cq->arm_answered = word;
	return true;
}

/*
 * Errors are not delayed: one may be the last completion.  A delayed event
 * follows all CQEs written until then, and later ones find a new arming: do not
 * read the arm word meanwhile.
 */
static bool cq_event_due(struct rover_cq *cq, bool solicited, bool error)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->moderated && !cq_take_arm(cq, solicited))
		return false;
	if (!cq->moderate_usec || error)
		return cq_end_delay(cq, false);
	cq->moderated++;
	if (cq->moderate_count && cq->moderated >= cq->moderate_count)
		return cq_end_delay(cq, false);
	/* Restarts a timer left over from an early event. */
	if (cq->moderated == 1)
		cq_start_timer(cq, cq->moderate_usec * NSEC_PER_USEC);
	return false;
}

static void cq_raise_overflow(struct rover_cq *cq)
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

	flags = cq_lock_ring(cq);
	used = cq_ring_used(cq);
	if (!used)
		WRITE_ONCE(cq->emptied, cq->emptied + 1);
	if (!cq->overflow && used >= cq->ring.limit) {
		cq->overflow = true;
		overflow = true;
		rover_ring_flag(&cq->ring, ROVER_RING_DEAD);
	}
	dead = cq->overflow;
	if (!dead) {
		cq_write_cqe(cq, qp, cqe);
		event = cq_event_due(cq, solicited || error, error);
	}
	cq_unlock_ring(cq, flags);

	if (dead)
		rover_dev_count(cq_dev(cq), ROVER_STAT_CQ_OVERFLOW);
	if (overflow)
		cq_raise_overflow(cq);
	if (event)
		cq_raise_event(cq);
	return !dead;
}

static enum ib_wc_opcode cq_wc_opcode(u8 opcode)
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

static u8 cq_network_type(u8 sl)
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

static void cq_fill_wc(struct ib_wc *wc, const struct rover_cqe *cqe,
		       struct ib_qp *qp)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cq_wc_opcode(cqe->opcode),
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp = qp,
		.src_qp = cqe->src_qpn,
		.port_num = 1,
	};
	if (cqe->flags & ROVER_CQE_GRH) {
		wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = cq_network_type(cqe->sl);
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
	const union cq_kernel_cqe *entry;
	unsigned long flags;
	int n = 0;

	/* CQEs of a user CQ are not trusted. */
	if (cq->user)
		return -EOPNOTSUPP;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num && cq->ring.head != cq->ring.tail) {
		entry = rover_ring_slot(&cq->ring, cq->ring.head++);
		if (entry->qp)
			cq_fill_wc(&wc[n++], &entry->cqe, entry->qp);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/* Return the index to continue at. */
static u32 cq_forget_batch(struct rover_cq *cq, const struct ib_qp *qp,
			   u32 from, u32 end)
{
	struct rover_ring *ring = &cq->ring;
	unsigned int left = FORGET_BATCH;
	union cq_kernel_cqe *entry;

	lockdep_assert_held(&cq->lock);
	/* Some were polled meanwhile. */
	if ((s32)(ring->head - from) > 0)
		from = ring->head;
	for (; left && (s32)(end - from) > 0; left--, from++) {
		entry = rover_ring_slot(ring, from);
		if (entry->qp == qp)
			entry->qp = NULL;
	}
	/* Free marked CQEs at the head. */
	for (; ring->head != from; ring->head++) {
		entry = rover_ring_slot(ring, ring->head);
		if (entry->qp)
			break;
	}
	return from;
}

void rover_cq_forget(struct rover_cq *cq, const struct ib_qp *qp)
{
	unsigned long flags;
	u32 from, end;

	if (cq->user)
		return;
	flags = cq_lock_ring(cq);
	from = cq->ring.head;
	end = cq->ring.tail;
	for (;;) {
		from = cq_forget_batch(cq, qp, from, end);
		if ((s32)(end - from) <= 0)
			break;
		/* Allow interrupts. */
		cq_unlock_ring(cq, flags);
		flags = cq_lock_ring(cq);
	}
	cq_unlock_ring(cq, flags);
}

int rover_cq_arm(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct rover_cq *cq = rover_cq(ib);
	unsigned long flags;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed |= (notify & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ?
		ROVER_ARM_SOLICITED : ROVER_ARM_NEXT;
	if (notify & IB_CQ_REPORT_MISSED_EVENTS)
		missed = cq_ring_used(cq) != 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

/*
 * A count without a time is ignored: it could delay an event forever.  Kernel
 * CQs have no moderation, or events could come during ib_free_cq().
 */
int rover_cq_modify(struct ib_cq *ib, u16 count, u16 usec)
{
	struct rover_cq *cq = rover_cq(ib);
	bool event;

	if (!cq->user)
		return -EOPNOTSUPP;

	spin_lock_bh(&cq->lock);
	/* restrack reads without the lock. */
	WRITE_ONCE(cq->moderate_count, count);
	WRITE_ONCE(cq->moderate_usec, usec);
	/* By the new limits it may be due. */
	event = cq->moderated && cq_end_delay(cq, false);
	spin_unlock_bh(&cq->lock);
	if (event)
		cq_raise_event(cq);
	return 0;
}

static void cq_move_cqes(struct rover_ring *new, const struct rover_ring *old,
			 u32 from, u32 n)
{
	for (; n; n--, new->tail++) {
		struct rover_cqe *slot = rover_ring_slot(new, new->tail);

		memcpy(slot, rover_ring_slot(old, from++), sizeof(*slot));
		slot->phase = cq_phase_at(new, new->tail);
	}
}

/*
 * Only the last few CQEs are moved with the lock: the kernel writes nothing
 * below tail.
 */
static int cq_swap_ring(struct rover_cq *cq, struct rover_ring *new)
{
	u32 head, from, left;

	lockdep_assert_held(&cq->resizing);
	spin_lock_bh(&cq->lock);
	/* K5.  Pairs with P5; read once: head must not change meanwhile. */
	head = smp_load_acquire(&cq->ring.hdr->head);
	for (from = head;; from += left) {
		left = cq->ring.tail - from;
		if (cq->overflow || cq->ring.tail - head > cq->ring.limit ||
		    cq->ring.tail - head > new->limit) {
			spin_unlock_bh(&cq->lock);
			return -EINVAL;
		}
		if (left <= MOVE_LOCKED)
			break;
		spin_unlock_bh(&cq->lock);
		left = min_t(u32, left, MOVE_BATCH);
		cq_move_cqes(new, &cq->ring, from, left);
		cond_resched();
		spin_lock_bh(&cq->lock);
	}
	cq_move_cqes(new, &cq->ring, from, left);
	/* Keep an unanswered arming. */
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
	err = cq_new_ring(cq, &ring, cqe, &ucontext->ib, &resp.ring);
	if (err)
		return err;
	/* Before the swap: on error userspace keeps its ring. */
	err = ib_respond_udata(udata, resp);
	if (!err) {
		mutex_lock(&cq->resizing);
		err = cq_swap_ring(cq, &ring);
		mutex_unlock(&cq->resizing);
	}
	/* The old ring, or the new one on error. */
	rover_ring_destroy(&ring);
	return err;
}
