/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zcopy - zero-copy payload, and until when it may be read
 *
 * A packet may point into registered memory.  It can wait in a queue for longer
 * than its sender may use that memory: the key is closed, or the request ends in
 * error, and the owner writes something else there.  A complete ICRC does not match
 * such bytes.  But a train's ICRCs are made late (gso_segment), and a receiver in this
 * kernel makes none (trailer).  So each such packet says whose payload it carries,
 * and the payload is read between rover_zcopy_begin() and rover_zcopy_end() only.
 * Begin fails once the payload is revoked, and revoking waits for the end.
 *
 *	reader				revoking, before the owner is told
 *	reader of this CPU = sender	sender's generation++
 *	full barrier (Z1)		full barrier (Z2)
 *	load sender's generation	wait for readers of this sender
 *
 * Z1 pairs with Z2: either the reader sees another generation, or its reading is
 * waited for.  For the key it is the same with its references (mkey).
 *
 * Packets carry numbers, not pointers: they may be there longer than queue pair,
 * region, and device.
 */
#ifndef ROVER_ZCOPY_H
#define ROVER_ZCOPY_H

#include "qp/qp.h"

/**
 * struct rover_zcopy - whose memory the payload of a packet lies in
 * @qpn: sender; 0 where the payload is a copy
 * @response: its responder has sent it, else its requester
 * @gen: generation of that side then, rover_qp.zcopy_gen
 * @key: key by which it was found; number 0 if that never closes
 */
struct rover_zcopy {
	u32 qpn : 24;
	u32 response : 1;
	u32 gen;
	struct rover_mkey_id key;
};

/**
 * rover_zcopy_lend() - a packet is going to point into registered memory
 * @zcopy: @key is set; the rest is set here
 * @qp: sender
 * @response: its responder sends it
 *
 * Context: rx_lock held for a response, else tx_lock.
 */
static inline void rover_zcopy_lend(struct rover_zcopy *zcopy,
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
 * rover_zcopy_begin() - is the payload still the sender's to send?
 * @zcopy: of a packet, with a sender
 * @mkey: to be given to rover_zcopy_end()
 *
 * Revoking spins until rover_zcopy_end(): between the two only copy or sum, take
 * no lock but leaves, and call no consumer.
 *
 * Context: softirqs off.
 * Return: true when it may be read; on false nothing is to be ended.
 */
bool rover_zcopy_begin(const struct rover_zcopy *zcopy,
		       struct rover_mkey **mkey);

/* Undoes rover_zcopy_begin(). */
void rover_zcopy_end(struct rover_mkey *mkey);

/**
 * rover_zcopy_drop() - payload that was revoked goes no further: count and trace it
 * @zcopy: of the packet
 *
 * Context: softirqs off.
 */
void rover_zcopy_drop(const struct rover_zcopy *zcopy);

/* rover_zcopy_place() of what is no copy. */
enum rover_fault rover_zcopy_write(struct rover_sgl *sgl,
				   const struct sk_buff *skb, int from, u32 len,
				   const struct rover_zcopy *zcopy);

/**
 * rover_zcopy_place() - rover_sgl_write() of a packet's payload
 * @sgl: cursor with write access
 * @skb: packet
 * @from: offset of the payload
 * @len: its length
 * @zcopy: whose it is; NULL for the packet's own
 *
 * Return: as rover_sgl_write(); REVOKED, and nothing was written.
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
 * rover_zcopy_revoke_send() - what the requester has on its way is not its to send
 *	any more
 * @qp: sender; its requests will not be acknowledged any more, or fail
 *
 * Nobody reads their payload when this returns.
 *
 * Context: tx_lock held.
 */
void rover_zcopy_revoke_send(struct rover_qp *qp);

/**
 * rover_zcopy_revoke() - nor is what the responder has
 * @qp: goes to RESET or ERR, or is destroyed
 *
 * Context: rx_lock and tx_lock held.
 */
void rover_zcopy_revoke(struct rover_qp *qp);

#endif /* ROVER_ZCOPY_H */
