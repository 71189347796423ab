// SPDX-License-Identifier: GPL-2.0
/*
 * event_flood - completion events that nobody reads
 *
 *	event_flood a|b PORT GROUP...	see main() for the groups
 *
 * End a writes to end b and polls, with its completion queue armed all the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/conn.h"

/* The kernel leaves 64 events of a CQ unread, at most twice as many. */
#define MOST 128

struct flood {
	struct conn *c;
	struct region *r;
	pthread_t thread;
	atomic_bool stop;
};

static void *arm_all_the_time(void *arg)
{
	struct flood *flood = arg;

	while (!flood->stop)
		ibv_req_notify_cq(flood->c->send->cq, 0);
	return NULL;
}

/* A connection whose events at end a nobody reads yet. */
static struct conn *open_written(struct pair *p, struct region **r, struct queue *send)
{
	struct conn_attr attr = conn_defaults(p);
	struct conn *c;

	attr.events = true;
	attr.send = send;
	*r = region_new(p, 4096, ALL_ACCESS);
	c = conn_open(p, &attr);
	region_swap(p, *r);
	return c;
}

static void write_one(struct conn *c, struct region *r)
{
	struct ibv_sge sge = sge_of(r, 0, 8);
	struct ibv_send_wr wr = wr_rdma(1, IBV_WR_RDMA_WRITE, &sge, 1, IBV_SEND_SIGNALED,
					r->peer_addr, r->peer_rkey);

	conn_send(c, &wr);
	queue_want(c->send, 1, IBV_WC_SUCCESS);
}

/* @n completions, each of which finds the queue armed. */
static void flood_armed(struct conn *c, struct region *r, int n)
{
	while (n--) {
		check(c->p, !ibv_req_notify_cq(c->send->cq, 0), "ibv_req_notify_cq");
		write_one(c, r);
	}
}

/* The events there are, all of them read. */
static int read_events(struct conn *c)
{
	int n = 0;

	while (queue_event(c->send, 20))
		n++;
	return n;
}

/* A thread arms for @ms, while completions come; return how many. */
static int flood_for(struct conn *c, struct region *r, unsigned int ms)
{
	struct flood flood = { .c = c, .r = r };
	uint64_t end = now_ms() + ms;
	int n = 0;

	check(c->p, !pthread_create(&flood.thread, NULL, arm_all_the_time, &flood), "no thread");
	for (; now_ms() < end; n++)
		write_one(c, r);
	flood.stop = true;
	pthread_join(flood.thread, NULL);
	return n;
}

static void run_unread(struct pair *p, const void *arg)
{
	struct region *r;
	struct conn *c = open_written(p, &r, NULL);
	int events;

	(void)arg;
	if (end_b(p))
		return;
	flood_armed(c, r, 4 * MOST);
	events = read_events(c);
	note(p, "%d unread events", events);
	check(p, events > 0 && events <= MOST + 1, "%d unread events", events);
}

/*
 * The event that waits comes when the others have been read, and then each one
 * that is armed for.
 */
static void run_later(struct pair *p, const void *arg)
{
	struct region *r;
	struct conn *c = open_written(p, &r, NULL);
	int i, events = 0;

	(void)arg;
	if (end_b(p))
		return;
	flood_armed(c, r, 100);
	while (queue_event(c->send, 1000 * p->slow))
		events++;
	check(p, events > 64 && events < 100, "%d events for 100 completions", events);
	for (i = 0; i < 200; i++) {
		flood_armed(c, r, 1);
		check(p, queue_event(c->send, 3000 * p->slow), "no event at round %d", i);
	}
}

/* Events of another queue, left unread on this channel, delay none of this one. */
static void run_shared(struct pair *p, const void *arg)
{
	struct queue *other;
	struct region *r, *r2;
	struct conn *c = open_written(p, &r, NULL), *c2;
	struct ibv_cq *cq;
	int i, mine = 0, its = 0;
	void *context;

	(void)arg;
	other = queue_new(p, 16, false, false);
	if (end_a(p)) {
		cq = ibv_create_cq(p->ctx, 16, NULL, c->send->channel, 0);
		check(p, cq, "ibv_create_cq: %s", strerror(errno));
		check(p, !ibv_destroy_cq(other->cq), "ibv_destroy_cq");
		other->cq = cq;
	}
	c2 = open_written(p, &r2, other);
	if (end_b(p))
		return;
	flood_armed(c, r, 100);
	for (i = 0; i < 50; i++)
		flood_armed(c2, r2, 1);
	while (poll(&(struct pollfd){ c->send->channel->fd, POLLIN }, 1, 1000 * p->slow) > 0) {
		check(p, !ibv_get_cq_event(c->send->channel, &cq, &context), "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
		mine += cq == c->send->cq;
		its += cq == other->cq;
	}
	note(p, "%d and %d events", mine, its);
	check(p, its == 50, "%d events of 50", its);
	check(p, mine > 64 && mine < 100, "%d events of the other queue", mine);
}

/* For the memory: hold what one minute of it has left. */
static void run_hold(struct pair *p, const void *arg)
{
	struct region *r;
	struct conn *c = open_written(p, &r, NULL);

	(void)arg;
	if (end_b(p))
		return;
	note(p, "%d completions", flood_for(c, r, (p->quick ? 5000 : 60000) * p->slow));
	check(p, !system("awk '/^Slab:/ { print $2 }' /proc/meminfo >/tmp/slab"), "no awk");
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "unread"))
		pair_case(&p, run_unread, NULL, "few events of a channel that nobody reads");
	if (pair_wants(&p, "later"))
		pair_case(&p, run_later, NULL, "an event that waited comes when others were read");
	if (pair_wants(&p, "shared"))
		pair_case(&p, run_shared, NULL,
			  "unread events of one queue do not delay those of another");
	if (pair_wants(&p, "hold"))
		pair_case(&p, run_hold, NULL, "unread events of a minute");
	return pair_close(&p);
}
