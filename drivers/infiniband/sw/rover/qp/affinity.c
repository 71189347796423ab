// SPDX-License-Identifier: GPL-2.0
/*
 * affinity - where the heavy work is done
 *
 * Each processor has a thread of ours for that, of real-time priority: a program
 * that polls for completions on the same processor only waits for what the
 * thread does, and without it the scheduler lets the program go on until the
 * next tick, milliseconds later.  But others may want that processor: they get
 * a share of it (see rest()).
 *
 * What chooses are hints, read without locks: a wrong one costs time and
 * nothing else.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/stat.h>
#include <linux/topology.h>

#include "qp/affinity.h"
#include "qp/qp_table.h"

/*
 * Where others want the processor, one part of its time in REST_PART + 1 is
 * theirs: the thread works this long, and ends what it is at, before it rests.
 */
#define WORK_MOST	(10 * NSEC_PER_MSEC)
#define REST_PART	5
#define REST_USEC	(WORK_MOST / REST_PART / NSEC_PER_USEC)

/* So many that were alone make a habit, which is then put to the test now and then. */
#define ALONE_LEAST	4
#define ALONE_TEST	32

/**
 * struct lane - the heavy work of one processor
 * @list: queue pairs, each with a reference
 * @thread: NULL for a processor that came later than the module; constant
 * @left: when the thread was last done (local_clock)
 * @debt: time it worked without the rest due for it; both are the thread's
 */
struct lane {
	struct rover_kick_list list;
	struct task_struct *thread;
	u64 left;
	u64 debt;
};

static DEFINE_PER_CPU(struct lane, lanes);
static void (*steer_run)(struct rover_kick *heavy);

static bool served(int cpu)
{
	return cpu_online(cpu) && per_cpu(lanes, cpu).thread;
}

/*
 * For one that is elsewhere to be mistaken, two random numbers of 24 bits have to
 * agree.
 */
struct rover_qp *rover_affinity_peer(const struct rover_qp *qp)
{
	struct rover_qp *peer = rover_qp_find(READ_ONCE(qp->remote_qpn));

	return peer && READ_ONCE(peer->remote_qpn) == qp->obj.key ? peer : NULL;
}

/*
 * Another processor of this node, of the housekeeping ones.  Where to begin
 * looking is the queue pair's number, which is random: so they are spread.
 */
static int other_cpu(const struct rover_qp *qp, int here)
{
	const struct cpumask *near = cpumask_of_node(cpu_to_node(here));
	unsigned int i;

	for (i = 0; i < nr_cpu_ids; i++) {
		unsigned int cpu = (qp->obj.key + i) % nr_cpu_ids;

		if (cpu != here && served(cpu) &&
		    cpumask_test_cpu(cpu, near) && rover_cpu_housekeeping(cpu))
			return cpu;
	}
	return ROVER_CPU_ANY;
}

/*
 * Nothing would be sent while the only message is received elsewhere.
 * But what is received in place is done before the program can post more: that
 * it waits is seen only where it need not.
 */
static bool one_at_a_time(const struct rover_qp *requester)
{
	u32 alone = READ_ONCE(requester->req.qd1_streak);

	return alone >= ALONE_LEAST && alone % ALONE_TEST;
}

int rover_affinity_receive(struct rover_qp *qp, unsigned int len, bool response)
{
	int here = smp_processor_id(), cpu;
	const struct rover_qp *peer;

	if (len < ROVER_BULK)
		return ROVER_CPU_ANY;
	peer = rover_affinity_peer(qp);
	if (!peer || READ_ONCE(peer->home_cpu) != here ||
	    one_at_a_time(response ? qp : peer))
		return ROVER_CPU_ANY;
	cpu = READ_ONCE(qp->backlog.cpu);
	if (cpu == ROVER_CPU_ANY || cpu == here || !served(cpu)) {
		cpu = other_cpu(qp, here);
		WRITE_ONCE(qp->backlog.cpu, cpu);
	}
	return cpu;
}

/* Where the peer's heavy work is done, too, one of the two goes elsewhere. */
static int apart(const struct rover_qp *qp, const struct rover_qp *peer,
		 int cpu)
{
	int other = ROVER_CPU_ANY;

	if (peer != qp && READ_ONCE(peer->backlog.owner) &&
	    READ_ONCE(peer->worker_cpu) == cpu)
		other = other_cpu(qp, cpu);
	return other == ROVER_CPU_ANY ? cpu : other;
}

