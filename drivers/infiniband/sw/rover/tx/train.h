/* SPDX-License-Identifier: GPL-2.0 */
/* train - many packets in one trip through the stack */
#ifndef ROVER_TRAIN_H
#define ROVER_TRAIN_H

#include "qp/qp.h"
#include "tx/gso_segment.h"
#include "tx/trailer.h"
#include "wire/wire.h"

/**
 * struct rover_train - a train being built; on the stack
 * @qp: sender
 * @path: destination
 * @hdr_len: bytes before a packet's BTH
 * @qpn: remote queue pair number
 * @limit: most packets
 * @must_copy: payload may change
 * @linear: no scatter-gather: copy payload
 * @response: sent by the responder
 * @icrc_state: ICRCs of payload frags
 * @ip_id: counter of IPv4 identifications
 * @head: first packet; NULL while empty
 * @last: last skb
 * @long_trailer: trailer of @last while MIDDLEs may join, else NULL
 * @small_trailer: trailer for @last while small packets may join, else NULL
 * @long_payload: payload of each packet in @last
 * @long_next_psn: PSN of the next MIDDLE
 * @packets: number of packets
 * @shared_packets: of these, by queue pairs before @qp (plug)
 * @max: @limit, but 1 for RoCE v1
 * @size: bytes of the first packet, from BTH to ICRC
 * @len: bytes of all packets, likewise
 * @psn: PSN of @qp's first packet
 */
struct rover_train {
	struct rover_qp *qp;
	struct rover_path *path;
	unsigned int hdr_len;
	u32 qpn;
	unsigned int limit;
	bool must_copy;
	bool linear;
	bool response;
	enum rover_icrc_state icrc_state;
	u16 *ip_id;
	struct sk_buff *head;
	struct sk_buff *last;
	struct rover_trailer *long_trailer;
	struct rover_trailer *small_trailer;
	u32 long_payload;
	u32 long_next_psn;
	unsigned int packets;
	unsigned int shared_packets;
	unsigned int max;
	unsigned int size;
	unsigned int len;
	u32 psn;
};

/**
 * struct rover_outgoing - a packet to be made
 * @opcode: BTH opcode
 * @flags: ROVER_BTH_SE or 0
 * @ackreq: set AckReq
 * @retransmit: may be a retransmission: always has an ICRC
 * @middles: of a FIRST: number of MIDDLEs
 * @psn: PSN
 * @ext: extended headers, in wire order
 * @ext_len: their bytes
 * @len: bytes of payload
 * @sgl: payload; moves on
 * @data: payload instead of @sgl, or NULL
 */
struct rover_outgoing {
	u8 opcode;
	u8 flags;
	bool ackreq;
	bool retransmit;
	u32 middles;
	u32 psn;
	u8 ext[sizeof(struct rover_xrceth) + sizeof(struct rover_atometh)];
	u8 ext_len;
	u32 len;
	struct rover_sgl *sgl;
	const void *data;
};

/**
 * rover_outgoing_init() - initialise a packet except @ext
 * @out: packet
 * @opcode: BTH opcode
 * @psn: PSN
 */
static inline void rover_outgoing_init(struct rover_outgoing *out, u8 opcode,
				       u32 psn)
{
	out->opcode = opcode;
	out->flags = 0;
	out->ackreq = false;
	out->retransmit = false;
	out->middles = 0;
	out->psn = psn;
	out->ext_len = 0;
	out->len = 0;
	out->sgl = NULL;
	out->data = NULL;
}

/**
 * rover_train_begin() - begin a train to the connected peer
 * @train: train
 * @qp: sender
 * @ip_id: counter of IPv4 identifications
 * @max: most packets
 */
void rover_train_begin(struct rover_train *train, struct rover_qp *qp,
		       u16 *ip_id, unsigned int max);

/**
 * rover_train_set_path() - set the destination of packets added next
 * @train: sent first if its path differs
 * @path: valid until @train is sent
 * @qpn: remote queue pair number
 * Context: queue pair's lock held.
 */
void rover_train_set_path(struct rover_train *train, struct rover_path *path,
			  u32 qpn);

/**
 * rover_train_add() - make a packet and append it
 * @train: sent first if the packet does not fit
 * @out: the packet
 * @fault: ROVER_OK, or the fault of its payload
 * Context: queue pair's lock held.
 * Return: 0; -ENOMEM, counted: try again later; -EFAULT: see @fault.
 */
int rover_train_add(struct rover_train *train, struct rover_outgoing *out,
		    enum rover_fault *fault);

/**
 * rover_train_may_share() - test whether to share a train
 * @train: not sent yet
 * Context: queue pair's lock held.
 * Return: true while in this kernel and too small for a worker (affinity).
 */
bool rover_train_may_share(struct rover_train *train);

/**
 * rover_train_take_over() - continue a waiting train
 * @train: empty, with the same route
 * @waiting: see rover_train_may_share(); is empty afterwards
 */
void rover_train_take_over(struct rover_train *train, struct rover_train *waiting);

/* Trace what @qp has added. */
void rover_train_trace(const struct rover_train *train);

/**
 * rover_train_send() - send a train
 * @train: may be empty; is empty afterwards
 * Context: softirqs off; queue pair's lock held unless the train has waited.
 */
void rover_train_send(struct rover_train *train);

#endif /* ROVER_TRAIN_H */
