// SPDX-License-Identifier: GPL-2.0
/*
 * cnp - congestion notification packets (CNP)
 *
 * The receiver answers packets marked by a router (CE) with a CNP (annex
 * A17.9.3), and the sender shrinks its cwnd.  For marked READ responses the
 * requester also shrinks its own cwnd, since rover's responder has none.
 */
#include <linux/ktime.h>

#include "qp/qp_table.h"
#include "rc/cnp.h"
#include "rc/cc.h"
#include "tx/train.h"

/* Shortest time between CNPs of a connection, for each direction. */
static u64 cnp_interval(const struct rover_qp *qp)
{
	enum rover_dcqcn_knob knob = ROVER_DCQCN_min_time_between_cnps;

	return READ_ONCE(qp->dev->cc.dcqcn[knob]) * NSEC_PER_USEC;
}

static void cnp_send_packet(struct rover_qp *qp, u16 *ip_id)
{
	static const u8 reserved[ROVER_CNP_SIZE];
	struct rover_outgoing out = {
		.opcode = ROVER_CNP,
		.data = reserved,
		.len = sizeof(reserved),
	};
	enum rover_fault fault;
	struct rover_train train;

	rover_train_begin(&train, qp, ip_id, 1);
	/* A CNP has BECN set. */
	rover_train_set_path(&train, &qp->path, qp->remote_qpn | ROVER_BTH_BECN);
	if (!rover_train_add(&train, &out, &fault))
		rover_qp_count(qp, ROVER_STAT_CNP_SENT);
	rover_train_send(&train);
}

void rover_cnp_marked(struct rover_qp *qp, bool response)
{
	u64 *last = response ? &qp->req.cnp_at : &qp->rsp.cnp_at;
	u64 now = ktime_get_ns();
	bool due = !*last || now - *last >= cnp_interval(qp);

	if (response)
		rover_cc_marked(qp, due);
	if (!due)
		return;
	*last = now;
	cnp_send_packet(qp, response ? &qp->req.ip_id : &qp->rsp.ip_id);
}

void rover_cnp_receive(struct rover_qp *qp)
{
	lockdep_assert_held(&qp->tx_lock);
	rover_qp_count(qp, ROVER_STAT_CNP_HANDLED);
	rover_cc_marked(qp, true);
}
