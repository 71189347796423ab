// SPDX-License-Identifier: GPL-2.0
/*
 * qp - queue pairs: create, destroy, query
 *
 * Lifetime (see qp.h): after destroy the core frees CQs, SRQ, PD and struct
 * ib_qp.  Once @alive is cleared, only the memory of struct rover_qp may be
 * used.  Users other than destroy:
 *  1. Verbs and posts of kernel users: none during or after destroy.
 *  2. Doorbell and packets: under RCU, take a lock and test @alive.
 *  3. The timer: tests @alive.  Only tx_lock holders that saw @alive arm it, so
 *     rover_timer_stop() is final.
 *  4. Kicks and the worker (@worker_kick): hold a reference and test @alive.
 *     The worker also frees the backlog.
 *  5. skbs in a netdev, for any time: hold references on pages and QP; the
 *     destructor may kick (4).
 *  6. `rdma resource' before 7.2, until destroy returns: rover_qp_get_ib().
 *  7. ODP work: holds a reference, then kicks (4).
 *  8. Mappings of the rings: hold only pages.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "core/trace.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "qp/rq.h"
#include "qp/srq.h"
#include "qp/zcopy.h"
#include "rc/requester.h"
#include "rc/responder.h"
#include "run/run.h"
#include "run/timer.h"
#include "verbs/qp_verbs.h"

/*
 * GSI is UD, and only for the kernel.  XRC targets are kernel QPs that
 * userspace opens.  XRC initiators are user QPs: struct ib_send_wr has no SRQ
 * number.
 */
static int qp_find_transport(enum ib_qp_type type, bool user)
{
	switch (type) {
	case IB_QPT_RC:
		return ROVER_TRANSPORT_RC;
	case IB_QPT_UC:
		return ROVER_TRANSPORT_UC;
	case IB_QPT_UD:
		return ROVER_TRANSPORT_UD;
	case IB_QPT_GSI:
		return user ? -EOPNOTSUPP : ROVER_TRANSPORT_UD;
	case IB_QPT_RAW_PACKET:
		return user ? ROVER_TRANSPORT_RAW : -EOPNOTSUPP;
	case IB_QPT_XRC_INI:
		return user ? ROVER_TRANSPORT_XRC : -EOPNOTSUPP;
	case IB_QPT_XRC_TGT:
		return ROVER_TRANSPORT_XRC;
	default:
		return -EOPNOTSUPP;
	}
}

static u32 qp_create_flags(enum ib_qp_type type)
{
	return type == IB_QPT_UD || type == IB_QPT_RAW_PACKET ?
	       IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0;
}

static bool qp_init_is_xrc(const struct ib_qp_init_attr *init)
{
	return init->qp_type == IB_QPT_XRC_INI ||
	       init->qp_type == IB_QPT_XRC_TGT;
}

static bool qp_init_has_send(const struct ib_qp_init_attr *init)
{
	return init->qp_type != IB_QPT_XRC_TGT;
}

static bool qp_init_has_recv(const struct ib_qp_init_attr *init)
{
	return !init->srq && !qp_init_is_xrc(init);
}

/*
 * The core checks CAP_NET_RAW in the device's namespace, for shared devices in
 * the initial one.  Also check the interface's namespace.
 */
static bool qp_create_permitted(const struct rover_dev *dev,
				const struct ib_qp_init_attr *init)
{
	return init->qp_type != IB_QPT_RAW_PACKET || rover_dev_may_raw(dev);
}

/* Each XRC request names its SRQ: only the domain matters. */
static bool qp_srq_valid(const struct ib_qp_init_attr *init, bool user)
{
	const struct rover_srq *srq = init->srq ? rover_srq(init->srq) : NULL;

	if (!srq)
		return true;
	if (init->qp_type == IB_QPT_XRC_TGT)
		return srq->xrcd == init->xrcd;
	/* QP and SRQ need one owner, which posts and flushes. */
	return init->qp_type != IB_QPT_XRC_INI && !srq->xrcd &&
	       srq->user == user;
}

