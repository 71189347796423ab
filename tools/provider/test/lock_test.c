// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * lock_test.c: verbs within a poll session or a list of ibv_wr_*, and threads that
 * meet a queue while the kernel changes it. And the release that a file name tells.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../release.h"
#include "test.h"

#define PATIENCE_MS	3000

static struct ibv_cq_ex *extended(uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8, .wc_flags = IBV_WC_EX_WITH_QP_NUM, .flags = flags,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
	};

	fake_context.context.cmd_fd = FAKE_FD;
	return rover_create_cq_ex(&fake_context.context, &attr);
}

/* Completions 0, 1, ... of the queue pairs 7 and 8 in turn. */
static void complete(unsigned int n)
{
	struct rover_cqe cqe = { 0 };

	for (; cqe.wr_id < n; cqe.wr_id++) {
		cqe.qpn = 7 + cqe.wr_id % 2;
		fake_complete(&kernel.cq, &cqe, false);
	}
}

static void forget_within(uint32_t flags)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *ex = extended(flags);

	complete(8);
	expect(!ibv_start_poll(ex, &attr) && !ibv_next_poll(ex));
	/* What is shown is of one of them, and stays. */
	rover_cq_forget(ibv_cq_ex_to_cq(ex), 8);
	expect(ex->wr_id == 1 && ibv_wc_read_qp_num(ex) == 8);
	expect(!ibv_next_poll(ex) && ex->wr_id == 2);
	rover_cq_forget(ibv_cq_ex_to_cq(ex), 7);
	expect(ibv_wc_read_qp_num(ex) == 7);
	expect(ibv_next_poll(ex) == ENOENT);
	rover_cq_forget(ibv_cq_ex_to_cq(ex), 7);
	ibv_end_poll(ex);
	expect(kernel.cq.hdr->head == kernel.cq.index);
	complete(1);
	expect(!ibv_start_poll(ex, &attr) && ex->wr_id == 0);
	ibv_end_poll(ex);
	rover_destroy_cq(ibv_cq_ex_to_cq(ex));
}

