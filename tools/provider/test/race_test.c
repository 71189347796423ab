// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * race_test.c: the two handshakes that need a full barrier, P2 with K2 and P6
 * with K6. Both sides set off at the same moment, many times; each must see
 * the other, or be seen. (The barriers in between are the thread sanitizer's.)
 */
#include <sched.h>

#include "test.h"

/* At full speed they count; a sanitizer is there for what else may be wrong. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ROUNDS	2000
#else
#define ROUNDS	100000
#endif

static struct rover_qp *qp;
static struct ibv_cq *cq;
static atomic_int arrived;
static bool seen;		/* by the kernel, in this round */
static void (*kernel_turn)(void);

/* Waits until both sides have come here for the @n-th time. */
static void meet(int n)
{
	int spins = 0;

	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < 2 * n)
		if (++spins % 1000 == 0)
			sched_yield();
}

static void *kernel_side(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		meet(2 * i + 1);
		kernel_turn();
		meet(2 * i + 2);
	}
	return NULL;
}

/* @turn is the program's; @settle is called when both have had theirs. */
static void race(void (*kturn)(void), bool (*turn)(void), void (*settle)(void))
{
	pthread_t thread;
	int lost = 0, i;
	bool done;

	kernel_turn = kturn;
	atomic_store(&arrived, 0);
	pthread_create(&thread, NULL, kernel_side, NULL);
	for (i = 0; i < ROUNDS; i++) {
		meet(2 * i + 1);
		done = turn();
		meet(2 * i + 2);
		lost += !done && !seen;
		settle();
	}
	pthread_join(thread, NULL);
	expect(!lost);
}

/* To sleep, unless something was posted. */
static void fall_asleep(void)
{
	fake_flag(&kernel.sq, ROVER_RING_NEED_WAKEUP, true);
	/* K2 */
	atomic_thread_fence(memory_order_seq_cst);
	seen = fake_posted(&kernel.sq);
}

static bool post(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad;
	int before = kernel.doorbells;

	expect(!rover_post_send(&qp->vqp.qp, &wr, &bad));
	return kernel.doorbells != before;
}

static void wake_up(void)
{
	fake_flag(&kernel.sq, ROVER_RING_NEED_WAKEUP, false);
	fake_retire(&kernel.sq);
}

static void test_sleep(void)
{
	qp = fake_qp(4, 1, 0, false);
	qp->vqp.qp.state = IBV_QPS_RTS;
	race(fall_asleep, post, wake_up);
	rover_destroy_qp(&qp->vqp.qp);
}

static bool got;

static void complete(void)
{
	struct rover_cqe cqe = { 0 };

	seen = fake_complete(&kernel.cq, &cqe, false);
}

static bool arm_and_poll(void)
{
	struct ibv_wc wc;

	rover_arm_cq(cq, 0);
	got = rover_poll_cq(cq, 1, &wc) == 1;
	return got;
}

static void drain(void)
{
	struct ibv_wc wc;

	if (!got)
		expect(rover_poll_cq(cq, 1, &wc) == 1);
	/* What was armed and not answered is not to answer in the next round. */
	kernel.cq.fired = kernel.cq.hdr->arm;
}

static void test_arm(void)
{
	cq = fake_cq(4);
	to_cq(cq)->lock.single = true;	/* a lock would be a barrier */
	race(complete, arm_and_poll, drain);
	rover_destroy_cq(cq);
}

const struct test race_tests[] = {
	{ "P2 and K2: posting against falling asleep", test_sleep },
	{ "P6 and K6: arming against completing", test_arm },
	{ NULL, NULL },
};
