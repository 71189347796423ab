/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qp - the queue pair
 *
 * Locks, in order:
 *   ctl		mutex, serialises modify and destroy
 *   rx_lock		receive side: rsp.h, rq, rx_pagein
 *   tx_lock		send side: req.h, sq, tx_pagein, resp_pagein
 *   sq_post, rq_post	posts of kernel users: tail of sq, rq; interrupts off
 * Softirqs are off under rx_lock and tx_lock.  The last two and the locks of CQ
 * and dst are leaves; under that of an SRQ its post lock is taken.
 *
 * To run a side, a context sets a bit in @work and tries the lock; a holder
 * tests the bit when it leaves: rover_run().
 *
 * Fields marked "hint" are also read without the lock, when they may be stale.
 *
 * Lifetime: found under RCU.  Destroy clears @alive under both locks: test it
 * after taking one.  Freed a grace period after the last reference (destroy,
 * skbs in the device, kicks, page-in requests).
 */
#ifndef ROVER_QP_H
#define ROVER_QP_H

#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "addr/path.h"
#include "core/dev.h"
#include "core/kick.h"
#include "core/ring.h"
#include "core/table.h"
#include "qp/cq.h"
#include "qp/early.h"
#include "qp/gap.h"
#include "qp/req.h"
#include "qp/rsp.h"
#include "run/poll_adapt.h"
#include "wire/psn.h"

/* Bits of rover_qp.work. */
#define ROVER_WORK_TX		0
#define ROVER_WORK_RX		1
#define ROVER_TX_BLOCKED	2	/* kick when the device drains */

struct rover_srq;

/* Only the owner receives from the backlog, in order. */
enum rover_backlog_owner {
	ROVER_BACKLOG_IDLE,	/* packets are received on arrival */
	ROVER_BACKLOG_QUEUED,	/* a worker will run, or a doorbell first */
	ROVER_BACKLOG_RUNNING,	/* a worker or a doorbell runs */
};

/**
 * struct rover_backlog - packets for a worker or doorbell (backlog)
 * @requests: in order; its lock protects all but @cpu
 * @responses: in order
 * @bytes: sum of their truesize
 * @responses_first: @responses were tried first last time
 * @owner: enum rover_backlog_owner; while set, all packets queue; hint
 * @cpu: receives large packets, or ROVER_CPU_ANY; hint
 */
struct rover_backlog {
	struct sk_buff_head requests;
	struct sk_buff_head responses;
	unsigned int bytes;
	bool responses_first;
	u8 owner;
	int cpu;
};

/**
 * struct rover_stream - polling of small posts (poller)
 * @kick: in a poller's list
 * @peer_count: rsp.msn plus rcq->emptied at the last doorbell
 * @first: ring progress when the stream began
 * @polling: NEED_WAKEUP is clear
 * @idle_polls: successive polls without progress
 * @last: ring progress at the last poll
 * @cpu: polls, or sent what is in flight; else ROVER_CPU_ANY; hint
 * @last_long_post: kernel QP: @adapt.posts at the last long message; under
 *	sq_post; hint
 * @adapt: kernel QP: whether polling pays
 *
 * tx_lock protects @peer_count to @cpu.
 */
struct rover_stream {
	struct rover_kick kick;
	u32 peer_count;
	u32 first;
	bool polling;
	u8 idle_polls;
	u32 last;
	int cpu;
	u32 last_long_post;
	struct rover_poll_adapt adapt;
};

/**
 * struct rover_shortcut - direct hand-over to a local peer (shortcut)
 * @out_dev: outgoing netdev, compare only; NULL if closed
 * @net: namespace of the receiving netdev, compare only
 * @rnet: namespace of the peer, compare only
 * @valid_until: jiffies
 * @tx_checked: last check of the netdevs, jiffies
 * @rx_checked: last check for the peer's shortcut, jiffies
 *
 * Hints without a lock; the peer sets all but the last two to open it.
 */
struct rover_shortcut {
	const struct net_device *out_dev;
	const struct net *net;
	const struct rover_net *rnet;
	unsigned long valid_until;
	u32 tx_checked;
	u32 rx_checked;
};

/**
 * struct rover_qp - a queue pair
 * @obj: number, in rover_qpns
 * @dev: device
 * @stats: of @dev or of a bound counter; RCU
 * @ib: core object; valid while @alive
 * @pd: protection domain; of XRC targets this and the next three: see xrc.h
 * @rcq: receive CQ; NULL for an XRC initiator
 * @srq: NULL if receives are in @rq
 * @recv_pd: that of @srq, else @pd
 * @scq: send CQ; NULL for an XRC target
 * @xrcd: domain of an XRC target, compare only; else NULL
 * @state: enum ib_qp_state; written under ctl and both locks, or under one by
 *	rover_qp_fail() and rover_qp_fail_send(); hint
 * @alive: not destroyed
 * @user: rings are mapped by userspace
 * @ucontext: of a user QP, compare only
 * @transport: enum rover_transport
 * @sig_all: all sends are signaled
 * @block_mcast_loopback: do not receive own multicast
 * @max_send_sge: of a send WQE
 * @max_recv_sge: of a receive WQE
 * @max_inline: bytes of a send WQE
 * @remote_qpn: number of the peer
 * @peer_sack: the peer understands selective acknowledgments; hint
 * @mtu: path MTU in bytes
 * @mtu_shift: log2 of @mtu
 * @access: IB_ACCESS_REMOTE_* of the peer
 * @qkey: Q_Key of received datagrams
 * @zcopy_gen: of requester, responder (zcopy); under tx_lock, rx_lock; hint
 * @path: headers and route to the peer
 * @rx_dst: cached dst of packets from the peer
 * @ctl: see above
 * @attr: attributes of modify
 * @mcast: attached groups; under rover_mcasts.lock
 * @rcu: for freeing
 * @refs: references
 * @work: ROVER_WORK_*, ROVER_TX_BLOCKED
 * @tx_skbs: skbs in the device
 * @home_cpu: sends long messages (affinity), or ROVER_CPU_ANY; hint
 * @worker_cpu: runs @worker_kick (affinity); hint
 * @kick: in a list of queue pairs to run
 * @worker_kick: in a worker's list
 * @backlog: packets for a worker
 * @stream: polling of small posts
 * @shortcut: to a local peer
 * @tx_lock: send side
 * @sq: send ring; absent for an XRC target
 * @sq_post: kernel QP: serialises posts to @sq
 * @req: requester and completer
 * @tx_pagein: of payload to send
 * @cc: congestion control
 * @rtx: retransmit timer
 * @resp_pagein: of the destination of a response
 * @gaps: packets known to be missing at the peer, or from it
 * @tx_early: responses that arrived before their turn
 * @rx_lock: receive side
 * @rq: receive ring; all zero with @srq, absent for XRC
 * @rq_post: kernel QP: serialises posts to @rq
 * @rsp: responder
 * @rx_pagein: of the responder
 * @rx_early: requests that arrived before their turn
 */
