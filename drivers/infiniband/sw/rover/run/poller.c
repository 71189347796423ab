// SPDX-License-Identifier: GPL-2.0
/*
 * poller - look at a ring again, without being told
 *
 * A program that posts one small message after the other, and waits for none of
 * them, would enter the kernel for each, and each would make its own way through
 * the stack.  Once that is seen, its ring says that somebody is awake
 * (NEED_WAKEUP is cleared, K2), and a timer looks at the ring every now and
 * then: what was posted in between goes out as trains, with one acknowledge for
 * many, and what several queue pairs have posted goes together (plug).  A program
 * that waits for each of its messages never gets here, and its messages leave when
 * they are posted.
 *
 * A user in the kernel does not wait, it is told; it is tried whether it has more to
 * post when it is looked after (poll_adapt).
 *
 * Where the peer is of this machine that is done on another processor (affinity),
 * which is also where the messages are then received: the program posts while
 * the kernel works.
 *
 *	doorbell: a stream?	put on a processor's list, its timer started
 *	timer: a look at each	something posted: run, back onto the list
 *				nothing, again and again: NEED_WAKEUP, a last run
 *
 * Doorbell in process context; timers in softirq, without locks but for a
 * moment's tx_lock.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "run/poller.h"
#include "run/run.h"
#include "tx/plug.h"
#include "tx/shortcut.h"

/*
 * Between two looks passes twice the time that the last took.  What it sent may
 * be received in that time, by a softirq of this processor: then a third is left
 * for others.  After a look that found nothing the pause is doubled, up to
 * IDLE_PAUSE.
 */
#define PAUSE_LEAST	(10 * NSEC_PER_USEC)
#define IDLE_PAUSE	(500 * NSEC_PER_USEC)

/*
 * One go: what is sent in it waits for its end to be received, and timeouts are
 * a matter of milliseconds.
 */
#define LOOK_MOST	(500 * NSEC_PER_USEC)
#define AT_ONCE		64

/*
 * Looks in a row that find nothing before it is left alone; and while packets
 * are on their way, which those sent elsewhere could pass.
 */
#define IDLE_MOST	3
#define IDLE_FLYING	16

/*
 * Doorbells in a row that make a stream; twice as many after a stream that
 * was not worth it, which is when there was less progress in it.
 */
#define STREAK		8
#define WORTH		8
#define DOUBTS_MOST	3

/* Its posts for which something long is remembered; of as many it is taken for granted. */
#define HEAVY		64

/* Bit of poller.called. */
#define CALLED		0

/**
 * struct poller - of one processor
 * @list: queue pairs it looks after, each with a reference
 * @timer: runs while there are any
 * @called: bit 0: @call is on its way; only who sets it may send it
 * @call: by which other processors start the timer
 * @pause: time to the next look, ns; the timer's own
 * @found: the look on this processor has found something; the timer's own
 */
struct poller {
	struct rover_kick_list list;
	struct hrtimer timer;
	unsigned long called;
	call_single_data_t call;
	u64 pause;
	bool found;
};

static DEFINE_PER_CPU(struct poller, pollers);

/* Did the peer speak since the last doorbell?  Then this may be an answer. */
static bool answers(struct rover_qp *qp)
{
	u32 heard = READ_ONCE(qp->rsp.msn);
	bool news;

	/* An initiator of XRC hears of nothing. */
	if (qp->rcq)
		heard += READ_ONCE(qp->rcq->emptied);
	news = heard != qp->stream.heard;
	qp->stream.heard = heard;
	return news;
}

/*
 * Posted one after the other, on one queue pair or many that complete in the
 * same queue?  Or was that queue read empty, and was each request waited for?
 */
static bool in_stream(struct rover_cq *cq)
{
	u32 heard = READ_ONCE(cq->emptied), streak = READ_ONCE(cq->streak) + 1;

	if (heard != READ_ONCE(cq->heard)) {
		WRITE_ONCE(cq->heard, heard);
		streak = 0;
	}
	WRITE_ONCE(cq->streak, streak);
	return streak >= STREAK << READ_ONCE(cq->doubts);
}

/* Kernel users ***************************************************************/

/* What is heavy goes other ways (ingress), as does what a kernel user posts with it. */
static bool is_heavy(const struct rover_qp *qp)
{
	const struct rover_stream *stream = &qp->stream;

	return READ_ONCE(qp->req.long_wr) ||
	       (!qp->user && READ_ONCE(stream->adapt.posts) -
			     READ_ONCE(stream->heavy) < HEAVY);
}

/* The other end is tried with this one, and no longer. */
static void tell_peer(struct rover_qp *qp)
{
	struct rover_qp *peer;

	rcu_read_lock();
	peer = rover_affinity_peer(qp);
	if (peer && peer != qp)
		rover_poll_adapt_tell(&peer->stream.adapt, &qp->stream.adapt);
	rcu_read_unlock();
}

