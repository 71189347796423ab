/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qp - the queue pair: who owns which field, under which lock
 *
 * Lock order: ctl, rx_lock, tx_lock; CQ, SRQ and route locks are leaves.
 * tx_lock and rx_lock are taken with softirqs off.
 *
 *   ctl      mutex: modify and destroy, one at a time
 *   rx_lock  struct rover_rsp, rq: the responder; receives that are shared
 *            are taken under the SRQ's own lock, inside of this one
 *   tx_lock  struct rover_req, rover_cwnd, rover_rtx, sq: requester and
 *            completer
 *
 * What kernel users post goes through sq_post and rq_post, the producer's side
 * of rings of the kernel's own: leaves, taken with interrupts off.
 *
 * A context that wants to run the sending side sets a bit in @work and tries
 * tx_lock: when another context holds it, that one finds the bit before it
 * leaves.  rover_run() is this dance.
 *
 * Lifetime: found by number under RCU; @alive is cleared under both locks by
 * destroy, and whoever takes a lock looks at it.  The memory lives until the
 * last reference (destroy, skbs in the device, kicks, demands for memory) and a
 * grace period.
 */
#ifndef ROVER_QP_H
#define ROVER_QP_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "addr/path.h"
#include "core/dev.h"
#include "core/kick.h"
#include "core/ring.h"
#include "core/table.h"
#include "mem/sgl.h"
#include "qp/cq.h"
#include "run/poll_adapt.h"
#include "wire/opcode.h"
#include "wire/wr.h"

/* Outstanding send work requests: a power of two. */
#define ROVER_MAX_INFLIGHT	128

/* Bits of rover_qp.work: what is to be done, and by whom it was left. */
#define ROVER_WORK_TX		0	/* run the requester */
#define ROVER_WORK_RX		1	/* go on with READ responses */
#define ROVER_TX_BLOCKED	2	/* the device is full: kick when it drains */

struct rover_srq;

/**
 * struct rover_sent - what the kernel remembers of an outstanding request
 * @wr_id: for the completion
 * @length: payload bytes
 * @psn: of its first packet
 * @opcode: enum rover_wqe_opcode
 * @flags: ROVER_WQE_*
 * @ssn: receives that those before it take from the peer; see credit
 *
 * The work request itself stays in the ring and is read, and proved, again
 * when something must be sent again.  It must still say the same.
 */
struct rover_sent {
	u64 wr_id;
	u32 length;
	u32 psn : 24;
	u32 opcode : 4;
	u32 flags : 4;
	u32 ssn;
};

static_assert(ROVER_WQE_OPCODES <= 1 << 4 && ROVER_WQE_FLAGS < 1 << 4);

/**
 * struct rover_wqe - a send work request, copied once and proved
 * @hdr: head
 * @sge: gather or scatter entries
 * @index: free-running ring index it was read from
 * @valid: holds a request
 */
struct rover_wqe {
	struct rover_send_wqe hdr;
	struct rover_sge sge[ROVER_MAX_SGE];
	u32 index;
	bool valid;
};

