// SPDX-License-Identifier: GPL-2.0
/*
 * ingress - from the socket or the Ethernet to the context that receives
 *
 * Most packets are received where and when they arrive.  Large trains from a
 * sender on this very processor are set aside for a thread on another one (see
 * steer.h), and so is whatever arrives for the same queue pair until those are
 * done: a connection's requests stay in their order, and its responses in
 * theirs.
 *
 * Softirq, from the socket under rcu_read_lock(); such a thread.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "run/run.h"
#include "rx/ingress.h"
#include "rx/netrx.h"
#include "tx/train.h"
#include "wire/wire.h"

/*
 * Memory that may be set aside: twice what a window of ours lets a peer send, so
 * only one that knows no window comes near, or one who forges its address.
 */
#define ASIDE_MOST	(8 * 1024 * 1024)

/*
 * What is received, an acknowledge perhaps, goes before what is sent.  But a peer
 * that sends all the time would leave none for that: after so many trains as many
 * are sent.  And after so many turns it is the turn of others.
 */
#define RECEIVE_FIRST	4
#define TURNS		16

struct rover_dev *rover_ingress_device(struct rover_net *rnet,
				      const struct sk_buff *skb)
{
	struct rover_dev *dev, *below = NULL, *any = NULL;

	list_for_each_entry_rcu(dev, &rnet->devs, net_node) {
		if (dev->ndev == skb->dev)
			return dev;
		if (!below &&
		    netdev_has_upper_dev_all_rcu(dev->ndev, skb->dev))
			below = dev;
		any = dev;
	}
	return below ?: any;
}

/* The first packet's header; nothing is proved yet. */
static const struct rover_bth *first_bth(const struct sk_buff *skb,
					 struct rover_bth *buf)
{
	return skb_header_pointer(skb, rover_netrx_bth_at(skb), sizeof(*buf),
				  buf);
}

static bool is_response(const struct rover_bth *bth)
{
	const struct rover_opcode *op = rover_opcode_get(bth->opcode);

	return op && op->flags & ROVER_OP_RESPONSE;
}

