/* SPDX-License-Identifier: GPL-2.0 */
/* cc_ops - algorithms of congestion control */
#ifndef ROVER_CC_OPS_H
#define ROVER_CC_OPS_H

#include <linux/math64.h>
#include <linux/sizes.h>

#include "qp/qp.h"

/* Largest window, and that of a path of 128 Gb/s if it is longer */
#define ROVER_CC_MAX_BYTES	SZ_2M
#define ROVER_CC_MAX_BYTES_MS	SZ_16M
#define ROVER_CC_MAX_PACKETS	(1U << 21)

/**
 * struct rover_cc_ops - an algorithm
 * @name: chosen by it
 * @init: a connection starts; all of cc is zero but the outputs
 * @acked: packets were acknowledged
 * @rtt_sample: a round trip was measured; cc.min_rtt is set
 * @flight: save what @undo restores
 * @lost: packets were found missing; see rover_cc_lost_many()
 * @undo: nothing was lost since @flight
 * @marked: packets were ECN-marked; @cnp: a CNP has come, or one is due
 * @tick: cc.rate is set: time has passed; NULL if that changes nothing
 * @idle: nothing was sent for ROVER_CC_IDLE; NULL if that changes nothing
 * @probe: send a single packet next: after a timeout, or an RNR NAK
 *
 * tx_lock is held.  All may set cc.packets, cc.train and the rate (pace).
 */
struct rover_cc_ops {
	const char *name;
	void (*init)(struct rover_qp *qp);
	void (*acked)(struct rover_qp *qp, u32 packets);
	void (*rtt_sample)(struct rover_qp *qp, u64 rtt, u64 now);
	void (*flight)(struct rover_qp *qp);
	void (*lost)(struct rover_qp *qp, u32 lost, u64 now);
	void (*undo)(struct rover_qp *qp);
	void (*marked)(struct rover_qp *qp, bool cnp);
	void (*tick)(struct rover_qp *qp, u64 now);
	void (*idle)(struct rover_qp *qp);
	void (*probe)(struct rover_qp *qp);
};

extern const struct rover_cc_ops rover_cc_window;
extern const struct rover_cc_ops rover_cc_dcqcn;

/**
 * rover_cc_max_packets() - return the largest window of a path
 * @qp: queue pair; tx_lock held
 */
static inline u32 rover_cc_max_packets(const struct rover_qp *qp)
{
	u64 rtt = min_t(u64, qp->cc.min_rtt, NSEC_PER_SEC);
	u64 bytes = div_u64(ROVER_CC_MAX_BYTES_MS * rtt, NSEC_PER_MSEC);

	bytes = max_t(u64, bytes, ROVER_CC_MAX_BYTES);
	return min_t(u64, bytes >> qp->mtu_shift, ROVER_CC_MAX_PACKETS);
}

/* More losses than one packet in so many are congestion, even without delay. */
#define ROVER_CC_LOSS_PART	10
/* They are counted over about so many packets, or two windows. */
#define ROVER_CC_LOSS_MEMORY	64
/* Fewer packets count as so many. */
#define ROVER_CC_LOSS_LEAST	32

/**
 * rover_cc_lost_many() - test for congestion
 * @qp: queue pair; tx_lock held
 * Return: true if the network loses more than it may without being congested.
 */
static inline bool rover_cc_lost_many(const struct rover_qp *qp)
{
	u32 packets = max3(qp->cc.acked, qp->cc.packets,
			   (u32)ROVER_CC_LOSS_LEAST);

	return qp->cc.lost > packets / ROVER_CC_LOSS_PART + 1;
}

/* The algorithm has reacted to them. */
static inline void rover_cc_forget_losses(struct rover_qp *qp)
{
	qp->cc.lost = 0;
	qp->cc.acked = 0;
}

/* Called directly: see rover_cc_acked(), rover_cc_rtt_sample(). */
void rover_cc_window_acked(struct rover_qp *qp, u32 packets);
void rover_cc_window_rtt_sample(struct rover_qp *qp, u64 rtt, u64 now);

#endif /* ROVER_CC_OPS_H */
