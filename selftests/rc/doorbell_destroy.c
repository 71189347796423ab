// SPDX-License-Identifier: GPL-2.0
/*
 * doorbell_destroy - doorbells while the queue pair is being destroyed
 *
 *	doorbell_destroy a|b PORT
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"
#include "lib/hostile.h"

struct ringer {
	struct pair *p;
	atomic_uint qpn;
	atomic_bool stop;
};

static void *ring_on(void *arg)
{
	struct ringer *r = arg;

	while (!atomic_load(&r->stop))
		doorbell(r->p, atomic_load(&r->qpn));
	return NULL;
}

/*
 * A thread rings doorbells all the time while another destroys the queue pair, its rings and
 * queues.
 */
static void run_too_late(struct pair *p, const void *arg)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ringer ringer = { .p = p };
	int i, rounds = pair_once(p) ? 60 : p->quick ? 200 : 2000;
	pthread_t thread;
	bool ok = true;

	(void)arg;
	pthread_create(&thread, NULL, ring_on, &ringer);
	for (i = 0; i < rounds && ok; i++) {
		struct ibv_cq *cq = ibv_create_cq(p->ctx, 4, NULL, NULL, 0);
		struct ibv_qp *qp = NULL;

		init.send_cq = cq;
		init.recv_cq = cq;
		if (cq)
			qp = ibv_create_qp(p->pd, &init);
		if (qp) {
			atomic_store(&ringer.qpn, qp->qp_num);
			/* Long enough for a stream of doorbells. */
			usleep(i % 8 * 50 * p->slow);
		}
		ok = qp && !ibv_destroy_qp(qp);
		ok = cq && !ibv_destroy_cq(cq) && ok;
	}
	atomic_store(&ringer.stop, true);
	pthread_join(thread, NULL);
	check(p, ok, "round %d: %s", i, strerror(errno));
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	pair_case(&p, run_too_late, NULL, "doorbells during destruction of a queue pair");
	return pair_close(&p);
}
