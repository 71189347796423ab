/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cwnd - how much may be on its way, and in one train
 *
 * Requester, completer, retransmit and cnp report what they see; the two numbers
 * that come of it, packets and train, are read where packets are made.
 */
#ifndef ROVER_CWND_H
#define ROVER_CWND_H

#include "qp/qp.h"

/* Events; tx_lock held, softirqs off. */

/* A connection begins: its path MTU is known. */
void rover_cwnd_init(struct rover_qp *qp);
/* So many packets more have arrived. */
void rover_cwnd_acked(struct rover_qp *qp, u32 packets);
/* A packet that was sent once took @rtt ns to be acknowledged. */
void rover_cwnd_measured(struct rover_qp *qp, u64 rtt);
/* The peer has seen a gap. */
void rover_cwnd_lost(struct rover_qp *qp);
/* The network has marked packets of ours: a queue builds up on their way. */
void rover_cwnd_marked(struct rover_qp *qp);
/* What comes next is a probe: a single packet, perhaps in vain. */
void rover_cwnd_probe(struct rover_qp *qp);

#endif /* ROVER_CWND_H */
