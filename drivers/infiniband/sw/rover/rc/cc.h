/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cc - congestion control
 *
 * Reports events to the algorithm of a queue pair (rover_cc_ops), which sets
 * cc.packets and cc.train.
 */
#ifndef ROVER_CC_H
#define ROVER_CC_H

#include "qp/qp.h"

/* Events; tx_lock held. */

/* A connection starts; its path MTU is known. */
void rover_cc_init(struct rover_qp *qp);
void rover_cc_acked(struct rover_qp *qp, u32 packets);
/* A packet sent once was acknowledged after @rtt ns. */
void rover_cc_rtt_sample(struct rover_qp *qp, u64 rtt);
/* A flight is going to have losses, which rover_cc_undo() may take back. */
void rover_cc_flight(struct rover_qp *qp);
/* @lost packets were found missing. */
void rover_cc_lost(struct rover_qp *qp, u32 lost, u64 now);
/* The losses of this flight were none. */
void rover_cc_undo(struct rover_qp *qp);
/* Packets were ECN-marked. */
void rover_cc_marked(struct rover_qp *qp);
/* Send a single packet next. */
void rover_cc_probe(struct rover_qp *qp);

#endif /* ROVER_CC_H */
