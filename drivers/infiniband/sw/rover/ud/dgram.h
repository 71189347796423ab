/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dgram - common code of UD and raw packet QPs
 *
 * A message is one packet, completes when sent, and takes at most one receive.
 */
#ifndef ROVER_DGRAM_H
#define ROVER_DGRAM_H

#include "qp/qp.h"
#include "wire/fault.h"

/**
 * struct rover_dgram_ops - how a transport sends
 * @full: test whether to wait for the device
 * @emit: send the WQE at the ring head and set @len, the message length.  A
 *	lack of memory is no fault.  With ROVER_FAULT_PAGE the WQE waits.
 */
struct rover_dgram_ops {
	bool (*full)(struct rover_qp *qp, void *arg);
	enum rover_fault (*emit)(struct rover_qp *qp, void *arg, u32 *len);
};

/**
 * rover_dgram_init() - prepare sending
 * @qp: entering RTS; attr is set
 * Context: both locks held.
 */
void rover_dgram_init(struct rover_qp *qp);

/* Set the next PSN: nothing is outstanding. */
static inline void rover_dgram_psn(struct rover_req *req, u32 psn)
{
	WRITE_ONCE(req->psn, psn);
	WRITE_ONCE(req->next_psn, psn);
	WRITE_ONCE(req->una, psn);
}

/**
 * rover_dgram_send() - send posted WQEs until the device is full
 * @qp: alive
 * @ops: of the transport
 * @arg: for @ops
 *
 * A faulty WQE completes in error and takes the QP to SQE (IBTA 10.3.1.7).
 * Context: tx_lock held.
 */
void rover_dgram_send(struct rover_qp *qp, const struct rover_dgram_ops *ops,
		      void *arg);

/**
 * rover_dgram_take_recv() - take a receive for a message
 * @qp: alive, may receive
 * @need: bytes of the message
 * @opcode: for the trace
 * @psn: for the trace
 *
 * Drops the message if there is no receive or the oldest is too short, which
 * stays: strangers must not use up an SRQ's receives.
 * Context: rx_lock held.
 * Return: true to write the message to rsp.dst.
 */
bool rover_dgram_take_recv(struct rover_qp *qp, u32 need, u8 opcode, u32 psn);

/**
 * rover_dgram_finish_recv() - finish a message after rover_dgram_take_recv()
 * @qp: as above
 * @fault: of writing
 * @opcode: as above
 * @psn: as above
 * Context: rx_lock held.
 * Return: true to complete the receive.
 */
bool rover_dgram_finish_recv(struct rover_qp *qp, enum rover_fault fault,
			     u8 opcode, u32 psn);

#endif /* ROVER_DGRAM_H */
