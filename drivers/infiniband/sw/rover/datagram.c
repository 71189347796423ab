// SPDX-License-Identifier: GPL-2.0
/*
 * datagram - unreliable datagrams, in both directions
 *
 * A datagram is one packet, and done when it is sent: nothing is remembered of
 * it, and its buffer is the program's again at once, so its data is copied.
 * Datagrams that follow one another on the same path travel as a train.
 *
 * What cannot be sent for want of memory or of a route is lost like anything
 * else on the way; only what is wrong with a work request itself ends in an
 * error, and takes the send queue to SQE (IBTA 10.3.1.7).
 *
 * Whoever receives is at anybody's mercy: what does not fit is dropped and
 * counted, and takes no receive and no state with it (IBTA 9.8.3, 9.9.3).
 */
#include <linux/if_vlan.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "ah.h"
#include "cq.h"
#include "datagram.h"
#include "grh.h"
#include "nettx.h"
#include "psn.h"
#include "qps.h"
#include "route.h"
#include "trace.h"
#include "train.h"
#include "wqe.h"

/* Datagrams in one go, and at most so many are lost at once. */
#define BUDGET		256
#define TRAIN_MAX	16

/* Bit of a Q_Key in a work request: take the queue pair's own (IBTA 10.2.5). */
#define OWN_QKEY	BIT(31)

/* What is sent is done with: nothing is ever outstanding. */
static void set_psn(struct rover_req *req, u32 psn)
{
	WRITE_ONCE(req->psn, psn);
	WRITE_ONCE(req->next_psn, psn);
	WRITE_ONCE(req->una, psn);
}

void rover_datagram_init(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	memset(&qp->req, 0, sizeof(qp->req));
	rover_demand_reset(&qp->tx_demand);
	set_psn(&qp->req, qp->attr.sq_psn & ROVER_PSN_MASK);
}

/* Sending ********************************************************************/

/* Aim at the address handle that the work request names. */
static enum rover_fault aim(struct rover_qp *qp, struct rover_train *train)
{
	struct rover_send_wqe *hdr = &qp->req.wqe.hdr;
	struct rover_ah *ah;

	if (hdr->remote_qpn & ~ROVER_24BIT || hdr->reserved_24)
		return ROVER_FAULT_WQE;
	if (!qp->user) {
		ah = *rover_ah_of_kernel(hdr);
	} else {
		if (hdr->reserved_28)
			return ROVER_FAULT_WQE;
		ah = rover_ah_find(qp->dev, qp->pd, hdr->ah);
		if (!ah)
			return ROVER_FAULT_AH;
	}
	rover_train_aim(train, &ah->path, hdr->remote_qpn);
	return ROVER_OK;
}

static void put_headers(const struct rover_qp *qp, struct rover_outgoing *out)
{
	const struct rover_send_wqe *hdr = &qp->req.wqe.hdr;
	u32 qkey = hdr->remote_qkey & OWN_QKEY ? qp->qkey : hdr->remote_qkey;
	struct rover_deth deth = {
		.qkey = cpu_to_be32(qkey),
		.sqp = cpu_to_be32(qp->obj.key),
	};

	memcpy(out->ext, &deth, sizeof(deth));
	out->ext_len = sizeof(deth);
	if (rover_opcodes[out->opcode].flags & ROVER_OP_IMM) {
		memcpy(out->ext + out->ext_len, &hdr->imm, sizeof(hdr->imm));
		out->ext_len += sizeof(hdr->imm);
	}
	if (hdr->flags & ROVER_WQE_SOLICITED)
		out->flags = ROVER_BTH_SE;
}

/* The oldest work request becomes a packet. */
static enum rover_fault send_packet(struct rover_qp *qp,
				    struct rover_train *train, u32 *len)
{
	struct rover_req *req = &qp->req;
	struct rover_wqe *wqe = &req->wqe;
	struct rover_outgoing out = { .psn = req->psn, .sgl = &req->sgl };
	enum rover_fault fault;
	u64 length;

	fault = rover_wqe_copy(qp, qp->sq.head, wqe, &length);
	if (fault)
		return fault;
	out.opcode = rover_wrs[wqe->hdr.opcode].datagram;
	if (!out.opcode)
		return ROVER_FAULT_WQE;
	if (length > ib_mtu_enum_to_int(rover_dev_mtu(qp->dev)))
		return ROVER_FAULT_SEND_LENGTH;
	fault = aim(qp, train);
	if (fault)
		return fault;

	*len = length;
	out.len = length;
	put_headers(qp, &out);
	if (wqe->hdr.flags & ROVER_WQE_INLINE)
		out.data = rover_ring_slot(&qp->sq, wqe->index) +
			   ROVER_SEND_WQE_HDR;
	rover_sgl_init(&req->sgl, qp->pd, wqe->sge, wqe->hdr.num_sge, 0,
		       &qp->tx_demand);
	/* Without memory it is lost, and counted, like any other on the way. */
	if (rover_train_add(train, &out, &fault) == -EFAULT)
		return fault;
	set_psn(req, rover_psn_add(req->psn, 1));
	return ROVER_OK;
}

