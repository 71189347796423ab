// SPDX-License-Identifier: GPL-2.0
/*
 * run - run a queue pair until it has nothing to do
 *
 * Whoever finds work for a queue pair sets a bit and comes here; here it tries
 * the lock.  Success means to do the work; failure means that another context
 * holds the lock, and that one looks at the bits after it has let go:
 *
 *	this context			the holder
 *	set_bit(work)			spin_unlock(lock)
 *	full barrier (A)		full barrier (B)
 *	spin_trylock(lock)		test_bit(work)
 *
 * A pairs with B: one of the two sees the other.  Every holder of tx_lock or
 * rx_lock on the packet path ends with rover_run() when a bit is set.
 *
 * Process context (doorbell, post) and softirq (packets, timers, kicks).
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "qp/wqe.h"
#include "rc/readresp.h"
#include "rc/requester.h"
#include "rc/responder.h"
#include "run/run.h"
#include "ud/raw.h"
#include "ud/ud.h"

/*
 * Turns before the rest is left to a kick.  In softirq nobody on this processor
 * receives until then, and its backlog has room for a thousand skbs: what knows no
 * window would fill that with packets that travel one by one.
 */
#define TURNS		32
#define TURNS_SOFTIRQ	8

static void send_side(struct rover_qp *qp)
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

/* Is the last NAK still behind answers to what came before the fault? */
static bool waits_for_answers(const struct rover_qp *qp)
{
	return qp->rsp.nak_due && rover_readresp_pending(qp);
}

static void receive_side(struct rover_qp *qp)
{
	if (!qp->alive)
		return;
	/* First the last NAK, then the flush. */
	rover_responder_finish(qp);
	if (rover_qp_allows(qp, ROVER_MUST_FLUSH) && !waits_for_answers(qp))
		rover_responder_flush(qp);
}

/* Return false when someone else has the lock, and with it the work. */
static bool run_side(struct rover_qp *qp, int bit, spinlock_t *lock,
		     void (*side)(struct rover_qp *qp))
{
	if (!spin_trylock_bh(lock))
		return false;
	clear_bit(bit, &qp->work);
	/* What was done before the bit was set is seen after it is cleared. */
	smp_mb__after_atomic();
	side(qp);
	spin_unlock_bh(lock);
	return true;
}

static int where_to_send(const struct rover_qp *qp)
{
	if (READ_ONCE(qp->req.long_tx))
		return rover_affinity_send(qp);
	return READ_ONCE(qp->req.long_read) ? rover_affinity_ask(qp) : ROVER_CPU_ANY;
}

static int where_to_answer(const struct rover_qp *qp)
{
	return READ_ONCE(qp->rsp.long_tx) ? rover_affinity_send(qp) : ROVER_CPU_ANY;
}

/*
 * Return true when this is to be done on @cpu, and now that of another context: of
 * the owner of what is set aside, whose last run comes after it was the owner (the
 * barriers are A and B again), or else of the thread.
 */
static bool moved(struct rover_qp *qp, int cpu)
{
	if (cpu == ROVER_CPU_ANY ||
	    (cpu == raw_smp_processor_id() && !in_softirq()))
		return false;
	if (!READ_ONCE(qp->backlog.owner))
		rover_affinity_to(qp, cpu);
	return true;
}

/* Return false when there was nothing to do, or nothing that is done here. */
static bool turn(struct rover_qp *qp, bool may_move)
{
	bool ran = false;

	smp_mb();	/* A after set_bit, B after unlock */
	if (test_bit(ROVER_WORK_TX, &qp->work) &&
	    !(may_move && moved(qp, where_to_send(qp))))
		ran |= run_side(qp, ROVER_WORK_TX, &qp->tx_lock, send_side);
	if (test_bit(ROVER_WORK_RX, &qp->work) &&
	    !(may_move && moved(qp, where_to_answer(qp))))
		ran |= run_side(qp, ROVER_WORK_RX, &qp->rx_lock, receive_side);
	return ran;
}

/*
 * A flush that is longer than a portion needs a context in which softirqs are on
 * between portions.
 */
static bool run_needs_thread(const struct rover_qp *qp)
{
	return in_softirq() && rover_qp_allows(qp, ROVER_MUST_FLUSH_SEND) &&
	       (test_bit(ROVER_WORK_TX, &qp->work) ||
		test_bit(ROVER_WORK_RX, &qp->work));
}

void rover_run(struct rover_qp *qp)
{
	int left = in_serving_softirq() ? TURNS_SOFTIRQ : TURNS;

	while (turn(qp, true)) {
		if (unlikely(run_needs_thread(qp))) {
			rover_affinity_to(qp, rover_affinity_on(qp));
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
	return turn(qp, false);
}

/**
 * struct run_flush - the flush of one ring
 * @qp: whose
 * @lock: of the ring
 * @state: flushes when the state demands this, ROVER_MUST_FLUSH*
 * @ring: the ring; without a header where receives are shared
 * @portion: flushes some of it
 * @from: head when the flush began
 * @posted: requests that were posted by then; -1 before
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

/* Return false when all that was posted at the beginning is flushed. */
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
		/* A program may have taken back what it posted. */
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
	set_bit(ROVER_WORK_TX, &qp->work);
	rover_affinity_home(qp);
	if (irqs_disabled() || in_hardirq())
		rover_qp_kick(qp);
	else
		rover_run(qp);
}

void rover_run_receives(struct rover_qp *qp)
{
	int left = TURNS_SOFTIRQ;

	set_bit(ROVER_WORK_RX, &qp->work);
	if (irqs_disabled() || in_hardirq()) {
		rover_qp_kick(qp);
		return;
	}
	for (;;) {
		smp_mb();	/* A after set_bit, B after unlock */
		if (!test_bit(ROVER_WORK_RX, &qp->work) ||
		    moved(qp, where_to_answer(qp)) ||
		    !run_side(qp, ROVER_WORK_RX, &qp->rx_lock, receive_side))
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
