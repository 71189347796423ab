// SPDX-License-Identifier: GPL-2.0
/*
 * steer - where the heavy work is done
 *
 * The workers are the kernel's own, of high priority: a program that polls
 * for completions on the same processor only waits for what they do.  But
 * others may want that processor: after TURN of work a processor's next is done
 * at normal priority, when it is its turn among all.
 *
 * What chooses are hints, read without locks: a wrong one costs time and
 * nothing else.
 */
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "qps.h"
#include "steer.h"

#define TURN	(10 * NSEC_PER_MSEC)

static struct workqueue_struct *urgent;
static struct workqueue_struct *fair;

/* What the urgent ones of each processor took since the last fair one. */
static DEFINE_PER_CPU(u64, taken);

/*
 * The queue pair at the other end, if it is of this machine.  For one that is
 * elsewhere to be mistaken, two random numbers of 24 bits have to agree.
 */
static const struct rover_qp *local_peer(const struct rover_qp *qp)
{
	const struct rover_qp *peer = rover_qp_find(READ_ONCE(qp->remote_qpn));

	return peer && READ_ONCE(peer->remote_qpn) == qp->obj.key ? peer : NULL;
}

/*
 * Another processor of this node that is there for everybody.  Where to begin
 * looking is the queue pair's number, which is random: so they are spread.
 */
static int other_cpu(const struct rover_qp *qp, int here)
{
	const struct cpumask *allowed = housekeeping_cpumask(HK_TYPE_DOMAIN);
	const struct cpumask *near = cpumask_of_node(cpu_to_node(here));
	unsigned int i;

	for (i = 0; i < nr_cpu_ids; i++) {
		unsigned int cpu = (qp->obj.key + i) % nr_cpu_ids;

		if (cpu != here && cpu_online(cpu) &&
		    cpumask_test_cpu(cpu, near) &&
		    cpumask_test_cpu(cpu, allowed))
			return cpu;
	}
	return ROVER_CPU_ANY;
}

int rover_steer_receive(struct rover_qp *qp, unsigned int len)
{
	int here = smp_processor_id(), cpu;
	const struct rover_qp *peer;

	if (len < ROVER_BULK)
		return ROVER_CPU_ANY;
	peer = local_peer(qp);
	if (!peer || READ_ONCE(peer->home) != here)
		return ROVER_CPU_ANY;
	cpu = READ_ONCE(qp->aside.cpu);
	if (cpu == ROVER_CPU_ANY || cpu == here || !cpu_online(cpu)) {
		cpu = other_cpu(qp, here);
		WRITE_ONCE(qp->aside.cpu, cpu);
	}
	return cpu;
}

int rover_steer_send(const struct rover_qp *qp)
{
	int home = READ_ONCE(qp->home);
	bool local;

	if (home == ROVER_CPU_ANY || !cpu_online(home) ||
	    num_online_cpus() == 1)
		return ROVER_CPU_ANY;
	rcu_read_lock();
	local = local_peer(qp);
	rcu_read_unlock();
	return local ? home : ROVER_CPU_ANY;
}

void rover_steer_to(struct rover_qp *qp, int cpu)
{
	bool wait = READ_ONCE(*per_cpu_ptr(&taken, cpu)) > TURN;

	/* See rover_qp_kick(). */
	if (!refcount_inc_not_zero(&qp->refs))
		return;
	if (!queue_work_on(cpu, wait ? fair : urgent, &qp->heavy))
		rover_qp_put(qp);
}

void rover_steer_took(u64 ns)
{
	if (task_nice(current) < 0)
		this_cpu_add(taken, ns);
	else
		this_cpu_write(taken, 0);
}

int rover_steer_init(void)
{
	/* Storage may be on the other side of a connection: MEM_RECLAIM. */
	urgent = alloc_workqueue("rover_urgent", WQ_HIGHPRI | WQ_MEM_RECLAIM |
				 WQ_PERCPU, 0);
	if (!urgent)
		return -ENOMEM;
	fair = alloc_workqueue("rover_fair", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (!fair) {
		destroy_workqueue(urgent);
		return -ENOMEM;
	}
	return 0;
}

void rover_steer_exit(void)
{
	destroy_workqueue(fair);
	destroy_workqueue(urgent);
}
