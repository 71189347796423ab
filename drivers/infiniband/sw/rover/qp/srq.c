// SPDX-License-Identifier: GPL-2.0
/*
 * srq - shared receive queues
 *
 * Posting never enters the kernel, since receives wait for packets.
 *
 * The limit (IBTA 10.2.9) is tested when a receive is taken and when it is set.
 */
#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>

#include "core/dev.h"
#include "qp/cq.h"
#include "qp/rq.h"
#include "qp/srq.h"
#include "wire/wr.h"

static_assert(sizeof(struct rover_uapi_create_srq_resp) == 32);
static_assert(sizeof(struct rover_uapi_modify_srq_resp) == 32);

/* Receives moved at once under the locks, and without */
#define MOVE_LOCKED	64
#define MOVE_BATCH	4096

static void srq_raise(struct rover_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ib.device,
		.event = type,
		.element.srq = &srq->ib,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

/* The limit's event is raised once. */
static bool srq_take_limit(struct rover_srq *srq)
{
	int posted;

	lockdep_assert_held(&srq->lock);
	if (likely(!srq->limit))
		return false;
	posted = rover_ring_posted(&srq->ring, srq->ring.head);
	/* rover_rq_take() handles a corrupt ring. */
	if (posted < 0 || posted >= srq->limit ||
	    srq->limit_head == srq->ring.head)
		return false;
	srq->limit = 0;
	srq->limit_head = srq->ring.head;
	return true;
}

enum rover_fault rover_srq_take(struct rover_srq *srq, u32 need,
				struct rover_recv_wqe *wqe,
				struct rover_sge *sge)
{
	enum rover_fault fault = ROVER_FAULT_RQ_RING;
	bool died = false, low;

	spin_lock(&srq->lock);
	if (likely(!srq->dead)) {
		fault = rover_rq_take(&srq->ring, srq->max_sge, need, wqe,
				      sge);
		died = fault == ROVER_FAULT_RQ_RING;
		srq->dead = died;
	}
	low = srq_take_limit(srq);
	spin_unlock(&srq->lock);

	if (unlikely(died))
		srq_raise(srq, IB_EVENT_SRQ_ERR);
	if (unlikely(low))
		srq_raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return fault;
}

/* Verbs **********************************************************************/

static int srq_check_max_wr(const struct rover_srq *srq, u32 max_wr)
{
	return max_wr && max_wr <= srq->ib.device->attrs.max_srq_wr ?
	       0 : -EINVAL;
}

static struct ib_ucontext *srq_ucontext(struct ib_udata *udata)
{
	return udata ? &rdma_udata_to_drv_context(udata, struct rover_ucontext,
						  ib)->ib : NULL;
}

static int srq_check_init(const struct rover_srq *srq,
			  const struct ib_srq_init_attr *init,
			  struct ib_udata *udata)
{
	const struct ib_srq_attr *attr = &init->attr;

	if (init->srq_type != IB_SRQT_BASIC && init->srq_type != IB_SRQT_XRC)
		return -EOPNOTSUPP;
	if (init->srq_type == IB_SRQT_XRC &&
	    (!init->ext.xrc.xrcd || !init->ext.cq))
		return -EINVAL;
	if (srq_check_max_wr(srq, attr->max_wr) ||
	    attr->max_sge > ROVER_MAX_SGE)
		return -EINVAL;
	/* Userspace needs the whole response. */
	if (udata && udata->outlen < sizeof(struct rover_uapi_create_srq_resp))
		return -EINVAL;
	return ib_is_udata_in_empty(udata);
}

static int srq_publish(struct rover_srq *srq,
		       const struct ib_srq_init_attr *init)
{
	static atomic64_t last_gen;
	int err;

	if (init->srq_type != IB_SRQT_XRC)
		return 0;
	srq->cq = rover_cq(init->ext.cq);
	srq->xrcd = init->ext.xrc.xrcd;
	srq->gen = atomic64_inc_return(&last_gen);
	err = rover_table_insert(&rover_dev(srq->ib.device)->srqs, &srq->obj,
				 1);
	srq->ib.ext.xrc.srq_num = srq->obj.key;
	return err;
}

int rover_srq_create(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct rover_uapi_create_srq_resp resp = {};
	struct rover_srq *srq = rover_srq(ib);
	struct ib_srq_attr *attr = &init->attr;
	u32 stride;
	int err;

	err = srq_check_init(srq, init, udata);
	if (err)
		return err;

	stride = rover_rq_stride(&attr->max_sge);
	err = rover_ring_create(&srq->ring, srq_ucontext(udata), attr->max_wr,
				stride, &resp.ring);
	if (err)
		return err;
	if (udata) {
		err = ib_respond_udata(udata, resp);
		if (err)
			goto err_ring;
	}
	spin_lock_init(&srq->lock);
	spin_lock_init(&srq->post);
	mutex_init(&srq->ctl);
	srq->user = udata;
	srq->max_sge = attr->max_sge;
	srq->limit_head = srq->ring.head - 1;
	/* Last: packets can find an XRC SRQ now. */
	err = srq_publish(srq, init);
	if (err)
		goto err_ctl;
	return 0;

err_ctl:
	mutex_destroy(&srq->ctl);
err_ring:
	rover_ring_destroy(&srq->ring);
	return err;
}

/* The core may free SRQ, CQ and domain next: wait for RCU readers. */
static void srq_unpublish(struct rover_srq *srq)
{
	if (!srq->xrcd)
		return;
	rover_table_remove(&rover_dev(srq->ib.device)->srqs, &srq->obj);
	synchronize_rcu();
}

int rover_srq_destroy(struct ib_srq *ib, struct ib_udata *udata)
{
	struct rover_srq *srq = rover_srq(ib);

	srq_unpublish(srq);
	/* Receives of an XRC SRQ complete in its CQ for any queue pair. */
	if (srq->cq)
		rover_cq_wait_events(srq->cq);
	rover_ring_destroy(&srq->ring);
	mutex_destroy(&srq->ctl);
	return 0;
}

int rover_srq_query(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct rover_srq *srq = rover_srq(ib);

	spin_lock_bh(&srq->lock);
	*attr = (struct ib_srq_attr) {
		.max_wr = srq->ring.limit,
		.max_sge = srq->max_sge,
		.srq_limit = srq->limit,
	};
	spin_unlock_bh(&srq->lock);
	return 0;
}

/* Modify *********************************************************************/

/* @ring: new ring, afterwards the old one; @from: next receive to move */
struct srq_change {
	int mask;
	const struct ib_srq_attr *attr;
	struct rover_ring ring;
	u32 from;
	bool low;
};

/* A receive keeps its index. */
static void srq_move_wqes(const struct rover_srq *srq, struct srq_change *c,
			  int n)
{
	const struct rover_ring *old = &srq->ring;

	for (; n; n--, c->from++)
		memcpy(rover_ring_slot(&c->ring, c->from),
		       rover_ring_slot(old, c->from), old->stride);
}

/* Return -EINVAL if the receives do not fit into the new ring. */
static int srq_left_to_move(const struct rover_srq *srq, struct srq_change *c)
{
	const struct rover_ring *ring = &srq->ring;
	int left, posted;

	lockdep_assert_held(&srq->lock);
	/* Queue pairs may have taken some. */
	if ((s32)(ring->head - c->from) > 0)
		c->from = ring->head;
	posted = rover_ring_posted(ring, ring->head);
	left = rover_ring_posted(ring, c->from);
	if (srq->dead || left < 0 || posted < 0 || posted > c->ring.limit)
		return -EINVAL;
	return left;
}

static void srq_swap_ring(struct rover_srq *srq, struct srq_change *c, int left)
{
	struct rover_ring *new = &c->ring;

	lockdep_assert_held(&srq->lock);
	srq_move_wqes(srq, c, left);
	new->head = srq->ring.head;
	new->tail = c->from;
	WRITE_ONCE(new->hdr->head, new->head);
	WRITE_ONCE(new->hdr->tail, new->tail);
	swap(srq->ring, *new);
}

/* Return an error, or the number of receives to move first. */
static int srq_commit(struct rover_srq *srq, struct srq_change *c)
{
	int left = 0;

	spin_lock_bh(&srq->lock);
	spin_lock_irq(&srq->post);
	if (c->mask & IB_SRQ_MAX_WR) {
		left = srq_left_to_move(srq, c);
		if (left >= 0 && left <= MOVE_LOCKED) {
			srq_swap_ring(srq, c, left);
			left = 0;
		}
	}
	if (!left && c->mask & IB_SRQ_LIMIT) {
		srq->limit = c->attr->srq_limit;
		c->low = srq_take_limit(srq);
	}
	spin_unlock_irq(&srq->post);
	spin_unlock_bh(&srq->lock);
	return left;
}

/*
 * Only the last few receives are moved with the locks: nothing writes between
 * head and tail.  Receives posted by userspace meanwhile are lost.
 */
static int srq_move_and_commit(struct rover_srq *srq, struct srq_change *c)
{
	int left;

	while ((left = srq_commit(srq, c)) > 0) {
		srq_move_wqes(srq, c, min(left, MOVE_BATCH));
		cond_resched();
	}
	return left;
}

static int srq_new_ring(const struct rover_srq *srq, struct srq_change *c,
			struct ib_udata *udata)
{
	struct rover_uapi_modify_srq_resp resp = {};
	int err;

	err = rover_ring_create(&c->ring, srq_ucontext(udata), c->attr->max_wr,
				srq->ring.stride, &resp.ring);
	if (err || !udata)
		return err;
	return ib_respond_udata(udata, resp);
}

static int srq_check_modify(const struct rover_srq *srq,
			    const struct srq_change *c,
			    const struct ib_udata *udata)
{
	bool resized = c->mask & IB_SRQ_MAX_WR;
	u32 limit = c->mask & IB_SRQ_LIMIT ? c->attr->srq_limit :
					     READ_ONCE(srq->limit);
	u32 max_wr = resized ? c->attr->max_wr : srq->ring.limit;

	lockdep_assert_held(&srq->ctl);
	if (c->mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (srq_check_max_wr(srq, max_wr) || limit > max_wr)
		return -EINVAL;
	/* Userspace needs the whole response: write() has no room for it. */
	return udata && resized &&
	       udata->outlen < sizeof(struct rover_uapi_modify_srq_resp) ?
	       -EINVAL : 0;
}

int rover_srq_modify(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct srq_change c = { .mask = mask, .attr = attr };
	struct rover_srq *srq = rover_srq(ib);
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;
	mutex_lock(&srq->ctl);
	err = srq_check_modify(srq, &c, udata);
	/* Before the swap: on error userspace keeps its ring. */
	if (!err && c.mask & IB_SRQ_MAX_WR) {
		c.from = READ_ONCE(srq->ring.head);
		err = srq_new_ring(srq, &c, udata);
	}
	if (!err)
		err = srq_move_and_commit(srq, &c);
	mutex_unlock(&srq->ctl);

	/* The old ring, or the new one on error. */
	rover_ring_destroy(&c.ring);
	if (c.low)
		srq_raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return err;
}
