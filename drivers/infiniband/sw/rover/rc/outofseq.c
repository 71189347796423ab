// SPDX-License-Identifier: GPL-2.0
/*
 * outofseq - requests before or behind the expected one
 *
 * Requests before it are duplicates.  Requests behind it are held if the peer
 * sends only missing packets again (sack), else dropped.
 */
#include "qp/early.h"
#include "qp/xrc.h"
#include "rc/outofseq.h"
#include "rc/rd_atomic.h"
#include "rc/reqcheck.h"
#include "wire/psn.h"

/* How many PSNs a request takes: a READ those of its responses */
static u32 outofseq_psns(const struct rover_qp *qp,
			 const struct rover_packet *pkt)
{
	if (pkt->op->class != ROVER_CLASS_READ)
		return pkt->packets;
	return rover_qp_packets(qp, min_t(u32, be32_to_cpu(pkt->hdr.reth.length),
					  ROVER_MAX_MSG));
}

/* Hold a packet behind a gap; the ACK at the end of the batch tells so. */
static bool outofseq_hold(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_early *early = &qp->rx_early;
	struct rover_rsp *rsp = &qp->rsp;
	u32 end = rover_psn_add(pkt->psn, outofseq_psns(qp, pkt));
	unsigned int gaps = early->gaps.num;
	int err;

	if (!READ_ONCE(qp->peer_sack))
		return false;
	/* After an RNR NAK all is sent again. */
	if (rsp->nak_sent || rsp->nak_due)
		return false;
	if (!rover_early_reaches(qp, rsp->psn, end)) {
		rover_packet_drop(qp, pkt, ROVER_STAT_DROP_EARLY);
		return true;
	}
	err = rover_early_hold(qp, early, rsp->psn, end, pkt);
	if (err == -EEXIST) {
		rover_qp_count(qp, ROVER_STAT_DUPLICATE_REQUEST);
		rsp->duplicates += pkt->packets;
	} else if (err) {
		rover_packet_drop(qp, pkt, ROVER_STAT_DROP_EARLY);
	}
	if (early->gaps.num > gaps)
		rover_qp_count(qp, ROVER_STAT_OUT_OF_SEQUENCE);
	rsp->ack_due = true;
	return true;
}

/* Without selective acknowledgments: NAK a gap once (IBTA 9.7.5.2.8). */
void rover_outofseq_early(struct rover_qp *qp, const struct rover_packet *pkt)
{
	struct rover_rsp *rsp = &qp->rsp;

	if (outofseq_hold(qp, pkt))
		return;
	rover_packet_drop(qp, pkt, ROVER_STAT_DROP_SEQ);
	if (rsp->nak_sent)
		return;
	rover_qp_count(qp, ROVER_STAT_OUT_OF_SEQUENCE);
	rsp->nak_sent = true;
	rsp->nak_due = ROVER_NAK_PSN_SEQ;
}

bool rover_outofseq_is_crowded(const struct rover_qp *qp,
			       const struct rover_packet *pkt)
{
	return !rover_rd_atomic_has_space(qp, pkt->psn, 1) &&
	       rover_rd_atomic_has_duplicates(qp);
}

static bool outofseq_read_again(struct rover_qp *qp,
				const struct rover_packet *pkt)
{
	struct rover_sgl sgl = {};
	enum rover_fault fault;
	u32 npsn;

	if (rover_reqcheck_access(qp, pkt) || rover_xrc_use_srq(qp, pkt->srqn))
		return false;
	fault = rover_reqcheck_read(qp, pkt, &sgl, &npsn);
	rover_sgl_release(&sgl);
	if (fault || rover_psn_diff(pkt->psn + npsn, qp->rsp.psn) > 0)
		return false;
	rover_rd_atomic_read(qp, pkt->psn, npsn, &pkt->hdr.reth, true);
	return true;
}

/* Duplicates (IBTA 9.7.5.1.2): execute READs again, repeat other answers. */
void rover_outofseq_duplicate(struct rover_qp *qp,
			      const struct rover_packet *pkt)
{
	bool answered = pkt->op->class < ROVER_CLASS_READ ||
			rover_rd_atomic_has_space(qp, pkt->psn,
						  outofseq_psns(qp, pkt));

	rover_qp_count(qp, ROVER_STAT_DUPLICATE_REQUEST);
	/* A READ is repeated for its responses. */
	if (pkt->op->class < ROVER_CLASS_READ)
		qp->rsp.duplicates += pkt->packets;
	switch (pkt->op->class) {
	case ROVER_CLASS_READ:
		answered = answered && outofseq_read_again(qp, pkt);
		break;
	case ROVER_CLASS_ATOMIC:
		answered = answered &&
			   rover_rd_atomic_repeat(qp, pkt->psn);
		break;
	case ROVER_CLASS_ATOMIC_WRITE:
	case ROVER_CLASS_FLUSH:
		if (answered)
			rover_rd_atomic_read(qp, pkt->psn, 1, NULL, true);
		break;
	case ROVER_CLASS_RESERVED:
		answered = false;
		break;
	default:
		qp->rsp.ack_due = true;
	}
	if (!answered)
		rover_packet_drop(qp, pkt, ROVER_STAT_DROP_UNANSWERED);
}
