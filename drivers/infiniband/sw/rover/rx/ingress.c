// SPDX-License-Identifier: GPL-2.0
/*
 * ingress - from socket, netfilter or Ethernet to the receiving context
 *
 * Packets are received where they arrive. Only large trains from a sender on
 * this CPU go to a backlog for a worker on another CPU (qp/affinity.h), as do
 * all packets of the queue pair until it is done: this keeps them in order.
 *
 * Softirq or worker, under rcu_read_lock().
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

/* Truesize of a backlog: twice what rover's cwnd lets a peer send. */
#define INGRESS_BACKLOG_MAX	(8 * 1024 * 1024)

/*
 * Receive first, as ACKs may wait, but after INGRESS_RX_TRAINS trains send as
 * many. After INGRESS_ROUNDS other queue pairs follow.
 */
#define INGRESS_RX_TRAINS	4
#define INGRESS_ROUNDS		16

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

static const struct rover_bth *ingress_first_bth(const struct sk_buff *skb,
						 struct rover_bth *buf)
{
	return skb_header_pointer(skb, rover_netrx_bth_at(skb), sizeof(*buf),
				  buf);
}

static bool ingress_is_response(const struct rover_bth *bth)
{
	const struct rover_opcode *op = rover_opcode_get(bth->opcode);

	return op && op->flags & ROVER_OP_RESPONSE;
}

