/* SPDX-License-Identifier: GPL-2.0 */
/* cc_ops - algorithms of congestion control */
#ifndef ROVER_CC_OPS_H
#define ROVER_CC_OPS_H

#include "qp/qp.h"

/**
 * struct rover_cc_ops - an algorithm
 * @name: chosen by it
 * @init: a connection starts; all of cc is zero but the outputs
 * @acked: packets were acknowledged
 * @rtt_sample: a round trip was measured; cc.min_rtt is set
 * @flight: save what @undo restores
 * @lost: packets were found missing
 * @undo: nothing was lost since @flight
 * @marked: packets were ECN-marked
 * @idle: nothing was sent for ROVER_CC_IDLE
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
	void (*marked)(struct rover_qp *qp);
	void (*idle)(struct rover_qp *qp);
	void (*probe)(struct rover_qp *qp);
};

extern const struct rover_cc_ops rover_cc_window;

/* Called directly: see rover_cc_acked(), rover_cc_rtt_sample(). */
void rover_cc_window_acked(struct rover_qp *qp, u32 packets);
void rover_cc_window_rtt_sample(struct rover_qp *qp, u64 rtt, u64 now);

#endif /* ROVER_CC_OPS_H */
