// SPDX-License-Identifier: GPL-2.0
/*
 * poller - look at a ring again, without being told
 *
 * A program that posts one small message after the other, and waits for none of
 * them, would enter the kernel for each, and each would make its own way through
 * the stack.  Once that is seen, its ring says that somebody is awake
 * (NEED_WAKEUP is cleared, K2), and a timer looks at the ring every now and
 * then: what was posted in between goes out as trains, with one acknowledge for
 * many.  A program that waits for each of its messages never gets here, and its
 * messages leave when they are posted.
 *
 * Where the peer is of this machine that is done on another processor (steer),
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

#include "poller.h"
#include "qps.h"
#include "run.h"
#include "steer.h"
#include "trace.h"

/*
 * Between two looks passes as much time as the last took, sending and receiving
 * (which comes after it, in a softirq of its own) counted alike: so half of the
 * time is the program's, where it shares the processor.  After one that found
 * nothing it is twice as long.
 */
#define PAUSE_LEAST	(10 * NSEC_PER_USEC)
#define PAUSE_MOST	(500 * NSEC_PER_USEC)

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
 * was not worth it, which is when fewer requests than that came of it.
 */
#define STREAK		8
#define WORTH		4
#define DOUBTS_MOST	3

/**
 * struct poller - of one processor
 * @list: queue pairs it looks after, each with a reference
 * @timer: runs while there are any
 * @call: by which other processors start it
 * @pause: time to the next look, ns; the timer's own
 * @found: this look has found something; the timer's own
 */
struct poller {
	struct rover_kick_list list;
	struct hrtimer timer;
	call_single_data_t call;
	u64 pause;
	bool found;
};

static DEFINE_PER_CPU(struct poller, pollers);

/* Did the peer speak since the last doorbell?  Then this may be an answer. */
static bool answers(struct rover_qp *qp)
{
	u32 heard = READ_ONCE(qp->rcq->emptied) + READ_ONCE(qp->rsp.msn);
	bool news = heard != READ_ONCE(qp->stream.heard);

	WRITE_ONCE(qp->stream.heard, heard);
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

/* Timers *********************************************************************/

/* On the poller's processor, interrupts off. */
static void start_timer(void *info)
{
	struct poller *poller = info;

	if (!hrtimer_is_queued(&poller->timer))
		hrtimer_start(&poller->timer, ns_to_ktime(poller->pause),
			      HRTIMER_MODE_REL_PINNED_SOFT);
}

static void sleep(struct rover_qp *qp)
{
	struct rover_stream *stream = &qp->stream;
	u8 doubts = READ_ONCE(qp->scq->doubts);

	if (stream->tail - READ_ONCE(stream->first) >= WORTH)
		doubts = 0;
	else if (doubts < DOUBTS_MOST)
		doubts++;
	WRITE_ONCE(qp->scq->doubts, doubts);
	stream->awake = false;
	trace_rover_stream(qp->obj.key, qp->req.psn, false);
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
}

static void awake(struct rover_qp *qp, u32 tail)
{
	struct rover_stream *stream = &qp->stream;

	stream->awake = true;
	stream->tail = tail - 1;
	stream->idle = 0;
	trace_rover_stream(qp->obj.key, qp->req.psn, true);
	rover_ring_unflag(&qp->sq, ROVER_RING_NEED_WAKEUP);
}

/* Return true when it is to be looked at again. */
static bool watch(struct rover_qp *qp, struct poller *poller)
{
	struct rover_stream *stream = &qp->stream;
	u32 tail = READ_ONCE(qp->sq.hdr->tail);
	bool flying = qp->req.una != qp->req.next_psn;

	if (!stream->awake)
		awake(qp, tail);
	if (stream->tail != tail) {
		stream->tail = tail;
		stream->idle = 0;
		poller->found = true;
	} else {
		stream->idle++;
	}
	if (rover_qp_allows(qp, ROVER_MAY_SEND) &&
	    stream->idle < (flying ? IDLE_FLYING : IDLE_MOST))
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
	u64 began = ktime_get_ns(), took;
	unsigned int left = AT_ONCE;
	bool more;

	poller->found = false;
	do {
		more = rover_kick_drain(&poller->list, 1, look);
		took = ktime_get_ns() - began;
	} while (more && --left && took < LOOK_MOST);
	if (!poller->found)
		took = max(took, poller->pause);
	poller->pause = clamp(2 * took, PAUSE_LEAST, PAUSE_MOST);
	if (!rover_kick_list_empty(&poller->list)) {
		/* Not by HRTIMER_RESTART: others may have started it by now. */
		local_irq_disable();
		start_timer(poller);
		local_irq_enable();
	}
	return HRTIMER_NORESTART;
}

/* Doors **********************************************************************/

static void add(struct rover_qp *qp, int cpu)
{
	struct poller *poller = per_cpu_ptr(&pollers, cpu);

	if (!refcount_inc_not_zero(&qp->refs))
		return;
	WRITE_ONCE(qp->stream.first, READ_ONCE(qp->sq.hdr->tail));
	if (!rover_kick_add(&qp->stream.kick, &poller->list)) {
		rover_qp_put(qp);
		return;
	}
	if (cpu == smp_processor_id()) {
		local_irq_disable();
		start_timer(poller);
		local_irq_enable();
	} else {
		/* One that is under way already finds what was added. */
		smp_call_function_single_async(cpu, &poller->call);
	}
}

bool rover_poller_takes(struct rover_qp *qp)
{
	/* What is heavy goes other ways (arrive). */
	if (READ_ONCE(qp->req.bulk))
		return false;
	if (rover_kick_queued(&qp->stream.kick))
		return true;
	if (answers(qp) || !in_stream(qp->scq))
		return false;
	/* A processor that is online stays so until preemption is on again. */
	preempt_disable();
	add(qp, rover_steer_poll(qp));
	preempt_enable();
	return true;
}

void rover_poller_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct poller *poller = per_cpu_ptr(&pollers, cpu);

		rover_kick_list_init(&poller->list);
		hrtimer_setup(&poller->timer, look_at_all, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_SOFT);
		INIT_CSD(&poller->call, start_timer, poller);
		poller->pause = PAUSE_LEAST;
	}
}

static void cancel(void *info)
{
}

void rover_poller_exit(void)
{
	int cpu;

	/* Calls are served in their order: after this none is under way. */
	on_each_cpu(cancel, NULL, true);
	for_each_possible_cpu(cpu) {
		struct poller *poller = per_cpu_ptr(&pollers, cpu);

		hrtimer_cancel(&poller->timer);
		WARN_ON(!rover_kick_list_empty(&poller->list));
	}
}