/* The skb may outlive its netdev: keep nothing of the stack. */
static void ingress_detach_skb(struct sk_buff *skb)
{
	skb_dst_drop(skb);
	skb_orphan(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
}

/*
 * Only the peer may use the backlog's memory and the worker's time: test
 * addresses and length. netrx drops other packets at their sender's cost.
 * Lockless: a hint while modify runs.
 */
static bool ingress_may_queue(const struct rover_qp *qp,
			      const struct sk_buff *skb)
{
	unsigned int most = sizeof(struct udphdr) + ROVER_MAX_HDR +
			    READ_ONCE(qp->mtu) + ROVER_ICRC_SIZE;

	return (rover_netrx_is_train(skb) ||
		(!skb_is_gso(skb) && skb->len <= most)) &&
	       rover_path_match(&qp->path, qp->dev->rnet->net,
				rover_netrx_l3(skb), skb_network_header(skb));
}

/* Return true if @skb was queued or dropped. */
static bool ingress_queue_skb(struct rover_qp *qp, struct sk_buff *skb,
			      bool response)
{
	struct rover_backlog *backlog = &qp->backlog;
	int cpu = rover_affinity_receive(qp, skb->len, response);
	bool taken = true, first = false;

	/* Lockless: packets arriving on several CPUs have no order yet. */
	if (cpu == ROVER_CPU_ANY && !READ_ONCE(backlog->owner))
		return false;
	if (!ingress_may_queue(qp, skb))
		return false;
	spin_lock(&backlog->requests.lock);
	if (backlog->bytes >= INGRESS_BACKLOG_MAX) {
		rover_qp_drop(qp, ROVER_STAT_DROP_BACKLOG, 0, 0);
		kfree_skb(skb);
	} else if (backlog->owner || cpu != ROVER_CPU_ANY) {
		ingress_detach_skb(skb);
		backlog->bytes += skb->truesize;
		__skb_queue_tail(response ? &backlog->responses :
				 &backlog->requests, skb);
		first = !backlog->owner;
		if (first)
			backlog->owner = ROVER_BACKLOG_QUEUED;
	} else {
		taken = false;
	}
	spin_unlock(&backlog->requests.lock);
	if (first)
		rover_affinity_queue(qp, cpu);
	return taken;
}

static void ingress_receive_skb(struct rover_net *rnet, struct rover_dev *dev,
				struct rover_qp *qp, struct sk_buff *skb,
				const struct rover_bth *bth)
{
	if (!qp || !ingress_queue_skb(qp, skb, ingress_is_response(bth)))
		rover_netrx(rnet, dev, qp, skb);
}

static struct rover_qp *ingress_find_qp(const struct rover_net *rnet,
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

	bth = ingress_first_bth(skb, &buf);
	if (bth)
		qp = ingress_find_qp(rnet, bth);
	/* Count at the queue pair's device: lo and VLANs have none. */
	dev = qp ? qp->dev : rover_ingress_device(rnet, skb);
	if (dev)
		ingress_receive_skb(rnet, dev, qp, skb, bth);
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

/* In a train of several queue pairs the first may be gone. */
static struct rover_qp *ingress_find_any_qp(const struct rover_net *rnet,
					    const struct sk_buff *skb,
					    const struct rover_bth *first)
{
	struct rover_qp *qp = ingress_find_qp(rnet, first);
	const struct sk_buff *member;

	if (likely(qp))
		return qp;
	skb_walk_frags(skb, member) {
		qp = ingress_find_qp(rnet, (const void *)member->data);
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
	/* Sent by rover: all headers are linear. */
	__skb_pull(skb, skb_transport_offset(skb));
	bth = (const void *)(udp_hdr(skb) + 1);
	qp = ingress_find_any_qp(rnet, skb, bth);
	if (likely(qp)) {
		ingress_receive_skb(qp->dev->rnet, qp->dev, qp, skb, bth);
	} else {
		rover_drop(NULL, ROVER_STAT_DROP_QPN, rover_bth_qpn(bth),
			   bth->opcode, rover_bth_psn(bth));
		kfree_skb(skb);
	}
	rcu_read_unlock();
}

/* Return false if another context owns the backlog. */
static bool ingress_own_backlog(struct rover_qp *qp)
{
	struct rover_backlog *backlog = &qp->backlog;
	bool owned;

	spin_lock_bh(&backlog->requests.lock);
	owned = backlog->owner != ROVER_BACKLOG_RUNNING;
	backlog->owner = ROVER_BACKLOG_RUNNING;
	spin_unlock_bh(&backlog->requests.lock);
	if (owned)
		WRITE_ONCE(qp->worker_cpu, raw_smp_processor_id());
	return owned;
}

/* Alternate, or an endless queue would starve the other. */
static struct sk_buff *ingress_next_skb(struct rover_backlog *backlog)
{
	struct sk_buff_head *queues[] = { &backlog->requests,
					  &backlog->responses };
	struct sk_buff *skb;

	spin_lock(&backlog->requests.lock);
	backlog->responses_first = !backlog->responses_first;
	skb = __skb_dequeue(queues[backlog->responses_first]) ?:
	      __skb_dequeue(queues[!backlog->responses_first]);
	if (skb)
		backlog->bytes -= skb->truesize;
	spin_unlock(&backlog->requests.lock);
	return skb;
}

/* Return packets or KiB, whichever is more; 0 without an skb. */
static unsigned int ingress_receive_next(struct rover_qp *qp)
{
	unsigned int amount = 0;
	struct sk_buff *skb;

	/* As in softirq. RCU keeps the device. */
	local_bh_disable();
	rcu_read_lock();
	skb = ingress_next_skb(&qp->backlog);
	if (skb)
		amount = max(rover_netrx_packets(skb), skb->len / SZ_1K);
	if (amount && READ_ONCE(qp->alive))
		rover_netrx(qp->dev->rnet, qp->dev, qp, skb);
	else
		kfree_skb(skb);
	rcu_read_unlock();
	/* Softirqs now deliver what was sent, e.g. ACKs. */
	local_bh_enable();
	return amount;
}

static unsigned int ingress_receive_some(struct rover_qp *qp)
{
	unsigned int received = 0, more;

	do {
		more = ingress_receive_next(qp);
		received += more;
	} while (more && received < INGRESS_RX_TRAINS * ROVER_TRAIN_MAX);
	return DIV_ROUND_UP(received, ROVER_TRAIN_MAX);
}

static bool ingress_send_trains(struct rover_qp *qp, unsigned int most)
{
	bool sent = rover_run_turn(qp);

	while (sent && --most && rover_run_turn(qp))
		;
	return sent;
}

/* Return true if the worker is to go on. */
static bool ingress_leave_backlog(struct rover_qp *qp, bool more)
{
	struct rover_backlog *backlog = &qp->backlog;

	spin_lock_bh(&backlog->requests.lock);
	more |= !skb_queue_empty(&backlog->responses) ||
		!skb_queue_empty(&backlog->requests);
	backlog->owner = more ? ROVER_BACKLOG_QUEUED : ROVER_BACKLOG_IDLE;
	spin_unlock_bh(&backlog->requests.lock);
	return more;
}

/*
 * The last rover_run(), after ownership, does what run_moved() left to the
 * owner. A doorbell (@posted) leaves heavy receiving to the worker, so that its
 * program can post more.
 */
static void ingress_run_owned(struct rover_qp *qp, bool posted)
{
	unsigned int received, left = INGRESS_ROUNDS;
	bool more;

	do {
		received = ingress_receive_some(qp);
		more = ingress_send_trains(qp, clamp_t(unsigned int, received,
						       1, INGRESS_RX_TRAINS)) ||
		       received;
		if (posted && received >= INGRESS_RX_TRAINS)
			break;
	} while (more && --left);
	if (ingress_leave_backlog(qp, more))
		rover_affinity_queue(qp, rover_affinity_worker_cpu(qp));
	else
		rover_run(qp);
}

void rover_ingress_worker(struct rover_kick *heavy)
{
	struct rover_qp *qp = container_of(heavy, struct rover_qp, worker_kick);

	/* Otherwise the present owner does the work. */
	if (ingress_own_backlog(qp))
		ingress_run_owned(qp, false);
	rover_qp_put(qp);
}

void rover_ingress_doorbell(struct rover_qp *qp)
{
	rover_affinity_set_home(qp);
	/* Receive here: responses would wait for tx_lock elsewhere. */
	if (READ_ONCE(qp->req.long_tx) &&
	    READ_ONCE(qp->home_cpu) == raw_smp_processor_id() &&
	    ingress_own_backlog(qp))
		ingress_run_owned(qp, true);
	else
		rover_run(qp);
}
