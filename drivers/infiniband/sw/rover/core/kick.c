// SPDX-License-Identifier: GPL-2.0
/*
 * kick - "this queue pair has work": data that travels upward
 *
 * A kick is never lost: whoever sets the queued bit puts the owner on a list,
 * and whoever finds it set knows that the owner's function is still to be
 * called, since the bit is cleared, with a full barrier, before the call.
 */
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "core/kick.h"

#define QUEUED	0

/*
 * Most owners, and most time (local_clock), of one run of the tasklet; the rest gets
 * another run, after other softirqs.
 */
#define AT_ONCE		64
#define AT_ONCE_NS	(500 * NSEC_PER_USEC)

struct kick_cpu {
	struct rover_kick_list list;
	struct tasklet_struct tasklet;
};

static DEFINE_PER_CPU(struct kick_cpu, kick_cpus);
static void (*kick_run)(struct rover_kick *kick);

bool rover_kick_add(struct rover_kick *kick, struct rover_kick_list *list)
{
	bool added;

	/* No preemption with the bit set and nothing on a list to show for it. */
	preempt_disable();
	/* Full barrier: what there is to do is visible before the bit. */
	added = !test_and_set_bit(QUEUED, &kick->queued);
	if (added)
		llist_add(&kick->node, &list->fresh);
	preempt_enable();
	return added;
}

bool rover_kick_drain(struct rover_kick_list *list, unsigned int most,
		      void (*run)(struct rover_kick *kick))
{
	struct rover_kick *kick;

	/* Oldest first, or a busy queue pair would keep passing the others. */
	if (!list->oldest)
		list->oldest = llist_reverse_order(llist_del_all(&list->fresh));
	while (list->oldest && most--) {
		kick = llist_entry(list->oldest, struct rover_kick, node);
		list->oldest = list->oldest->next;
		/* From here on it may be on a list again. */
		clear_bit_unlock(QUEUED, &kick->queued);
		/* Pairs with test_and_set_bit(): who found the bit is heard. */
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

/*
 * Runs on the CPU that kicked, or on another after hotplug took that one away:
 * hence the list is found by the tasklet, not by the CPU.
 */
static void kick_all(struct tasklet_struct *tasklet)
{
	struct kick_cpu *from = container_of(tasklet, struct kick_cpu, tasklet);
	u64 began = local_clock();
	int left = AT_ONCE;

	while (!rover_kick_list_empty(&from->list)) {
		if (!left-- || local_clock() - began > AT_ONCE_NS) {
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
		tasklet_setup(&k->tasklet, kick_all);
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
