// SPDX-License-Identifier: GPL-2.0
/* fake_qp - references and kicks of queue pairs; no other CPUs, no datagrams */
#include "clock.h"
#include "core/trace.h"
#include "pair.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "run/run.h"
#include "ud/raw.h"
#include "ud/ud.h"

struct rover_table rover_qpns;

void rover_qp_drop(const struct rover_qp *qp, enum rover_stat why, u8 opcode,
		   u32 psn)
{
	rover_drop(qp->stats, why, qp->obj.key, opcode, psn);
}

/* The ends of a pair are freed when nothing runs any more. */
void rover_qp_put(struct rover_qp *qp)
{
	sim_assert(!refcount_dec_and_test(&qp->refs));
}

static void qp_kicked(void *arg)
{
	struct rover_qp *qp = arg;

	qp->kick.queued = 0;
	sim_softirq = true;
	rover_run_kicked(&qp->kick);
	sim_softirq = false;
}

void rover_qp_kick(struct rover_qp *qp)
{
	if (qp->kick.queued)
		return;
	qp->kick.queued = 1;
	rover_qp_get(qp);
	clock_at(clock_now, qp_kicked, qp);
}

static void qp_worker(void *arg)
{
	struct rover_qp *qp = arg;

	qp->worker_kick.queued = 0;
	rover_run(qp);
	rover_qp_put(qp);
}

void rover_affinity_queue(struct rover_qp *qp, int cpu)
{
	if (qp->worker_kick.queued)
		return;
	qp->worker_kick.queued = 1;
	rover_qp_get(qp);
	clock_at(clock_now, qp_worker, qp);
}

int rover_affinity_send(const struct rover_qp *qp)
{
	return ROVER_CPU_ANY;
}

int rover_affinity_read(const struct rover_qp *qp)
{
	return ROVER_CPU_ANY;
}

int rover_affinity_worker_cpu(const struct rover_qp *qp)
{
	return 0;
}

struct rover_qp *rover_affinity_peer(const struct rover_qp *qp)
{
	return NULL;
}

bool rover_affinity_receives(const struct rover_qp *qp)
{
	(void)qp;
	return false;
}

bool rover_affinity_waits(const struct rover_qp *qp)
{
	return false;
}

void rover_ud_send(struct rover_qp *qp)
{
	sim_assert(false);
}

void rover_raw_send(struct rover_qp *qp)
{
	sim_assert(false);
}
