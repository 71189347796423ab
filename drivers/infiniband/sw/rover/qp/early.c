// SPDX-License-Identifier: GPL-2.0
/* early - packets that arrived before their turn */
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "qp/early.h"
#include "qp/packet.h"
#include "qp/qp.h"
#include "wire/psn.h"

/*
 * A device may hold so much of the machine's memory, and a side of a queue pair
 * a part of that.
 */
#define EARLY_DEV_SHARE		16
#define EARLY_QP_SHARE		4

/**
 * struct rover_held - a held packet
 * @pkt: the packet
 * @skb: a reference to its skb
 * @bytes: memory it counts for
 */
struct rover_held {
	struct rover_packet pkt;
	struct sk_buff *skb;
	unsigned int bytes;
};

void rover_early_init(struct rover_early *early)
{
	xa_init(&early->pkts);
}

/* The first packet of a train keeps the others, which its truesize includes. */
static unsigned int early_bytes(const struct rover_packet *pkt)
{
	return sizeof(struct rover_held) + pkt->skb->truesize;
}

/* The skb may outlive its netdev.  netrx does this for the head of a train. */
static struct sk_buff *early_get_skb(const struct rover_packet *pkt)
{
	struct sk_buff *skb = skb_get((struct sk_buff *)pkt->skb);

	if (skb != pkt->head) {
		skb_dst_drop(skb);
		skb->dev = NULL;
	}
	return skb;
}

static unsigned long early_max_bytes(void)
{
	return totalram_pages() / EARLY_DEV_SHARE * PAGE_SIZE;
}

bool rover_early_reaches(const struct rover_qp *qp, u32 psn, u32 end)
{
	unsigned long max = early_max_bytes() / EARLY_QP_SHARE >> qp->mtu_shift;
	s32 ahead = rover_psn_diff(end, psn);

	return ahead > 0 && ahead <= max;
}

static bool early_has_room(const struct rover_qp *qp,
			   const struct rover_early *early, unsigned long bytes)
{
	unsigned long max = early_max_bytes();

	return early->bytes + bytes <= max / EARLY_QP_SHARE &&
	       atomic_long_read(&qp->dev->early_bytes) + bytes <= max;
}

/* Is any of the packet's PSNs there?  Without a gap, all up to the highest are. */
static bool early_overlaps(const struct rover_early *early, u32 psn, u32 end)
{
	const struct rover_gaps *gaps = &early->gaps;
	const struct rover_gap *gap;

	if (!early->num || rover_psn_diff(psn, gaps->high) >= 0)
		return false;
	gap = rover_gaps_find(gaps, psn);
	return !gap || rover_psn_diff(end, gap->end) > 0;
}

int rover_early_hold(struct rover_qp *qp, struct rover_early *early, u32 psn,
		     u32 end, const struct rover_packet *pkt)
{
	unsigned int bytes = early_bytes(pkt);
	struct rover_held *held;

	if (early_overlaps(early, pkt->psn, end))
		return -EEXIST;
	if (!early->num)
		early->expected = psn;
	else if (!early->gaps.num)
		psn = early->gaps.high;
	if (!early_has_room(qp, early, bytes))
		return -ENOBUFS;
	held = kmalloc_obj(*held, GFP_ATOMIC | __GFP_NOWARN);
	if (!held)
		return -ENOMEM;
	held->pkt = *pkt;
	held->bytes = bytes;
	if (xa_err(xa_store(&early->pkts, pkt->psn, held,
			    GFP_ATOMIC | __GFP_NOWARN)))
		goto err_held;
	if (rover_gaps_deliver(&early->gaps, psn, pkt->psn, end, 0) < 0)
		goto err_store;
	held->skb = early_get_skb(pkt);
	rover_qp_count(qp, ROVER_STAT_RX_EARLY);
	early->num++;
	early->bytes += bytes;
	atomic_long_add(bytes, &qp->dev->early_bytes);
	return 0;

err_store:
	xa_erase(&early->pkts, pkt->psn);
err_held:
	kfree(held);
	return -ENOMEM;
}

u32 rover_early_first(struct rover_early *early, u32 psn)
{
	rover_gaps_ack(&early->gaps, psn, 0);
	return early->gaps.num ? early->gaps.list[0].end : psn;
}

void rover_early_put(struct rover_held *held)
{
	consume_skb(held->skb);
	kfree(held);
}

static struct rover_held *early_remove(struct rover_qp *qp,
				       struct rover_early *early, u32 psn)
{
	struct rover_held *held = xa_erase(&early->pkts, psn);

	if (!held)
		return NULL;
	early->num--;
	early->bytes -= held->bytes;
	atomic_long_sub(held->bytes, &qp->dev->early_bytes);
	return held;
}

static void early_drop(struct rover_qp *qp, struct rover_early *early,
		       unsigned long from, unsigned long last)
{
	struct rover_held *held;
	unsigned long psn;

	xa_for_each_range(&early->pkts, psn, held, from, last)
		rover_early_put(early_remove(qp, early, psn));
}

/* A packet that covers several PSNs may have overtaken held ones. */
static void early_pass(struct rover_qp *qp, struct rover_early *early, u32 psn)
{
	u32 from = early->expected;

	early->expected = psn;
	if (from == psn)
		return;
	if (psn > from) {
		early_drop(qp, early, from, psn - 1);
	} else {
		early_drop(qp, early, from, ROVER_PSN_MASK);
		if (psn)
			early_drop(qp, early, 0, psn - 1);
	}
}

struct rover_held *rover_early_take(struct rover_qp *qp,
				    struct rover_early *early, u32 psn)
{
	rover_gaps_ack(&early->gaps, psn, 0);
	if (!early->num)
		return NULL;
	early_pass(qp, early, psn);
	return early_remove(qp, early, psn);
}

const struct rover_packet *rover_early_packet(const struct rover_held *held)
{
	return &held->pkt;
}

void rover_early_purge(struct rover_qp *qp, struct rover_early *early)
{
	rover_gaps_reset(&early->gaps);
	if (early->num)
		early_drop(qp, early, 0, ROVER_PSN_MASK);
}

void rover_early_reset(struct rover_qp *qp, struct rover_early *early)
{
	rover_early_purge(qp, early);
	rover_gaps_free(&early->gaps);
}
