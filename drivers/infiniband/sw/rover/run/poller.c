// SPDX-License-Identifier: GPL-2.0
/*
 * poller - poll the send rings of streams
 *
 * A program that posts small messages without waiting would enter the kernel
 * and pass the stack for each. In such a stream NEED_WAKEUP is cleared (K2) and
 * a timer polls the ring: posts leave in trains, shared with other queue pairs
 * (plug), and one ACK answers many. After idle passes NEED_WAKEUP is set, and
 * the queue pair runs once more. Programs that wait for each message are not
 * polled, kernel QPs only while that pays (poll_adapt). With a local peer
 * another CPU polls and receives while the program posts (affinity).
 *
 * Doorbells: process context. Timers: softirq.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "core/trace.h"
#include "qp/affinity.h"
#include "qp/qp_state.h"
#include "qp/qp_table.h"
#include "run/poller.h"
#include "run/run.h"
#include "tx/plug.h"
#include "tx/shortcut.h"

/*
 * The pause is twice the last pass: if this CPU also receives, a third is left
 * for others. Idle passes double the pause, up to POLLER_PAUSE_IDLE.
 */
#define POLLER_PAUSE_MIN	(10 * NSEC_PER_USEC)
#define POLLER_PAUSE_IDLE	(500 * NSEC_PER_USEC)

/* A pass delays reception, and ACK timeouts are milliseconds. */
#define POLLER_PASS_NS		(500 * NSEC_PER_USEC)
#define POLLER_PASS_QPS		64

/*
 * Idle passes that end polling; more with packets in flight, which packets from
 * other CPUs could overtake.
 */
#define POLLER_IDLE_MAX		3
#define POLLER_IDLE_INFLIGHT	16

/* Doorbells that make a stream; doubled after a short one (STREAM_WORTH). */
#define STREAM_STREAK		8
#define STREAM_WORTH		8
#define STREAM_SHIFT_MAX	3

/* Posts for which a kernel QP is heavy: its first, and after a long one. */
#define POLLER_HEAVY_POSTS	64

#define IPI_PENDING	0

/**
 * struct poller_cpu - poller of a CPU
 * @list: polled queue pairs, referenced
 * @timer: runs while @list is not empty
 * @ipi_pending: bit IPI_PENDING: @csd is in flight; its setter sends @csd
 * @csd: starts the timer from another CPU
 * @pause: ns to the next pass; only for @timer
 * @found: this pass made progress; likewise
 */
struct poller_cpu {
	struct rover_kick_list list;
	struct hrtimer timer;
	unsigned long ipi_pending;
	call_single_data_t csd;
	u64 pause;
	bool found;
};

static DEFINE_PER_CPU(struct poller_cpu, poller_cpus);

/* True if the peer spoke since the last doorbell: this may be an answer. */
static bool poller_peer_spoke(struct rover_qp *qp)
{
	u32 count = READ_ONCE(qp->rsp.msn);
	bool spoke;

	if (qp->rcq)
		count += READ_ONCE(qp->rcq->emptied);
	spoke = count != qp->stream.peer_count;
	qp->stream.peer_count = count;
	return spoke;
}

/* True after many doorbells since @cq was last read empty. */
static bool poller_in_stream(struct rover_cq *cq)
{
	u32 emptied = READ_ONCE(cq->emptied), streak = READ_ONCE(cq->streak) + 1;

	if (emptied != READ_ONCE(cq->emptied_seen)) {
		WRITE_ONCE(cq->emptied_seen, emptied);
		streak = 0;
	}
	WRITE_ONCE(cq->streak, streak);
	return streak >= STREAM_STREAK << READ_ONCE(cq->streak_shift);
}

/* Long messages, and a kernel QP's posts near them, are not polled. */
static bool poller_is_heavy(const struct rover_qp *qp)
{
	const struct rover_stream *stream = &qp->stream;

	return READ_ONCE(qp->req.long_wr) ||
	       (!qp->user && READ_ONCE(stream->adapt.posts) -
			     READ_ONCE(stream->last_long_post) < POLLER_HEAVY_POSTS);
}

static void poller_tell_peer(struct rover_qp *qp)
{
	struct rover_qp *peer;

	rcu_read_lock();
	peer = rover_affinity_peer(qp);
	if (peer && peer != qp)
		rover_poll_adapt_tell(&peer->stream.adapt, &qp->stream.adapt);
	rcu_read_unlock();
}

static bool poller_pays(struct rover_qp *qp)
{
	struct rover_poll_adapt *adapt = &qp->stream.adapt;
	bool before = adapt->polling, polled;

	lockdep_assert_held(&qp->tx_lock);
	polled = rover_poll_adapt_pays(adapt);
	if (polled != before)
		poller_tell_peer(qp);
	return polled;
}

/*
 * True to leave this post to the poller on stream->cpu. Sent here, it could
 * overtake packets in flight there. Polling on this CPU gains nothing.
 */
