/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rto - how long to wait for an answer
 *
 * Measures round trips and the time between ACKs.  All times are in ns.
 */
#ifndef ROVER_RTO_H
#define ROVER_RTO_H

#include "qp/qp.h"

/* Shortest user timeout (attr.timeout) honoured */
#define ROVER_RTO_USER_MIN	(16 * NSEC_PER_MSEC)
/* Upper bound of the timeout, in user timeouts */
#define ROVER_RTO_USER_TIMEOUTS	4
/* Probes without an answer before a timeout */
#define ROVER_RTO_MAX_PROBES	5

/* Events; tx_lock held. */

/* The timed packet was acknowledged. */
void rover_rto_take_sample(struct rover_qp *qp, u64 now);
/* Time the round trip, if the timed packet has arrived behind a gap. */
void rover_rto_sample(struct rover_qp *qp, u64 now);
/* The probe alone was acknowledged. */
void rover_rto_probe_answered(struct rover_qp *qp, u64 now);
/* @packets were acknowledged, the first since rtx.progress_at. */
void rover_rto_acked(struct rover_qp *qp, u32 packets, u64 now);
/* The peer had a packet already that was sent again: timers were early. */
void rover_rto_needless(struct rover_qp *qp);

/* Times; tx_lock held. */

/* Return the user timeout (IBTA 9.7.6.1.3); 0 is unlimited. */
u64 rover_rto_user_ns(const struct rover_qp *qp);
/* Return the timeout. */
u64 rover_rto_ns(const struct rover_qp *qp);

/**
 * rover_rto_probe_ns() - return the time until the next probe
 * @qp: alive; tx_lock held
 *
 * It doubles.  The first probe comes before the timeout in any case.
 *
 * Return: 0 for none before the timeout.
 */
u64 rover_rto_probe_ns(const struct rover_qp *qp);

/* Return the time until the next probe or the timeout. */
u64 rover_rto_wait_ns(const struct rover_qp *qp);

/*
 * Return how much longer than a round trip the peer takes for what is in flight,
 * as far as probes wait for it.
 */
u64 rover_rto_busy_ns(const struct rover_qp *qp);

#endif /* ROVER_RTO_H */
