// SPDX-License-Identifier: GPL-2.0
/*
 * backlog - packets that another context is to receive
 *
 * Large trains from a sender on this CPU are queued for a worker on another CPU
 * (qp/affinity.h), as are all packets of the queue pair until it is done: this
 * keeps them in order.  The worker, or a program in its doorbell, owns the
 * backlog while it receives.
 */
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "run/run.h"
#include "rx/backlog.h"
#include "rx/netrx.h"
#include "tx/train.h"
#include "wire/wire.h"

/* Truesize of a backlog: twice what rover's cwnd lets a peer send. */
#define BACKLOG_BYTES_MAX	(8 * 1024 * 1024)

/*
 * Receive first, as ACKs may wait, but after BACKLOG_RX_TRAINS trains send as
 * many. After BACKLOG_ROUNDS other queue pairs follow.
 */
#define BACKLOG_RX_TRAINS	4
#define BACKLOG_ROUNDS		16

/*
 * Only the peer may use the backlog's memory and the worker's time: test
 * addresses and length. netrx drops other packets at their sender's cost.
 * Lockless: a hint while modify runs.
 */
static bool backlog_may_queue(const struct rover_qp *qp,
			      const struct sk_buff *skb)
{
	unsigned int most = sizeof(struct udphdr) + ROVER_MAX_HDR +
			    READ_ONCE(qp->mtu) + ROVER_ICRC_SIZE;

	return (rover_netrx_is_train(skb) ||
		(!skb_is_gso(skb) && skb->len <= most)) &&
	       rover_path_match(&qp->path, qp->dev->rnet->net,
				rover_netrx_l3(skb), skb_network_header(skb));
}

bool rover_backlog_queue(struct rover_qp *qp, struct sk_buff *skb,
			 bool response)
{
	struct rover_backlog *backlog = &qp->backlog;
	int cpu = rover_affinity_receive(qp, skb->len, response);
	bool taken = true, first = false;

	/* Lockless: packets arriving on several CPUs have no order yet. */
	if (cpu == ROVER_CPU_ANY && !READ_ONCE(backlog->owner))
		return false;
	if (!backlog_may_queue(qp, skb))
		return false;
	spin_lock(&backlog->requests.lock);
	if (backlog->bytes >= BACKLOG_BYTES_MAX) {
		rover_qp_drop(qp, ROVER_STAT_DROP_BACKLOG, 0, 0);
		kfree_skb(skb);
	} else if (backlog->owner || cpu != ROVER_CPU_ANY) {
		rover_netrx_detach(skb);
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

/* Return false if another context owns the backlog. */
static bool backlog_own(struct rover_qp *qp)
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
static struct sk_buff *backlog_next_skb(struct rover_backlog *backlog)
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
static unsigned int backlog_receive_next(struct rover_qp *qp)
{
	unsigned int amount = 0;
	struct sk_buff *skb;

	/* As in softirq. RCU keeps the device. */
	local_bh_disable();
	rcu_read_lock();
	skb = backlog_next_skb(&qp->backlog);
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

static unsigned int backlog_receive_some(struct rover_qp *qp)
{
	unsigned int received = 0, more;

	do {
		more = backlog_receive_next(qp);
		received += more;
	} while (more && received < BACKLOG_RX_TRAINS * ROVER_TRAIN_MAX);
	return DIV_ROUND_UP(received, ROVER_TRAIN_MAX);
}

static bool backlog_send_trains(struct rover_qp *qp, unsigned int most)
{
	bool sent = rover_run_turn(qp);

	while (sent && --most && rover_run_turn(qp))
		;
	return sent;
}

/* Return true if the worker is to go on. */
static bool backlog_leave(struct rover_qp *qp, bool more)
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
static void backlog_run_owned(struct rover_qp *qp, bool posted)
{
	unsigned int received, left = BACKLOG_ROUNDS;
	bool more;

	do {
		received = backlog_receive_some(qp);
		more = backlog_send_trains(qp, clamp_t(unsigned int, received,
						       1, BACKLOG_RX_TRAINS)) ||
		       received;
		if (posted && received >= BACKLOG_RX_TRAINS)
			break;
	} while (more && --left);
	if (backlog_leave(qp, more))
		rover_affinity_queue(qp, rover_affinity_worker_cpu(qp));
	else
		rover_run(qp);
}

void rover_backlog_worker(struct rover_kick *heavy)
{
	struct rover_qp *qp = container_of(heavy, struct rover_qp, worker_kick);

	/* Otherwise the present owner does the work. */
	if (backlog_own(qp))
		backlog_run_owned(qp, false);
	rover_qp_put(qp);
}

void rover_backlog_doorbell(struct rover_qp *qp)
{
	rover_affinity_set_home(qp);
	/* Receive here: responses would wait for tx_lock elsewhere. */
	if (READ_ONCE(qp->req.long_tx) &&
	    READ_ONCE(qp->home_cpu) == raw_smp_processor_id() &&
	    backlog_own(qp))
		backlog_run_owned(qp, true);
	else
		rover_run(qp);
}
