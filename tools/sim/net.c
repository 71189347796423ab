// SPDX-License-Identifier: GPL-2.0
/*
 * net - netdevs of the senders, and a shared bottleneck in each direction
 *
 *	netdev (rate, trains) --> loss, bottleneck queue --> delay, jitter
 *
 * A queue is the time at which its link is free: it holds the bytes that the
 * link sends until then.
 */
#include "clock.h"
#include "host.h"
#include "ladder.h"
#include "net.h"
#include "options.h"
#include "pair.h"
#include "qp/qp_table.h"
#include "random.h"
#include "tx/nettx.h"
#include "wire/wire.h"

#define PS_PER_NS	1000
/* Longest burst of losses, in times of its mean. */
#define BURST_TIMES	8

#define PS_PER_SEC	1000000000000ULL

/* One direction. */
struct link {
	struct net_counts counts;
	u64 rng;
	u64 loss_rng;
	u64 free_at;	/* ps */
	bool bad;	/* of Gilbert's two states */
	u64 bad_until;	/* when an idle link is good again, ns */
	bool train_lost;
	u64 train;
};

u64 net_carried;
static struct link net_links[2];
static u64 net_trains;

void net_reset(void)
{
	int i;

	memset(net_links, 0, sizeof(net_links));
	for (i = 0; i < 2; i++) {
		random_seed(&net_links[i].rng, opts.seed, 10 + i);
		random_seed(&net_links[i].loss_rng, opts.seed, 20 + i);
	}
	net_trains = 0;
	net_carried = 0;
}

const struct net_counts *net_counts(bool back)
{
	return &net_links[back].counts;
}

static u64 net_ps(u32 bytes, u64 rate)
{
	return (u64)((__uint128_t)bytes * 8 * PS_PER_SEC / rate);
}

static void net_deliver(void *arg)
{
	net_carried--;
	host_receive(arg);
}

/*
 * Losses come alone, or in bursts: the bad state loses all.  A burst has a mean
 * number of packets, but lasts no longer than these take.
 */
static bool net_draw_loss(struct link *link, bool back)
{
	u64 loss = OPTION_WAY(back, loss), burst = OPTION_WAY(back, burst);
	u64 leave, enter;

	if (burst < 2 || loss >= OPTION_ONE)
		return random_part(&link->loss_rng, loss);
	leave = OPTION_ONE / burst;
	enter = (u64)((double)leave * loss / (OPTION_ONE - loss));
	if (link->bad && clock_now < link->bad_until) {
		link->bad = !random_part(&link->loss_rng, leave);
		return link->bad;
	}
	link->bad = random_part(&link->loss_rng, enter);
	link->bad_until = clock_now + BURST_TIMES * burst *
			  net_ps(opts.mtu, OPTION_WAY(back, rate)) / PS_PER_NS;
	return link->bad;
}

static bool net_loses(struct link *link, const struct sk_buff *skb, bool back)
{
	if (opts.dead && clock_now >= NSEC_PER_SEC + opts.dead)
		return true;
	/* The packets of a train have one fate. */
	if (opts.train < 2 || link->train != skb->train) {
		link->train = skb->train;
		link->train_lost = net_draw_loss(link, back);
	}
	return link->train_lost ||
	       random_part(&link->loss_rng, OPTION_WAY(back, corrupt));
}

static bool net_rule_drops(const struct sk_buff *skb)
{
	const struct rover_bth *bth = (const void *)skb->data;
	bool drops = false;
	unsigned int i;

	for (i = 0; i < drop_rule_count; i++) {
		struct drop_rule *rule = &drop_rules[i];
		bool again = rule->pass > 1;

		if (rule->opcode != bth->opcode ||
		    (rule->pass && skb->again != again))
			continue;
		drops |= ++rule->seen == rule->nth || !rule->nth;
	}
	return drops;
}

static bool net_marks(struct link *link, u64 queued)
{
	if (!opts.ecn_min || queued < opts.ecn_min)
		return false;
	if (queued >= opts.ecn_max)
		return true;
	return random_part(&link->rng, opts.ecn_part * (queued - opts.ecn_min) /
				       (opts.ecn_max - opts.ecn_min));
}

