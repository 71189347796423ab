// SPDX-License-Identifier: GPL-2.0
/*
 * cq_rules - completion queues: timestamps, completions of destroyed queue pairs,
 * and verbs between ibv_start_poll() and ibv_end_poll()
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"

/* A message from a to b on each of n connections; nothing is polled. */
static void one_message_each(struct conn **c, unsigned int n)
{
	struct pair *p = c[0]->p;
	unsigned int i;

	for (i = 0; i < n && end_b(p); i++)
		conn_recv(c[i], i, NULL, 0);
	pair_sync(p);
	for (i = 0; i < n && end_a(p); i++) {
		struct ibv_send_wr wr = wr_send(i, NULL, 0, IBV_SEND_SIGNALED);

		conn_send(c[i], &wr);
	}
	pair_sync(p);
}

static uint64_t raw_clock(struct pair *p)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	check(p, !ibv_query_rt_values_ex(p->ctx, &values), "ibv_query_rt_values_ex fails");
	check(p, values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK, "it has no raw clock");
	return values.raw_clock.tv_sec * 1000000000ULL + values.raw_clock.tv_nsec;
}

static int undo_cq(void *what)
{
	return ibv_destroy_cq(what);
}

/* By the clock of the device a completion is later than its request. */
static void run_clock(struct pair *p, const void *arg)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct conn_attr how = conn_defaults(p);
	struct ibv_device_attr_ex device = { 0 };
	uint64_t before, after, stamp;
	struct queue q = { .p = p };
	unsigned int count = 0;
	struct conn *c;

	(void)arg;
	check(p, !ibv_query_device_ex(p->ctx, NULL, &device), "ibv_query_device_ex fails");
	check(p, device.completion_timestamp_mask == UINT64_MAX,
	      "completion_timestamp_mask is 0x%llx",
	      (unsigned long long)device.completion_timestamp_mask);
	check(p, device.hca_core_clock == 1000000, "hca_core_clock is %llu kHz",
	      (unsigned long long)device.hca_core_clock);
	q.cqx = ibv_create_cq_ex(p->ctx, &attr);
	check(p, q.cqx, "ibv_create_cq_ex: %s", strerror(errno));
	q.cq = ibv_cq_ex_to_cq(q.cqx);
	undo_later(p, undo_cq, q.cq, "ibv_destroy_cq");
	how.send = &q;
	how.recv = &q;
	c = conn_open(p, &how);
	before = raw_clock(p);
	one_message_each(&c, 1);
	while (ibv_start_poll(q.cqx, &(struct ibv_poll_cq_attr){ 0 }))
		relax(p, &count);
	stamp = ibv_wc_read_completion_ts(q.cqx);
	ibv_end_poll(q.cqx);
	after = raw_clock(p);
	check(p, before < stamp && stamp <= after, "completed at %llu, between %llu and %llu",
	      (unsigned long long)stamp, (unsigned long long)before, (unsigned long long)after);
}

static void meet_all(struct pair *p, struct conn **c, struct queue *q, unsigned int n)
{
	struct conn_attr how = conn_defaults(p);
	unsigned int i;

	how.send = q;
	how.recv = q;
	for (i = 0; i < n; i++)
		c[i] = conn_open(p, &how);
}

/* Until all completions have come: looking for them would take them out. */
static void let_come(struct pair *p)
{
	usleep(50000 * p->slow);
}

/*
 * Of three queue pairs that share a CQ the second one is destroyed, and its completion is
 * removed.
 */
static void run_gone(struct pair *p, const void *arg)
{
	struct queue *q = queue_new(p, 16, arg, false);
	struct conn *c[3];

	meet_all(p, c, q, 3);
	one_message_each(c, 3);
	let_come(p);
	undo_now(p, c[1]);
	queue_want(q, 0, IBV_WC_SUCCESS);
	queue_want(q, 2, IBV_WC_SUCCESS);
	queue_quiet(q, 20);
	pair_sync(p);
}

/* The current completion stays, those behind it are removed, and nothing hangs. */
static void run_within(struct pair *p, const void *arg)
{
	bool destroy = arg;
	struct queue *q = queue_new(p, 16, true, false);
	unsigned int count = 0;
	struct conn *c[3];

	meet_all(p, c, q, 3);
	one_message_each(c, 3);
	let_come(p);
	while (ibv_start_poll(q->cqx, &(struct ibv_poll_cq_attr){ 0 }))
		relax(p, &count);
	if (destroy) {
		undo_now(p, c[0]);
		undo_now(p, c[1]);
	} else {
		check(p, !conn_modify(c[0], IBV_QPS_RESET), "no way to RESET");
		check(p, !conn_modify(c[1], IBV_QPS_RESET), "no way to RESET");
	}
	check(p, !ibv_resize_cq(q->cq, 64), "ibv_resize_cq fails");
	check(p, !q->cqx->wr_id && ibv_wc_read_qp_num(q->cqx) == c[0]->own.qpn,
	      "attributes that were read have changed");
	check(p, !ibv_next_poll(q->cqx) && q->cqx->wr_id == 2, "the next one is another");
	check(p, ibv_next_poll(q->cqx) == ENOENT, "there is one too many");
	ibv_end_poll(q->cqx);
	queue_quiet(q, 20);
	pair_sync(p);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "clock"))
		pair_case(&p, run_clock, NULL, "completions carry timestamps of the device clock");
	if (pair_wants(&p, "gone")) {
		pair_case(&p, run_gone, NULL, "destroying a queue pair removes its completions");
		pair_case(&p, run_gone, &p,
			  "destroying a queue pair removes its completions, ibv_cq_ex");
	}
	if (pair_wants(&p, "within")) {
		pair_case(&p, run_within, NULL, "RESET between ibv_start_poll and ibv_end_poll");
		pair_case(&p, run_within, &p,
			  "destruction between ibv_start_poll and ibv_end_poll");
	}
	return pair_close(&p);
}
