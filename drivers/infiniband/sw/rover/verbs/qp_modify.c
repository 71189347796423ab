// SPDX-License-Identifier: GPL-2.0
/*
 * qp_modify - queue pairs through the state table of IBTA 10.3
 *
 * Everything is checked, and everything that can fail is made, on the side:
 * struct change.  Then both locks are taken and the change happens at once, so
 * that no packet ever meets half of it.  A queue pair can fall into error by
 * itself at any moment up to the locks, hence the second look at the table.
 *
 * What was replaced goes back into struct change and is freed after the locks.
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "qp/zcopy.h"
#include "rc/requester.h"
#include "rc/responder.h"
#include "run/run.h"
#include "run/timer.h"
#include "tx/shortcut.h"
#include "ud/dgram.h"
#include "verbs/control.h"
#include "wire/psn.h"

#define REMOTE_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_FLUSH_GLOBAL | \
			 IB_ACCESS_FLUSH_PERSISTENT)

/* Rights that programs give out of habit, and that mean nothing here. */
#define VAIN_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND | \
			 IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB)

/**
 * struct change - a queue pair's next attributes, and what they need
 * @mask: attributes that are given
 * @next: state to go to
 * @attr: all attributes as they will be
 * @path: headers and route, when IB_QP_AV is given
 * @sent: rows of outstanding requests, on the first way to RTS
 * @res: rows of answers, when IB_QP_MAX_DEST_RD_ATOMIC is given
 * @saved: rows of atomics' results, then, too
 */
struct change {
	int mask;
	enum ib_qp_state next;
	struct ib_qp_attr attr;
	struct rover_path path;
	struct rover_sent *sent;
	struct rover_res *res;
	struct rover_saved *saved;
};

/* May it go there, from where it is now? */
static bool allowed(const struct rover_qp *qp, const struct ib_qp_attr *attr,
		    int mask)
{
	enum ib_qp_state cur = READ_ONCE(qp->state);
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;

	/* The core looks both up in a table without a look at them. */
	if ((unsigned int)next > IB_QPS_ERR)
		return false;
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != cur)
		return false;
	if (!ib_modify_qp_is_ok(cur, next, qp->ib->qp_type, mask))
		return false;
	/* What is on the wire still goes by the old attributes. */
	return cur != IB_QPS_SQD || READ_ONCE(qp->req.drained) ||
	       next == IB_QPS_ERR || next == IB_QPS_RESET;
}

static int check_path(const struct ib_qp_attr *attr)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);

	if (ah->type != RDMA_AH_ATTR_TYPE_ROCE ||
	    !(rdma_ah_get_ah_flags(ah) & IB_AH_GRH) ||
	    rdma_ah_get_port_num(ah) != 1 || !grh->sgid_attr ||
	    rdma_is_multicast_addr((struct in6_addr *)grh->dgid.raw))
		return -EINVAL;
	return 0;
}

/* Is each value within what IBTA, or the device, has for it? */
static int check_values(struct rover_dev *dev, const struct ib_qp_attr *attr,
			int mask)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS || mask & IB_QP_ALT_PATH)
		return -EOPNOTSUPP;

	if ((mask & IB_QP_PORT && attr->port_num != 1) ||
	    (mask & IB_QP_PKEY_INDEX && attr->pkey_index) ||
	    (mask & IB_QP_DEST_QPN && attr->dest_qp_num > ROVER_PSN_MASK) ||
	    (mask & IB_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
	    (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7) ||
	    (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	     attr->max_rd_atomic > ROVER_MAX_RD_ATOMIC) ||
	    (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	     attr->max_dest_rd_atomic > ROVER_MAX_RD_ATOMIC))
		return -EINVAL;

	/* No automatic path migration. */
	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return -EINVAL;

	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags &
	    ~(REMOTE_ACCESS | VAIN_ACCESS | IB_ACCESS_OPTIONAL))
		return -EINVAL;

	if (mask & IB_QP_PATH_MTU &&
	    (ib_mtu_enum_to_int(attr->path_mtu) < 0 ||
	     attr->path_mtu > rover_dev_mtu(dev)))
		return -EINVAL;
	return mask & IB_QP_AV ? check_path(attr) : 0;
}

/* Write the attributes that are given over those that were. */
static void merge(struct ib_qp_attr *to, const struct ib_qp_attr *attr,
		  int mask)
{
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = attr->en_sqd_async_notify;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_AV)
		to->ah_attr = attr->ah_attr;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn & ROVER_PSN_MASK;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn & ROVER_PSN_MASK;
	if (mask & IB_QP_QKEY)
		to->qkey = attr->qkey;
	/* The reference is the caller's; the path has one of its own. */
	to->ah_attr.grh.sgid_attr = NULL;
}

