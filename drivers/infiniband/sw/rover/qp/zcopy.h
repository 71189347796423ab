/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zcopy - revocable zero-copy payload
 *
 * A packet that refers to registered memory may still be queued when the owner
 * gets the memory back: key closed, or request failed.  Its ICRC may be
 * computed late (gso_segment) or never (trailer).  So packets name sender and
 * key, and payload is read between rover_zcopy_begin(), which fails after a
 * revoke, and rover_zcopy_end(), for which a revoke waits (decision 0036).
 *
 *	reader				revoke, before the owner is told
 *	reader of this CPU = sender	sender's generation++
 *	full barrier (Z1)		full barrier (Z2)
 *	load sender's generation	wait for readers of this sender
 *
 * Z1 pairs with Z2: the reader sees the new generation, or revoke waits for it.
 * References protect the key (mkey).  Packets have no pointers: they may
 * outlive queue pair, region and device.
 */
#ifndef ROVER_ZCOPY_H
#define ROVER_ZCOPY_H

#include "qp/qp.h"

/**
 * struct rover_zcopy - owner of the payload of a packet
 * @qpn: sender; 0 if the payload is a copy
 * @response: sent by its responder
 * @gen: rover_qp.zcopy_gen of that side when sent
 * @key: memory key; number 0 for a key that never closes
 */
struct rover_zcopy {
	u32 qpn : 24;
	u32 response : 1;
	u32 gen;
	struct rover_mkey_id key;
};

/**
 * rover_zcopy_set_owner() - mark a packet as referring to registered memory
 * @zcopy: @key is set
 * @qp: sender
 * @response: sent by the responder
 * Context: rx_lock held for a response, else tx_lock.
 */
static inline void rover_zcopy_set_owner(struct rover_zcopy *zcopy,
					 struct rover_qp *qp, bool response)
{
	zcopy->qpn = qp->obj.key;
	zcopy->response = response;
	zcopy->gen = qp->zcopy_gen[response];
	if (response)
		qp->rsp.zcopy = true;
	else
		qp->req.zcopy = true;
}

/**
 * rover_zcopy_begin() - begin to read payload
 * @zcopy: of a packet, with a sender
 * @mkey: set, for rover_zcopy_end()
 *
 * A revoke spins meanwhile: only copy or sum, take only leaf locks, call no
 * consumer.
 * Context: softirqs off; holds rcu_read_lock() until rover_zcopy_end().
 * Return: false if revoked: do not call rover_zcopy_end().
 */
bool rover_zcopy_begin(const struct rover_zcopy *zcopy,
		       struct rover_mkey **mkey);

/* Counterpart of rover_zcopy_begin() */
void rover_zcopy_end(struct rover_mkey *mkey);

/**
 * rover_zcopy_drop() - count and trace a revoked packet
 * @zcopy: of the packet
 * Context: softirqs off.
 */
void rover_zcopy_drop(const struct rover_zcopy *zcopy);

/* Slow path of rover_zcopy_place() */
enum rover_fault rover_zcopy_write(struct rover_sgl *sgl,
				   const struct sk_buff *skb, int from, u32 len,
				   const struct rover_zcopy *zcopy);

/**
 * rover_zcopy_place() - write the payload of a packet to an SGL
 * @sgl: cursor with write access
 * @skb: packet
 * @from: offset of the payload
 * @len: its length
 * @zcopy: owner of the payload; NULL if the packet owns it
 * Return: as rover_sgl_write(); REVOKED if nothing was written.
 */
static inline enum rover_fault
rover_zcopy_place(struct rover_sgl *sgl, const struct sk_buff *skb, int from,
		  u32 len, const struct rover_zcopy *zcopy)
{
	if (!zcopy)
		return rover_sgl_write(sgl, skb, from, len);
	return rover_zcopy_write(sgl, skb, from, len, zcopy);
}

/**
 * rover_zcopy_revoke_send() - revoke payload sent by the requester
 * @qp: its requests fail, or get no more ACKs
 * Context: tx_lock held; waits for readers.
 */
void rover_zcopy_revoke_send(struct rover_qp *qp);

/**
 * rover_zcopy_revoke() - revoke all payload of a queue pair
 * @qp: moves to RESET or ERR, or is destroyed
 * Context: rx_lock and tx_lock held.
 */
void rover_zcopy_revoke(struct rover_qp *qp);

#endif /* ROVER_ZCOPY_H */
