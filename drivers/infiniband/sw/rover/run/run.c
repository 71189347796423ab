// SPDX-License-Identifier: GPL-2.0
/*
 * run - run a queue pair until it has nothing to do
 *
 * A context with work sets a bit and tries the lock; a context that holds the
 * lock tests the bits after unlocking:
 *
 *	this context			the holder
 *	set_bit(work)			spin_unlock(lock)
 *	full barrier (A)		full barrier (B)
 *	spin_trylock(lock)		test_bit(work)
 *
 * A pairs with B: the holder sees the bit, or this context gets the lock. On
 * the packet path all holders of tx_lock or rx_lock test the bits.
 *
 * Process context (doorbell, post) and softirq (packets, timers, kicks).
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "qp/affinity.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "rc/rd_atomic.h"
#include "rc/requester.h"
#include "rc/responder.h"
#include "run/run.h"
#include "ud/raw.h"
#include "ud/ud.h"

/*
 * Turns before the rest is kicked. In softirq this CPU receives nothing
 * meanwhile: a sender without cwnd would fill the netdev backlog.
 */
#define RUN_TURNS		32
#define RUN_TURNS_SOFTIRQ	8

static void run_tx_side(struct rover_qp *qp)
{
	if (!qp->alive)
		return;
	if (rover_qp_allows(qp, ROVER_MUST_FLUSH_SEND))
		rover_requester_flush(qp);
	else if (qp->transport == ROVER_TRANSPORT_UD)
		rover_ud_send(qp);
	else if (qp->transport == ROVER_TRANSPORT_RAW)
		rover_raw_send(qp);
	else
		rover_requester_run(qp);
}

static bool run_nak_waits(const struct rover_qp *qp)
{
	return qp->rsp.nak_due && rover_rd_atomic_pending(qp);
}

static void run_rx_side(struct rover_qp *qp)
{
	if (!qp->alive)
		return;
	/* The last NAK comes before the flush. */
	rover_responder_finish(qp);
	if (rover_qp_allows(qp, ROVER_MUST_FLUSH) && !run_nak_waits(qp))
		rover_responder_flush(qp);
}

/* Return false if another context holds the lock: it does the work. */
static bool run_side(struct rover_qp *qp, int bit, spinlock_t *lock,
		     void (*side)(struct rover_qp *qp))
{
	if (!spin_trylock_bh(lock))
		return false;
	clear_bit(bit, &qp->work);
	/* Pairs with smp_mb__before_atomic() in rover_qp_set_work(). */
	smp_mb__after_atomic();
	side(qp);
	spin_unlock_bh(lock);
	return true;
}

static int run_send_cpu(const struct rover_qp *qp)
{
	if (READ_ONCE(qp->req.long_tx))
		return rover_affinity_send(qp);
	return READ_ONCE(qp->req.long_read) ? rover_affinity_read(qp) :
					      ROVER_CPU_ANY;
}

static int run_answer_cpu(const struct rover_qp *qp)
{
	return READ_ONCE(qp->rsp.long_tx) ? rover_affinity_send(qp) :
					    ROVER_CPU_ANY;
}

/*
 * Return true if the work was left to the backlog's owner, else to the worker
 * on @cpu. The owner runs once more after ownership: barriers A and B hold.
 */
static bool run_moved(struct rover_qp *qp, int cpu)
{
	if (cpu == ROVER_CPU_ANY ||
	    (cpu == raw_smp_processor_id() && !in_softirq()))
		return false;
	if (!READ_ONCE(qp->backlog.owner))
		rover_affinity_queue(qp, cpu);
	return true;
}

static bool run_turn(struct rover_qp *qp, bool may_move)
{
	bool ran = false;

	smp_mb();	/* A pairs with B: see the top of this file. */
	if (test_bit(ROVER_WORK_TX, &qp->work) &&
	    !(may_move && run_moved(qp, run_send_cpu(qp))))
		ran |= run_side(qp, ROVER_WORK_TX, &qp->tx_lock, run_tx_side);
	if (test_bit(ROVER_WORK_RX, &qp->work) &&
	    !(may_move && run_moved(qp, run_answer_cpu(qp))))
		ran |= run_side(qp, ROVER_WORK_RX, &qp->rx_lock, run_rx_side);
	return ran;
}

