/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pace - send at most at a rate
 *
 * cc.rate is set by congestion control.  Without one nothing here is called.
 */
#ifndef ROVER_PACE_H
#define ROVER_PACE_H

#include "qp/qp.h"
#include "tx/gso_segment.h"

/**
 * rover_pace_set() - set the rate
 * @qp: queue pair
 * @rate: bytes per second; 0: do not pace
 * Context: tx_lock held.
 */
void rover_pace_set(struct rover_qp *qp, u64 rate);

/**
 * rover_pace_waits() - test whether it is too early for a train
 * @qp: has a rate
 * Context: tx_lock held.
 * Return: true if the timer will run @qp.
 */
bool rover_pace_waits(struct rover_qp *qp);

/**
 * rover_pace_sent() - count what was sent
 * @qp: has a rate
 * @bytes: of payload, also of the responses to a READ request
 * @packets: likewise
 * Context: tx_lock held.
 */
void rover_pace_sent(struct rover_qp *qp, u32 bytes, u32 packets);

/* Stop the timer.  tx_lock held. */
void rover_pace_stop(struct rover_qp *qp);

/**
 * rover_pace_train() - return the limit of packets in a train
 * @qp: queue pair; tx_lock held
 */
static inline unsigned int rover_pace_train(const struct rover_qp *qp)
{
	return min(qp->cc.train, qp->cc.quantum);
}

#endif /* ROVER_PACE_H */
