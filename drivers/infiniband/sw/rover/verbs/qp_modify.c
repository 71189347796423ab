// SPDX-License-Identifier: GPL-2.0
/*
 * qp_modify - modify a queue pair, by the state table of IBTA 10.3
 *
 * Checks and allocates everything in struct qp_modify_change, then applies it
 * under rx_lock and tx_lock, so no packet sees half a change.  The state is
 * checked again there: a QP may go to ERR any time.
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>

#include "core/trace.h"
#include "qp/qp_state.h"
#include "qp/zcopy.h"
#include "rc/requester.h"
#include "rc/responder.h"
#include "run/run.h"
#include "run/timer.h"
#include "tx/shortcut.h"
#include "ud/dgram.h"
#include "verbs/qp_verbs.h"
#include "wire/psn.h"

#define REMOTE_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_FLUSH_GLOBAL | \
			 IB_ACCESS_FLUSH_PERSISTENT)

/* Commonly passed by userspace, without effect. */
#define IGNORED_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND | \
			 IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB)

/*
 * A prepared change: @path with IB_QP_AV, @sent for the first RTS, @res and
 * @saved with IB_QP_MAX_DEST_RD_ATOMIC.
 */
struct qp_modify_change {
	int mask;
	enum ib_qp_state next;
	struct ib_qp_attr attr;
	struct rover_path path;
	struct rover_sent *sent;
	struct rover_res *res;
	struct rover_saved *saved;
};

static bool qp_modify_allowed(const struct rover_qp *qp,
			      const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state cur = READ_ONCE(qp->state);
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;

	/* ib_modify_qp_is_ok() does not check its table index. */
	if ((unsigned int)next > IB_QPS_ERR)
		return false;
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != cur)
		return false;
	if (!ib_modify_qp_is_ok(cur, next, qp->ib->qp_type, mask))
		return false;
	/* Requests in flight still use the old attributes. */
	return cur != IB_QPS_SQD || READ_ONCE(qp->req.drained) ||
	       next == IB_QPS_ERR || next == IB_QPS_RESET;
}

static int qp_modify_check_path(const struct ib_qp_attr *attr)
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

static int qp_modify_check_values(struct rover_dev *dev,
				  const struct ib_qp_attr *attr, int mask)
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
	    ~(REMOTE_ACCESS | IGNORED_ACCESS | IB_ACCESS_OPTIONAL))
		return -EINVAL;

	if (mask & IB_QP_PATH_MTU &&
	    (ib_mtu_enum_to_int(attr->path_mtu) < 0 ||
	     attr->path_mtu > rover_dev_mtu(dev)))
		return -EINVAL;
	return mask & IB_QP_AV ? qp_modify_check_path(attr) : 0;
}

static void qp_modify_merge_attr(struct ib_qp_attr *to,
				 const struct ib_qp_attr *attr, int mask)
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
	/* The caller's reference; rover_path takes its own. */
	to->ah_attr.grh.sgid_attr = NULL;
}

/* A power of two, since the indices are free-running. */
static unsigned int qp_modify_res_rows(const struct ib_qp_attr *attr)
{
	unsigned int n = attr->max_dest_rd_atomic;

	return n ? roundup_pow_of_two(n) : 0;
}

static int qp_modify_alloc_rows(struct qp_modify_change *c, unsigned int n)
{
	c->res = kcalloc(n, sizeof(*c->res), GFP_KERNEL_ACCOUNT);
	c->saved = kcalloc(n, sizeof(*c->saved), GFP_KERNEL_ACCOUNT);
	if (!c->res || !c->saved)
		return -ENOMEM;
	while (n)
		c->saved[--n].psn = ~0U;
	return 0;
}

static int qp_modify_prepare(struct rover_qp *qp, struct qp_modify_change *c,
			     const struct ib_qp_attr *attr)
{
	const struct rdma_ah_attr *ah = &attr->ah_attr;
	unsigned int rows = qp_modify_res_rows(&c->attr);
	u16 sport;
	int err;

	if (c->mask & IB_QP_MAX_DEST_RD_ATOMIC && rows) {
		err = qp_modify_alloc_rows(c, rows);
		if (err)
			return err;
	}
	/* Not earlier: it is most of a QP's memory. */
	if (c->next == IB_QPS_RTS && !qp->req.sent && !qp->xrcd &&
	    !rover_transport_dgram(qp->transport)) {
		c->sent = kvcalloc(qp->sq.mask + 1, sizeof(*c->sent),
				   GFP_KERNEL_ACCOUNT);
		if (!c->sent)
			return -ENOMEM;
	}
	/* Last: undoing it takes more than kfree(). */
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

static void qp_modify_discard(struct qp_modify_change *c)
{
	rover_path_destroy(&c->path);
	kvfree(c->sent);
	kfree(c->res);
	kfree(c->saved);
}

static void qp_modify_assert_locks(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->rx_lock);
	lockdep_assert_held(&qp->tx_lock);
}

/*
 * Replace the responder resources.  In SQD keep the results of past atomics,
 * newest last: the peer may repeat them.
 */