/* A power of two, since indices run freely over 32 bits. */
static unsigned int rows_of(const struct ib_qp_attr *attr)
{
	unsigned int n = attr->max_dest_rd_atomic;

	return n ? roundup_pow_of_two(n) : 0;
}

static int alloc_rows(struct change *c, unsigned int n)
{
	c->res = kcalloc(n, sizeof(*c->res), GFP_KERNEL_ACCOUNT);
	c->saved = kcalloc(n, sizeof(*c->saved), GFP_KERNEL_ACCOUNT);
	if (!c->res || !c->saved)
		return -ENOMEM;
	while (n)
		c->saved[--n].psn = ~0U;
	return 0;
}

/* Get all that can fail out of the way. */
static int prepare(struct rover_qp *qp, struct change *c,
		   const struct ib_qp_attr *attr)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;
	unsigned int rows = rows_of(&c->attr);
	u16 sport;
	int err;

	if (c->mask & IB_QP_MAX_DEST_RD_ATOMIC && rows) {
		err = alloc_rows(c, rows);
		if (err)
			return err;
	}
	/* Not before: most of the memory of a queue pair, and many idle. */
	if (c->next == IB_QPS_RTS && !qp->req.sent && !qp->xrcd &&
	    !rover_transport_dgram(qp->transport)) {
		c->sent = kcalloc(ROVER_MAX_INFLIGHT, sizeof(*c->sent),
				  GFP_KERNEL_ACCOUNT);
		if (!c->sent)
			return -ENOMEM;
	}
	/* Last, since it alone needs more than kfree(). */
	if (c->mask & IB_QP_AV) {
		sport = rdma_get_udp_sport(rdma_ah_read_grh(ah)->flow_label,
					   qp->obj.key, c->attr.dest_qp_num);
		err = rover_path_init(&c->path, qp->dev->rnet->net, ah, sport);
		if (err)
			return err;
		if (rover_transport_reliable(qp->transport))
			rover_path_ect(&c->path);
	}
	return 0;
}

/* After the locks: what was not used, or is not used any more. */
static void discard(struct change *c)
{
	rover_path_destroy(&c->path);
	kfree(c->sent);
	kfree(c->res);
	kfree(c->saved);
}

static void assert_both_locks(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	lockdep_assert_held(&qp->tx_lock);
}

/*
 * New rows for the answers to READs and atomics.  On the way to RTR a new
 * conversation begins; but in the midst of one (SQD) the results of past
 * atomics move over, newest last, for the peer may still ask for them again.
 */
static void swap_rows(struct rover_qp *qp, struct change *c)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 rows = rows_of(&c->attr);
	u32 old = rsp->res_max;
	u32 keep = qp->state == IB_QPS_SQD ? min(old, rows) : 0;
	u32 i;

	assert_both_locks(qp);
	for (i = 0; i < keep; i++)
		c->saved[i] = rsp->saved[(rsp->saved_tail % old + old - keep +
					  i) % old];
	swap(rsp->res, c->res);
	swap(rsp->saved, c->saved);
	rsp->res_max = rows;
	rsp->res_tail = 0;
	rsp->res_send = 0;
	rsp->saved_tail = keep;
}

static void apply(struct rover_qp *qp, struct change *c)
{
	assert_both_locks(qp);

	qp->attr = c->attr;
	qp->access = c->attr.qp_access_flags & REMOTE_ACCESS;
	qp->qkey = c->attr.qkey;
	if (c->mask & IB_QP_DEST_QPN)
		qp->remote_qpn = c->attr.dest_qp_num;
	if (c->mask & IB_QP_PATH_MTU) {
		qp->mtu = ib_mtu_enum_to_int(c->attr.path_mtu);
		qp->mtu_shift = ilog2(qp->mtu);
	}
	if (c->mask & IB_QP_AV) {
		swap(qp->path, c->path);
		rover_dst_clear(&qp->rx_dst);
		rover_shortcut_close(qp);
	}
	if (c->mask & IB_QP_MAX_DEST_RD_ATOMIC)
		swap_rows(qp, c);
	if (c->sent)
		swap(qp->req.sent, c->sent);
}

/*
 * Empty a ring whose requests were forgotten.  A program learns the new
 * indices from the verb's success: its provider sets its own to zero as well.
 */
static void rewind(struct rover_ring *ring, spinlock_t *post, u32 flags)
{
	unsigned long irq;

	spin_lock_irqsave(post, irq);
	ring->head = 0;
	ring->tail = 0;
	WRITE_ONCE(ring->hdr->tail, 0);
	WRITE_ONCE(ring->hdr->head, 0);
	WRITE_ONCE(ring->hdr->flags, flags);
	spin_unlock_irqrestore(post, irq);
}

