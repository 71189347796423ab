// SPDX-License-Identifier: GPL-2.0
/*
 * cq_moderation - completion events wait for more completions, or for a period
 *
 *	cq_moderation a|b PORT
 *
 * End a sends, end b gets the events. Emulated processors may stall: so an event
 * that waits has to be late each time, and one that does not is measured several
 * times, of which the shortest counts.
 */
#include <errno.h>
#include <string.h>

#include "lib/conn.h"

/* As long as there is: 65 ms. */
#define LONGEST 65535
#define SHORT 30000
#define ROUNDS 10

static struct conn *open_told(struct pair *p, bool extended)
{
	struct conn_attr attr = conn_defaults(p);

	attr.events = true;
	attr.extended = extended;
	return conn_open(p, &attr);
}

static void moderate(struct conn *c, uint16_t count, uint16_t usec)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = usec },
	};
	int error = ibv_modify_cq(c->recv->cq, &attr);

	check(c->p, !error, "ibv_modify_cq to %u and %u us: %s", count, usec, strerror(error));
}

static void arm(struct conn *c, int solicited)
{
	check(c->p, !ibv_req_notify_cq(c->recv->cq, solicited), "ibv_req_notify_cq");
}

/* End b has n receives and is armed, end a sends n messages: when that began, at b. */
static uint64_t send_some(struct conn *c, int n, unsigned int flags, int solicited)
{
	struct pair *p = c->p;
	struct ibv_send_wr wr;
	uint64_t began;
	int i;

	for (i = 0; i < n && end_b(p); i++)
		conn_recv(c, i, NULL, 0);
	if (end_b(p))
		arm(c, solicited);
	began = now_us();
	pair_sync(p);
	for (i = 0; i < n && end_a(p); i++) {
		wr = wr_send(i, NULL, 0, IBV_SEND_SIGNALED | flags);
		conn_send(c, &wr);
	}
	for (i = 0; i < n && end_a(p); i++)
		queue_want(c->send, i, IBV_WC_SUCCESS);
	return began;
}

/* The debug kernel is never that quick. */
static void check_quick(struct pair *p, uint64_t shortest)
{
	check(p, p->slow > 1 || shortest < LONGEST, "the event takes %llu us at best",
	      (unsigned long long)shortest);
}

/* The event, and the n completions: us from the beginning to the event. */
static uint64_t told(struct conn *c, int n, uint64_t began)
{
	uint64_t took;
	int i;

	check(c->p, queue_event(c->recv, 3000 * c->p->slow), "no event");
	took = now_us() - began;
	for (i = 0; i < n; i++)
		queue_want(c->recv, i, IBV_WC_SUCCESS);
	return took;
}

/* Some rounds of n completions, whose event is told at once. */
static void told_quickly(struct conn *c, int n, int rounds)
{
	uint64_t began, took, shortest = -1;

	while (rounds--) {
		began = send_some(c, n, 0, 0);
		if (end_b(c->p)) {
			took = told(c, n, began);
			shortest = took < shortest ? took : shortest;
		}
		pair_sync(c->p);
	}
	if (end_b(c->p))
		check_quick(c->p, shortest);
}

static void run_limits(struct pair *p, const void *arg)
{
	struct ibv_modify_cq_attr wrong = { .attr_mask = 2 };
	struct ibv_device_attr_ex attr;
	struct conn *c = open_told(p, false);

	(void)arg;
	check(p, !ibv_query_device_ex(p->ctx, NULL, &attr), "ibv_query_device_ex");
	check(p, attr.cq_mod_caps.max_cq_count == 65535 &&
	      attr.cq_mod_caps.max_cq_period == 65535, "at most %u completions and %u us",
	      attr.cq_mod_caps.max_cq_count, attr.cq_mod_caps.max_cq_period);
	check(p, ibv_modify_cq(c->recv->cq, &wrong), "an attribute that is none is accepted");
	moderate(c, 65535, 65535);
	moderate(c, 0, 0);
}

/* Few completions: the event comes at the end of the period, not earlier. */
static void run_period(struct pair *p, const void *extended)
{
	struct conn *c = open_told(p, extended);
	uint64_t began, took;
	int i, count;

	for (i = 0; i < ROUNDS / 2; i++) {
		count = i % 2 ? 0 : 4;
		if (end_b(p))
			moderate(c, count, SHORT);
		began = send_some(c, 3, 0, 0);
		if (end_b(p)) {
			took = told(c, 3, began);
			check(p, took >= SHORT, "an event after %llu us",
			      (unsigned long long)took);
			check(p, !queue_event(c->recv, 5), "one more event");
		}
		pair_sync(p);
	}
}

/* Enough completions: the event does not wait for the end of the period. */
static void run_count(struct pair *p, const void *extended)
{
	struct conn *c = open_told(p, extended);

	if (end_b(p))
		moderate(c, 4, LONGEST);
	told_quickly(c, 4, ROUNDS);
}