/* Return false when there is nothing more to send, or it may not be sent. */
static bool send_next(struct rover_qp *qp, struct rover_train *train,
		      int *budget)
{
	const struct rover_send_wqe *hdr = &qp->req.wqe.hdr;
	int posted = rover_ring_posted(&qp->sq, qp->sq.head);
	struct rover_sent row;
	enum rover_fault fault;
	u32 len = 0;

	if (posted < 0)
		rover_qp_fail(qp, ROVER_EVENT_QP_FATAL);
	if (posted <= 0 || !rover_qp_allows(qp, ROVER_MAY_SEND))
		return false;
	if (!(*budget)--) {
		set_bit(ROVER_WORK_TX, &qp->work);
		return false;
	}
	if (!train->packets && rover_nettx_full(qp))
		return false;

	fault = send_packet(qp, train, &len);
	rover_sgl_release(&qp->req.sgl);
	/* It stays where it is: whoever brings its memory runs us again. */
	if (unlikely(fault == ROVER_FAULT_PAGE))
		return false;
	/* The slot first: a program that sees the completion may use it. */
	rover_ring_retire(&qp->sq, 1);
	if (fault) {
		trace_rover_fault(qp->obj.key, qp->req.psn, fault);
		rover_qp_fail_send(qp);
		rover_wqe_fail(qp, hdr->wr_id, hdr->opcode, fault);
		/* Now: at the error's completion a program may be back in RTS. */
		rover_wqe_flush(qp);
		return false;
	}
	row = (struct rover_sent) {
		.wr_id = hdr->wr_id,
		.length = len,
		.opcode = hdr->opcode,
		.flags = hdr->flags,
	};
	rover_wqe_complete(qp, &row, ROVER_OK);
	return true;
}

void rover_datagram_send(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_train train;
	int budget = BUDGET;

	lockdep_assert_held(&qp->tx_lock);
	/* Address handles are there until the train has left. */
	rcu_read_lock();
	rover_train_begin(&train, qp, &req->ip_id, TRAIN_MAX);
	train.copy = true;
	while (send_next(qp, &train, &budget))
		;
	rover_train_send(&train);
	rcu_read_unlock();
	if (READ_ONCE(qp->state) == IB_QPS_SQD)
		rover_qp_drained(qp);
}

/* Receiving ******************************************************************/

static void drop(const struct rover_qp *qp, const struct rover_packet *pkt,
		 enum rover_stat why)
{
	rover_qp_drop(qp, why, pkt->opcode, pkt->psn);
}

static void tell_vlan(struct rover_cqe *cqe, u16 vlan)
{
	cqe->vlan_id = vlan;
	cqe->flags |= ROVER_CQE_VLAN;
}

/*
 * Was it sent to an address of this device?  The socket takes what is for any
 * address of the namespace, broadcasts included.
 */
static bool address_good(const struct rover_qp *qp,
			 const struct rover_packet *pkt, struct rover_cqe *cqe)
{
	const struct ib_gid_attr *gid;
	u16 vlan = 0xffff;

	/* To a group: whoever brought it here has looked at that. */
	if (pkt->group) {
		if (is_vlan_dev(pkt->group->dev))
			tell_vlan(cqe, vlan_dev_vlan_id(pkt->group->dev));
		return true;
	}
	gid = rover_route_gid(&qp->dev->ib, pkt->l3, pkt->ip);
	if (IS_ERR(gid))
		return false;
	if (!rdma_read_gid_l2_fields(gid, &vlan, NULL) && vlan != 0xffff)
		tell_vlan(cqe, vlan);
	rdma_put_gid_attr(gid);
	return true;
}

/* What it has sent itself, to a group it is in, and does not want. */
static bool is_echo(const struct rover_qp *qp, const struct rover_packet *pkt)
{
	const struct sk_buff *skb = pkt->group;

	/* From another host the number would mean another queue pair. */
	return qp->no_echo && skb &&
	       (skb->pkt_type == PACKET_LOOPBACK ||
		skb->dev->flags & IFF_LOOPBACK) &&
	       (be32_to_cpu(pkt->hdr.deth.sqp) & ROVER_24BIT) == qp->obj.key;
}

/* Header and payload go to the receive that was taken. */
static enum rover_fault place(struct rover_qp *qp,
			      const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;
	u8 grh[ROVER_GRH_SIZE];
	enum rover_fault fault;

	rover_grh_make(grh, pkt->l3, pkt->ip, pkt->op->hdr_len + pkt->payload +
		       pkt->pad + ROVER_ICRC_SIZE);
	fault = rover_sgl_write_mem(&rsp->dst, grh, sizeof(grh));
	if (!fault)
		fault = rover_sgl_write(&rsp->dst, pkt->skb, pkt->payload_at,
					pkt->payload);
	return rover_fault_of_recv(fault);
}

