// SPDX-License-Identifier: GPL-2.0
/*
 * qp - queue pairs: create, destroy, query
 *
 * Lifetime.  Destroy has to leave nothing behind that touches what the core
 * frees next: the completion queues, the shared receive queue, the domain, the
 * core's queue pair.  These contexts may hold the queue pair when it is called,
 * and end as follows:
 *
 *  1. Other verbs.  The core does not call destroy while another verb on the
 *     same queue pair is under way, and none begins afterwards.  A kernel user
 *     that posts to a queue pair it destroys has lost anyway.
 *  2. The doorbell, and packets (netrx): they find the queue pair in the table
 *     under RCU, take a lock and look at @alive.  Those before us have finished
 *     when we have the locks; those after us see it cleared and let go.  The
 *     memory stays for a grace period after the last reference.
 *  3. The timer: the same; besides, rover_timer_stop() waits for it, and since
 *     it is armed only under tx_lock with @alive seen, it stays stopped.
 *  4. Kicks: on a CPU's list with a reference of their own.  The tasklet runs
 *     the queue pair, which is not @alive, and drops the reference.  So does
 *     the thread that runs @heavy, which also throws away what was set aside
 *     for it.
 *  5. skbs in a device, for as long as the device likes: with a reference of
 *     their own, dropped by the destructor, which counts and perhaps kicks (4).
 *     Memory of the program in them has page references.
 *  6. Onlookers (rdma resource): cores before 7.2 let them look until destroy
 *     has returned.  They take a reference, by rover_qp_get_ib(), as long as
 *     there is one to be had.
 *  7. Threads that bring in memory on demand: with a reference of their own.  When
 *     they are done they kick (4).
 *  8. Mappings of the rings: they hold the pages of the rings and nothing else.
 *
 * So after @alive is cleared under both locks only the memory of struct
 * rover_qp is used, and the rest can go.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "core/trace.h"
#include "qp/qp_table.h"
#include "qp/rq.h"
#include "qp/srq.h"
#include "qp/wqe.h"
#include "qp/zcopy.h"
#include "rc/requester.h"
#include "rc/responder.h"
#include "run/run.h"
#include "run/timer.h"
#include "rx/ingress.h"
#include "verbs/control.h"

/*
 * What a kind of queue pair is: GSI, which is for the core alone, is UD.  Targets
 * of XRC are the core's to the last (programs open them), while a work request of
 * the core's cannot say which queue an initiator would send to.
 */
static int transport_of(enum ib_qp_type type, bool user)
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

static u32 flags_of(enum ib_qp_type type)
{
	return type == IB_QPT_UD || type == IB_QPT_RAW_PACKET ?
	       IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0;
}

static bool is_xrc(const struct ib_qp_init_attr *init)
{
	return init->qp_type == IB_QPT_XRC_INI ||
	       init->qp_type == IB_QPT_XRC_TGT;
}

/* Only a target does not send. */
static bool has_send(const struct ib_qp_init_attr *init)
{
	return init->qp_type != IB_QPT_XRC_TGT;
}

/* Receives of its own: neither those of a shared queue, nor of XRC's many. */
static bool has_recv(const struct ib_qp_init_attr *init)
{
	return !init->srq && !is_xrc(init);
}

/*
 * The core asks for the right in the device's namespace, or in the initial one
 * where devices are shared.  Frames are the interface's, wherever that is.
 */
static bool permitted(const struct rover_dev *dev,
		      const struct ib_qp_init_attr *init)
{
	return init->qp_type != IB_QPT_RAW_PACKET || rover_may_raw(dev);
}

/*
 * A target takes receives of whichever queue a request names, all of its domain:
 * to be given one of them says nothing more, and does no harm.
 */
static bool shared_good(const struct ib_qp_init_attr *init, bool user)
{
	const struct rover_srq *srq = init->srq ? rover_srq(init->srq) : NULL;

	if (!srq)
		return true;
	if (init->qp_type == IB_QPT_XRC_TGT)
		return srq->xrcd == init->xrcd;
	/* Whose receives they are decides who flushes and who posts. */
	return init->qp_type != IB_QPT_XRC_INI && !srq->xrcd &&
	       srq->user == user;
}