/**
 * struct rover_req - requester and completer; under tx_lock
 * @psn: of the next packet to send; lies behind @next_psn while resending
 * @next_psn: of the next packet never sent yet
 * @una: oldest PSN not acknowledged
 * @acked: ring index of the oldest outstanding request (first in @sent)
 * @sending: ring index of the request whose packets are being sent
 * @fetched: ring index after the newest request with a row in @sent
 * @sent: rows by ring index modulo ROVER_MAX_INFLIGHT, from @acked to @fetched
 * @packets: PSNs that request @sending spans, while @wqe is valid
 * @offset: and as many of them are already sent
 * @wqe: request @sending
 * @sgl: where its data comes from; at byte @offset * mtu
 * @fault: what is wrong with request @sending: it fails once all before it
 *	are done, and nothing more is sent
 * @resp: request whose response is arriving (READ, atomic)
 * @resp_sgl: where its data goes
 * @rd_atomic: READs and atomics on the wire
 * @implied_nak_psn: gap in the responses that was already asked for again; a PSN,
 *	or ~0
 * @early_nak: syndrome of a NAK that ends it all but has come before answers
 *	to what was asked earlier; 0 without
 * @early_nak_psn: PSN it speaks of
 * @long_wr: request @sending moves much, either way; read without the lock
 * @long_tx: and from here; the same
 * @long_read: it is a long READ; the same
 * @last_tx_cpu: processor that sent last; the same
 * @qd1_streak: requests in a row, up to @sending, that were not long (ROVER_ALONE), and
 *	sent when nothing was on its way and nothing else to be sent; the same
 * @answered: packets of answers with data in this batch, not yet progress (completer)
 * @since_ackreq: packets since AckReq was last set
 * @ip_id: IPv4 identification of the next packet
 * @cnp_at: when the last CNP was sent for a response, ns; 0 before the first
 * @rnr_retries: RNR retries left
 * @rnr_wait: waiting for the RNR timer; nothing is sent
 * @drained: SQ_DRAINED was raised in this stay in SQD
 * @lsn_valid: the peer tells how many receives it has: @lsn counts
 * @rnr_woken: it has ended a wait by that
 * @ssn: receives of the peer that all requests up to @fetched take
 * @lsn: and as many as it is known to have; both free-running
 * @page_wait: a response was dropped since the memory it goes to was not there; to
 *	be asked for again when it is
 * @psn_lost: which was the last one of those; a PSN, or ~0
 * @zcopy: packets have pointed to payload since that was last revoked (zcopy)
 */
struct rover_req {
	u32 psn;
	u32 next_psn;
	u32 una;
	u32 acked;
	u32 sending;
	u32 fetched;
	u32 packets;
	u32 offset;
	struct rover_sent *sent;
	struct rover_wqe wqe;
	struct rover_sgl sgl;
	u8 fault;
	struct rover_wqe resp;
	struct rover_sgl resp_sgl;
	u32 implied_nak_psn;
	u32 psn_lost;
	u32 early_nak_psn;
	u32 qd1_streak;
	int last_tx_cpu;
	u32 answered;
	u32 ssn;
	u32 lsn;
	u16 rd_atomic;
	u16 since_ackreq;
	u16 ip_id;
	u64 cnp_at;
	u8 rnr_retries;
	u8 early_nak;
	bool rnr_wait;
	bool drained;
	bool long_wr;
	bool long_tx;
	bool long_read;
	bool lsn_valid;
	bool rnr_woken;
	bool page_wait;
	bool zcopy;
};

/**
 * struct rover_cwnd - how much may be on its way (cwnd); under tx_lock
 * @packets: most unacknowledged packets, now
 * @most: and ever
 * @fast: up to here it doubles
 * @slow: beyond, eighths of a packet that it has grown
 * @train: most packets in one train; few after loss
 * @late: the last round trip measured was too long: no more than now
 * @least: shortest round trip seen, ns; 0 before the first
 * @alpha: how much of the path's queue is ours to take away, after the marks of
 *	late; in 1024ths
 * @cut: packets before this one were on their way when marks made it smaller
 * @cut_at: and when that was, ns; 0 before the first mark
 */
struct rover_cwnd {
	u32 packets;
	u32 most;
	u32 fast;
	u32 slow;
	u16 train;
	bool late;
	u16 alpha;
	u32 cut;
	u64 least;
	u64 cut_at;
};

/**
 * struct rover_rtx - when to send again; under tx_lock
 * @timer: one for both waits; softirq
 * @deadline: of the oldest unacknowledged packet, or of the RNR wait; 0 none
 * @srtt: smoothed round trip, ns; 0 before the first sample
 * @rttvar: its mean deviation, ns
 * @sample_psn: packet being timed
 * @sample_at: when it left; 0 when none is being timed
 * @since: last progress, or when the first of what is outstanding left
 * @backoff: doublings of the timeout since the last round trip measured
 * @tries: timeouts since the last progress
 * @probing: a timeout is why req.psn lies behind req.next_psn
 */
struct rover_rtx {
	struct hrtimer timer;
	u64 deadline;
	u64 srtt;
	u64 rttvar;
	u64 sample_at;
	u64 since;
	u32 sample_psn;
	u8 backoff;
	u8 tries;
	bool probing;
};