static void enter_reset(struct rover_qp *qp)
{
	/* First: requester and responder go back to the heads of the rings. */
	rewind(&qp->sq, &qp->sq_post, ROVER_RING_NEED_WAKEUP);
	if (!qp->srq)
		rewind(&qp->rq, &qp->rq_post, 0);
	rover_responder_reset(qp);
	rover_requester_reset(qp);
	/* Forgotten, and not to be flushed in the next life. */
	qp->rsp.have_wqe = false;
	qp->rsp.last_wqe = false;
}

static void init_sender(struct rover_qp *qp)
{
	if (rover_transport_dgram(qp->transport))
		rover_dgram_init(qp);
	else
		rover_requester_init(qp);
}

/* The state changes, and what hangs on it. */
static void enter(struct rover_qp *qp, enum ib_qp_state from,
		  enum ib_qp_state to)
{
	assert_both_locks(qp);
	WRITE_ONCE(qp->state, to);
	if (from != to)
		trace_rover_qp_state(qp->obj.key, from, to);

	switch (to) {
	case IB_QPS_RESET:
		rover_zcopy_revoke(qp);
		enter_reset(qp);
		break;
	case IB_QPS_RTR:
		rover_responder_init(qp);
		break;
	case IB_QPS_RTS:
		if (from == IB_QPS_RTR)
			init_sender(qp);
		/* Requests posted during rover_run_flush(): some, the others are sent. */
		if (from == IB_QPS_SQE)
			rover_requester_flush(qp);
		set_bit(ROVER_WORK_TX, &qp->work);
		break;
	case IB_QPS_SQD:
		if (from != IB_QPS_SQD)
			qp->req.drained = false;
		set_bit(ROVER_WORK_TX, &qp->work);
		break;
	case IB_QPS_ERR:
		rover_zcopy_revoke(qp);
		/* To be sent again, or later: by whom?  An error's own NAK is due still. */
		if (from != IB_QPS_ERR) {
			qp->rsp.nak_due = 0;
			qp->rsp.page_wait = false;
		}
		/* As in rover_qp_fail(); the run that flushes is ours. */
		rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
		if (!qp->srq)
			rover_ring_flag(&qp->rq, ROVER_RING_NEED_WAKEUP);
		set_bit(ROVER_WORK_TX, &qp->work);
		set_bit(ROVER_WORK_RX, &qp->work);
		break;
	default:
		break;
	}
}

/* The one moment at which everything changes, or nothing. */
static int commit(struct rover_qp *qp, struct change *c,
		  const struct ib_qp_attr *attr)
{
	const struct rover_rsp *rsp = &qp->rsp;
	int err = 0;

	spin_lock_bh(&qp->rx_lock);
	spin_lock(&qp->tx_lock);
	if (!allowed(qp, attr, c->mask)) {
		err = -EINVAL;
	} else if (c->mask & IB_QP_MAX_DEST_RD_ATOMIC &&
		   rsp->res_send != rsp->res_tail) {
		/* The peer is being answered out of the old rows. */
		err = -EBUSY;
	} else {
		apply(qp, c);
		if (c->mask & IB_QP_STATE)
			enter(qp, qp->state, c->next);
	}
	spin_unlock(&qp->tx_lock);
	spin_unlock_bh(&qp->rx_lock);
	return err;
}

int rover_qp_modify(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct rover_qp *qp = rover_qp(ib);
	struct change c = { .mask = mask };
	int err;

	mutex_lock(&qp->ctl);
	err = check_values(qp->dev, attr, mask);
	if (err)
		goto out;
	if (!allowed(qp, attr, mask)) {
		err = -EINVAL;
		goto out;
	}
	c.next = mask & IB_QP_STATE ? attr->qp_state : READ_ONCE(qp->state);
	c.attr = qp->attr;
	merge(&c.attr, attr, mask);
	err = prepare(qp, &c, attr);
	if (!err) {
		/* Requests posted in SQE are flushed before the state changes. */
		if (c.next == IB_QPS_RTS)
			rover_run_flush(qp);
		err = commit(qp, &c, attr);
		/*
		 * In any case: who found the locks taken has left its work to
		 * us, even if nothing has changed.
		 */
		rover_run(qp);
	}
	discard(&c);

	/* Nothing arms it in RESET; it must not fire into the next life. */
	if (!err && mask & IB_QP_STATE && c.next == IB_QPS_RESET) {
		rover_timer_stop(qp);
		rover_qp_forget(qp);
	}
out:
	mutex_unlock(&qp->ctl);
	return err;
}