static int check_init(const struct ib_qp_init_attr *init,
		      struct ib_udata *udata)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (transport_of(init->qp_type, udata) < 0 ||
	    init->create_flags & ~flags_of(init->qp_type) ||
	    init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!init->xrcd != has_send(init) || !shared_good(init, udata))
		return -EINVAL;
	if ((has_send(init) && !init->send_cq) ||
	    (!is_xrc(init) && !init->recv_cq))
		return -EINVAL;
	if (init->sq_sig_type != IB_SIGNAL_ALL_WR &&
	    init->sq_sig_type != IB_SIGNAL_REQ_WR)
		return -EINVAL;
	if (has_send(init) && (cap->max_send_wr > ROVER_MAX_QP_WR ||
			       cap->max_send_sge > ROVER_MAX_SGE ||
			       cap->max_inline_data > ROVER_MAX_INLINE))
		return -EINVAL;
	if (has_recv(init) && (cap->max_recv_wr > ROVER_MAX_QP_WR ||
			       cap->max_recv_sge > ROVER_MAX_SGE))
		return -EINVAL;

	/* Less of an answer than this is of no use to a program. */
	if (udata && udata->outlen < sizeof(struct rover_uapi_create_qp_resp))
		return -EINVAL;
	return ib_is_udata_in_empty(udata);
}

/*
 * A slot is as long as its largest work request, in whole cache lines; what
 * the rounding leaves is granted, too.
 */
static u32 send_stride(struct ib_qp_cap *cap)
{
	u32 room = max_t(u32, cap->max_send_sge * sizeof(struct rover_sge),
			 cap->max_inline_data);
	u32 stride = ALIGN(ROVER_SEND_WQE_HDR + room, ROVER_SLOT_SIZE);

	room = stride - ROVER_SEND_WQE_HDR;
	cap->max_send_sge = min_t(u32, room / sizeof(struct rover_sge),
				  ROVER_MAX_SGE);
	cap->max_inline_data = min_t(u32, room, ROVER_MAX_INLINE);
	return stride;
}

static int create_send_ring(struct rover_qp *qp,
			    struct ib_qp_init_attr *init,
			    struct ib_ucontext *ucontext,
			    struct rover_uapi_create_qp_resp *resp)
{
	struct ib_qp_cap *cap = &init->cap;

	if (!has_send(init)) {
		cap->max_send_wr = 0;
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
		rover_ring_none(&qp->sq);
		return 0;
	}
	cap->max_send_wr = max(cap->max_send_wr, 1U);
	return rover_ring_create(&qp->sq, ucontext, cap->max_send_wr,
				 send_stride(cap), ucontext ? &resp->sq : NULL);
}

static int create_recv_ring(struct rover_qp *qp,
			    struct ib_qp_init_attr *init,
			    struct ib_ucontext *ucontext,
			    struct rover_uapi_create_qp_resp *resp)
{
	struct ib_qp_cap *cap = &init->cap;
	u32 stride;

	/* Whatever was asked for: they are those of the shared queue. */
	if (!has_recv(init)) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		if (!qp->srq)
			rover_ring_none(&qp->rq);
		return 0;
	}
	cap->max_recv_wr = max(cap->max_recv_wr, 1U);
	stride = rover_rq_stride(&cap->max_recv_sge);
	return rover_ring_create(&qp->rq, ucontext, cap->max_recv_wr, stride,
				 ucontext ? &resp->rq : NULL);
}

/*
 * Every other room may rely on the send ring being there, and on the other one
 * unless receives are shared, be it that there is never anything in them.
 */
static int create_rings(struct rover_qp *qp, struct ib_qp_init_attr *init,
			struct ib_ucontext *ucontext,
			struct rover_uapi_create_qp_resp *resp)
{
	const struct ib_qp_cap *cap = &init->cap;
	int err;

	err = create_send_ring(qp, init, ucontext, resp);
	if (err)
		return err;
	err = create_recv_ring(qp, init, ucontext, resp);
	if (err)
		return err;

	/* Of send rings see poller; receive rings are read when packets come. */
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);

	qp->max_send_sge = cap->max_send_sge;
	qp->max_recv_sge = cap->max_recv_sge;
	qp->max_inline = cap->max_inline_data;
	qp->attr.cap = *cap;
	return 0;
}