/* A count without a period, and a count of one, delay no event. */
static void run_none(struct pair *p, const void *arg)
{
	static const uint16_t ways[][2] = { { 1000, 0 }, { 1, LONGEST }, { 0, 0 } };
	struct conn *c = open_told(p, false);
	unsigned int k;

	(void)arg;
	for (k = 0; k < 3; k++) {
		if (end_b(p))
			moderate(c, ways[k][0], ways[k][1]);
		told_quickly(c, 1, ROUNDS / 2);
	}
}

/* Unsolicited completions start no period; solicited ones wait like others. */
static void run_solicited(struct pair *p, const void *arg)
{
	struct conn *c = open_told(p, false);
	uint64_t began, took;

	(void)arg;
	if (end_b(p))
		moderate(c, 100, SHORT);
	send_some(c, 2, 0, 1);
	if (end_b(p)) {
		check(p, !queue_event(c->recv, 2 * SHORT / 1000), "an event, unsolicited");
		queue_want(c->recv, 0, IBV_WC_SUCCESS);
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	began = send_some(c, 1, IBV_SEND_SOLICITED, 1);
	if (end_b(p)) {
		took = told(c, 1, began);
		check(p, took >= SHORT, "an event after %llu us", (unsigned long long)took);
	}
}

/* One completion, of which nobody is told yet. */
static void leave_waiting(struct conn *c)
{
	send_some(c, 1, 0, 0);
	if (end_b(c->p))
		queue_want(c->recv, 0, IBV_WC_SUCCESS);
	pair_sync(c->p);
}

enum end { ERROR, OFF, RESIZED, ENDS };

static const char *const end_names[ENDS] = {
	[ERROR] = "an error completion raises an event at once",
	[OFF] = "turning moderation off raises a pending event",
	[RESIZED] = "a pending event survives ibv_resize_cq",
};

static void run_ends(struct pair *p, const void *arg)
{
	enum end end = *(const enum end *)arg;
	uint64_t began, took, shortest = -1;
	struct conn *c;
	int i;

	for (i = 0; i < ROUNDS / 2; i++) {
		c = open_told(p, false);
		if (end_b(p))
			moderate(c, 100, LONGEST);
		began = now_us();
		leave_waiting(c);
		if (end_b(p)) {
			if (end == ERROR) {
				conn_recv(c, 9, NULL, 0);
				check(p, !conn_modify(c, IBV_QPS_ERR), "no way to ERR");
			} else if (end == OFF) {
				moderate(c, 0, 0);
			} else {
				check(p, !ibv_resize_cq(c->recv->cq, 2000), "ibv_resize_cq");
			}
			check(p, queue_event(c->recv, 3000 * p->slow), "no event");
			took = now_us() - began;
			shortest = took < shortest ? took : shortest;
			check(p, !queue_event(c->recv, 5), "one more event");
		}
		pair_sync(p);
	}
	if (!end_b(p))
		return;
	if (end == RESIZED)
		check(p, shortest >= LONGEST, "it comes after %llu us",
		      (unsigned long long)shortest);
	else
		check_quick(p, shortest);
}

/* The CQ is armed again while an event is pending: later completions raise an event, too. */
static void run_again(struct pair *p, const void *arg)
{
	struct conn *c = open_told(p, false);
	int i;

	(void)arg;
	if (end_b(p))
		moderate(c, 100, SHORT);
	for (i = 0; i < ROUNDS; i++) {
		leave_waiting(c);
		while (end_b(p) && queue_event(c->recv, 0))
			;
		send_some(c, 1, 0, 0);
		if (end_b(p))
			told(c, 1, 0);
		/* One for both armings, or one for each. */
		while (end_b(p) && queue_event(c->recv, 2 * SHORT / 1000))
			;
		pair_sync(p);
	}
}

/* The CQ is destroyed while an event is pending. */
static void run_gone(struct pair *p, const void *arg)
{
	struct conn *c;
	int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		c = open_told(p, i % 2);
		if (end_b(p))
			moderate(c, 100, i % 4 < 2 ? LONGEST : 100);
		leave_waiting(c);
		undo_now(p, c);
		undo_now(p, c->recv);
	}
}

int main(int argc, char **argv)
{
	enum end end;
	struct pair p;

	pair_open(&p, argc, argv);
	pair_case(&p, run_limits, NULL, "ibv_modify_cq checks limits and attributes");
	pair_case(&p, run_period, NULL, "with few completions the event comes after the period");
	pair_case(&p, run_period, &p,
		  "with few completions the event comes after the period, ibv_cq_ex");
	pair_case(&p, run_count, NULL, "with enough completions the event comes at once");
	pair_case(&p, run_count, &p, "with enough completions the event comes at once, ibv_cq_ex");
	pair_case(&p, run_none, NULL, "a period of 0 or a count of 1 delays no event");
	pair_case(&p, run_solicited, NULL, "moderation of solicited events");
	for (end = 0; end < ENDS; end++)
		pair_case(&p, run_ends, &end, "%s", end_names[end]);
	pair_case(&p, run_again, NULL, "a CQ is armed again while an event is pending");
	pair_case(&p, run_gone, NULL, "a CQ is destroyed while an event is pending");
	return pair_close(&p);
}