static int qp_check_init(const struct ib_qp_init_attr *init,
			 struct ib_udata *udata)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (qp_find_transport(init->qp_type, udata) < 0 ||
	    init->create_flags & ~qp_create_flags(init->qp_type) ||
	    init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!init->xrcd != qp_init_has_send(init) || !qp_srq_valid(init, udata))
		return -EINVAL;
	if ((qp_init_has_send(init) && !init->send_cq) ||
	    (!qp_init_is_xrc(init) && !init->recv_cq))
		return -EINVAL;
	if (init->sq_sig_type != IB_SIGNAL_ALL_WR &&
	    init->sq_sig_type != IB_SIGNAL_REQ_WR)
		return -EINVAL;
	if (qp_init_has_send(init) && (cap->max_send_wr > ROVER_MAX_QP_WR ||
				       cap->max_send_sge > ROVER_MAX_SGE ||
				       cap->max_inline_data > ROVER_MAX_INLINE))
		return -EINVAL;
	if (qp_init_has_recv(init) && (cap->max_recv_wr > ROVER_MAX_QP_WR ||
				       cap->max_recv_sge > ROVER_MAX_SGE))
		return -EINVAL;

	if (udata && udata->outlen < sizeof(struct rover_uapi_create_qp_resp))
		return -EINVAL;
	return ib_is_udata_in_empty(udata);
}

/* Round the slot up to cache lines; grant the added space. */
static u32 qp_send_stride(struct ib_qp_cap *cap)
{
	u32 space = max_t(u32, cap->max_send_sge * sizeof(struct rover_sge),
			  cap->max_inline_data);
	u32 stride = ALIGN(ROVER_SEND_WQE_HDR + space, ROVER_SLOT_SIZE);

	space = stride - ROVER_SEND_WQE_HDR;
	cap->max_send_sge = min_t(u32, space / sizeof(struct rover_sge),
				  ROVER_MAX_SGE);
	cap->max_inline_data = min_t(u32, space, ROVER_MAX_INLINE);
	return stride;
}

static int qp_create_send_ring(struct rover_qp *qp,
			       struct ib_qp_init_attr *init,
			       struct ib_ucontext *ucontext,
			       struct rover_uapi_create_qp_resp *resp)
{
	struct ib_qp_cap *cap = &init->cap;

	if (!qp_init_has_send(init)) {
		cap->max_send_wr = 0;
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
		rover_ring_init_absent(&qp->sq);
		return 0;
	}
	cap->max_send_wr = max(cap->max_send_wr, 1U);
	return rover_ring_create(&qp->sq, ucontext, cap->max_send_wr,
				 qp_send_stride(cap),
				 ucontext ? &resp->sq : NULL);
}

static int qp_create_recv_ring(struct rover_qp *qp,
			       struct ib_qp_init_attr *init,
			       struct ib_ucontext *ucontext,
			       struct rover_uapi_create_qp_resp *resp)
{
	struct ib_qp_cap *cap = &init->cap;
	u32 stride;

	if (!qp_init_has_recv(init)) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		if (!qp->srq)
			rover_ring_init_absent(&qp->rq);
		return 0;
	}
	cap->max_recv_wr = max(cap->max_recv_wr, 1U);
	stride = rover_rq_stride(&cap->max_recv_sge);
	return rover_ring_create(&qp->rq, ucontext, cap->max_recv_wr, stride,
				 ucontext ? &resp->rq : NULL);
}

/* Other files rely on both rings being initialized. */
static int qp_create_rings(struct rover_qp *qp, struct ib_qp_init_attr *init,
			   struct ib_ucontext *ucontext,
			   struct rover_uapi_create_qp_resp *resp)
{
	const struct ib_qp_cap *cap = &init->cap;
	int err;

	err = qp_create_send_ring(qp, init, ucontext, resp);
	if (err)
		return err;
	err = qp_create_recv_ring(qp, init, ucontext, resp);
	if (err)
		return err;