/* Drop or mark a packet that arrives at the queue; return false to drop. */
static bool net_queue(struct link *link, struct sk_buff *skb, bool back)
{
	u64 now = clock_now * PS_PER_NS, rate = OPTION_WAY(back, rate);
	u64 queued = link->free_at <= now ? 0 :
		     (u64)((double)(link->free_at - now) * rate /
			   (8.0 * PS_PER_SEC));
	struct net_counts *c = &link->counts;

	c->queue_max = max(c->queue_max, queued);
	c->queue_sum += queued;
	if (queued + skb->wire > OPTION_WAY(back, queue)) {
		c->full++;
		return false;
	}
	if (net_marks(link, queued)) {
		if (opts.red) {
			c->full++;
			return false;
		}
		skb->ce = skb->ect;
		c->marked += skb->ce;
	}
	link->free_at = max(link->free_at, now) + net_ps(skb->wire, rate);
	return true;
}

static void net_carry(struct link *link, struct sk_buff *skb, bool back)
{
	u64 at = (link->free_at + PS_PER_NS - 1) / PS_PER_NS +
		 OPTION_WAY(back, delay);

	at += random_below(&link->rng, OPTION_WAY(back, jitter) + 1);
	net_carried++;
	clock_at(at, net_deliver, skb);
}

static void net_drop(struct sk_buff *skb, const char *why)
{
	if (opts.ladder)
		ladder_packet(skb, why);
	consume_skb(skb);
}

/* A train has left the netdev. */
static void net_unthrottle(struct end *end)
{
	struct rover_qp *qp = &end->qp;

	if (atomic_dec_return(&qp->tx_skbs) <= opts.txq / 2 &&
	    test_and_clear_bit(ROVER_TX_BLOCKED, &qp->work)) {
		rover_qp_set_work(qp, ROVER_WORK_TX);
		rover_qp_set_work(qp, ROVER_WORK_RX);
		rover_qp_kick(qp);
	}
	rover_qp_put(qp);
}

static void net_leave_nic(void *arg)
{
	struct sk_buff *skb = arg;
	bool back = !skb->to->back;
	struct link *link = &net_links[back];

	net_carried--;
	link->counts.packets++;
	link->counts.bytes += skb->wire;
	link->counts.again += skb->again;
	if (skb->last)
		net_unthrottle(skb->to->peer);
	if (net_loses(link, skb, back) || net_rule_drops(skb)) {
		link->counts.lost++;
		net_drop(skb, "lost");
		return;
	}
	if (!net_queue(link, skb, back)) {
		net_drop(skb, "full");
		return;
	}
	if (opts.ladder)
		ladder_packet(skb, skb->ce ? "marked" : "sent");
	if (random_part(&link->rng, OPTION_WAY(back, dup))) {
		link->counts.copied++;
		net_carry(link, sim_skb_copy(skb), back);
	}
	net_carry(link, skb, back);
}

void net_send(struct end *end, struct sk_buff *skb, unsigned int packets)
{
	u64 rate = opts.nic ? opts.nic : OPTION_WAY(end->back, rate);
	struct rover_qp *qp = &end->qp;
	unsigned int i;

	rover_qp_get(qp);
	atomic_inc(&qp->tx_skbs);
	for (i = 0; i < packets; i++) {
		struct sk_buff *next = skb->next;

		if (!(i % max_t(u64, opts.train, 1)))
			net_trains++;
		skb->train = net_trains;
		skb->last = i + 1 == packets;
		skb->next = NULL;
		skb->to = end->peer;
		end->cpu_free = max(end->cpu_free, clock_now) + opts.cpu_tx;
		end->nic_free = max(end->nic_free, end->cpu_free * PS_PER_NS) +
				net_ps(skb->wire, rate);
		net_carried++;
		clock_at(end->nic_free / PS_PER_NS, net_leave_nic, skb);
		skb = next;
	}
}