int rover_affinity_send(const struct rover_qp *qp)
{
	int home = READ_ONCE(qp->home_cpu), cpu = ROVER_CPU_ANY;
	const struct rover_qp *peer;

	if (home == ROVER_CPU_ANY || !served(home) ||
	    num_online_cpus() == 1)
		return ROVER_CPU_ANY;
	rcu_read_lock();
	peer = rover_affinity_peer(qp);
	if (peer)
		cpu = apart(qp, peer, home);
	rcu_read_unlock();
	return cpu;
}

int rover_affinity_ask(const struct rover_qp *qp)
{
	int from = READ_ONCE(qp->req.last_tx_cpu);
	bool local;

	if (from == raw_smp_processor_id() || !rover_qp_inflight(qp))
		return ROVER_CPU_ANY;
	rcu_read_lock();
	local = rover_affinity_peer(qp);
	rcu_read_unlock();
	return local ? from : ROVER_CPU_ANY;
}

int rover_affinity_on(const struct rover_qp *qp)
{
	int cpu = raw_smp_processor_id();
	const struct rover_qp *peer;

	rcu_read_lock();
	peer = rover_affinity_peer(qp);
	if (peer)
		cpu = apart(qp, peer, cpu);
	rcu_read_unlock();
	return cpu;
}

int rover_affinity_poll(const struct rover_qp *qp)
{
	int here = smp_processor_id(), cpu = ROVER_CPU_ANY;

	rcu_read_lock();
	if (!rover_qp_inflight(qp) && rover_affinity_peer(qp))
		cpu = other_cpu(qp, here);
	rcu_read_unlock();
	return cpu == ROVER_CPU_ANY ? here : cpu;
}

void rover_affinity_to(struct rover_qp *qp, int cpu)
{
	struct lane *lane = per_cpu_ptr(&lanes, cpu);

	if (!lane->thread)
		lane = per_cpu_ptr(&lanes, cpumask_first(cpu_present_mask));
	/* See rover_qp_kick(). */
	if (!refcount_inc_not_zero(&qp->refs))
		return;
	if (rover_kick_add(&qp->heavy, &lane->list)) {
		WRITE_ONCE(qp->worker_cpu, cpu);
		wake_up_process(lane->thread);
	} else {
		rover_qp_put(qp);
	}
}

/*
 * What others get is paid for by their having had it: all time in which the
 * thread did not work counts, whoever used it.
 */
static void rest(struct lane *lane)
{
	if (lane->debt > WORK_MOST && !single_task_running())
		usleep_range_state(REST_USEC, 2 * REST_USEC, TASK_IDLE);
}

/* For one queue pair after the other: there may be thousands on the list. */
static void work(struct rover_kick *heavy)
{
	struct lane *lane = per_cpu_ptr(&lanes, (long)kthread_data(current));
	u64 began = local_clock();

	lane->debt -= min(lane->debt, (began - lane->left) * REST_PART);
	steer_run(heavy);
	lane->left = local_clock();
	lane->debt += lane->left - began;
	rest(lane);
	cond_resched();
}

/* Away while its processor was, it goes back with it. */
static void return_to(int cpu)
{
	if (raw_smp_processor_id() != cpu && cpu_online(cpu))
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static int lane_thread(void *data)
{
	int cpu = (long)data;
	struct lane *lane = per_cpu_ptr(&lanes, cpu);

	sched_set_fifo_low(current);
	for (;;) {
		set_current_state(TASK_IDLE);
		/* Pairs with wake_up_process(): who added woke us, or is seen. */
		if (rover_kick_list_empty(&lane->list)) {
			if (kthread_should_stop())
				break;
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		return_to(cpu);
		rover_kick_drain(&lane->list, UINT_MAX, work);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

int rover_affinity_init(void (*run)(struct rover_kick *heavy))
{
	struct task_struct *thread;
	long cpu;

	steer_run = run;
	for_each_present_cpu(cpu) {
		thread = kthread_create_on_node(lane_thread, (void *)cpu,
						cpu_to_node(cpu), "rover/%ld",
						cpu);
		if (IS_ERR(thread)) {
			rover_affinity_exit();
			return PTR_ERR(thread);
		}
		kthread_bind(thread, cpu);
		per_cpu(lanes, cpu).thread = thread;
		wake_up_process(thread);
	}
	return 0;
}

void rover_affinity_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct lane *lane = per_cpu_ptr(&lanes, cpu);

		if (lane->thread)
			kthread_stop(lane->thread);
		lane->thread = NULL;
	}
}
