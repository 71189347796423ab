/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cwnd - congestion window and packets per train
 *
 * Sets cwnd.packets and cwnd.train.
 */
#ifndef ROVER_CWND_H
#define ROVER_CWND_H

#include "qp/qp.h"

/* Events; tx_lock held. */

/* A connection starts; its path MTU is known. */
void rover_cwnd_init(struct rover_qp *qp);
void rover_cwnd_acked(struct rover_qp *qp, u32 packets);
/* A packet sent once was acknowledged after @rtt ns. */
void rover_cwnd_rtt_sample(struct rover_qp *qp, u64 rtt);
/* A flight is going to have losses, which rover_cwnd_undo() may take back. */
void rover_cwnd_flight(struct rover_qp *qp);
/* @lost packets were found missing. */
void rover_cwnd_lost(struct rover_qp *qp, u32 lost, u64 now);
/* The losses of this flight were none: restore the window. */
void rover_cwnd_undo(struct rover_qp *qp);
/* Packets were ECN-marked. */
void rover_cwnd_marked(struct rover_qp *qp);
/* Send a single packet next. */
void rover_cwnd_probe(struct rover_qp *qp);

#endif /* ROVER_CWND_H */
