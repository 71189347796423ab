/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dgram - messages that are whole in one packet, and done when it is sent
 *
 * What datagrams and raw packets have in common: nothing of a message is
 * remembered once it has left, and what arrives takes one receive or none.
 */
#ifndef ROVER_DGRAM_H
#define ROVER_DGRAM_H

#include "qp/qp.h"
#include "wire/fault.h"

/**
 * struct rover_sending - how one kind of message leaves
 * @full: has it to wait for the device?
 * @emit: the oldest work request, at the head of the ring, becomes a packet;
 *	length of the message in @len.  What is lost for want of memory is no
 *	fault: only what is wrong with the request.  PAGE: it is to wait.
 */
struct rover_sending {
	bool (*full)(struct rover_qp *qp, void *arg);
	enum rover_fault (*emit)(struct rover_qp *qp, void *arg, u32 *len);
};

/**
 * rover_dgram_init() - ready to send the first one
 * @qp: on its way to RTS; attr.sq_psn is set
 *
 * Context: both locks held.
 */
void rover_dgram_init(struct rover_qp *qp);

/* The packet before this one is sent, and done with: nothing is outstanding. */
static inline void rover_dgram_psn(struct rover_req *req, u32 psn)
{
	WRITE_ONCE(req->psn, psn);
	WRITE_ONCE(req->next_psn, psn);
	WRITE_ONCE(req->una, psn);
}

/**
 * rover_dgram_send() - send what is posted, as far as the device takes it
 * @qp: alive
 * @how: its kind of message
 * @arg: for the functions of @how
 *
 * A work request with a fault ends in an error and takes the send queue to SQE
 * (IBTA 10.3.1.7).
 *
 * Context: tx_lock held, softirqs off.
 */
void rover_dgram_send(struct rover_qp *qp, const struct rover_sending *how,
		      void *arg);

/**
 * rover_dgram_take() - a receive for a message
 * @qp: alive, in a state that receives
 * @need: bytes of it
 * @opcode: of its packet, for the trace
 * @psn: likewise
 *
 * Without one, or with one that is too short, which stays where it is, the
 * message is dropped and counted.  Where receives are shared that is so all the
 * more, or strangers could take the receives of connections.
 *
 * Context: rx_lock held, softirqs off.
 * Return: true when it can be written to rsp.dst, from its start.
 */
bool rover_dgram_take(struct rover_qp *qp, u32 need, u8 opcode, u32 psn);

/**
 * rover_dgram_end() - the message has been written, or could not be
 * @qp: rover_dgram_take() returned true
 * @fault: what writing said
 * @opcode: as there
 * @psn: as there
 *
 * Context: rx_lock held, softirqs off.
 * Return: true when its receive is to be completed; else all is done.
 */
bool rover_dgram_end(struct rover_qp *qp, enum rover_fault fault, u8 opcode,
		     u32 psn);

#endif /* ROVER_DGRAM_H */