static bool poller_takes_post(struct rover_qp *qp)
{
	struct rover_stream *stream = &qp->stream;
	int cpu;

	lockdep_assert_held(&qp->tx_lock);
	if (rover_qp_inflight(qp))
		return stream->cpu != ROVER_CPU_ANY && cpu_online(stream->cpu);
	WRITE_ONCE(stream->cpu, ROVER_CPU_ANY);
	if (poller_is_heavy(qp) || !poller_pays(qp))
		return false;
	cpu = rover_affinity_poll(qp);
	if (cpu == smp_processor_id()) {
		rover_poll_adapt_fails(&stream->adapt);
		poller_tell_peer(qp);
		return false;
	}
	WRITE_ONCE(stream->cpu, cpu);
	return true;
}

/* On the poller's CPU, or its successor after hotplug. */
static void poller_start_timer(struct poller_cpu *poller)
{
	unsigned long flags;

	local_irq_save(flags);
	if (!hrtimer_is_queued(&poller->timer))
		hrtimer_start(&poller->timer, ns_to_ktime(poller->pause),
			      HRTIMER_MODE_REL_PINNED_SOFT);
	local_irq_restore(flags);
}

static void poller_ipi(void *info)
{
	struct poller_cpu *poller = info;

	clear_bit(IPI_PENDING, &poller->ipi_pending);
	/*
	 * Pairs with test_and_set_bit() in poller_start_remote(): queue pairs
	 * of CPUs that found the bit set are on the list.
	 */
	smp_mb__after_atomic();
	poller_start_timer(poller);
}

static void poller_start_remote(struct poller_cpu *poller, int cpu)
{
	/*
	 * Pairs with smp_mb__after_atomic() in poller_ipi(): an IPI in flight
	 * sees the queue pair on the list.
	 */
	if (test_and_set_bit(IPI_PENDING, &poller->ipi_pending))
		return;
	if (smp_call_function_single_async(cpu, &poller->csd))
		clear_bit(IPI_PENDING, &poller->ipi_pending);
}

static void poller_sleep_qp(struct rover_qp *qp)
{
	struct rover_stream *stream = &qp->stream;
	u8 shift = READ_ONCE(qp->scq->streak_shift);

	if (stream->last - stream->first >= STREAM_WORTH)
		shift = 0;
	else if (shift < STREAM_SHIFT_MAX)
		shift++;
	WRITE_ONCE(qp->scq->streak_shift, shift);
	stream->polling = false;
	trace_rover_stream(qp->obj.key, qp->req.psn, false);
	rover_ring_flag(&qp->sq, ROVER_RING_NEED_WAKEUP);
}

static void poller_wake_qp(struct rover_qp *qp)
{
	struct rover_stream *stream = &qp->stream;

	stream->polling = true;
	stream->idle_polls = 0;
	trace_rover_stream(qp->obj.key, qp->req.psn, true);
	rover_ring_unflag(&qp->sq, ROVER_RING_NEED_WAKEUP);
}

/* Requests fetched plus retired: only grows, unlike the untrusted tail. */
static u32 poller_progress(const struct rover_qp *qp)
{
	return qp->sq.head + qp->req.fetched;
}

/*
 * Return true to poll again. A pass is not idle while this CPU's shortcut queue
 * has packets, which those of another CPU would overtake.
 */
static bool poller_watch_qp(struct rover_qp *qp, struct poller_cpu *poller)
{
	struct rover_stream *stream = &qp->stream;
	u32 now = poller_progress(qp);
	u8 most;

	if (!stream->polling)
		poller_wake_qp(qp);
	if (stream->last != now) {
		stream->last = now;
		stream->idle_polls = 0;
		poller->found = true;
	} else if (!rover_qp_inflight(qp) || !rover_shortcut_pending()) {
		stream->idle_polls++;
	}
	most = rover_qp_inflight(qp) ? POLLER_IDLE_INFLIGHT : POLLER_IDLE_MAX;
	if (!qp->user && stream->idle_polls && !rover_qp_inflight(qp) &&
	    !poller_pays(qp))
		most = 0;
	if (rover_qp_allows(qp, ROVER_MAY_SEND) && !poller_is_heavy(qp) &&
	    stream->idle_polls < most)
		return true;
	poller_sleep_qp(qp);
	return false;
}

static void poller_poll_qp(struct rover_kick *kick)
{
	struct rover_qp *qp = container_of(kick, struct rover_qp, stream.kick);
	struct poller_cpu *poller = this_cpu_ptr(&poller_cpus);
	bool stays = false;

	spin_lock(&qp->tx_lock);
	if (qp->alive)
		stays = poller_watch_qp(qp, poller);
	spin_unlock(&qp->tx_lock);
	/* K2: NEED_WAKEUP is set or another pass follows. */
	rover_qp_set_work(qp, ROVER_WORK_TX);
	if (rover_qp_allows(qp, ROVER_MUST_FLUSH))
		rover_qp_set_work(qp, ROVER_WORK_RX);
	rover_run(qp);
	if (!stays || !rover_kick_add(&qp->stream.kick, &poller->list))
		rover_qp_put(qp);
}