/* A longer flush needs softirqs on between portions (decision 0043). */
static bool run_needs_thread(const struct rover_qp *qp)
{
	return in_softirq() && rover_qp_allows(qp, ROVER_MUST_FLUSH_SEND) &&
	       (test_bit(ROVER_WORK_TX, &qp->work) ||
		test_bit(ROVER_WORK_RX, &qp->work));
}

void rover_run(struct rover_qp *qp)
{
	int left = in_serving_softirq() ? RUN_TURNS_SOFTIRQ : RUN_TURNS;

	while (run_turn(qp, true)) {
		if (unlikely(run_needs_thread(qp))) {
			rover_affinity_queue(qp, rover_affinity_worker_cpu(qp));
			break;
		}
		if (!--left) {
			rover_qp_kick(qp);
			break;
		}
	}
}

bool rover_run_turn(struct rover_qp *qp)
{
	return run_turn(qp, false);
}

/**
 * struct run_flush - flush of one ring
 * @qp: queue pair
 * @lock: of the ring
 * @state: ROVER_MUST_FLUSH* bit that permits it
 * @ring: without a header if receives are shared
 * @portion: flushes a portion
 * @from: head at the beginning
 * @posted: requests posted at the beginning; -1 before
 */
struct run_flush {
	struct rover_qp *qp;
	spinlock_t *lock;
	u8 state;
	const struct rover_ring *ring;
	void (*portion)(struct rover_qp *qp);
	u32 from;
	int posted;
};

/* Return false when requests posted at the beginning are flushed. */
static bool run_flush_portion(struct run_flush *f)
{
	const struct rover_ring *ring = f->ring;
	bool more = false;

	spin_lock_bh(f->lock);
	if (f->posted < 0) {
		f->from = ring->head;
		f->posted = ring->hdr ? rover_ring_posted(ring, ring->head) : 0;
	}
	if (f->qp->alive && rover_qp_allows(f->qp, f->state)) {
		f->portion(f->qp);
		/* The program may have moved its tail back. */
		more = f->posted > 0 && ring->head - f->from < f->posted &&
		       rover_ring_posted(ring, ring->head) > 0;
	}
	spin_unlock_bh(f->lock);
	return more;
}

void rover_run_flush(struct rover_qp *qp)
{
	struct run_flush rings[] = {
		{ qp, &qp->rx_lock, ROVER_MUST_FLUSH, &qp->rq,
		  rover_responder_flush, 0, -1 },
		{ qp, &qp->tx_lock, ROVER_MUST_FLUSH_SEND, &qp->sq,
		  rover_requester_flush, 0, -1 },
	};
	unsigned int i;

	lockdep_assert_held(&qp->ctl);
	for (i = 0; i < ARRAY_SIZE(rings); i++)
		while (run_flush_portion(&rings[i]))
			cond_resched();
}

void rover_run_posted(struct rover_qp *qp)
{
	rover_qp_set_work(qp, ROVER_WORK_TX);
	rover_affinity_set_home(qp);
	if (irqs_disabled() || in_hardirq())
		rover_qp_kick(qp);
	else
		rover_run(qp);
}

void rover_run_receives(struct rover_qp *qp)
{
	int left = RUN_TURNS_SOFTIRQ;

	rover_qp_set_work(qp, ROVER_WORK_RX);
	if (irqs_disabled() || in_hardirq()) {
		rover_qp_kick(qp);
		return;
	}
	for (;;) {
		smp_mb();	/* A pairs with B: see the top of this file. */
		if (!test_bit(ROVER_WORK_RX, &qp->work) ||
		    run_moved(qp, run_answer_cpu(qp)) ||
		    !run_side(qp, ROVER_WORK_RX, &qp->rx_lock, run_rx_side))
			return;
		if (!--left) {
			rover_qp_kick(qp);
			return;
		}
	}
}

void rover_run_kicked(struct rover_kick *kick)
{
	struct rover_qp *qp = container_of(kick, struct rover_qp, kick);

	rover_run(qp);
	rover_qp_put(qp);
}