static bool pays(struct rover_qp *qp)
{
	struct rover_poll_adapt *trial = &qp->stream.adapt;
	bool before = trial->tried, pays;

	lockdep_assert_held(&qp->tx_lock);
	pays = rover_poll_adapt_pays(trial);
	if (pays != before)
		tell_peer(qp);
	return pays;
}

/*
 * A post of its own: is it to be left to a processor, stream.cpu?  To this one, after it,
 * would be no use.  What another one has sent it must not pass, stream or not.
 */
static bool posted_in_stream(struct rover_qp *qp)
{
	struct rover_stream *stream = &qp->stream;
	int cpu;

	lockdep_assert_held(&qp->tx_lock);
	if (rover_qp_inflight(qp))
		return stream->cpu != ROVER_CPU_ANY && cpu_online(stream->cpu);
	WRITE_ONCE(stream->cpu, ROVER_CPU_ANY);
	if (is_heavy(qp) || !pays(qp))
		return false;
	cpu = rover_affinity_poll(qp);
	if (cpu == smp_processor_id()) {
		rover_poll_adapt_fails(&stream->adapt);
		tell_peer(qp);
		return false;
	}
	WRITE_ONCE(stream->cpu, cpu);
	return true;
}

/* Timers *********************************************************************/

/* On this processor, which is the poller's, or has taken over from that one. */
static void start_timer(struct poller *poller)
{
	unsigned long flags;

	local_irq_save(flags);
	if (!hrtimer_is_queued(&poller->timer))
		hrtimer_start(&poller->timer, ns_to_ktime(poller->pause),
			      HRTIMER_MODE_REL_PINNED_SOFT);
	local_irq_restore(flags);
}

/* In the poller's processor's hard interrupt. */
static void called(void *info)
{
	struct poller *poller = info;

	clear_bit(CALLED, &poller->called);
	/* Who found the bit set has its queue pair on the list by now. */
	smp_mb__after_atomic();
	start_timer(poller);
}

static void start_there(struct poller *poller, int cpu)
{
	/* Full barrier: a call under way finds what was put on the list. */
	if (test_and_set_bit(CALLED, &poller->called))
		return;
	if (smp_call_function_single_async(cpu, &poller->call))
		clear_bit(CALLED, &poller->called);
}

static void sleep(struct rover_qp *qp)
{
	struct rover_stream *stream = &qp->stream;
	u8 doubts = READ_ONCE(qp->scq->doubts);

	if (stream->last - stream->first >= WORTH)
		doubts = 0;
	else if (doubts < DOUBTS_MOST)
		doubts++;
	WRITE_ONCE(qp->scq->doubts, doubts);
	stream->awake = false;
	trace_rover_stream(qp->obj.key, qp->req.psn, false);
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
}

static void awake(struct rover_qp *qp)
{
	struct rover_stream *stream = &qp->stream;

	stream->awake = true;
	stream->idle = 0;
	trace_rover_stream(qp->obj.key, qp->req.psn, true);
	rover_ring_unflag(&qp->sq, ROVER_RING_NEED_WAKEUP);
}

/*
 * Work requests that were taken from the ring and, where they are not done by
 * then, that are done: it only ever grows.  What the ring itself says of those
 * that were posted is the program's word.
 */
static u32 progress(const struct rover_qp *qp)
{
	return qp->sq.head + qp->req.fetched;
}

/*
 * Return true when it is to be looked at again.  Nothing counts against it while what
 * it has sent may be in line on this processor: once it is left alone another one
 * sends for it, and would pass that.
 */
static bool watch(struct rover_qp *qp, struct poller *poller)
{
	struct rover_stream *stream = &qp->stream;
	u32 now = progress(qp);
	u8 most;

	if (!stream->awake)
		awake(qp);
	if (stream->last != now) {
		stream->last = now;
		stream->idle = 0;
		poller->found = true;
	} else if (!rover_qp_inflight(qp) || !rover_shortcut_waiting()) {
		stream->idle++;
	}
	most = rover_qp_inflight(qp) ? IDLE_FLYING : IDLE_MOST;
	/* Where it does not pay one look that finds nothing is enough. */
	if (!qp->user && stream->idle && !rover_qp_inflight(qp) &&
	    !pays(qp))
		most = 0;
	if (rover_qp_allows(qp, ROVER_MAY_SEND) && !is_heavy(qp) &&
	    stream->idle < most)
		return true;
	sleep(qp);
	return false;
}

static void look(struct rover_kick *kick)
{
	struct rover_qp *qp = container_of(kick, struct rover_qp, stream.kick);
	struct poller *poller = this_cpu_ptr(&pollers);
	bool stays = false;

	spin_lock(&qp->tx_lock);
	if (qp->alive)
		stays = watch(qp, poller);
	spin_unlock(&qp->tx_lock);
	/* K2: the flag is up, or we come again.  As the doorbell does it. */
	set_bit(ROVER_WORK_TX, &qp->work);
	if (rover_qp_allows(qp, ROVER_MUST_FLUSH))
		set_bit(ROVER_WORK_RX, &qp->work);
	rover_run(qp);
	if (!stays || !rover_kick_add(&qp->stream.kick, &poller->list))
		rover_qp_put(qp);
}

