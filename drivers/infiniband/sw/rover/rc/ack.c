// SPDX-License-Identifier: GPL-2.0
/* ack - send ACKs, NAKs and atomic responses */
#include "core/trace.h"
#include "qp/early.h"
#include "rc/ack.h"
#include "rc/credit.h"
#include "tx/plug.h"
#include "wire/sack.h"

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

/* Write ranges of packets that have arrived; return how many. */
static unsigned int ack_put_ranges(const struct rover_gaps *gaps,
				   struct rover_sack_range *ranges,
				   unsigned int max)
{
	unsigned int i, num = min_t(unsigned int, gaps->num, max);

	for (i = 0; i < num; i++) {
		u32 end = i + 1 < gaps->num ? gaps->list[i + 1].psn :
					      gaps->high;

		ranges[i].psn = cpu_to_be32(gaps->list[i].end);
		ranges[i].end = cpu_to_be32(end);
	}
	return num;
}

static noinline bool ack_send_sack(struct rover_qp *qp,
				   struct rover_outgoing *out)
{
	struct rover_rsp *rsp = &qp->rsp;
	struct {
		struct rover_sack head;
		struct rover_sack_range ranges[ROVER_SACK_RANGES];
	} sack __uninitialized;
	unsigned int num;

	sack.head.duplicates = cpu_to_be32(rsp->duplicates);
	num = ack_put_ranges(&qp->rx_early.gaps, sack.ranges,
			     rover_sack_max(qp->mtu));
	out->data = &sack;
	out->len = sizeof(sack.head) + num * sizeof(sack.ranges[0]);
	if (!ack_send_packet(qp, out))
		return false;
	rsp->duplicates_told = rsp->duplicates;
	return true;
}

static bool ack_wants_sack(const struct rover_qp *qp, u8 syndrome)
{
	return (syndrome & ROVER_AETH_KIND) == ROVER_AETH_ACK &&
	       READ_ONCE(qp->peer_sack) &&
	       (qp->rx_early.num ||
		qp->rsp.duplicates != qp->rsp.duplicates_told);
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
	if (!(unlikely(ack_wants_sack(qp, syndrome)) ?
	      ack_send_sack(qp, &out) : ack_send_packet(qp, &out)))
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