	/* The poller clears it.  Receive rings are read when packets come. */
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);

	qp->max_send_sge = cap->max_send_sge;
	qp->max_recv_sge = cap->max_recv_sge;
	qp->max_inline = cap->max_inline_data;
	qp->attr.cap = *cap;
	return 0;
}

/* An XRC target has PD, CQ and SRQ only during a request (qp/xrc.h). */
static void qp_init_owners(struct rover_qp *qp, const struct ib_qp *ib,
			   const struct ib_qp_init_attr *init)
{
	if (init->xrcd)
		return;
	qp->pd = ib->pd;
	qp->scq = rover_cq(init->send_cq);
	qp->rcq = init->recv_cq ? rover_cq(init->recv_cq) : NULL;
	qp->srq = init->srq ? rover_srq(init->srq) : NULL;
	qp->recv_pd = init->srq ? init->srq->pd : ib->pd;
}

static void qp_init_fields(struct rover_qp *qp, struct ib_qp *ib,
			   const struct ib_qp_init_attr *init,
			   struct ib_ucontext *ucontext)
{
	mutex_init(&qp->ctl);
	spin_lock_init(&qp->rx_lock);
	spin_lock_init(&qp->tx_lock);
	rover_early_init(&qp->rx_early);
	rover_early_init(&qp->tx_early);
	spin_lock_init(&qp->sq_post);
	spin_lock_init(&qp->rq_post);
	rover_timer_init(qp);
	rover_dst_init(&qp->rx_dst);

	qp->dev = rover_dev(ib->device);
	qp->stats = qp->dev->stats;
	qp->ib = ib;
	qp->xrcd = init->xrcd;
	qp_init_owners(qp, ib, init);
	qp->home_cpu = ROVER_CPU_ANY;
	qp->backlog.cpu = ROVER_CPU_ANY;
	qp->stream.cpu = ROVER_CPU_ANY;
	qp->state = IB_QPS_RESET;
	qp->user = ucontext;
	qp->ucontext = ucontext;
	qp->transport = qp_find_transport(init->qp_type, ucontext);
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->block_mcast_loopback = init->create_flags &
		      IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	qp->attr.path_mig_state = IB_MIG_MIGRATED;
	/* Random: packets of an earlier QP with this number may be around. */
	get_random_bytes(qp->zcopy_gen, sizeof(qp->zcopy_gen));
	qp->alive = true;
}

static void qp_dismantle(struct rover_qp *qp)
{
	RCU_INIT_POINTER(container_of(qp->ib, struct rover_ibqp, ib)->qp, NULL);
	rover_timer_stop(qp);
	rover_path_destroy(&qp->path);
	rover_dst_clear(&qp->rx_dst);
	rover_ring_destroy(&qp->sq);
	rover_ring_destroy(&qp->rq);
	kvfree(qp->req.sent);
	kfree(qp->rsp.res);
	kfree(qp->rsp.saved);
	atomic_dec(&qp->dev->qps);
	rover_qp_put(qp);
}

/* Each device has a QP 1 (GSI).  Other numbers are random. */
static int qp_publish_number(struct rover_qp *qp, enum ib_qp_type type)
{
	if (type != IB_QPT_GSI)
		return rover_table_insert(&rover_qpns, &qp->obj,
					  ROVER_GSI_QPN + 1);
	qp->obj.key = ROVER_GSI_QPN;
	return cmpxchg((__force struct rover_qp **)&qp->dev->gsi, NULL, qp) ?
	       -EBUSY : 0;
}

static void qp_unpublish_number(struct rover_qp *qp)
{
	if (qp->obj.key == ROVER_GSI_QPN)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		rover_table_remove(&rover_qpns, &qp->obj);
}

/*
 * The device goes away: flush posted requests.  Later posts would need a
 * doorbell (K2), which is gone.
 */
static void qp_flush_user(struct rover_qp *qp)
{
	spin_lock_bh(&qp->tx_lock);
	rover_qp_fail(qp, ROVER_EVENT_NONE);
	spin_unlock_bh(&qp->tx_lock);
	rover_run_flush(qp);
}