static enum hrtimer_restart look_at_all(struct hrtimer *timer)
{
	struct poller *poller = container_of(timer, struct poller, timer);
	struct poller *here = this_cpu_ptr(&pollers);
	u64 began = ktime_get_ns(), took;
	unsigned int left = AT_ONCE;
	bool more;

	here->found = false;
	rover_plug_start();
	do {
		more = rover_kick_drain(&poller->list, 1, look);
		took = ktime_get_ns() - began;
	} while (more && --left && took < LOOK_MOST);
	rover_plug_finish();
	took = ktime_get_ns() - began;
	if (!here->found)
		took = max(took, min(poller->pause, IDLE_PAUSE / 2));
	poller->pause = max(2 * took, PAUSE_LEAST);
	/* Not by HRTIMER_RESTART: others may have started it by now. */
	if (!rover_kick_list_empty(&poller->list))
		start_timer(poller);
	/* The timer of a processor that went away: its queue pairs are ours now. */
	if (poller != here && !rover_kick_list_empty(&here->list))
		start_timer(here);
	return HRTIMER_NORESTART;
}

/* Doors **********************************************************************/

static void add(struct rover_qp *qp, int cpu)
{
	struct poller *poller = per_cpu_ptr(&pollers, cpu);

	rover_qp_get(qp);
	if (!rover_kick_add(&qp->stream.kick, &poller->list)) {
		rover_qp_put(qp);
		return;
	}
	if (cpu == smp_processor_id())
		start_timer(poller);
	else
		start_there(poller, cpu);
}

bool rover_poller_takes(struct rover_qp *qp)
{
	bool takes;

	/*
	 * To ask for what is heavy is not heavy itself, but the timer would be where
	 * what answers has enough to do.
	 */
	if (is_heavy(qp))
		return false;
	if (rover_kick_queued(&qp->stream.kick))
		return true;
	/*
	 * It may be destroyed at this moment, with its rings and completion
	 * queues: they are there as long as it is alive, under its lock.  Whom we
	 * keep from the lock has left us a bit, and our caller or the look at it
	 * runs.  Preemption is off, so a processor that is online stays so.
	 */
	if (!spin_trylock_bh(&qp->tx_lock))
		return false;
	takes = qp->alive && !answers(qp) && in_stream(qp->scq);
	if (takes) {
		qp->stream.first = progress(qp);
		add(qp, rover_affinity_poll(qp));
	}
	spin_unlock_bh(&qp->tx_lock);
	return takes;
}

/*
 * Somebody has the lock: if it is who looks after it, what is posted must not be sent from
 * here at the same time.  So there is another look.
 */
static bool leave_to_looker(struct rover_qp *qp)
{
	int cpu;

	preempt_disable();
	cpu = READ_ONCE(qp->stream.cpu);
	if (cpu != ROVER_CPU_ANY && cpu_online(cpu))
		add(qp, cpu);
	else
		cpu = ROVER_CPU_ANY;
	preempt_enable();
	return cpu != ROVER_CPU_ANY;
}

bool rover_poller_posted(struct rover_qp *qp)
{
	const struct rover_stream *stream = &qp->stream;
	bool takes;

	/* What knows no acknowledges, nobody knows when to pass. */
	if (!rover_transport_reliable(qp->transport) || irqs_disabled() ||
	    in_hardirq())
		return false;
	/*
	 * Pairs with rover_kick_drain(): a look to come finds what was posted.  And nobody
	 * else is told of it, who would send it from where he is.
	 */
	smp_mb();
	if (rover_kick_queued(&stream->kick))
		return true;
	if (READ_ONCE(stream->cpu) == ROVER_CPU_ANY &&
	    !rover_poll_adapt_due(&stream->adapt))
		return false;
	if (!spin_trylock_bh(&qp->tx_lock))
		return leave_to_looker(qp);
	takes = qp->alive && posted_in_stream(qp);
	if (takes) {
		qp->stream.first = progress(qp);
		add(qp, stream->cpu);
	}
	spin_unlock_bh(&qp->tx_lock);
	return takes;
}

void rover_poller_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct poller *poller = per_cpu_ptr(&pollers, cpu);

		rover_kick_list_init(&poller->list);
		hrtimer_setup(&poller->timer, look_at_all, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_SOFT);
		INIT_CSD(&poller->call, called, poller);
		poller->pause = PAUSE_LEAST;
	}
}

void rover_poller_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		while (test_bit(CALLED, &per_cpu_ptr(&pollers, cpu)->called))
			cpu_relax();
	/* And to the end of that interrupt. */
	synchronize_rcu();
	for_each_possible_cpu(cpu) {
		struct poller *poller = per_cpu_ptr(&pollers, cpu);

		hrtimer_cancel(&poller->timer);
		WARN_ON(!rover_kick_list_empty(&poller->list));
	}
}