struct rover_qp {
	/* constant, or changed by modify under both locks */
	struct rover_obj obj;
	struct rover_dev *dev;
	struct rover_stats __percpu *stats;
	struct ib_qp *ib;
	struct ib_pd *pd;
	struct rover_cq *rcq;
	struct rover_srq *srq;
	struct ib_pd *recv_pd;
	struct rover_cq *scq;
	const void *xrcd;
	int state;
	bool alive;
	bool user;
	const void *ucontext;
	u8 transport;
	bool sig_all;
	bool block_mcast_loopback;
	u8 max_send_sge;
	u8 max_recv_sge;
	u16 max_inline;
	u32 remote_qpn;
	bool peer_sack;
	u32 mtu;
	u8 mtu_shift;
	int access;
	u32 qkey;
	u32 zcopy_gen[2];
	struct rover_path path;
	struct rover_dst rx_dst;

	/* control path */
	struct mutex ctl;
	struct ib_qp_attr attr;
	struct rover_mcast_member mcast;
	struct rcu_head rcu;

	/* shared by all contexts */
	refcount_t refs ____cacheline_aligned_in_smp;
	unsigned long work;
	atomic_t tx_skbs;
	int home_cpu;
	int worker_cpu;
	struct rover_kick kick;
	struct rover_kick worker_kick;
	struct rover_backlog backlog;
	struct rover_stream stream;
	struct rover_shortcut shortcut;

	/* send side */
	spinlock_t tx_lock ____cacheline_aligned_in_smp;
	struct rover_ring sq;
	spinlock_t sq_post;
	struct rover_req req;
	struct rover_pagein tx_pagein;
	struct rover_cc cc;
	struct rover_rtx rtx;
	struct rover_pagein resp_pagein;
	struct rover_gaps gaps;
	struct rover_early tx_early;

	/* receive side */
	spinlock_t rx_lock ____cacheline_aligned_in_smp;
	struct rover_ring rq;
	spinlock_t rq_post;
	struct rover_rsp rsp;
	struct rover_pagein rx_pagein;
	struct rover_early rx_early;
};

/* Allocated by the core.  Either may outlive the other: rover_qp_get_ib(). */
struct rover_ibqp {
	struct ib_qp ib;
	struct rover_qp __rcu *qp;
};

/**
 * rover_qp_inflight() - test for unacknowledged packets
 * @qp: sender; sent from another CPU, packets could pass those in flight
 * Context: any; a hint without tx_lock.
 */
static inline bool rover_qp_inflight(const struct rover_qp *qp)
{
	return READ_ONCE(qp->req.una) != READ_ONCE(qp->req.next_psn);
}

/**
 * rover_qp_unacked() - return how many packets are not acknowledged
 * @qp: sender; tx_lock held
 */
static inline u32 rover_qp_unacked(const struct rover_qp *qp)
{
	return rover_psn_diff(qp->req.next_psn, qp->req.una);
}

/**
 * rover_qp_packets() - return how many packets a message takes
 * @qp: queue pair; its path MTU is set
 * @len: bytes
 */
static inline u32 rover_qp_packets(const struct rover_qp *qp, u32 len)
{
	return len ? ((len - 1) >> qp->mtu_shift) + 1 : 1;
}

/**
 * rover_qp_count() - increment a counter
 * @qp: queue pair
 * @id: counter
 * Context: under RCU or with softirqs off.
 */
static inline void rover_qp_count(const struct rover_qp *qp, enum rover_stat id)
{
	/* Pairs with smp_store_release() in counter.c: counters are zeroed. */
	rover_stat_inc(READ_ONCE(qp->stats), id);
}

/**
 * rover_qp_set_work() - note work for the next run of a queue pair
 * @qp: queue pair
 * @bit: ROVER_WORK_TX or ROVER_WORK_RX
 *
 * The caller runs or kicks @qp afterwards.
 *
 * Context: any.
 */
static inline void rover_qp_set_work(struct rover_qp *qp, int bit)
{
	/* Pairs with smp_mb__after_atomic() in run_side(): the work itself. */
	smp_mb__before_atomic();
	set_bit(bit, &qp->work);
}

/* For verbs: the core serialises them with destroy. */
static inline struct rover_qp *rover_qp(struct ib_qp *ib)
{
	return rcu_dereference_protected(container_of(ib, struct rover_ibqp,
						      ib)->qp, true);
}

#endif /* ROVER_QP_H */