/* The receive that was taken is good for nothing: so is the queue pair. */
static void fail_recv(struct rover_qp *qp, const struct rover_packet *pkt,
		      enum rover_fault fault)
{
	trace_rover_fault(qp->obj.key, pkt->psn, fault);
	rover_qp_fail(qp, ROVER_EVENT_NONE);
	rover_wqe_recv_fail(qp, qp->rsp.wqe.wr_id, fault,
			    rover_faults[fault].resp_wc);
}

/* There is no receive for it. */
static void refuse(struct rover_qp *qp, const struct rover_packet *pkt,
		   enum rover_fault fault)
{
	if (fault == ROVER_FAULT_RNR) {
		drop(qp, pkt, ROVER_STAT_DROP_NO_RECV);
	} else if (fault == ROVER_FAULT_TOO_LONG) {
		drop(qp, pkt, ROVER_STAT_DROP_RECV_SHORT);
	} else {
		trace_rover_fault(qp->obj.key, pkt->psn, fault);
		rover_qp_fail(qp, rover_faults[fault].resp_event);
	}
}

/* What a completion tells of the header in front of the data. */
static const struct {
	u8 flags;
	u8 sl;
} kinds[] = {
	[ROVER_L3_IPV4] = { ROVER_CQE_IPV4, ROVER_CQE_SL_IPV4 },
	[ROVER_L3_IPV6] = { 0, ROVER_CQE_SL_IPV6 },
	[ROVER_L3_GRH] = { 0, ROVER_CQE_SL_GRH },
};

static void complete_recv(struct rover_qp *qp, const struct rover_packet *pkt,
			  struct rover_cqe *cqe)
{
	cqe->wr_id = qp->rsp.wqe.wr_id;
	cqe->src_qpn = be32_to_cpu(pkt->hdr.deth.sqp) & ROVER_24BIT;
	cqe->byte_len = ROVER_GRH_SIZE + pkt->payload;
	cqe->opcode = ROVER_CQE_RECV;
	cqe->flags |= ROVER_CQE_GRH | kinds[pkt->l3].flags;
	cqe->sl = kinds[pkt->l3].sl;
	if (pkt->op->flags & ROVER_OP_IMM) {
		cqe->imm = (__force u32)pkt->imm;
		cqe->flags |= ROVER_CQE_WITH_IMM;
	}
	rover_qp_count(qp, ROVER_STAT_RX_SEND);
	rover_wqe_recv_complete(qp, cqe, pkt->solicited);
}

/*
 * Take the oldest receive, if it has room: else it stays where it is.  Where it
 * is shared that is so all the more, or strangers could take the receives of
 * connections.
 */
static enum rover_fault take(struct rover_qp *qp, u32 need)
{
	struct rover_rsp *rsp = &qp->rsp;
	enum rover_fault fault;

	/* Still in hand, as its memory was not there when the last one came. */
	if (unlikely(rsp->have_wqe))
		return need > rsp->dst.total ? ROVER_FAULT_TOO_LONG : ROVER_OK;
	fault = rover_wqe_recv(qp, need);
	if (!fault)
		rover_sgl_init(&rsp->dst, qp->recv_pd, rsp->sge,
			       rsp->wqe.num_sge, IB_ACCESS_LOCAL_WRITE,
			       &qp->rx_demand);
	return fault;
}

static void receive(struct rover_qp *qp, const struct rover_packet *pkt,
		    struct rover_cqe *cqe)
{
	enum rover_fault fault = take(qp, ROVER_GRH_SIZE + pkt->payload);
	struct rover_rsp *rsp = &qp->rsp;

	if (!rsp->have_wqe || fault == ROVER_FAULT_TOO_LONG) {
		refuse(qp, pkt, fault);
		return;
	}
	if (!fault) {
		rover_sgl_seek(&rsp->dst, 0);
		fault = place(qp, pkt);
		rover_sgl_release(&rsp->dst);
	}
	/* Lost, but the next one finds memory. */
	if (unlikely(fault == ROVER_FAULT_PAGE)) {
		drop(qp, pkt, ROVER_STAT_DROP_PAGE);
		return;
	}
	rsp->have_wqe = false;
	if (fault)
		fail_recv(qp, pkt, fault);
	else
		complete_recv(qp, pkt, cqe);
}

void rover_datagram_receive(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_cqe cqe = {};

	lockdep_assert_held(&qp->rx_lock);
	if (be32_to_cpu(pkt->hdr.deth.qkey) != qp->qkey) {
		drop(qp, pkt, ROVER_STAT_DROP_QKEY);
		return;
	}
	/* Whoever reads them relies on that (IBTA 13.4.2). */
	if (qp->obj.key == ROVER_GSI_QPN && pkt->payload != IB_MGMT_MAD_SIZE) {
		drop(qp, pkt, ROVER_STAT_DROP_LENGTH);
		return;
	}
	if (unlikely(is_echo(qp, pkt)))
		return;
	if (!address_good(qp, pkt, &cqe)) {
		drop(qp, pkt, ROVER_STAT_DROP_ADDRESS);
		return;
	}
	receive(qp, pkt, &cqe);
}
