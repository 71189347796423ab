// SPDX-License-Identifier: GPL-2.0
/* ack - send ACKs, NAKs and atomic responses */
#include "core/trace.h"
#include "rc/ack.h"
#include "rc/credit.h"
#include "tx/plug.h"

static bool ack_send_packet(struct rover_qp *qp, struct rover_outgoing *out)
{
	enum rover_fault fault;
	struct rover_train train;
	int err;

	rover_plug_begin(&train, qp, &qp->rsp.ip_id, ROVER_TRAIN_MAX);
	err = rover_train_add(&train, out, &fault);
	rover_plug_send(&train);
	return !err;
}

static void ack_put_aeth(struct rover_outgoing *out, u8 syndrome, u32 msn)
{
	struct rover_aeth aeth = {
		.syndrome_msn = rover_aeth_make(syndrome, msn),
	};

	memcpy(out->ext + out->ext_len, &aeth, sizeof(aeth));
	out->ext_len += sizeof(aeth);
}

void rover_ack_send(struct rover_qp *qp, u8 syndrome, u32 psn)
{
	struct rover_outgoing out = {
		.opcode = rover_opcode_in(ROVER_RC_ACK, qp->transport),
		.psn = psn,
	};

	lockdep_assert_held(&qp->rx_lock);
	ack_put_aeth(&out, syndrome, qp->rsp.msn);
	trace_rover_ack_sent(qp->obj.key, psn, syndrome);
	if (!ack_send_packet(qp, &out))
		return;
	switch (syndrome & ROVER_AETH_KIND) {
	case ROVER_AETH_ACK:
		rover_qp_count(qp, ROVER_STAT_TX_ACKS);
		break;
	case ROVER_AETH_RNR:
		rover_qp_count(qp, ROVER_STAT_RNR_NAK_SENT);
		break;
	default:
		rover_qp_count(qp, ROVER_STAT_NAK_SENT);
	}
}

bool rover_ack_atomic(struct rover_train *train, const struct rover_res *res)
{
	struct rover_outgoing out = {
		.opcode = rover_opcode_in(ROVER_RC_ATOMIC_ACK,
					  train->qp->transport),
		.psn = res->psn,
	};
	struct rover_atomack orig = { .orig = cpu_to_be64(res->orig) };
	enum rover_fault fault;

	lockdep_assert_held(&train->qp->rx_lock);
	ack_put_aeth(&out, rover_credit_syndrome(train->qp), res->msn);
	memcpy(out.ext + out.ext_len, &orig, sizeof(orig));
	out.ext_len += sizeof(orig);
	if (rover_train_add(train, &out, &fault))
		return false;
	rover_qp_count(train->qp, ROVER_STAT_TX_ACKS);
	return true;
}