static void qp_modify_swap_rows(struct rover_qp *qp, struct qp_modify_change *c)
{
	struct rover_rsp *rsp = &qp->rsp;
	u32 rows = qp_modify_res_rows(&c->attr);
	u32 old = rsp->res_max;
	u32 keep = qp->state == IB_QPS_SQD ? min(old, rows) : 0;
	u32 i;

	qp_modify_assert_locks(qp);
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

static void qp_modify_apply(struct rover_qp *qp, struct qp_modify_change *c)
{
	qp_modify_assert_locks(qp);

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
		qp_modify_swap_rows(qp, c);
	if (c->sent)
		swap(qp->req.sent, c->sent);
}

static void qp_modify_empty_ring(struct rover_ring *ring, spinlock_t *post,
				 u32 flags)
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

static void qp_modify_enter_reset(struct rover_qp *qp)
{
	/* First: requester and responder restart at the heads. */
	qp_modify_empty_ring(&qp->sq, &qp->sq_post, ROVER_RING_NEED_WAKEUP);
	if (!qp->srq)
		qp_modify_empty_ring(&qp->rq, &qp->rq_post, 0);
	rover_responder_reset(qp);
	rover_requester_reset(qp);
	/* A receive in use is dropped, not flushed later. */
	qp->rsp.have_wqe = false;
	qp->rsp.last_wqe = false;
}

static void qp_modify_init_sender(struct rover_qp *qp)
{
	if (rover_transport_dgram(qp->transport))
		rover_dgram_init(qp);
	else
		rover_requester_init(qp);
}

static void qp_modify_enter_state(struct rover_qp *qp, enum ib_qp_state from,
				  enum ib_qp_state to)
{
	qp_modify_assert_locks(qp);
	WRITE_ONCE(qp->state, to);
	if (from != to)
		trace_rover_qp_state(qp->obj.key, from, to);

	switch (to) {
	case IB_QPS_RESET:
		rover_zcopy_revoke(qp);
		qp_modify_enter_reset(qp);
		break;
	case IB_QPS_RTR:
		rover_responder_init(qp);
		break;
	case IB_QPS_RTS:
		if (from == IB_QPS_RTR)
			qp_modify_init_sender(qp);
		/* Posted since rover_run_flush(): flush some, send the rest. */
		if (from == IB_QPS_SQE)
			rover_requester_flush(qp);
		rover_qp_set_work(qp, ROVER_WORK_TX);
		break;
	case IB_QPS_SQD:
		if (from != IB_QPS_SQD)
			qp->req.drained = false;
		rover_qp_set_work(qp, ROVER_WORK_TX);
		break;
	case IB_QPS_ERR:
		rover_zcopy_revoke(qp);
		/*
		 * Drop a due NAK, which would make the peer send again.  If in
		 * ERR already, it reports the error.
		 */
		if (from != IB_QPS_ERR) {
			qp->rsp.nak_due = 0;
			qp->rsp.page_wait = false;
		}
		/* As in rover_qp_fail(), but rover_qp_modify() flushes. */
		rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
		if (!qp->srq)
			rover_ring_flag(&qp->rq, ROVER_RING_NEED_WAKEUP);
		rover_qp_set_work(qp, ROVER_WORK_TX);
		rover_qp_set_work(qp, ROVER_WORK_RX);
		break;
	default:
		break;
	}
}

static int qp_modify_commit(struct rover_qp *qp, struct qp_modify_change *c,
			    const struct ib_qp_attr *attr)
{
	const struct rover_rsp *rsp = &qp->rsp;
	int err = 0;

	spin_lock_bh(&qp->rx_lock);
	spin_lock(&qp->tx_lock);
	if (!qp_modify_allowed(qp, attr, c->mask)) {
		err = -EINVAL;
	} else if (c->mask & IB_QP_MAX_DEST_RD_ATOMIC &&
		   rsp->res_send != rsp->res_tail) {
		/* Responses still use the old resources. */
		err = -EBUSY;
	} else {
		qp_modify_apply(qp, c);
		if (c->mask & IB_QP_STATE)
			qp_modify_enter_state(qp, qp->state, c->next);
	}
	spin_unlock(&qp->tx_lock);
	spin_unlock_bh(&qp->rx_lock);
	return err;
}

int rover_qp_modify(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct rover_qp *qp = rover_qp(ib);
	struct qp_modify_change c = { .mask = mask };
	int err;

	mutex_lock(&qp->ctl);
	err = qp_modify_check_values(qp->dev, attr, mask);
	if (err)
		goto out;
	if (!qp_modify_allowed(qp, attr, mask)) {
		err = -EINVAL;
		goto out;
	}
	c.next = mask & IB_QP_STATE ? attr->qp_state : READ_ONCE(qp->state);
	c.attr = qp->attr;
	qp_modify_merge_attr(&c.attr, attr, mask);
	err = qp_modify_prepare(qp, &c, attr);
	if (!err) {
		/* Requests posted in SQE, before the state changes. */
		if (c.next == IB_QPS_RTS)
			rover_run_flush(qp);
		err = qp_modify_commit(qp, &c, attr);
		/* Even on error: others found the locks taken and left work. */
		rover_run(qp);
	}
	qp_modify_discard(&c);

	/* Nothing arms the timer in RESET: stop it before the next use. */
	if (!err && mask & IB_QP_STATE && c.next == IB_QPS_RESET) {
		rover_timer_stop(qp);
		rover_qp_forget(qp);
	}
out:
	mutex_unlock(&qp->ctl);
	return err;
}