/* It outlives its netdev's interest in it: nothing of the stack's is kept. */
static void detach(struct sk_buff *skb)
{
	skb_dst_drop(skb);
	skb_orphan(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
}

/*
 * What is set aside takes room and time that are the peer's, so it comes from its
 * address, and is no longer than its packets are.  All else netrx is going to drop,
 * on the time of whoever sends it.  Asked without a lock, while modify may change
 * both: it is no more than that.
 */
static bool may_wait(const struct rover_qp *qp, const struct sk_buff *skb)
{
	unsigned int most = sizeof(struct udphdr) + ROVER_MAX_HDR +
			    READ_ONCE(qp->mtu) + ROVER_ICRC_SIZE;

	return (rover_netrx_is_train(skb) ||
		(!skb_is_gso(skb) && skb->len <= most)) &&
	       rover_path_match(&qp->path, qp->dev->rnet->net,
				rover_netrx_l3(skb), skb_network_header(skb));
}

/* Return true when the packet was taken, one way or the other. */
static bool set_aside(struct rover_qp *qp, struct sk_buff *skb, bool response)
{
	struct rover_backlog *aside = &qp->backlog;
	int cpu = rover_affinity_receive(qp, skb->len, response);
	bool taken = true, first = false;

	/* Others may arrive elsewhere at this moment: of those any may be first. */
	if (cpu == ROVER_CPU_ANY && !READ_ONCE(aside->owner))
		return false;
	if (!may_wait(qp, skb))
		return false;
	spin_lock(&aside->requests.lock);
	if (aside->bytes >= ASIDE_MOST) {
		rover_qp_drop(qp, ROVER_STAT_DROP_BACKLOG, 0, 0);
		kfree_skb(skb);
	} else if (aside->owner || cpu != ROVER_CPU_ANY) {
		detach(skb);
		aside->bytes += skb->truesize;
		__skb_queue_tail(response ? &aside->responses :
				 &aside->requests, skb);
		first = !aside->owner;
		if (first)
			aside->owner = ROVER_BACKLOG_QUEUED;
	} else {
		taken = false;
	}
	spin_unlock(&aside->requests.lock);
	if (first)
		rover_affinity_to(qp, cpu);
	return taken;
}

/* Here, or by another context if it is large. */
static void receive(struct rover_net *rnet, struct rover_dev *dev,
		    struct rover_qp *qp, struct sk_buff *skb,
		    const struct rover_bth *bth)
{
	if (!qp || !set_aside(qp, skb, is_response(bth)))
		rover_netrx(rnet, dev, qp, skb);
}

/* One that lives in this namespace, if that has not ended. */
static struct rover_qp *find_in(const struct rover_net *rnet,
				const struct rover_bth *bth)
{
	struct rover_qp *qp = rover_qp_find(rover_bth_qpn(bth));

	return qp && READ_ONCE(qp->alive) && qp->dev->rnet == rnet ?
	       qp : NULL;
}

void rover_ingress_packet(struct rover_net *rnet, struct sk_buff *skb)
{
	const struct rover_bth *bth;
	struct rover_qp *qp = NULL;
	struct rover_dev *dev;
	struct rover_bth buf;

	bth = first_bth(skb, &buf);
	if (bth)
		qp = find_in(rnet, bth);
	/* Count at the queue pair's device: lo and VLANs have none of their own. */
	dev = qp ? qp->dev : rover_ingress_device(rnet, skb);
	if (dev)
		receive(rnet, dev, qp, skb, bth);
	else
		kfree_skb(skb);
}

int rover_ingress_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct rover_net *rnet = rcu_dereference_sk_user_data(sk);

	if (rnet && pskb_may_pull(skb, sizeof(struct udphdr)))
		rover_ingress_packet(rnet, skb);
	else
		consume_skb(skb);
	return 0;
}

/* Whom it is for.  In a train of several the first may be gone, and others not. */
static struct rover_qp *find_any_in(const struct rover_net *rnet,
				    const struct sk_buff *skb,
				    const struct rover_bth *first)
{
	struct rover_qp *qp = find_in(rnet, first);
	const struct sk_buff *member;

	if (likely(qp))
		return qp;
	skb_walk_frags(skb, member) {
		qp = find_in(rnet, (const void *)member->data);
		if (qp)
			break;
	}
	return qp;
}

void rover_ingress_shortcut(struct sk_buff *skb, const struct rover_net *rnet)
{
	const struct rover_bth *bth;
	struct rover_qp *qp;

	rcu_read_lock();
	/* We have made it: all headers are in one piece. */
	__skb_pull(skb, skb_transport_offset(skb));
	bth = (const void *)(udp_hdr(skb) + 1);
	qp = find_any_in(rnet, skb, bth);
	if (likely(qp)) {
		receive(qp->dev->rnet, qp->dev, qp, skb, bth);
	} else {
		rover_drop(NULL, ROVER_STAT_DROP_QPN, rover_bth_qpn(bth),
			   bth->opcode, rover_bth_psn(bth));
		kfree_skb(skb);
	}
	rcu_read_unlock();
}

/* Become the owner, unless somebody else is at it. */
static bool own_aside(struct rover_qp *qp)
{
	struct rover_backlog *aside = &qp->backlog;
	bool mine;

	spin_lock_bh(&aside->requests.lock);
	mine = aside->owner != ROVER_BACKLOG_RUNNING;
	aside->owner = ROVER_BACKLOG_RUNNING;
	spin_unlock_bh(&aside->requests.lock);
	if (mine)
		WRITE_ONCE(qp->worker_cpu, raw_smp_processor_id());
	return mine;
}

/*
 * In turns: the peer's requests go on for as long as it likes, and responses
 * for as long as they make us send what causes more of them.
 */
