// SPDX-License-Identifier: GPL-2.0
/*
 * kick - deferred calls in softirq
 *
 * No kick is lost: the context that sets KICK_QUEUED_BIT lists the owner, and
 * the bit is cleared, with a full barrier, before the call.
 */
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "core/kick.h"

#define KICK_QUEUED_BIT	0

#define KICK_BUDGET		64
#define KICK_BUDGET_NS	(500 * NSEC_PER_USEC)

struct kick_cpu {
	struct rover_kick_list list;
	struct tasklet_struct tasklet;
};

static DEFINE_PER_CPU(struct kick_cpu, kick_cpus);
static void (*kick_run)(struct rover_kick *kick);

bool rover_kick_add(struct rover_kick *kick, struct rover_kick_list *list)
{
	bool added;

	/* No preemption between setting the bit and adding to the list. */
	preempt_disable();
	/* Pairs with smp_mb__after_atomic() below: run() sees the work. */
	added = !test_and_set_bit(KICK_QUEUED_BIT, &kick->queued);
	if (added)
		llist_add(&kick->node, &list->fresh);
	preempt_enable();
	return added;
}

bool rover_kick_drain(struct rover_kick_list *list, unsigned int max_calls,
		      void (*run)(struct rover_kick *kick))
{
	struct rover_kick *kick;

	/* Oldest first, or a busy owner would overtake others. */
	if (!list->oldest)
		list->oldest = llist_reverse_order(llist_del_all(&list->fresh));
	while (list->oldest && max_calls--) {
		kick = llist_entry(list->oldest, struct rover_kick, node);
		list->oldest = list->oldest->next;
		/* From here on the owner may be queued again. */
		clear_bit_unlock(KICK_QUEUED_BIT, &kick->queued);
		/* Pairs with test_and_set_bit() above: run() sees the work. */
		smp_mb__after_atomic();
		run(kick);
	}
	return list->oldest;
}

bool rover_kick(struct rover_kick *kick)
{
	struct kick_cpu *here = get_cpu_ptr(&kick_cpus);
	bool added = rover_kick_add(kick, &here->list);

	if (added)
		tasklet_schedule(&here->tasklet);
	put_cpu_ptr(&kick_cpus);
	return added;
}

/* The tasklet's list: hotplug may move it to another CPU. */
static void kick_run_tasklet(struct tasklet_struct *tasklet)
{
	struct kick_cpu *from = container_of(tasklet, struct kick_cpu, tasklet);
	u64 began = local_clock();
	int left = KICK_BUDGET;

	while (!rover_kick_list_empty(&from->list)) {
		if (!left-- || local_clock() - began > KICK_BUDGET_NS) {
			tasklet_schedule(&from->tasklet);
			break;
		}
		rover_kick_drain(&from->list, 1, kick_run);
	}
}

void rover_kick_init(void (*run)(struct rover_kick *kick))
{
	int cpu;

	kick_run = run;
	for_each_possible_cpu(cpu) {
		struct kick_cpu *k = per_cpu_ptr(&kick_cpus, cpu);

		rover_kick_list_init(&k->list);
		tasklet_setup(&k->tasklet, kick_run_tasklet);
	}
}

void rover_kick_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kick_cpu *k = per_cpu_ptr(&kick_cpus, cpu);

		tasklet_kill(&k->tasklet);
		WARN_ON(!rover_kick_list_empty(&k->list));
	}
}