static void qp_mark_dead(struct rover_qp *qp)
{
	int from;

	mutex_lock(&qp->ctl);
	if (qp->user && READ_ONCE(qp->dev->unregistering))
		qp_flush_user(qp);
	spin_lock_bh(&qp->rx_lock);
	spin_lock(&qp->tx_lock);
	from = qp->state;
	rover_responder_reset(qp);
	rover_requester_reset(qp);
	rover_zcopy_revoke(qp);
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	WRITE_ONCE(qp->alive, false);
	trace_rover_qp_state(qp->obj.key, from, IB_QPS_RESET);
	spin_unlock(&qp->tx_lock);
	spin_unlock_bh(&qp->rx_lock);
	qp_unpublish_number(qp);
	mutex_unlock(&qp->ctl);
}

int rover_qp_create(struct ib_qp *ib, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct rover_dev *dev = rover_dev(ib->device);
	struct rover_uapi_create_qp_resp resp = {};
	struct ib_ucontext *ucontext = NULL;
	struct rover_qp *qp;
	int err;

	if (!qp_create_permitted(dev, init))
		return -EPERM;
	err = qp_check_init(init, udata);
	if (err)
		return err;
	if (udata)
		ucontext = &rdma_udata_to_drv_context(udata,
						      struct rover_ucontext,
						      ib)->ib;

	if (atomic_inc_return(&dev->qps) > dev->ib.attrs.max_qp) {
		atomic_dec(&dev->qps);
		return -ENOMEM;
	}
	qp = rover_qp_table_alloc();
	if (!qp) {
		atomic_dec(&dev->qps);
		return -ENOMEM;
	}
	qp_init_fields(qp, ib, init, ucontext);
	err = qp_create_rings(qp, init, ucontext, &resp);
	if (err)
		goto err_dismantle;

	/* Last: now packets find the queue pair. */
	err = qp_publish_number(qp, init->qp_type);
	if (err)
		goto err_dismantle;
	ib->qp_num = qp->obj.key;
	rcu_assign_pointer(container_of(ib, struct rover_ibqp, ib)->qp, qp);

	if (udata) {
		resp.qpn = qp->obj.key;
		err = ib_respond_udata(udata, resp);
		if (err)
			goto err_mark_dead;
	}
	return 0;

err_mark_dead:
	qp_mark_dead(qp);
err_dismantle:
	qp_dismantle(qp);
	return err;
}

int rover_qp_destroy(struct ib_qp *ib, struct ib_udata *udata)
{
	struct rover_qp *qp = rover_qp(ib);

	qp_mark_dead(qp);
	rover_qp_forget(qp);
	if (qp->scq)
		rover_cq_wait_events(qp->scq);
	if (qp->rcq)
		rover_cq_wait_events(qp->rcq);
	qp_dismantle(qp);
	return 0;
}

int rover_qp_query(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct rover_qp *qp = rover_qp_get_ib(ib);

	if (!qp)
		return -EINVAL;
	mutex_lock(&qp->ctl);
	*attr = qp->attr;
	/* No locks: do not delay packets. */
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	/* Only on request: `rdma resource' shows all it gets to any user. */
	if (!(mask & IB_QP_RQ_PSN))
		attr->rq_psn = 0;
	if (!(mask & IB_QP_SQ_PSN))
		attr->sq_psn = 0;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    !READ_ONCE(qp->req.drained);
	mutex_unlock(&qp->ctl);

	*init = (struct ib_qp_init_attr) {
		.event_handler = ib->event_handler,
		.qp_context = ib->qp_context,
		.send_cq = ib->send_cq,
		.recv_cq = ib->recv_cq,
		.srq = ib->srq,
		.xrcd = ib->xrcd,
		.cap = attr->cap,
		.sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR,
		.qp_type = ib->qp_type,
		.create_flags = qp->block_mcast_loopback ?
				IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0,
		.port_num = 1,
	};
	rover_qp_put(qp);
	return 0;
}
