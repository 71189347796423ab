// SPDX-License-Identifier: GPL-2.0
/*
 * vector - completion vectors: the CPU that an event is raised on
 *
 * A queue pair in ERR completes a receive when it is posted, on this CPU; the
 * event may be for another one.
 */
#include <linux/cpumask.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>

#include "ktest.h"

#define ENTRIES	64

/**
 * struct vector_listener - a completion queue that records its events
 * @t: the run
 * @cq: the queue
 * @qp: a queue pair in ERR that uses @cq
 * @raised: an event was raised
 * @cpu: its CPU
 * @times: number of events
 * @closed: no event may come any more
 * @late: one came
 */
struct vector_listener {
	struct ktest *t;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct completion raised;
	int cpu;
	atomic_t times;
	bool closed;
	bool late;
};

static void vector_event(struct ib_cq *cq, void *arg)
{
	struct vector_listener *l = arg;

	if (READ_ONCE(l->closed))
		WRITE_ONCE(l->late, true);
	WRITE_ONCE(l->cpu, raw_smp_processor_id());
	atomic_inc(&l->times);
	complete(&l->raised);
}

static void vector_close(struct vector_listener *l)
{
	if (!IS_ERR_OR_NULL(l->qp))
		ib_destroy_qp(l->qp);
	/* By now ib_free_cq() has stopped polling. */
	WRITE_ONCE(l->closed, true);
	if (!IS_ERR_OR_NULL(l->cq))
		ib_destroy_cq(l->cq);
}

static int vector_qp_to_error(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = PORT };
	int err;

	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	attr.qp_state = IB_QPS_ERR;
	return err ?: ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static bool vector_open(struct vector_listener *l, struct ib_pd *pd, int vector)
{
	struct ib_cq_init_attr of_cq = { .cqe = ENTRIES, .comp_vector = vector };
	struct ib_qp_init_attr of_qp = {
		.qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = ENTRIES,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	init_completion(&l->raised);
	l->cq = ib_create_cq(l->t->dev, vector_event, NULL, l, &of_cq);
	if (!check(l->t, !IS_ERR(l->cq), "no completion queue for vector %d", vector))
		return false;
	of_qp.send_cq = l->cq;
	of_qp.recv_cq = l->cq;
	l->qp = ib_create_qp(pd, &of_qp);
	if (check(l->t, !IS_ERR(l->qp) && !vector_qp_to_error(l->qp), "no queue pair"))
		return true;
	vector_close(l);
	return false;
}

/* Make one completion, with an event if @arm. */
static void vector_complete(struct vector_listener *l, bool arm)
{
	struct ib_recv_wr wr = { .wr_id = 1 };

	if (arm)
		check(l->t, ib_req_notify_cq(l->cq, IB_CQ_NEXT_COMP) >= 0, "not armed");
	check(l->t, !ib_post_recv(l->qp, &wr, NULL), "nothing can be posted");
}

/* CPU of a vector: the n-th housekeeping CPU; -1 if there are fewer. */
static int vector_cpu(int vector)
{
	bool isolated;
	int cpu;

	for_each_possible_cpu(cpu) {
		rcu_read_lock();
		isolated = cpu_is_isolated(cpu) || !housekeeping_cpu(cpu, HK_TYPE_TICK);
		rcu_read_unlock();
		if (!isolated && !vector--)
			return cpu;
	}
	return -1;
}

/* Each event comes once, on the right CPU. */
static void vector_test_cpu(struct stage *st, const void *arg)
{
	struct vector_listener l = { .t = st->t };
	int vector = *(const int *)arg, cpu = vector_cpu(vector), i;
	struct ib_wc wc;

	if (!check(st->t, cpu >= 0, "vector %d has no housekeeping CPU", vector) ||
	    !vector_open(&l, st->pd, vector))
		return;
	vector_complete(&l, false);
	for (i = 0; i < ENTRIES / 2 && !st->t->bad; i++) {
		vector_complete(&l, true);
		if (!check(st->t, wait_for_completion_timeout(&l.raised, st->t->slow * HZ),
			   "no event"))
			break;
		check(st->t, l.cpu == cpu || !cpu_online(cpu),
		      "event on CPU %d instead of %d", l.cpu, cpu);
	}
	check(st->t, atomic_read(&l.times) == i, "%d events, armed %d times",
	      atomic_read(&l.times), i);
	while (ib_poll_cq(l.cq, 1, &wc) > 0)
		i--;
	check(st->t, i == -1, "%d completions more or less than events", -1 - i);
	vector_close(&l);
}

/* Armed again before the last event was handled: none is lost. */
static void vector_test_many(struct stage *st, const void *arg)
{
	struct vector_listener l = { .t = st->t };
	int vector = *(const int *)arg, i;

	if (!vector_open(&l, st->pd, vector))
		return;
	for (i = 0; i < ENTRIES; i++)
		vector_complete(&l, true);
	for (i = 0; i < ENTRIES; i++)
		if (!check(st->t, wait_for_completion_timeout(&l.raised, st->t->slow * HZ),
			   "%d events of %d", i, ENTRIES))
			break;
	vector_close(&l);
}

/* No event comes after the queue pair is destroyed. */
static void vector_test_last(struct stage *st, const void *arg)
{
	int vector = *(const int *)arg, i, rounds = st->t->quick ? 20 : 200;

	for (i = 0; i < rounds && !st->t->bad; i++) {
		struct vector_listener l = { .t = st->t };

		if (!vector_open(&l, st->pd, vector))
			return;
		vector_complete(&l, true);
		vector_close(&l);
		check(st->t, !l.late, "an event after the queue pair was destroyed");
		check(st->t, atomic_read(&l.times) == 1, "%d events", atomic_read(&l.times));
	}
}

void ktest_vector(struct ktest *t)
{
	int vector, most = min(t->dev->num_comp_vectors, 4);

	for (vector = 0; vector < most; vector++) {
		ktest_run(t, vector_test_cpu, &vector,
			  "vector %d: events are raised on its CPU", vector);
		ktest_run(t, vector_test_many, &vector,
			  "vector %d: no event is lost", vector);
		ktest_run(t, vector_test_last, &vector,
			  "vector %d: no event follows the destruction of the queue pair", vector);
	}
}