static enum hrtimer_restart poller_timer_fn(struct hrtimer *timer)
{
	struct poller_cpu *poller = container_of(timer, struct poller_cpu,
						 timer);
	struct poller_cpu *here = this_cpu_ptr(&poller_cpus);
	u64 began = ktime_get_ns(), took;
	unsigned int left = POLLER_PASS_QPS;
	bool more;

	here->found = false;
	rover_plug_start();
	do {
		more = rover_kick_drain(&poller->list, 1, poller_poll_qp);
		took = ktime_get_ns() - began;
	} while (more && --left && took < POLLER_PASS_NS);
	rover_plug_finish();
	took = ktime_get_ns() - began;
	if (!here->found)
		took = max(took, min(poller->pause, POLLER_PAUSE_IDLE / 2));
	poller->pause = max(2 * took, POLLER_PAUSE_MIN);
	/* Not by HRTIMER_RESTART: another context may have started it. */
	if (!rover_kick_list_empty(&poller->list))
		poller_start_timer(poller);
	/* The timer of an offline CPU moves its queue pairs here. */
	if (poller != here && !rover_kick_list_empty(&here->list))
		poller_start_timer(here);
	return HRTIMER_NORESTART;
}

static void poller_add_qp(struct rover_qp *qp, int cpu)
{
	struct poller_cpu *poller = per_cpu_ptr(&poller_cpus, cpu);

	rover_qp_get(qp);
	if (!rover_kick_add(&qp->stream.kick, &poller->list)) {
		rover_qp_put(qp);
		return;
	}
	if (cpu == smp_processor_id())
		poller_start_timer(poller);
	else
		poller_start_remote(poller, cpu);
}

bool rover_poller_doorbell(struct rover_qp *qp)
{
	bool takes;

	/* Long READ responses keep the timer's CPU busy (decision 0014). */
	if (poller_is_heavy(qp))
		return false;
	if (rover_kick_queued(&qp->stream.kick))
		return true;
	/*
	 * tx_lock keeps rings and CQs of a live @qp. Contexts that find it
	 * locked leave a work bit: the caller or the next pass runs @qp.
	 * Preemption is off: an online CPU stays online.
	 */
	if (!spin_trylock_bh(&qp->tx_lock))
		return false;
	takes = qp->alive && !poller_peer_spoke(qp) &&
		poller_in_stream(qp->scq);
	if (takes) {
		qp->stream.first = poller_progress(qp);
		poller_add_qp(qp, rover_affinity_poll(qp));
	}
	spin_unlock_bh(&qp->tx_lock);
	return takes;
}

/* If the poller holds tx_lock, sending here could reorder: queue a pass. */
static bool poller_queue_pass(struct rover_qp *qp)
{
	int cpu;

	preempt_disable();
	cpu = READ_ONCE(qp->stream.cpu);
	if (cpu != ROVER_CPU_ANY && cpu_online(cpu))
		poller_add_qp(qp, cpu);
	else
		cpu = ROVER_CPU_ANY;
	preempt_enable();
	return cpu != ROVER_CPU_ANY;
}

bool rover_poller_posted(struct rover_qp *qp)
{
	const struct rover_stream *stream = &qp->stream;
	bool takes;

	/* Without ACKs, packets in flight are unknown. */
	if (!rover_transport_reliable(qp->transport) || irqs_disabled() ||
	    in_hardirq())
		return false;
	/*
	 * Pairs with smp_mb__after_atomic() in rover_kick_drain(), core/kick.c:
	 * the queued pass sees this WQE.
	 */
	smp_mb();
	if (rover_kick_queued(&stream->kick))
		return true;
	if (READ_ONCE(stream->cpu) == ROVER_CPU_ANY &&
	    !rover_poll_adapt_due(&stream->adapt))
		return false;
	if (!spin_trylock_bh(&qp->tx_lock))
		return poller_queue_pass(qp);
	takes = qp->alive && poller_takes_post(qp);
	if (takes) {
		qp->stream.first = poller_progress(qp);
		poller_add_qp(qp, stream->cpu);
	}
	spin_unlock_bh(&qp->tx_lock);
	return takes;
}

void rover_poller_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct poller_cpu *poller = per_cpu_ptr(&poller_cpus, cpu);

		rover_kick_list_init(&poller->list);
		hrtimer_setup(&poller->timer, poller_timer_fn, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_SOFT);
		INIT_CSD(&poller->csd, poller_ipi, poller);
		poller->pause = POLLER_PAUSE_MIN;
	}
}

void rover_poller_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		while (test_bit(IPI_PENDING,
				&per_cpu_ptr(&poller_cpus, cpu)->ipi_pending))
			cpu_relax();
	/* Wait for the end of poller_ipi(). */
	synchronize_rcu();
	for_each_possible_cpu(cpu) {
		struct poller_cpu *poller = per_cpu_ptr(&poller_cpus, cpu);

		hrtimer_cancel(&poller->timer);
		WARN_ON(!rover_kick_list_empty(&poller->list));
	}
}