/* What a target has of these it has only while it is at a request (xrc). */
static void init_owners(struct rover_qp *qp, const struct ib_qp *ib,
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

static void init_fields(struct rover_qp *qp, struct ib_qp *ib,
			const struct ib_qp_init_attr *init,
			struct ib_ucontext *ucontext)
{
	mutex_init(&qp->ctl);
	spin_lock_init(&qp->rx_lock);
	spin_lock_init(&qp->tx_lock);
	spin_lock_init(&qp->sq_post);
	spin_lock_init(&qp->rq_post);
	rover_timer_init(qp);
	rover_dst_init(&qp->rx_dst);

	qp->dev = rover_dev(ib->device);
	qp->stats = qp->dev->stats;
	qp->ib = ib;
	qp->xrcd = init->xrcd;
	init_owners(qp, ib, init);
	qp->home_cpu = ROVER_CPU_ANY;
	qp->backlog.cpu = ROVER_CPU_ANY;
	qp->stream.cpu = ROVER_CPU_ANY;
	qp->state = IB_QPS_RESET;
	qp->user = ucontext;
	qp->owner = ucontext;
	qp->transport = transport_of(init->qp_type, ucontext);
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->no_echo = init->create_flags &
		      IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	qp->attr.path_mig_state = IB_MIG_MIGRATED;
	/* Packets may be on their way still from one that had the same number. */
	get_random_bytes(qp->zcopy_gen, sizeof(qp->zcopy_gen));
	qp->alive = true;
}

/* What is left of a queue pair that nobody runs: see above. */
static void dismantle(struct rover_qp *qp)
{
	RCU_INIT_POINTER(container_of(qp->ib, struct rover_ibqp, ib)->qp, NULL);
	rover_timer_stop(qp);
	rover_path_destroy(&qp->path);
	rover_dst_clear(&qp->rx_dst);
	rover_ring_destroy(&qp->sq);
	rover_ring_destroy(&qp->rq);
	kfree(qp->req.sent);
	kfree(qp->rsp.res);
	kfree(qp->rsp.saved);
	atomic_dec(&qp->dev->qps);
	rover_qp_put(qp);
}

/*
 * Give it a number, by which the wire can find it.  Queue pair 1 is one of each
 * device; the others have numbers nobody can guess.
 */
static int publish(struct rover_qp *qp, enum ib_qp_type type)
{
	if (type != IB_QPT_GSI)
		return rover_table_insert(&rover_qpns, &qp->obj,
					  ROVER_GSI_QPN + 1);
	qp->obj.key = ROVER_GSI_QPN;
	return cmpxchg((__force struct rover_qp **)&qp->dev->gsi, NULL, qp) ?
	       -EBUSY : 0;
}

static void unpublish(struct rover_qp *qp)
{
	/* Readers may hold either for a grace period. */
	if (qp->obj.key == ROVER_GSI_QPN)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		rover_table_remove(&rover_qpns, &qp->obj);
}

/*
 * The device goes away under a program that did not ask for it and may be waiting for
 * completions: flush.  What the program posts from now on needs a doorbell (K2), and
 * there is none any more.
 */
static void qp_hand_back(struct rover_qp *qp)
{
	spin_lock_bh(&qp->tx_lock);
	rover_qp_fail(qp, ROVER_EVENT_NONE);
	spin_unlock_bh(&qp->tx_lock);
	rover_run_flush(qp);
}

/* The end of its life: from here on only its memory is used. */
static void kill(struct rover_qp *qp)
{
	int from;

	mutex_lock(&qp->ctl);
	if (qp->user && READ_ONCE(qp->dev->going))
		qp_hand_back(qp);
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
	unpublish(qp);
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

	if (!permitted(dev, init))
		return -EPERM;
	err = check_init(init, udata);
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
	init_fields(qp, ib, init, ucontext);
	err = create_rings(qp, init, ucontext, &resp);
	if (err)
		goto err_dismantle;

	/* Last, since the wire can find it from now on. */
	err = publish(qp, init->qp_type);
	if (err)
		goto err_dismantle;
	ib->qp_num = qp->obj.key;
	rcu_assign_pointer(container_of(ib, struct rover_ibqp, ib)->qp, qp);

	if (udata) {
		resp.qpn = qp->obj.key;
		err = ib_respond_udata(udata, resp);
		if (err)
			goto err_kill;
	}
	return 0;

err_kill:
	kill(qp);
err_dismantle:
	dismantle(qp);
	return err;
}

int rover_qp_destroy(struct ib_qp *ib, struct ib_udata *udata)
{
	struct rover_qp *qp = rover_qp(ib);

	kill(qp);
	rover_qp_forget(qp);
	if (qp->scq)
		rover_cq_settle(qp->scq);
	if (qp->rcq)
		rover_cq_settle(qp->rcq);
	dismantle(qp);
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
	/* Without the locks: onlookers are not to get in the way of packets. */
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	/*
	 * As they were set, and for whoever asks: `rdma resource' asks for nothing,
	 * and shows any user what it gets.
	 */
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
		.create_flags = qp->no_echo ?
				IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0,
		.port_num = 1,
	};
	rover_qp_put(qp);
	return 0;
}
