/* SPDX-License-Identifier: GPL-2.0 */
/*
 * train - many packets in one trip through the stack
 */
#ifndef ROVER_TRAIN_H
#define ROVER_TRAIN_H

#include "qp/qp.h"
#include "tx/gso_segment.h"
#include "tx/trailer.h"
#include "wire/wire.h"

/**
 * struct rover_train - a train being put together; lives on the stack
 * @qp: whose the packets are that are added
 * @path: where it goes
 * @hdr_len: bytes in front of each packet's BTH
 * @qpn: to which queue pair there
 * @limit: most packets it may have, if its path allows it
 * @copy: payload may change as soon as its packet is made: never by reference
 * @flat: its netdev takes what is in one piece: payload is copied, too
 * @response: of a responder, else of a requester
 * @icrcs: who makes those of payload in frags
 * @ip_id: counter of IPv4 identifications, the owner's
 * @head: first packet; NULL while empty
 * @last: last packet, or block of them
 * @seal: that of @last while it is a block, or may become one; else NULL
 * @bundle: that of @last while it is a bundle, not appended yet; else NULL
 * @piece: payload of each packet in @last then
 * @next: and the number of the one that may follow
 * @packets: in it
 * @others: of those, what was there before @qp added any (plug)
 * @max: most packets it may have; 1 on paths of RoCE v1
 * @size: of the first packet, from BTH to ICRC: none may be much larger
 * @len: and of all
 * @psn: of the first packet of @qp
 */
struct rover_train {
	struct rover_qp *qp;
	struct rover_path *path;
	unsigned int hdr_len;
	u32 qpn;
	unsigned int limit;
	bool copy;
	bool flat;
	bool response;
	enum rover_icrc_state icrcs;
	u16 *ip_id;
	struct sk_buff *head;
	struct sk_buff *last;
	struct rover_trailer *seal;
	struct rover_trailer *bundle;
	u32 piece;
	u32 next;
	unsigned int packets;
	unsigned int others;
	unsigned int max;
	unsigned int size;
	unsigned int len;
	u32 psn;
};

/**
 * struct rover_outgoing - a packet to be made
 * @opcode: BTH opcode
 * @flags: BTH flags: ROVER_BTH_SE or 0
 * @ackreq: ask for an acknowledge
 * @again: it may have been sent before: it has its ICRC, whatever the others do
 * @middles: of a FIRST: so many follow
 * @psn: its number
 * @ext: extended headers, in wire order
 * @ext_len: their length in bytes
 * @len: payload in bytes
 * @sgl: where the payload comes from; moves on
 * @data: or this memory, when not NULL
 */
struct rover_outgoing {
	u8 opcode;
	u8 flags;
	bool ackreq;
	bool again;
	u32 middles;
	u32 psn;
	u8 ext[sizeof(struct rover_xrceth) + sizeof(struct rover_atometh)];
	u8 ext_len;
	u32 len;
	struct rover_sgl *sgl;
	const void *data;
};

/**
 * rover_outgoing_init() - a packet without flags, extended headers and payload
 * @out: to be initialised, but for @ext, which is nearly half of it
 * @opcode: BTH opcode
 * @psn: its number
 *
 * For those who make one for each small message; others may as well write all of it.
 */
static inline void rover_outgoing_init(struct rover_outgoing *out, u8 opcode,
				       u32 psn)
{
	out->opcode = opcode;
	out->flags = 0;
	out->ackreq = false;
	out->again = false;
	out->middles = 0;
	out->psn = psn;
	out->ext_len = 0;
	out->len = 0;
	out->sgl = NULL;
	out->data = NULL;
}

/**
 * rover_train_begin() - an empty train
 * @train: to be initialised
 * @qp: whose
 * @ip_id: the owner's counter of IPv4 identifications
 * @max: most packets; 1 sends each on its own
 *
 * It goes to the peer that the queue pair is connected to.
 */
void rover_train_begin(struct rover_train *train, struct rover_qp *qp,
		       u16 *ip_id, unsigned int max);

/**
 * rover_train_aim() - the packets that follow go elsewhere
 * @train: sent first when what is in it goes another way
 * @path: valid until the train has been sent
 * @qpn: queue pair there
 *
 * Context: the queue pair's lock held, softirqs off.
 */
void rover_train_aim(struct rover_train *train, struct rover_path *path,
		     u32 qpn);

/**
 * rover_train_add() - make a packet and couple it on
 * @train: sent first when it has no room for this packet
 * @out: the packet
 * @fault: ROVER_OK, or what is wrong with its memory
 *
 * Payload is taken by reference where that pays and can be done, else copied.
 *
 * Context: the queue pair's lock held, softirqs off.
 * Return: 0; -ENOMEM, counted: try again later; -EFAULT: see @fault.
 */
int rover_train_add(struct rover_train *train, struct rover_outgoing *out,
		    enum rover_fault *fault);

/**
 * rover_train_may_wait() - may packets of other queue pairs be added to it?
 * @train: not sent yet
 *
 * Where memory carries it, and nothing in it is large: so whatever is added to it,
 * none of it becomes heavy work (affinity), which is that of one queue pair.
 *
 * Context: the queue pair's lock held, softirqs off.
 */
bool rover_train_may_wait(struct rover_train *train);

/**
 * rover_train_resume() - go on with one that has waited
 * @train: empty, on the same way
 * @waiting: see rover_train_may_wait(); is empty afterwards
 */
void rover_train_resume(struct rover_train *train, struct rover_train *waiting);

/* Say in a trace what this queue pair has in it. */
void rover_train_trace(const struct rover_train *train);

/**
 * rover_train_send() - off it goes
 * @train: may be empty; is empty afterwards and may be used again
 *
 * Context: the queue pair's lock held, softirqs off; if it has waited, a reference
 * is enough.
 */
void rover_train_send(struct rover_train *train);

#endif /* ROVER_TRAIN_H */
