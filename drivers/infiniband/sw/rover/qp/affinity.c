// SPDX-License-Identifier: GPL-2.0
/*
 * affinity - CPUs that do heavy work
 *
 * Workers have real-time priority over programs that poll for their
 * completions; affinity_rest() leaves other tasks a share.  Choices rest on
 * hints: a wrong one costs only time.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/stat.h>
#include <linux/topology.h>

#include "qp/affinity.h"
#include "qp/qp_table.h"

/* Rest after WORK_MAX of work; other tasks get 1 part in REST_PART + 1. */
#define WORK_MAX	(10 * NSEC_PER_MSEC)
#define REST_PART	5
#define REST_USEC	(WORK_MAX / REST_PART / NSEC_PER_USEC)

/* Requests in a row that prove queue depth 1; requests between tests of it. */
#define QD1_MIN	4
#define QD1_TEST	32

/*
 * @thread is constant, NULL for CPUs not present at module load; it alone uses
 * @done_at and @debt, the run time to balance by rest.  @list has references.
 */
struct affinity_worker {
	struct rover_kick_list list;
	struct task_struct *thread;
	u64 done_at;
	u64 debt;
};

static DEFINE_PER_CPU(struct affinity_worker, affinity_workers);
static void (*affinity_run)(struct rover_kick *kick);

static bool affinity_has_worker(int cpu)
{
	return cpu_online(cpu) && per_cpu(affinity_workers, cpu).thread;
}

/* A remote peer seems local only if two random 24-bit QPNs match. */
struct rover_qp *rover_affinity_peer(const struct rover_qp *qp)
{
	struct rover_qp *peer = rover_qp_find(READ_ONCE(qp->remote_qpn));

	return peer && READ_ONCE(peer->remote_qpn) == qp->obj.key ? peer : NULL;
}

bool rover_affinity_receives(const struct rover_qp *qp)
{
	const struct rover_qp *peer;
	bool receives;

	if (READ_ONCE(qp->backlog.owner))
		return true;
	rcu_read_lock();
	peer = rover_affinity_peer(qp);
	receives = peer && (READ_ONCE(peer->backlog.owner) ||
			    test_bit(ROVER_WORK_RX, &peer->work));
	rcu_read_unlock();
	return receives;
}

bool rover_affinity_waits(const struct rover_qp *qp)
{
	const struct rover_qp *peer;
	bool waits;

	if (rover_affinity_receives(qp))
		return true;
	rcu_read_lock();
	peer = rover_affinity_peer(qp);
	waits = peer && (atomic_read(&qp->tx_skbs) ||
			 atomic_read(&peer->tx_skbs));
	rcu_read_unlock();
	return waits;
}

/* A housekeeping CPU of this node; random QPNs spread queue pairs. */
static int affinity_other_cpu(const struct rover_qp *qp, int here)
{
	const struct cpumask *near = cpumask_of_node(cpu_to_node(here));
	unsigned int i;

	for (i = 0; i < nr_cpu_ids; i++) {
		unsigned int cpu = (qp->obj.key + i) % nr_cpu_ids;

		if (cpu != here && affinity_has_worker(cpu) &&
		    cpumask_test_cpu(cpu, near) && rover_cpu_housekeeping(cpu))
			return cpu;
	}
	return ROVER_CPU_ANY;
}

/*
 * Every QD1_TEST messages, assume a greater depth: a message received on this
 * CPU completes before the next can be posted, which looks like depth 1.
 */
static bool affinity_is_qd1(const struct rover_qp *requester)
{
	u32 streak = READ_ONCE(requester->req.qd1_streak);

	return streak >= QD1_MIN && streak % QD1_TEST;
}

int rover_affinity_receive(struct rover_qp *qp, unsigned int len, bool response)
{
	int here = smp_processor_id(), cpu;
	const struct rover_qp *peer;

	if (len < ROVER_LONG_BYTES)
		return ROVER_CPU_ANY;
	peer = rover_affinity_peer(qp);
	if (!peer || READ_ONCE(peer->home_cpu) != here ||
	    affinity_is_qd1(response ? qp : peer))
		return ROVER_CPU_ANY;
	cpu = READ_ONCE(qp->backlog.cpu);
	if (cpu == ROVER_CPU_ANY || cpu == here || !affinity_has_worker(cpu)) {
		cpu = affinity_other_cpu(qp, here);
		WRITE_ONCE(qp->backlog.cpu, cpu);
	}
	return cpu;
}

static int affinity_avoid_peer(const struct rover_qp *qp,
			       const struct rover_qp *peer, int cpu)
{
	int other = ROVER_CPU_ANY;

	if (peer != qp && READ_ONCE(peer->backlog.owner) &&
	    READ_ONCE(peer->worker_cpu) == cpu)
		other = affinity_other_cpu(qp, cpu);
	return other == ROVER_CPU_ANY ? cpu : other;
}

