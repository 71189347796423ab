// SPDX-License-Identifier: GPL-2.0
/*
 * fake_train - tx/: packets for the network in place of trains
 *
 * A packet is an skb of BTH, extended headers and payload, a copy.  The packets
 * of a train are linked by next.
 */
#include "model.h"
#include "net.h"
#include "options.h"
#include "pair.h"
#include "tx/nettx.h"
#include "tx/plug.h"
#include "tx/train.h"
#include "wire/psn.h"

/* IP, UDP, ICRC, and an Ethernet frame with preamble and gap. */
#define WIRE_OVERHEAD	(20 + 8 + ROVER_ICRC_SIZE + 38)

void rover_train_begin(struct rover_train *train, struct rover_qp *qp,
		       u16 *ip_id, unsigned int max)
{
	*train = (struct rover_train) {
		.qp = qp,
		.path = &qp->path,
		.qpn = qp->remote_qpn,
		.ip_id = ip_id,
		.limit = min_t(unsigned int, max, ROVER_TRAIN_MAX),
	};
	train->max = train->limit;
}

void rover_train_set_path(struct rover_train *train, struct rover_path *path,
			  u32 qpn)
{
	train->qpn = qpn;
}

static struct sk_buff *train_make_packet(const struct rover_train *train,
					 struct rover_outgoing *out,
					 enum rover_fault *fault)
{
	unsigned int hdr = sizeof(struct rover_bth) + out->ext_len;
	struct sk_buff *skb = sim_skb_alloc();
	struct rover_bth *bth = (void *)skb->data;

	*bth = (struct rover_bth) {
		.opcode = out->opcode,
		.flags = out->flags | ROVER_BTH_MIG |
			 FIELD_PREP(ROVER_BTH_PAD, rover_pad(out->len)),
		.qpn = cpu_to_be32(train->qpn),
		.psn = cpu_to_be32(out->psn |
				   (out->ackreq ? ROVER_BTH_ACKREQ : 0) |
				   (opts.gbn ? 0 : ROVER_BTH_SACK)),
	};
	memcpy(bth + 1, out->ext, out->ext_len);
	if (out->data)
		memcpy(skb->data + hdr, out->data, out->len);
	else if (out->len)
		*fault = rover_sgl_read(out->sgl, skb->data + hdr, out->len);
	skb->len = hdr + out->len + rover_pad(out->len);
	skb->wire = skb->len + WIRE_OVERHEAD;
	skb->again = out->retransmit;
	skb->ect = opts.ecn_min;
	return skb;
}

int rover_train_add(struct rover_train *train, struct rover_outgoing *out,
		    enum rover_fault *fault)
{
	struct sk_buff *skb;

	lockdep_assert(lockdep_is_held(&train->qp->tx_lock) ||
		       lockdep_is_held(&train->qp->rx_lock));
	if (opts.audit && rover_opcodes[out->opcode].class >= ROVER_CLASS_READ &&
	    rover_opcodes[out->opcode].class <= ROVER_CLASS_FLUSH)
		model_rd_atomic(train->qp);
	*fault = ROVER_OK;
	skb = train_make_packet(train, out, fault);
	if (*fault) {
		kfree_skb(skb);
		return -EFAULT;
	}
	if (train->head)
		train->last->next = skb;
	else
		train->head = skb;
	train->last = skb;
	train->packets++;
	if (train->packets >= train->max)
		rover_train_send(train);
	return 0;
}

void rover_train_send(struct rover_train *train)
{
	if (!train->head)
		return;
	net_send(pair_end(train->qp), train->head, train->packets);
	train->head = NULL;
	train->last = NULL;
	train->packets = 0;
}

void rover_plug_begin(struct rover_train *train, struct rover_qp *qp,
		      u16 *ip_id, unsigned int max)
{
	rover_train_begin(train, qp, ip_id, max);
}

void rover_plug_send(struct rover_train *train)
{
	rover_train_send(train);
}

bool rover_nettx_throttled(struct rover_qp *qp)
{
	if (atomic_read(&qp->tx_skbs) < opts.txq)
		return false;
	set_bit(ROVER_TX_BLOCKED, &qp->work);
	return true;
}