/**
 * struct rover_res - a READ or atomic that may have to be answered again
 * @atomic: one response with @orig; else a READ
 * @psn: of the request, and of the first response
 * @npsn: responses
 * @va: remote address, as asked for
 * @rkey: as asked for
 * @length: bytes asked for
 * @srqn: READ, of an XRC target: shared receive queue it is for
 * @orig: atomic: value to answer with
 * @msn: message sequence number of the response
 * @next: READ: packets already sent of this answer
 * @again: it was answered before
 */
struct rover_res {
	bool atomic;
	bool again;
	u32 psn;
	u32 npsn;
	u32 rkey;
	u32 length;
	u32 srqn;
	u32 msn;
	u32 next;
	u64 va;
	u64 orig;
};

/**
 * struct rover_saved - the result of an atomic, for duplicates of it
 * @psn: of the request; ~0 in an empty row
 * @msn: message sequence number of the response
 * @orig: value to answer with
 */
struct rover_saved {
	u32 psn;
	u32 msn;
	u64 orig;
};

/**
 * struct rover_rsp - responder; under rx_lock
 * @psn: expected next
 * @msn: messages completed
 * @class: enum rover_op_class of the message under way
 * @in_message: between a FIRST and its LAST
 * @nak_sent: NAK for the current gap is out; silent until it fills
 * @ack_due: acknowledge at the end of this batch
 * @nak_due: syndrome to send instead; 0 for none
 * @have_wqe: @wqe holds a receive taken by the message under way
 * @srqn: XRC target: shared receive queue that the message under way is for
 * @srq_birth: and which of all that ever had this number
 * @received: payload bytes of the message under way
 * @length: bytes its RETH announced (WRITE)
 * @dst: where its payload goes
 * @wqe: receive work request, copied once
 * @sge: its scatter entries
 * @res: READs and atomics to be answered, in order of PSNs; a ring of @res_max
 *	rows
 * @saved: results of the last @res_max atomics, for duplicates
 * @res_max: rows of each: max_dest_rd_atomic
 * @res_tail: next row to be taken
 * @res_send: row whose responses are to be sent next; none when at @res_tail
 * @saved_tail: next row of @saved
 * @ip_id: IPv4 identification of the next response
 * @cnp_at: when the last CNP was sent for a request, ns; 0 before the first
 * @comm_est: COMM_EST was raised
 * @last_wqe: QP_LAST_WQE_REACHED was raised in this stay in error
 * @long_tx: a long READ waits for its answer; read without the lock
 * @page_wait: the request expected next was dropped since the memory it goes to was
 *	not there; to be asked for when it is
 * @rq_high: most receives that it was seen to have (credit)
 * @peer_waits: the peer found no receive, and is told when there are some; read
 *	without the lock
 * @wait_until: and when that is: where the producer of @rq has come by then
 * @wait_from: and where its consumer was
 * @waits_ended: waits that ended so
 * @zcopy: as the requester's
 */
struct rover_rsp {
	u32 psn;
	u32 msn;
	u8 class;
	bool in_message;
	bool nak_sent;
	bool ack_due;
	u8 nak_due;
	bool have_wqe;
	bool comm_est;
	bool last_wqe;
	bool long_tx;
	bool peer_waits;
	bool zcopy;
	u32 srqn;
	u64 srq_birth;
	bool page_wait;
	u32 received;
	u32 length;
	struct rover_sgl dst;
	struct rover_recv_wqe wqe;
	struct rover_sge sge[ROVER_MAX_SGE];
	struct rover_res *res;
	struct rover_saved *saved;
	u32 res_max;
	u32 res_tail;
	u32 res_send;
	u32 saved_tail;
	u32 rq_high;
	u32 wait_until;
	u32 wait_from;
	u32 waits_ended;
	u16 ip_id;
	u64 cnp_at;
};

/* Who receives what is set aside.  Only the owner does, so order is kept. */
enum rover_backlog_owner {
	ROVER_BACKLOG_IDLE,	/* packets are received where they arrive */
	ROVER_BACKLOG_QUEUED,	/* whoever comes first; the thread will */
	ROVER_BACKLOG_RUNNING,	/* the thread, or a program in the doorbell */
};

