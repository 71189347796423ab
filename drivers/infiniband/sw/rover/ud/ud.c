// SPDX-License-Identifier: GPL-2.0
/*
 * ud - unreliable datagrams
 *
 * Datagrams complete when sent, so data is copied.  Consecutive ones on one
 * path form a train.  Without memory or route they count as lost on the wire
 * (decision 0011).
 */
#include <linux/if_vlan.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "addr/ah.h"
#include "addr/path.h"
#include "core/trace.h"
#include "qp/cq.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "tx/nettx.h"
#include "tx/train.h"
#include "ud/dgram.h"
#include "ud/ud.h"
#include "wire/grh.h"
#include "wire/psn.h"

/* Datagrams that may be lost together. */
#define UD_TRAIN_MAX	16

/* Flag in a WQE's Q_Key: use the QP's instead (IBTA 10.2.5). */
#define OWN_QKEY	BIT(31)

/* Sending ********************************************************************/

static enum rover_fault ud_aim_train(struct rover_qp *qp,
				     struct rover_train *train)
{
	const struct rover_send_wqe *hdr = &qp->req.wqe.hdr;
	struct rover_ah *ah;

	if (hdr->remote_qpn & ~ROVER_24BIT || hdr->reserved_24)
		return ROVER_FAULT_WQE;
	if (!qp->user) {
		ah = qp->req.wqe.kernel.ah;
	} else {
		if (hdr->reserved_28)
			return ROVER_FAULT_WQE;
		ah = rover_ah_find(qp->dev, qp->pd, hdr->ah);
		if (!ah)
			return ROVER_FAULT_AH;
	}
	rover_train_set_path(train, &ah->path, hdr->remote_qpn);
	return ROVER_OK;
}

static void ud_put_headers(const struct rover_qp *qp,
			   struct rover_outgoing *out)
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

static enum rover_fault ud_send_packet(struct rover_qp *qp, void *arg, u32 *len)
{
	struct rover_train *train = arg;
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
	fault = ud_aim_train(qp, train);
	if (fault)
		return fault;

	*len = length;
	out.len = length;
	ud_put_headers(qp, &out);
	if (wqe->hdr.flags & ROVER_WQE_INLINE)
		out.data = rover_ring_slot(&qp->sq, wqe->index) +
			   ROVER_SEND_WQE_HDR;
	rover_sgl_init(&req->sgl, qp->pd, wqe->sge, wqe->hdr.num_sge, 0,
		       &qp->tx_pagein);
	/* Ignore -ENOMEM: the datagram is lost. */
	if (rover_train_add(train, &out, &fault) == -EFAULT)
		return fault;
	rover_dgram_psn(req, rover_psn_add(req->psn, 1));
	return ROVER_OK;
}

static bool ud_tx_full(struct rover_qp *qp, void *arg)
{
	const struct rover_train *train = arg;

	return !train->packets && rover_nettx_throttled(qp);
}

static const struct rover_dgram_ops ud_dgram_ops = {
	.full = ud_tx_full,
	.emit = ud_send_packet,
};

void rover_ud_send(struct rover_qp *qp)
{
	struct rover_req *req = &qp->req;
	struct rover_train train;

	lockdep_assert_held(&qp->tx_lock);
	/* RCU keeps the AHs until the train is sent. */
	rcu_read_lock();
	rover_train_begin(&train, qp, &req->ip_id, UD_TRAIN_MAX);
	train.must_copy = true;
	rover_dgram_send(qp, &ud_dgram_ops, &train);
	rover_train_send(&train);
	rcu_read_unlock();
	if (READ_ONCE(qp->state) == IB_QPS_SQD)
		rover_qp_drained(qp);
}

/* Receiving ******************************************************************/

static void ud_drop_packet(const struct rover_qp *qp,
			   const struct rover_packet *pkt, enum rover_stat why)
{
	rover_qp_drop(qp, why, pkt->opcode, pkt->psn);
}

static void ud_set_vlan(struct rover_cqe *cqe, u16 vlan)
{
	cqe->vlan_id = vlan;
	cqe->flags |= ROVER_CQE_VLAN;
}

