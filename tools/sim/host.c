// SPDX-License-Identifier: GPL-2.0
/*
 * host - a receiving CPU: batches of packets, as rx/netrx.c makes them
 *
 * The packets of a tick are received together, under one lock as long as they
 * are for the same side of the queue pair.
 */
#include "clock.h"
#include "host.h"
#include "ladder.h"
#include "options.h"
#include "pair.h"
#include "qp/packet.h"
#include "qp/qp_state.h"
#include "random.h"
#include "rc/cnp.h"
#include "rc/completer.h"
#include "rc/responder.h"
#include "run/run.h"
#include "wire/psn.h"

/* Consecutive packets for one side. */
struct host_batch {
	struct rover_qp *qp;
	bool locked;
	bool tx_side;
	bool marked;
};

struct host_counts host_counts;

/* Shortest time away, as a part of the longest. */
#define AWAY_LEAST	15

static void host_batch_end(struct host_batch *b)
{
	struct rover_qp *qp = b->qp;

	if (!b->locked)
		return;
	b->locked = false;
	if (b->marked)
		rover_cnp_marked(qp, b->tx_side);
	b->marked = false;
	if (b->tx_side) {
		rover_completer_finish(qp);
		spin_unlock(&qp->tx_lock);
	} else {
		rover_responder_finish(qp);
		spin_unlock(&qp->rx_lock);
	}
	rover_run(qp);
}

static void host_batch_join(struct host_batch *b, bool tx_side)
{
	if (b->locked && b->tx_side == tx_side)
		return;
	host_batch_end(b);
	if (tx_side)
		spin_lock(&b->qp->tx_lock);
	else
		spin_lock(&b->qp->rx_lock);
	b->locked = true;
	b->tx_side = tx_side;
}

static void host_parse_exts(struct rover_packet *pkt, const u8 *data)
{
	const struct rover_opcode *op = pkt->op;

	memcpy(&pkt->hdr, data + op->ext,
	       min_t(size_t, op->hdr_len - op->ext, sizeof(pkt->hdr)));
	if (op->imm)
		memcpy(&pkt->imm, data + op->imm, sizeof(pkt->imm));
}

static void host_parse(struct rover_packet *pkt, struct sk_buff *skb)
{
	const struct rover_bth *bth = (const void *)skb->data;

	*pkt = (struct rover_packet) {
		.op = rover_opcode_get(bth->opcode),
		.opcode = bth->opcode,
		.ackreq = rover_bth_ackreq(bth),
		.sack = rover_bth_sack(bth),
		.solicited = rover_bth_solicited(bth),
		.pad = rover_bth_pad(bth),
		.psn = rover_bth_psn(bth),
		.packets = 1,
		.l3 = ROVER_L3_IPV4,
		.head = skb,
		.skb = skb,
	};
	sim_assert(pkt->op);
	pkt->payload_at = pkt->op->hdr_len;
	pkt->payload = skb->len - pkt->op->hdr_len - pkt->pad;
	host_parse_exts(pkt, skb->data);
}

/* Data that the queue pair has had already, and not from a copy on the way. */
static bool host_is_spurious(const struct rover_qp *qp,
			     const struct rover_packet *pkt)
{
	u8 class = pkt->op->class;

	if (pkt->skb->copy || class == ROVER_CLASS_ACK ||
	    class == ROVER_CLASS_CNP)
		return false;
	if (pkt->op->flags & ROVER_OP_RESPONSE)
		return rover_psn_diff(pkt->psn, qp->req.una) < 0;
	return rover_psn_diff(pkt->psn, qp->rsp.psn) < 0;
}

static void host_deliver(struct host_batch *b, struct sk_buff *skb)
{
	struct rover_qp *qp = b->qp;
	struct rover_packet pkt;
	bool tx_side;

	host_parse(&pkt, skb);
	tx_side = pkt.op->flags & ROVER_OP_RESPONSE;
	host_batch_join(b, tx_side);
	if (!rover_qp_allows(qp, tx_side ? ROVER_MAY_COMPLETE :
					   ROVER_MAY_RECEIVE))
		return;
	host_counts.packets++;
	host_counts.spurious += host_is_spurious(qp, &pkt);
	b->marked |= skb->ce && pkt.payload &&
		     pkt.op->class != ROVER_CLASS_CNP &&
		     pkt.op->class != ROVER_CLASS_ACK;
	if (pkt.op->class == ROVER_CLASS_CNP)
		rover_cnp_receive(qp);
	else if (tx_side)
		rover_completer_receive(qp, &pkt);
	else
		rover_responder_receive(qp, &pkt);
}

static struct sk_buff *host_next(struct end *end)
{
	struct sk_buff *skb = end->arrived;

	if (!skb)
		return NULL;
	end->arrived = skb->next;
	skb->next = NULL;
	return skb;
}

void host_forget(struct end *end)
{
	struct sk_buff *skb;

	while ((skb = host_next(end)))
		consume_skb(skb);
}

static void host_schedule(struct end *end, bool more);

u64 host_away(struct end *end)
{
	u64 run;

	if (!opts.away)
		return 0;
	while (clock_now >= end->away_until) {
		run = random_below(&end->rng, 2 * opts.away_every) + 1;
		end->away_at = max(end->away_until, clock_now) + run;
		end->away_until = end->away_at +
				  random_between(&end->rng,
						 opts.away / AWAY_LEAST,
						 opts.away);
	}
	return clock_now >= end->away_at ? end->away_until : 0;
}

static void host_softirq(void *arg)
{
	struct end *end = arg;
	struct host_batch b = { .qp = &end->qp };
	u64 away = host_away(end);
	struct sk_buff *skb;
	unsigned int n;

	if (away) {
		clock_at(away, host_softirq, end);
		return;
	}
	end->receiving = false;
	if (!end->qp.alive) {
		host_forget(end);
		return;
	}
	sim_softirq = true;
	host_counts.batches++;
	for (n = 0; n < opts.batch && (skb = host_next(end)); n++) {
		if (opts.ladder)
			ladder_packet(skb, "received");
		host_deliver(&b, skb);
		consume_skb(skb);
	}
	host_batch_end(&b);
	sim_softirq = false;
	end->cpu_free = max(end->cpu_free, clock_now) + n * opts.cpu;
	if (end->arrived)
		host_schedule(end, true);
}

/* A CPU of a guest stands still while that of the host does something else. */
static void host_pause(struct end *end)
{
	if (!opts.pause || clock_now < end->pause_at)
		return;
	if (end->pause_at)
		end->cpu_free = max(end->cpu_free, end->pause_at + opts.pause);
	end->pause_at = clock_now +
			random_below(&end->rng, 2 * opts.pause_every) + 1;
}

static void host_schedule(struct end *end, bool more)
{
	u64 at = clock_now;

	host_pause(end);

	/* After a full batch the next one follows at once. */
	if (opts.tick && !more)
		at = (at / opts.tick + 1) * opts.tick;
	end->receiving = true;
	clock_at(max(at, end->cpu_free), host_softirq, end);
}

void host_receive(struct sk_buff *skb)
{
	struct end *end = skb->to;

	skb->next = NULL;
	if (!end->arrived)
		end->arrived = skb;
	else
		end->arrived_last->next = skb;
	end->arrived_last = skb;
	if (!end->receiving)
		host_schedule(end, false);
}
