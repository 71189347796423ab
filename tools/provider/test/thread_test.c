// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * thread_test.c: both sides at once. Threads that post, a kernel that stops
 * polling whenever it can, and a program that waits for events: a side that
 * misses a wake-up waits for ever, and the thread sanitizer reports data that
 * is read too early.
 */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

#include "test.h"

#define POSTERS	2
#define EACH	20000
#define TOTAL	(POSTERS * EACH)
#define CAP	48

static struct rover_qp *qp;
static struct ibv_cq *cq;
static sem_t wakeup;		/* of the kernel */
static sem_t event;		/* of the program */
static atomic_bool stop;
static unsigned char seen[2 * TOTAL];

static void ring_doorbell(void)
{
	sem_post(&wakeup);
}

/* The request's fields must belong together: a torn one is seen. */
static struct rover_cqe check_send(const struct rover_send_wqe *wqe)
{
	const struct rover_sge *sge =
		(const void *)((const char *)wqe + ROVER_SEND_WQE_HDR);

	expect(wqe->opcode == ROVER_WQE_WRITE && wqe->num_sge == 2);
	expect(wqe->remote_addr == wqe->wr_id * 3);
	expect(sge[0].addr == wqe->wr_id * 5 && sge[1].addr == wqe->wr_id * 7);
	return (struct rover_cqe) { .wr_id = wqe->wr_id,
				    .opcode = ROVER_CQE_WRITE };
}

static bool consume(struct fake_ring *ring, bool recv)
{
	const void *wqe = fake_posted(ring);
	struct rover_cqe cqe;

	if (!wqe || !fake_room(&kernel.cq))
		return false;
	if (recv)
		cqe = (struct rover_cqe) {
			.wr_id = ((const struct rover_recv_wqe *)wqe)->wr_id,
			.opcode = ROVER_CQE_RECV };
	else
		cqe = check_send(wqe);
	fake_retire(ring);
	if (fake_complete(&kernel.cq, &cqe, true))
		sem_post(&event);
	return true;
}

static void *kernel_thread(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		if (consume(&kernel.sq, false) | consume(&kernel.rq, true))
			continue;
		if (!fake_room(&kernel.cq)) {
			sched_yield();
			continue;
		}
		fake_flag(&kernel.sq, ROVER_RING_NEED_WAKEUP, true);
		fake_flag(&kernel.rq, ROVER_RING_NEED_WAKEUP, true);
		/* K2 */
		atomic_thread_fence(memory_order_seq_cst);
		if (!fake_posted(&kernel.sq) && !fake_posted(&kernel.rq))
			sem_wait(&wakeup);
		fake_flag(&kernel.sq, ROVER_RING_NEED_WAKEUP, false);
		fake_flag(&kernel.rq, ROVER_RING_NEED_WAKEUP, false);
	}
	return NULL;
}

static int post_classic(uint64_t id)
{
	struct ibv_sge sge[2] = { { id * 5, 1, 1 }, { id * 7, 1, 1 } };
	struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_RDMA_WRITE,
				  .sg_list = sge, .num_sge = 2,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = id * 3;
	return rover_post_send(&qp->vqp.qp, &wr, &bad);
}

static int post_extended(uint64_t id)
{
	struct ibv_sge sge[2] = { { id * 5, 1, 1 }, { id * 7, 1, 1 } };
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ibv_wr_start(ex);
	ex->wr_id = id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, 1, id * 3);
	ibv_wr_set_sge_list(ex, 2, sge);
	return ibv_wr_complete(ex);
}

static void *poster(void *arg)
{
	uint64_t first = (uintptr_t)arg * EACH, id;
	int err;

	for (id = first; id < first + EACH; id++) {
		do {
			err = id & 1 ? post_extended(id) : post_classic(id);
			if (err == ENOMEM)
				sched_yield();
		} while (err == ENOMEM);
		expect(!err);
	}
	return NULL;
}

static void *receiver(void *arg)
{
	struct ibv_recv_wr wr = { 0 }, *bad;
	uint64_t id;
	int err;

	(void)arg;
	for (id = TOTAL; id < 2 * TOTAL; id++) {
		wr.wr_id = id;
		while ((err = rover_post_recv(&qp->vqp.qp, &wr, &bad)) == ENOMEM)
			sched_yield();
		expect(!err);
	}
	return NULL;
}

static int take(void)
{
	struct ibv_wc wc[7];
	int n = rover_poll_cq(cq, 7, wc);
	int i;

	expect(n >= 0);
	for (i = 0; i < n; i++) {
		expect(wc[i].opcode == (wc[i].wr_id < TOTAL ? IBV_WC_RDMA_WRITE :
							      IBV_WC_RECV));
		expect(!seen[wc[i].wr_id]++);
	}
	return n;
}

/* Nothing but the rings between both sides. */
static void poll_for_all(void)
{
	int got = 0, n;

	while (got < 2 * TOTAL) {
		n = take();
		if (!n)
			sched_yield();
		got += n;
	}
}

/* Poll; when there is nothing arm, poll again, then sleep: the classic loop. */
static void wait_for_all(void)
{
	int got = 0, n, i;

	for (i = 0; got < 2 * TOTAL; i++) {
		n = take();
		if (!n) {
			rover_arm_cq(cq, i % 3 == 0);
			n = take();
			if (!n) {
				sem_wait(&event);
				rover_cq_event(cq);
			}
		}
		got += n;
		if (i % 1000 == 999)
			sched_yield();
	}
}

static void all_at_once(void (*wait)(void))
{
	pthread_t posters[POSTERS + 1], kthread;
	unsigned int i;

	cq = fake_cq(32);
	qp = fake_qp(CAP, 2, 0, true);
	qp->vqp.qp.state = IBV_QPS_RTS;
	kernel.on_doorbell = ring_doorbell;
	atomic_store(&stop, false);
	sem_init(&wakeup, 0, 0);
	sem_init(&event, 0, 0);

	pthread_create(&kthread, NULL, kernel_thread, NULL);
	for (i = 0; i < POSTERS; i++)
		pthread_create(&posters[i], NULL, poster, (void *)(uintptr_t)i);
	pthread_create(&posters[POSTERS], NULL, receiver, NULL);
	wait();
	for (i = 0; i <= POSTERS; i++)
		pthread_join(posters[i], NULL);
	atomic_store(&stop, true);
	sem_post(&wakeup);
	pthread_join(kthread, NULL);

	for (i = 0; i < 2 * TOTAL; i++)
		expect(seen[i]-- == 1);
	rover_destroy_qp(&qp->vqp.qp);
	rover_destroy_cq(cq);
}

static void test_polling(void)
{
	all_at_once(poll_for_all);
}

static void test_events(void)
{
	all_at_once(wait_for_all);
}

const struct test thread_tests[] = {
	{ "posters, a kernel that sleeps, a program that polls", test_polling },
	{ "posters, a kernel that sleeps, a program that waits", test_events },
	{ NULL, NULL },
};