/* The socket accepts all addresses of the namespace, and broadcasts. */
static bool ud_address_valid(const struct rover_qp *qp,
			     const struct rover_packet *pkt,
			     struct net_device *ndev, struct rover_cqe *cqe)
{
	const struct ib_gid_attr *gid;
	u16 vlan = 0xffff;

	/* netrx has checked the group. */
	if (pkt->multicast) {
		if (is_vlan_dev(ndev))
			ud_set_vlan(cqe, vlan_dev_vlan_id(ndev));
		return true;
	}
	gid = rover_path_find_gid(&qp->dev->ib, pkt->l3, pkt->ip, ndev);
	if (IS_ERR(gid))
		return false;
	if (!rdma_read_gid_l2_fields(gid, &vlan, NULL) && vlan != 0xffff)
		ud_set_vlan(cqe, vlan);
	rdma_put_gid_attr(gid);
	return true;
}

static bool ud_is_echo(const struct rover_qp *qp,
		       const struct rover_packet *pkt)
{
	const struct sk_buff *skb = pkt->head;

	/* Only looped-back packets: other hosts may use this QPN, too. */
	return qp->block_mcast_loopback && pkt->multicast &&
	       (skb->pkt_type == PACKET_LOOPBACK ||
		skb->dev->flags & IFF_LOOPBACK) &&
	       (be32_to_cpu(pkt->hdr.deth.sqp) & ROVER_24BIT) == qp->obj.key;
}

static enum rover_fault ud_place_packet(struct rover_qp *qp,
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

/* The SL tells the header in front of the data (decision 0020). */
static const u8 ud_cqe_sl[] = {
	[ROVER_L3_IPV4] = ROVER_CQE_SL_IPV4,
	[ROVER_L3_IPV6] = ROVER_CQE_SL_IPV6,
	[ROVER_L3_GRH] = ROVER_CQE_SL_GRH,
};

static void ud_complete_recv(struct rover_qp *qp,
			     const struct rover_packet *pkt,
			     struct rover_cqe *cqe)
{
	cqe->wr_id = qp->rsp.wqe.wr_id;
	cqe->src_qpn = be32_to_cpu(pkt->hdr.deth.sqp) & ROVER_24BIT;
	cqe->byte_len = ROVER_GRH_SIZE + pkt->payload;
	cqe->opcode = ROVER_CQE_RECV;
	cqe->flags |= ROVER_CQE_GRH;
	cqe->sl = ud_cqe_sl[pkt->l3];
	if (pkt->op->flags & ROVER_OP_IMM) {
		cqe->imm = (__force u32)pkt->imm;
		cqe->flags |= ROVER_CQE_WITH_IMM;
	}
	rover_qp_count(qp, ROVER_STAT_RX_SEND);
	rover_wqe_recv_complete(qp, cqe, pkt->solicited);
}

static void ud_deliver_packet(struct rover_qp *qp,
			      const struct rover_packet *pkt,
			      struct rover_cqe *cqe)
{
	if (rover_dgram_take_recv(qp, ROVER_GRH_SIZE + pkt->payload,
				  pkt->opcode, pkt->psn) &&
	    rover_dgram_finish_recv(qp, ud_place_packet(qp, pkt), pkt->opcode,
				    pkt->psn))
		ud_complete_recv(qp, pkt, cqe);
}

void rover_ud_receive(struct rover_qp *qp, const struct rover_packet *pkt,
		      struct net_device *ndev)
{
	struct rover_cqe cqe = {};

	lockdep_assert_held(&qp->rx_lock);
	if (be32_to_cpu(pkt->hdr.deth.qkey) != qp->qkey) {
		ud_drop_packet(qp, pkt, ROVER_STAT_DROP_QKEY);
		return;
	}
	/* Readers rely on the size (IBTA 13.4.2). */
	if (qp->obj.key == ROVER_GSI_QPN && pkt->payload != IB_MGMT_MAD_SIZE) {
		ud_drop_packet(qp, pkt, ROVER_STAT_DROP_LENGTH);
		return;
	}
	if (unlikely(ud_is_echo(qp, pkt)))
		return;
	if (!ud_address_valid(qp, pkt, ndev, &cqe)) {
		ud_drop_packet(qp, pkt, ROVER_STAT_DROP_ADDRESS);
		return;
	}
	ud_deliver_packet(qp, pkt, &cqe);
}