static struct sk_buff *next_aside(struct rover_backlog *aside)
{
	struct sk_buff_head *of[] = { &aside->requests, &aside->responses };
	struct sk_buff *skb;

	spin_lock(&aside->requests.lock);
	aside->turn = !aside->turn;
	skb = __skb_dequeue(of[aside->turn]) ?: __skb_dequeue(of[!aside->turn]);
	if (skb)
		aside->bytes -= skb->truesize;
	spin_unlock(&aside->requests.lock);
	return skb;
}

/* Return how much it was: packets, or KiB if those are more; 0 for nothing. */
static unsigned int receive_aside(struct rover_qp *qp)
{
	unsigned int much = 0;
	struct sk_buff *skb;

	/* As in softirq.  A device outlives its queue pairs so long. */
	local_bh_disable();
	rcu_read_lock();
	skb = next_aside(&qp->backlog);
	if (skb)
		much = max(rover_netrx_packets(skb), skb->len / SZ_1K);
	if (much && READ_ONCE(qp->alive))
		rover_netrx(qp->dev->rnet, qp->dev, qp, skb);
	else
		kfree_skb(skb);
	rcu_read_unlock();
	/* What was sent, an acknowledge perhaps, goes its way here. */
	local_bh_enable();
	return much;
}

/* Return how many trains it was, rounded up. */
static unsigned int receive_first(struct rover_qp *qp)
{
	unsigned int received = 0, more;

	do {
		more = receive_aside(qp);
		received += more;
	} while (more && received < RECEIVE_FIRST * ROVER_TRAIN_MAX);
	return DIV_ROUND_UP(received, ROVER_TRAIN_MAX);
}

/* Return false when there was nothing to send. */
static bool send_trains(struct rover_qp *qp, unsigned int most)
{
	bool sent = rover_run_turn(qp);

	while (sent && --most && rover_run_turn(qp))
		;
	return sent;
}

/* Be the owner no longer.  Return true when the thread is to be. */
static bool leave_aside(struct rover_qp *qp, bool more)
{
	struct rover_backlog *aside = &qp->backlog;

	spin_lock_bh(&aside->requests.lock);
	more |= !skb_queue_empty(&aside->responses) ||
		!skb_queue_empty(&aside->requests);
	aside->owner = more ? ROVER_BACKLOG_QUEUED : ROVER_BACKLOG_IDLE;
	spin_unlock_bh(&aside->requests.lock);
	return more;
}

/*
 * As the owner: run the queue pair and receive what arrives for it meanwhile.
 * The last run is without an owner.  So whoever left work to one that was not
 * its own any more has found it done.
 *
 * A program that @posted is to post more: where there is much to receive, that
 * is left to the thread.
 */
static void run_owned(struct rover_qp *qp, bool posted)
{
	unsigned int received, left = TURNS;
	bool more;

	do {
		received = receive_first(qp);
		more = send_trains(qp, clamp_t(unsigned int, received, 1,
					       RECEIVE_FIRST)) || received;
		if (posted && received >= RECEIVE_FIRST)
			break;
	} while (more && --left);
	if (leave_aside(qp, more))
		rover_affinity_to(qp, rover_affinity_on(qp));
	else
		rover_run(qp);
}

void rover_ingress_heavy(struct rover_kick *heavy)
{
	struct rover_qp *qp = container_of(heavy, struct rover_qp, heavy);

	/* Else somebody is at it, and will see what there is to do. */
	if (own_aside(qp))
		run_owned(qp, false);
	rover_qp_put(qp);
}

void rover_ingress_posted(struct rover_qp *qp)
{
	rover_affinity_home(qp);
	/* What answers large messages would otherwise only wait for our lock. */
	if (READ_ONCE(qp->req.long_tx) &&
	    READ_ONCE(qp->home_cpu) == raw_smp_processor_id() &&
	    own_aside(qp))
		run_owned(qp, true);
	else
		rover_run(qp);
}
