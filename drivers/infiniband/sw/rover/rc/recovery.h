/* SPDX-License-Identifier: GPL-2.0 */
/* recovery - find lost packets by what arrives */
#ifndef ROVER_RECOVERY_H
#define ROVER_RECOVERY_H

#include "qp/packet.h"
#include "qp/qp.h"

/* Events; tx_lock held. */

/**
 * rover_recovery_ack() - process a selective acknowledgment
 * @qp: alive
 * @pkt: ACK with a payload; req.una is set after it
 */
void rover_recovery_ack(struct rover_qp *qp, const struct rover_packet *pkt);

/**
 * rover_recovery_passed() - note that a response to an earlier request is missing
 * @qp: alive
 * @psn: the peer has executed all requests before it
 */
void rover_recovery_passed(struct rover_qp *qp, u32 psn);

/**
 * rover_recovery_response() - note a response that is held
 * @qp: alive
 * @psn: first PSN
 * @end: PSN after the last one
 */
void rover_recovery_response(struct rover_qp *qp, u32 psn, u32 end);

/* Handle a sequence NAK for packet req.una. */
void rover_recovery_nak(struct rover_qp *qp);

/**
 * rover_recovery_implied_nak() - handle a response or ACK behind a missing one
 * @qp: alive; the peer does not do selective retransmission
 * @psn: its PSN
 */
void rover_recovery_implied_nak(struct rover_qp *qp, u32 psn);

/* Handle the timer: gaps may have become losses. */
void rover_recovery_expired(struct rover_qp *qp);

/**
 * rover_recovery_progress() - learn from the answer to a probe
 * @qp: alive; a probe was sent; rover_retransmit_progress() was called
 */
void rover_recovery_progress(struct rover_qp *qp);

#endif /* ROVER_RECOVERY_H */