int rover_affinity_send(const struct rover_qp *qp)
{
	int home = READ_ONCE(qp->home_cpu), cpu = ROVER_CPU_ANY;
	const struct rover_qp *peer;

	if (home == ROVER_CPU_ANY || !affinity_has_worker(home) ||
	    num_online_cpus() == 1)
		return ROVER_CPU_ANY;
	rcu_read_lock();
	peer = rover_affinity_peer(qp);
	if (peer)
		cpu = affinity_avoid_peer(qp, peer, home);
	rcu_read_unlock();
	return cpu;
}

int rover_affinity_read(const struct rover_qp *qp)
{
	int last = READ_ONCE(qp->req.last_tx_cpu);
	bool local;

	if (last == raw_smp_processor_id() || !rover_qp_inflight(qp))
		return ROVER_CPU_ANY;
	rcu_read_lock();
	local = rover_affinity_peer(qp);
	rcu_read_unlock();
	return local ? last : ROVER_CPU_ANY;
}

int rover_affinity_worker_cpu(const struct rover_qp *qp)
{
	int cpu = raw_smp_processor_id();
	const struct rover_qp *peer;

	rcu_read_lock();
	peer = rover_affinity_peer(qp);
	if (peer)
		cpu = affinity_avoid_peer(qp, peer, cpu);
	rcu_read_unlock();
	return cpu;
}

int rover_affinity_poll(const struct rover_qp *qp)
{
	int here = smp_processor_id(), cpu = ROVER_CPU_ANY;

	rcu_read_lock();
	if (!rover_qp_inflight(qp) && rover_affinity_peer(qp))
		cpu = affinity_other_cpu(qp, here);
	rcu_read_unlock();
	return cpu == ROVER_CPU_ANY ? here : cpu;
}

void rover_affinity_queue(struct rover_qp *qp, int cpu)
{
	struct affinity_worker *worker = per_cpu_ptr(&affinity_workers, cpu);

	if (!worker->thread) {
		cpu = cpumask_first(cpu_present_mask);
		worker = per_cpu_ptr(&affinity_workers, cpu);
	}
	/* As in rover_qp_kick(). */
	if (!refcount_inc_not_zero(&qp->refs))
		return;
	if (rover_kick_add(&qp->worker_kick, &worker->list)) {
		WRITE_ONCE(qp->worker_cpu, cpu);
		wake_up_process(worker->thread);
	} else {
		rover_qp_put(qp);
	}
}

static void affinity_rest(struct affinity_worker *worker)
{
	if (worker->debt > WORK_MAX && !single_task_running())
		usleep_range_state(REST_USEC, 2 * REST_USEC, TASK_IDLE);
}

static void affinity_work(struct rover_kick *kick)
{
	struct affinity_worker *worker =
		per_cpu_ptr(&affinity_workers, (long)kthread_data(current));
	u64 began = local_clock();

	worker->debt -= min(worker->debt,
			    (began - worker->done_at) * REST_PART);
	affinity_run(kick);
	worker->done_at = local_clock();
	worker->debt += worker->done_at - began;
	affinity_rest(worker);
	cond_resched();
}

/* CPU hotplug may have moved the thread. */
static void affinity_return_to(int cpu)
{
	if (raw_smp_processor_id() != cpu && cpu_online(cpu))
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static int affinity_thread(void *data)
{
	int cpu = (long)data;
	struct affinity_worker *worker = per_cpu_ptr(&affinity_workers, cpu);

	sched_set_fifo_low(current);
	for (;;) {
		set_current_state(TASK_IDLE);
		/* Pairs with wake_up_process(): woken, or the entry is seen. */
		if (rover_kick_list_empty(&worker->list)) {
			if (kthread_should_stop())
				break;
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		affinity_return_to(cpu);
		rover_kick_drain(&worker->list, UINT_MAX, affinity_work);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

int rover_affinity_init(void (*run)(struct rover_kick *kick))
{
	struct task_struct *thread;
	long cpu;

	affinity_run = run;
	for_each_present_cpu(cpu) {
		thread = kthread_create_on_node(affinity_thread, (void *)cpu,
						cpu_to_node(cpu), "rover/%ld",
						cpu);
		if (IS_ERR(thread)) {
			rover_affinity_exit();
			return PTR_ERR(thread);
		}
		kthread_bind(thread, cpu);
		per_cpu(affinity_workers, cpu).thread = thread;
		wake_up_process(thread);
	}
	return 0;
}

void rover_affinity_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct affinity_worker *worker =
			per_cpu_ptr(&affinity_workers, cpu);

		if (worker->thread)
			kthread_stop(worker->thread);
		worker->thread = NULL;
	}
}