/**
 * struct rover_backlog - packets that another context is to receive (ingress)
 * @requests: in order; its lock protects this struct, but for @cpu
 * @responses: in order
 * @bytes: of memory they take
 * @turn: whose was looked at first, last time: responses if true
 * @owner: enum rover_backlog_owner; as long as there is one, all must queue
 * @cpu: where to receive what is large; ROVER_CPU_ANY before the first, a hint
 */
struct rover_backlog {
	struct sk_buff_head requests;
	struct sk_buff_head responses;
	unsigned int bytes;
	bool turn;
	u8 owner;
	int cpu;
};

/**
 * struct rover_stream - small messages, one after the other (poller)
 * @kick: its place on the list of a processor that looks at the ring
 * @heard: how often the peer had spoken, at the last doorbell; under tx_lock, as
 *	what follows
 * @first: progress in the ring at the doorbell that began it
 * @awake: the ring says that somebody looks
 * @idle: looks in a row that found nothing
 * @last: and at the last look
 * @cpu: by this processor, or where it was sent from last; ROVER_CPU_ANY when all of
 *	that is done
 * @adapt: a kernel user's: it is looked after while that pays
 * @heavy: the last of its posts that was of long messages; under sq_post
 */
struct rover_stream {
	struct rover_kick kick;
	u32 heard;
	u32 first;
	bool awake;
	u8 idle;
	u32 last;
	int cpu;
	u32 heavy;
	struct rover_poll_adapt adapt;
};

/**
 * struct rover_shortcut - may what it sends be handed over? (shortcut)
 * @via: the interface it would leave by; NULL for no; to be compared and never
 *	followed, as
 * @net: namespace of the interface it would come to
 * @rnet: and of the peer
 * @until: so long this is known, in jiffies
 * @asked: when it was last asked whether somebody is on the way, in jiffies
 * @shown: when what has come was last looked at for that, in jiffies
 *
 * All are hints, set by the peer, but for @asked and @shown.
 */
struct rover_shortcut {
	const struct net_device *via;
	const struct net *net;
	const struct rover_net *rnet;
	unsigned long until;
	u32 asked;
	u32 shown;
};

/**
 * struct rover_qp - a queue pair
 * @obj: its number
 * @dev: device
 * @stats: where it counts, under RCU: @dev->stats, or a counter's
 * @ib: the core's queue pair; do not touch unless @alive
 * @pd: protection domain; of an XRC target see xrc.h, as of what follows
 * @rcq: receive completions; NULL for an XRC initiator
 * @srq: receives that it shares with others; NULL when it has its own in @rq
 * @recv_pd: protection domain of receives: its own or that of @srq
 * @scq: send completions; NULL for an XRC target
 * @xrcd: of an XRC target, to be compared and never followed; constant, NULL for
 *	all others
 * @state: enum ib_qp_state; written under ctl and both locks, read anywhere
 * @alive: cleared under both locks when it is destroyed
 * @user: its rings belong to a program
 * @owner: struct ib_ucontext of that program, to be compared and never
 *	followed; constant
 * @transport: enum rover_transport; constant
 * @sig_all: every send request completes
 * @no_echo: what it sends to a multicast group does not come back to it
 * @max_send_sge: as granted
 * @max_recv_sge: as granted
 * @max_inline: as granted
 * @remote_qpn: peer's number
 * @mtu: path MTU in bytes
 * @mtu_shift: and its log2
 * @path: headers and route
 * @rx_dst: how the peer's packets come
 * @access: what the peer may do, IB_ACCESS_REMOTE_*
 * @qkey: datagrams: what a sender has to know
 * @ctl: one modify or destroy at a time
 * @attr: attributes as modified, for query; under ctl
 * @mcast: its multicast groups, counted; under rover_mcasts.lock
 * @refs: see above
 * @rcu: for freeing
 * @kick: its place on the list of runnable queue pairs
 * @work: ROVER_WORK_*
 * @tx_skbs: trains and packets of ours in the device
 * @home_cpu: CPU that large messages are sent from (affinity); ROVER_CPU_ANY before
 *	the first, a hint
 * @worker_cpu: CPU that does its heavy work, or is to (affinity), a hint
 * @heavy: receives what was set aside and runs the queue pair (ingress)
 * @backlog: packets waiting for that
 * @stream: is it one that posts and posts?
 * @shortcut: what has nobody on its way
 * @sq_post: serialises kernel users that post to @sq; protects its tail
 * @rq_post: the same for @rq
 * @tx_lock: protects @sq, @req, @tx_demand, @resp_demand, @cwnd and @rtx
 * @sq: send ring; an XRC target has none
 * @req: requester and completer
 * @tx_demand: memory on demand, of what is to be sent, that is waited for
 * @cwnd: how much may be sent
 * @rtx: when to send again
 * @resp_demand: memory on demand where a response goes, that is waited for; both may be,
 *	and each is to hear how it ended
 * @rx_lock: protects @rq, @rsp and @rx_demand
 * @rq: receive ring; all zero with @srq, and none of XRC's have one
 * @rsp: responder
 * @rx_demand: memory on demand that it waits for
 * @zcopy_gen: of the payload that packets point to, of requester and responder
 *	(zcopy); under @tx_lock and @rx_lock, read anywhere
 */
