// SPDX-License-Identifier: GPL-2.0
/*
 * srq - shared receive queues: one ring of receives for many queue pairs
 *
 * The ring is that of a receive queue: the program produces, and never has to
 * enter the kernel for it, since receives wait for packets.  Of a program's
 * ring the tail is all that is believed, and that only within the ring; a
 * receive is proved by whoever takes it (rq).
 *
 * One of XRC has, besides, a number in its device's table.
 *
 * The limit (IBTA 10.2.9) is a question that is answered once: when a receive
 * is taken, and when it is asked, for the receive that went too far may have
 * been taken before.
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
static_assert(sizeof(struct rover_uapi_modify_srq_req) == 16);

/* Receives moved without looking up, under the locks and without them. */
#define MOVE_LOCKED	64
#define MOVE_BATCH	4096

static void raise(struct rover_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ib.device,
		.event = type,
		.element.srq = &srq->ib,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

/* Are there fewer than somebody wants to be told of?  Told once. */
static bool take_limit(struct rover_srq *srq)
{
	int posted;

	lockdep_assert_held(&srq->lock);
	if (likely(!srq->limit))
		return false;
	posted = rover_ring_posted(&srq->ring, srq->ring.head);
	/* What makes no sense is found by whoever takes a receive. */
	if (posted < 0 || posted >= srq->limit ||
	    srq->told == srq->ring.head)
		return false;
	srq->limit = 0;
	srq->told = srq->ring.head;
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
	low = take_limit(srq);
	spin_unlock(&srq->lock);

	if (unlikely(died))
		raise(srq, IB_EVENT_SRQ_ERR);
	if (unlikely(low))
		raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return fault;
}

/* Verbs **********************************************************************/

static int check_max_wr(const struct rover_srq *srq, u32 max_wr)
{
	return max_wr && max_wr <= srq->ib.device->attrs.max_srq_wr ?
	       0 : -EINVAL;
}

static struct ib_ucontext *context_of(struct ib_udata *udata)
{
	return udata ? &rdma_udata_to_drv_context(udata, struct rover_ucontext,
						  ib)->ib : NULL;
}

static int check_init(const struct rover_srq *srq,
		      const struct ib_srq_init_attr *init,
		      struct ib_udata *udata)
{
	const struct ib_srq_attr *attr = &init->attr;

	if (init->srq_type != IB_SRQT_BASIC && init->srq_type != IB_SRQT_XRC)
		return -EOPNOTSUPP;
	if (init->srq_type == IB_SRQT_XRC &&
	    (!init->ext.xrc.xrcd || !init->ext.cq))
		return -EINVAL;
	if (check_max_wr(srq, attr->max_wr) || attr->max_sge > ROVER_MAX_SGE)
		return -EINVAL;
	/* Less of an answer than this is of no use to a program. */
	if (udata && udata->outlen < sizeof(struct rover_uapi_create_srq_resp))
		return -EINVAL;
	return ib_is_udata_in_empty(udata);
}

/* Give it a number, by which the wire can find it from now on. */
static int publish(struct rover_srq *srq, const struct ib_srq_init_attr *init)
{
	static atomic64_t births;
	int err;

	if (init->srq_type != IB_SRQT_XRC)
		return 0;
	srq->cq = rover_cq(init->ext.cq);
	srq->xrcd = init->ext.xrc.xrcd;
	srq->birth = atomic64_inc_return(&births);
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

	err = check_init(srq, init, udata);
	if (err)
		return err;

	stride = rover_rq_stride(&attr->max_sge);
	err = rover_ring_create(&srq->ring, context_of(udata), attr->max_wr,
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
	srq->told = srq->ring.head - 1;
	/* Last, since it is in use from here on. */
	err = publish(srq, init);
	if (err)
		goto err_ctl;
	return 0;

err_ctl:
	mutex_destroy(&srq->ctl);
err_ring:
	rover_ring_destroy(&srq->ring);
	return err;
}

/*
 * The core frees it next, and then perhaps its completion queue and its domain.
 * Whoever is at it now does not let go of rcu_read_lock() before he has done with
 * all three.
 */
static void unpublish(struct rover_srq *srq)
{
	if (!srq->xrcd)
		return;
	rover_table_remove(&rover_dev(srq->ib.device)->srqs, &srq->obj);
	synchronize_rcu();
}

int rover_srq_destroy(struct ib_srq *ib, struct ib_udata *udata)
{
	struct rover_srq *srq = rover_srq(ib);

	unpublish(srq);
	/* What XRC delivers here completes there, whichever queue pair it came by. */
	if (srq->cq)
		rover_cq_settle(srq->cq);
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

/* Changing *******************************************************************/

/**
 * struct change - what modify is to do, and what it needs
 * @mask: attributes that are given, IB_SRQ_*
 * @attr: those
 * @ring: the new one, afterwards the old one
 * @from: receives before this index have been moved
 * @low: there are fewer receives than the new limit
 */
struct change {
	int mask;
	const struct ib_srq_attr *attr;
	struct rover_ring ring;
	u32 from;
	bool low;
};

/* Indices run on: each receive has the same in both rings. */
static void move_wqes(const struct rover_srq *srq, struct change *c, int n)
{
	const struct rover_ring *old = &srq->ring;

	for (; n; n--, c->from++)
		memcpy(rover_ring_slot(&c->ring, c->from),
		       rover_ring_slot(old, c->from), old->stride);
}

/* Receives still to be moved; an error when the new ring cannot take them. */
static int left_to_move(const struct rover_srq *srq, struct change *c)
{
	const struct rover_ring *ring = &srq->ring;
	int left, posted;

	lockdep_assert_held(&srq->lock);
	/* Meanwhile queue pairs have taken some. */
	if ((s32)(ring->head - c->from) > 0)
		c->from = ring->head;
	posted = rover_ring_posted(ring, ring->head);
	left = rover_ring_posted(ring, c->from);
	if (srq->dead || left < 0 || posted < 0 || posted > c->ring.limit)
		return -EINVAL;
	return left;
}

static void exchange(struct rover_srq *srq, struct change *c, int left)
{
	struct rover_ring *new = &c->ring;

	lockdep_assert_held(&srq->lock);
	move_wqes(srq, c, left);
	new->head = srq->ring.head;
	new->tail = c->from;
	WRITE_ONCE(new->hdr->head, new->head);
	WRITE_ONCE(new->hdr->tail, new->tail);
	swap(srq->ring, *new);
}

/*
 * The one moment at which all changes: nobody takes a receive, and no kernel
 * user posts one.  Returns an error, or how many receives have to be moved
 * before.
 */
static int commit(struct rover_srq *srq, struct change *c)
{
	int left = 0;

	spin_lock_bh(&srq->lock);
	spin_lock_irq(&srq->post);
	if (c->mask & IB_SRQ_MAX_WR) {
		left = left_to_move(srq, c);
		if (left >= 0 && left <= MOVE_LOCKED) {
			exchange(srq, c, left);
			left = 0;
		}
	}
	if (!left && c->mask & IB_SRQ_LIMIT) {
		srq->limit = c->attr->srq_limit;
		c->low = take_limit(srq);
	}
	spin_unlock_irq(&srq->post);
	spin_unlock_bh(&srq->lock);
	return left;
}

/*
 * All but the last few receives are moved without the locks: between head and
 * tail nobody writes, nor does the program while it is here.  One that does
 * loses what it has posted.
 */
static int move_and_commit(struct rover_srq *srq, struct change *c)
{
	int left;

	while ((left = commit(srq, c)) > 0) {
		move_wqes(srq, c, min(left, MOVE_BATCH));
		cond_resched();
	}
	return left;
}

static int new_ring(const struct rover_srq *srq, struct change *c,
		    struct ib_udata *udata, u64 answer)
{
	struct rover_uapi_ring desc = {};
	int err;

	err = rover_ring_create(&c->ring, context_of(udata), c->attr->max_wr,
				srq->ring.stride, &desc);
	if (err || !udata)
		return err;
	/* The core has no room for an answer to this verb. */
	return copy_to_user(u64_to_user_ptr(answer), &desc, sizeof(desc)) ?
	       -EFAULT : 0;
}

static int check_modify(const struct rover_srq *srq, const struct change *c,
			u64 answer)
{
	bool resized = c->mask & IB_SRQ_MAX_WR;
	u32 limit = c->mask & IB_SRQ_LIMIT ? c->attr->srq_limit :
					     READ_ONCE(srq->limit);
	u32 max_wr = resized ? c->attr->max_wr : srq->ring.limit;

	lockdep_assert_held(&srq->ctl);
	if (c->mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (check_max_wr(srq, max_wr) || limit > max_wr)
		return -EINVAL;
	return srq->user && resized != !!answer ? -EINVAL : 0;
}

int rover_srq_modify(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct rover_uapi_modify_srq_req req = {};
	struct change c = { .mask = mask, .attr = attr };
	struct rover_srq *srq = rover_srq(ib);
	int err;

	if (udata) {
		err = ib_copy_validate_udata_in_cm(udata, req, ring, 0);
		if (err)
			return err;
	}
	mutex_lock(&srq->ctl);
	err = check_modify(srq, &c, req.ring);
	/* First what can fail: with an error the program keeps its ring. */
	if (!err && c.mask & IB_SRQ_MAX_WR) {
		c.from = READ_ONCE(srq->ring.head);
		err = new_ring(srq, &c, udata, req.ring);
	}
	if (!err)
		err = move_and_commit(srq, &c);
	mutex_unlock(&srq->ctl);

	/* The old ring, or after an error the new one. */
	rover_ring_destroy(&c.ring);
	if (c.low)
		raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return err;
}