static void test_forget_within(void)
{
	forget_within(0);
	forget_within(IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

static void resize_within(uint32_t flags)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *ex = extended(flags);
	uint64_t seen = 1;

	complete(6);
	expect(!ibv_start_poll(ex, &attr) && !ibv_next_poll(ex));
	expect(!rover_resize_cq(ibv_cq_ex_to_cq(ex), 32));
	expect(ibv_wc_read_qp_num(ex) == 8 && ex->wr_id == 1);
	while (!ibv_next_poll(ex))
		expect(ex->wr_id == ++seen);
	expect(seen == 5);
	/* With nothing to show, too. */
	expect(!rover_resize_cq(ibv_cq_ex_to_cq(ex), 8));
	complete(1);
	expect(!ibv_next_poll(ex) && ex->wr_id == 0);
	ibv_end_poll(ex);
	expect(ibv_start_poll(ex, &attr) == ENOENT);
	rover_destroy_cq(ibv_cq_ex_to_cq(ex));
}

static void test_resize_within(void)
{
	resize_within(0);
	resize_within(IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

/* What was begun before the reset is not posted after it. */
static void test_reset_within(void)
{
	struct rover_qp *qp = fake_qp(4, 1, 0, true);
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	qp->vqp.qp.state = IBV_QPS_RTS;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	fake_state(qp, IBV_QPS_RESET);
	expect(ibv_wr_complete(ex) == EINVAL);
	qp->vqp.qp.state = IBV_QPS_RTS;
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	expect(!ibv_wr_complete(ex) && fake_posted(&kernel.sq));
	fake_state(qp, IBV_QPS_RESET);
	rover_destroy_qp(&qp->vqp.qp);
}

/* A queue pair takes its completions along, out of both of its queues. */
static void test_destroy(void)
{
	struct rover_qp *qp = fake_qp(4, 1, 0, false);
	struct ibv_qp *ibqp = &qp->vqp.qp;
	struct rover_cqe cqe = { .qpn = 1 };
	struct ibv_cq *cq = fake_cq(4);
	struct ibv_wc wc;
	int i;

	ibqp->send_cq = cq;
	ibqp->recv_cq = cq;
	for (i = 0; i < 4; i++) {
		cqe.wr_id = i;
		cqe.qpn = i == 1 ? ibqp->qp_num + 1 : ibqp->qp_num;
		fake_complete(&kernel.cq, &cqe, false);
	}
	rover_destroy_qp(ibqp);
	/* There is room for more again, too. */
	for (i = 0; i < 3; i++) {
		expect(fake_room(&kernel.cq));
		fake_complete(&kernel.cq, &cqe, false);
	}
	expect(rover_poll_cq(cq, 1, &wc) == 1 && wc.wr_id == 1);
	for (i = 0; i < 3; i++)
		expect(rover_poll_cq(cq, 1, &wc) == 1 && wc.wr_id == 3);
	expect(!rover_poll_cq(cq, 1, &wc));
	rover_destroy_cq(cq);
}

/* Others, while the kernel changes a queue: they have to sleep, not to spin. */
static struct ibv_cq *cq;
static struct rover_srq *srq;
static pthread_t threads[3];
static atomic_int tids[3];

static void *poll_once(void *arg)
{
	struct ibv_wc wc;

	atomic_store(&tids[0], syscall(SYS_gettid));
	expect(rover_poll_cq(cq, 1, &wc) == 1 && wc.wr_id == 0);
	return arg;
}

static void *arm_once(void *arg)
{
	atomic_store(&tids[1], syscall(SYS_gettid));
	expect(!rover_arm_cq(cq, 0));
	return arg;
}

static void *post_once(void *arg)
{
	struct ibv_recv_wr wr = { .wr_id = 5 }, *bad;

	atomic_store(&tids[2], syscall(SYS_gettid));
	expect(!rover_post_srq_recv(&srq->vsrq.srq, &wr, &bad));
	return arg;
}

/* Is it asleep, as the kernel sees it? One that spins never is. */
static bool asleep(pid_t tid)
{
	char path[64], stat[256] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(stat, sizeof(stat), file))
		stat[0] = '\0';
	fclose(file);
	state = strrchr(stat, ')');
	return state && state[1] && state[2] == 'S';
}

static void await_sleepers(unsigned int first, unsigned int n)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	unsigned int i, left = PATIENCE_MS;

	for (i = first; i < first + n; i++) {
		while ((!atomic_load(&tids[i]) || !asleep(atomic_load(&tids[i]))) &&
		       --left)
			nanosleep(&pause, NULL);
		expect(left);
	}
}

static void meet_cq(void)
{
	pthread_create(&threads[0], NULL, poll_once, NULL);
	pthread_create(&threads[1], NULL, arm_once, NULL);
	await_sleepers(0, 2);
}

static void meet_srq(void)
{
	pthread_create(&threads[2], NULL, post_once, NULL);
	await_sleepers(2, 1);
}

static void test_sleep(void)
{
	cq = fake_cq(4);
	complete(1);
	kernel.on_change = meet_cq;
	expect(!rover_resize_cq(cq, 16));
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	expect(kernel.cq.hdr->arm & ROVER_ARM_NEXT);
	rover_destroy_cq(cq);

	srq = fake_srq(4, 1);
	kernel.on_change = meet_srq;
	expect(!rover_modify_srq(&srq->vsrq.srq,
				 &(struct ibv_srq_attr) { .max_wr = 8 },
				 IBV_SRQ_MAX_WR));
	pthread_join(threads[2], NULL);
	expect(fake_posted(&kernel.srq));
	rover_destroy_srq(&srq->vsrq.srq);
}

static void test_release(void)
{
	char release[ROVER_RELEASE_MAX] = "", path[256];

	expect(!rover_release_of("/usr/lib/libibverbs.so.1.14.56.1", release) &&
	       !strcmp(release, "56.1"));
	expect(!rover_release_of("libibverbs.so.1.18.65.0 (deleted)", release) &&
	       !strcmp(release, "65.0"));
	expect(rover_release_of("/usr/lib/libibverbs.so.1", release));
	expect(rover_release_of("/usr/lib/libibverbs.so.1.14.", release));
	expect(rover_release_of("/opt/libibverbs.so.1.14.x", release));
	expect(rover_release_of("/opt/libmlx5.so.1.14.56.1", release));
	expect(rover_release_of("/usr/lib/libibverbs.so.1.14.111111111111111111111111",
				release));
	expect(!rover_release_path(test_release, path, sizeof(path)) &&
	       strstr(path, "/test-"));
	expect(rover_release_path(NULL, path, sizeof(path)));
	expect(rover_release_path(test_release, path, 3));
}

const struct test lock_tests[] = {
	{ "a reset or destroyed queue pair, within a poll session", test_forget_within },
	{ "resizing within a poll session", test_resize_within },
	{ "ibv_wr: a reset between start and complete", test_reset_within },
	{ "a destroyed queue pair takes its completions along", test_destroy },
	{ "resizing: who comes meanwhile sleeps", test_sleep },
	{ "the release of a libibverbs is read from its file name", test_release },
	{ NULL, NULL },
};