struct rover_qp {
	/* constant, or changed under both locks by modify; read everywhere */
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
	const void *owner;
	u8 transport;
	bool sig_all;
	bool no_echo;
	u8 max_send_sge;
	u8 max_recv_sge;
	u16 max_inline;
	u32 remote_qpn;
	u32 mtu;
	u8 mtu_shift;
	int access;
	u32 qkey;
	u32 zcopy_gen[2];
	struct rover_path path;
	struct rover_dst rx_dst;

	/* control: cold */
	struct mutex ctl;
	struct ib_qp_attr attr;
	struct rover_mcast_member mcast;
	struct rcu_head rcu;

	/* shared between all contexts */
	refcount_t refs ____cacheline_aligned_in_smp;
	unsigned long work;
	atomic_t tx_skbs;
	int home_cpu;
	int worker_cpu;
	struct rover_kick kick;
	struct rover_kick heavy;
	struct rover_backlog backlog;
	struct rover_stream stream;
	struct rover_shortcut shortcut;

	/* sending */
	spinlock_t tx_lock ____cacheline_aligned_in_smp;
	struct rover_ring sq;
	spinlock_t sq_post;
	struct rover_req req;
	struct rover_demand tx_demand;
	struct rover_cwnd cwnd;
	struct rover_rtx rtx;
	struct rover_demand resp_demand;

	/* receiving */
	spinlock_t rx_lock ____cacheline_aligned_in_smp;
	struct rover_ring rq;
	spinlock_t rq_post;
	struct rover_rsp rsp;
	struct rover_demand rx_demand;
};

/*
 * What the core allocates; the queue pair proper may outlive it, or be gone
 * before it: see rover_qp_get_ib().
 */
struct rover_ibqp {
	struct ib_qp ib;
	struct rover_qp __rcu *qp;
};

/**
 * rover_qp_inflight() - is something on its way that was not acknowledged?
 * @qp: sender
 *
 * What is sent from another processor could pass it.
 *
 * Context: any; without tx_lock a hint.
 */
static inline bool rover_qp_inflight(const struct rover_qp *qp)
{
	return READ_ONCE(qp->req.una) != READ_ONCE(qp->req.next_psn);
}

/**
 * rover_qp_count() - count for a queue pair
 * @qp: whose
 * @id: which
 *
 * With its device, or where somebody watches it alone (counter).
 *
 * Context: under RCU, or with softirqs off.
 */
static inline void rover_qp_count(const struct rover_qp *qp, enum rover_stat id)
{
	/* Pairs with the release in counter.c. */
	rover_stat_inc(READ_ONCE(qp->stats), id);
}

/* For verbs, which the core keeps apart from destroy. */
static inline struct rover_qp *rover_qp(struct ib_qp *ib)
{
	return rcu_dereference_protected(container_of(ib, struct rover_ibqp,
						      ib)->qp, true);
}

#endif /* ROVER_QP_H */
