// SPDX-License-Identifier: GPL-2.0
/*
 * srq_rules - shared receive queues: events, sizes, invalid use
 *
 *	srq_rules a|b PORT [GROUP...]	see main() for the groups
 *
 * End b shares its receives, end a sends.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/packet.h"
#include "lib/shared.h"

/* How long to wait for an event that must not come. */
#define SILENCE 30

/* ---- events ---- */

static void want_limit(struct group *g, uint32_t limit)
{
	struct ibv_srq_attr attr = shared_query(g->s);

	check(g->p, attr.srq_limit == limit, "the limit is %u, not %u", attr.srq_limit, limit);
}

static void arm(struct group *g, uint32_t limit)
{
	int error = shared_modify(g->s, IBV_SRQ_LIMIT, 0, limit);

	check(g->p, !error, "arming at %u: %s", limit, strerror(error));
}

static void run_limit(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, 2, 0, false);
	int i;

	(void)arg;
	if (end_b(p)) {
		shared_fill(g->s, 0, 10);
		want_limit(g, 0);
		arm(g, 7);
		want_limit(g, 7);
	}
	/* Seven are not fewer than seven. */
	for (i = 0; i < 3; i++)
		group_message(g, i % 2);
	if (end_b(p))
		check(p, event_next(p, NULL, SILENCE) < 0, "an event with 7 of 7 left");
	group_message(g, 0);
	if (end_b(p)) {
		check(p, shared_event(g->s, IBV_EVENT_SRQ_LIMIT_REACHED, SOON(p)),
		      "no event with 6 of 7 left");
		want_limit(g, 0);
	}
	/* Told once. */
	group_message(g, 1);
	if (end_b(p)) {
		check(p, event_next(p, NULL, SILENCE) < 0, "a second event, armed once");
		arm(g, 3);
		arm(g, 0);
	}
	for (i = 0; i < 3; i++)
		group_message(g, i % 2);
	if (end_b(p)) {
		check(p, event_next(p, NULL, SILENCE) < 0, "an event that was taken back");
		/* Two are left: what was reached before it was asked for is told too. */
		arm(g, 2);
		check(p, event_next(p, NULL, SILENCE) < 0, "an event with 2 of 2 left");
		arm(g, 3);
		check(p, shared_event(g->s, IBV_EVENT_SRQ_LIMIT_REACHED, SOON(p)),
		      "no event when it is armed too late");
		want_limit(g, 0);
		/* Arming again without a receive taken since raises no event. */
		arm(g, 3);
		check(p, event_next(p, NULL, SILENCE) < 0, "the same event twice");
		want_limit(g, 3);
		check(p, shared_modify(g->s, IBV_SRQ_LIMIT, 0, g->s->init.attr.max_wr + 1) ==
		      EINVAL, "a limit above the size is taken");
	}
	group_message(g, 0);
	if (end_b(p))
		check(p, shared_event(g->s, IBV_EVENT_SRQ_LIMIT_REACHED, SOON(p)),
		      "no event with 1 of 3 left");
}

/* A queue pair that fails leaves the receives to the others, and raises the event. */
static void run_last_idle(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, 2, 0, false);
	int i;

	(void)arg;
	if (end_b(p)) {
		shared_fill(g->s, 0, 4);
		for (i = 0; i < 2; i++) {
			check(p, !conn_modify(g->c[0], IBV_QPS_ERR), "ibv_modify_qp to ERR fails");
			check(p, event_wait(p, IBV_EVENT_QP_LAST_WQE_REACHED, g->c[0]->qp,
					    SOON(p)), "no IBV_EVENT_QP_LAST_WQE_REACHED");
			check(p, !conn_modify(g->c[0], IBV_QPS_ERR), "ibv_modify_qp to ERR fails");
			check(p, event_next(p, NULL, SILENCE) < 0, "it is told twice");
			/* And once more in its next life. */
			check(p, !conn_modify(g->c[0], IBV_QPS_RESET) &&
			      !conn_modify(g->c[0], IBV_QPS_INIT), "it cannot be used again");
		}
		queue_quiet(g->recv, SILENCE);
	}
	for (i = 0; i < 4; i++)
		group_message(g, 1);
	/* None is left for what was in error: it had none. */
	if (end_b(p))
		queue_quiet(g->recv, 1);
}

/* The first packet of a SEND that has no second one, by hand: no queue pair would send that. */
static void send_first(struct conn *c)
{
	static const uint8_t payload[1024];

	packet_send(c, 0x00, c->own.psn, payload, sizeof(payload));
}

/* The receive of a message that never ends is flushed, and then the event is raised. */
static void run_last_taken(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, 2, 0, false);
	struct ibv_wc wc;

	(void)arg;
	if (end_b(p)) {
		shared_fill(g->s, 0, 3);
		arm(g, 3);
	}
	pair_sync(p);
	if (end_a(p)) {
		send_first(g->c[0]);
	} else {
		check(p, shared_event(g->s, IBV_EVENT_SRQ_LIMIT_REACHED, SOON(p)),
		      "no receive was taken");
		queue_quiet(g->recv, SILENCE);
		check(p, !conn_modify(g->c[0], IBV_QPS_ERR), "ibv_modify_qp to ERR fails");
		check(p, event_wait(p, IBV_EVENT_QP_LAST_WQE_REACHED, g->c[0]->qp, SOON(p)),
		      "no IBV_EVENT_QP_LAST_WQE_REACHED");
		/* By now the completion is there. */
		check(p, queue_poll(g->recv, &wc, 1) == 1 && wc.wr_id == 0 &&
		      wc.status == IBV_WC_WR_FLUSH_ERR && wc.qp_num == g->qpn[0],
		      "the receive that was taken has not come back flushed");
		queue_quiet(g->recv, 1);
	}
	group_message(g, 1);
	group_message(g, 1);
}

/* A message is longer than the receive it takes: that receive fails, and no other queue pair. */
static void run_last_fault(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, 2, 0, false);
	struct ibv_sge small = sge_of(g->from, 0, 10), large = sge_of(g->from, 0, 3000);
	struct ibv_send_wr wr = wr_send(1, &large, 1, IBV_SEND_SIGNALED);

	(void)arg;
	if (end_b(p)) {
		check(p, !shared_post(g->s, 77, &small, 1), "posting a receive fails");
		shared_fill(g->s, 0, 1);
	}
	pair_sync(p);
	if (end_a(p)) {
		conn_send(g->c[0], &wr);
		queue_want(g->send, 1, IBV_WC_REM_INV_REQ_ERR);
	} else {
		queue_want(g->recv, 77, IBV_WC_LOC_LEN_ERR);
		check(p, event_wait(p, IBV_EVENT_QP_LAST_WQE_REACHED, g->c[0]->qp, SOON(p)),
		      "no IBV_EVENT_QP_LAST_WQE_REACHED");
		conn_want_state(g->c[0], IBV_QPS_ERR);
	}
	group_message(g, 1);
}

/* ---- sizes ---- */

static void want_size(struct group *g, uint32_t size)
{
	struct ibv_srq_attr attr = shared_query(g->s);

	check(g->p, attr.max_wr == size && attr.max_sge == g->s->init.attr.max_sge,
	      "it is for %u receives of %u pieces, not %u of %u", attr.max_wr, attr.max_sge, size,
	      g->s->init.attr.max_sge);
}

static void resize(struct group *g, uint32_t size, int want)
{
	int error = shared_modify(g->s, IBV_SRQ_MAX_WR, size, 0);

	check(g->p, error == want, "resizing to %u: %s, not %s", size, strerror(error),
	      strerror(want));
}

/* The first queue pair's messages, each in the receive that was posted first. */
static void in_order(struct group *g, int from, int to)
{
	struct ibv_wc wc;

	pair_sync(g->p);
	for (; from < to; from++) {
		if (end_a(g->p)) {
			group_send(g, 0);
			queue_next(g->send, &wc);
			continue;
		}
		queue_next(g->recv, &wc);
		check(g->p, (int)wc.wr_id == from, "receive %llu is taken, not %d",
		      (unsigned long long)wc.wr_id, from);
		group_judge(g, &wc);
	}
	pair_sync(g->p);
}

static void run_resize(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, 1, 0, false);
	struct ibv_sge sge = sge_of(g->from, 0, 1);
	int i;

	(void)arg;
	if (end_b(p)) {
		check(p, p->attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE,
		      "the device does not say that it can");
		shared_fill(g->s, 0, 12);
		arm(g, 11);
	}
	in_order(g, 0, 2);
	if (end_b(p)) {
		check(p, shared_event(g->s, IBV_EVENT_SRQ_LIMIT_REACHED, SOON(p)), "no event");
		resize(g, 9, EINVAL);
		want_size(g, SLOTS);
		arm(g, 5);
		resize(g, 1000, 0);
		want_size(g, 1000);
		want_limit(g, 5);
		shared_fill(g->s, 12, SLOTS);
	}
	in_order(g, 2, 15);
	if (end_b(p)) {
		/* Both at once, or neither. */
		check(p, shared_modify(g->s, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 9, 10) == EINVAL,
		      "a limit above the new size is taken");
		want_size(g, 1000);
		check(p, !shared_modify(g->s, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 9, 9),
		      "both attributes at once");
		want_size(g, 9);
		want_limit(g, 9);
		check(p, shared_post(g->s, 1, &sge, 1) == ENOMEM, "nine are not all it takes");
		resize(g, 0, EINVAL);
		resize(g, p->attr.max_srq_wr + 1, EINVAL);
	}
	in_order(g, 15, SLOTS);
	if (end_b(p)) {
		check(p, shared_event(g->s, IBV_EVENT_SRQ_LIMIT_REACHED, SOON(p)), "no event");
		for (i = 0; i < 9; i++)
			check(p, !shared_post(g->s, i, &sge, 1), "it takes %d only", i);
		check(p, shared_post(g->s, 9, &sge, 1) == ENOMEM, "it takes more than 9");
	}
}

/* A queue with as many receives as the device allows: all are moved, in order. */
static void run_resize_long(struct pair *p, const void *arg)
{
	int i, posted, many = p->quick ? 5000 : p->attr.max_srq_wr;
	struct group *g = group_new(p, 1, 0, false);
	struct ibv_send_wr wr = wr_send(0, NULL, 0, IBV_SEND_SIGNALED);
	struct ibv_wc wc;

	(void)arg;
	if (end_b(p)) {
		resize(g, many, 0);
		for (posted = 0; posted < many; posted++)
			check(p, !shared_post(g->s, posted, NULL, 0), "it takes %d only", posted);
		resize(g, many + 1 > p->attr.max_srq_wr ? many : many + 1, 0);
	}
	pair_sync(p);
	for (i = 0; i < (p->quick ? 40 : 200); i++) {
		if (end_a(p)) {
			conn_send(g->c[0], &wr);
			queue_want(g->send, 0, IBV_WC_SUCCESS);
		} else {
			queue_next(g->recv, &wc);
			check(p, !wc.status && (int)wc.wr_id == i, "receive %llu, not %d",
			      (unsigned long long)wc.wr_id, i);
		}
	}
}

/* ---- what is refused ---- */

static void refuse_create(struct pair *p, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr init = { .attr = { wr, sge, 0 } };
	struct ibv_srq *srq = ibv_create_srq(p->pd, &init);
	int error = errno;

	if (srq)
		ibv_destroy_srq(srq);
	check(p, !srq && error == EINVAL, "a shared queue for %u receives of %u pieces: %s", wr,
	      sge, srq ? "made" : strerror(error));
}

static void run_sizes(struct pair *p, const void *arg)
{
	struct ibv_srq_init_attr init = {
		.attr = { p->attr.max_srq_wr, p->attr.max_srq_sge, 99 },
	};
	struct ibv_srq_attr attr;
	struct ibv_srq *srq;

	(void)arg;
	check(p, p->attr.max_srq > 0 && p->attr.max_srq_wr >= 1024 && p->attr.max_srq_sge >= 2,
	      "max_srq %d, max_srq_wr %d, max_srq_sge %d", p->attr.max_srq, p->attr.max_srq_wr,
	      p->attr.max_srq_sge);
	srq = ibv_create_srq(p->pd, &init);
	check(p, srq, "ibv_create_srq of the largest: %s", strerror(errno));
	check(p, !ibv_query_srq(srq, &attr), "ibv_query_srq fails");
	check(p, !ibv_destroy_srq(srq), "ibv_destroy_srq fails");
	/* A limit means nothing in creation. */
	check(p, attr.max_wr == init.attr.max_wr && attr.max_sge == init.attr.max_sge &&
	      !attr.srq_limit, "%u receives of %u pieces, limit %u", attr.max_wr, attr.max_sge,
	      attr.srq_limit);
	refuse_create(p, p->attr.max_srq_wr + 1, 1);
	refuse_create(p, 1, p->attr.max_srq_sge + 1);
	refuse_create(p, 0, 1);
	refuse_create(p, UINT32_MAX, UINT32_MAX);
}

static void run_kinds(struct pair *p, const void *arg)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { 10, 1, 0 }, .pd = p->pd, .srq_type = IBV_SRQT_BASIC,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(p->ctx, &init);

	(void)arg;
	check(p, srq, "ibv_create_srq_ex of a basic one: %s", strerror(errno));
	check(p, !ibv_destroy_srq(srq), "ibv_destroy_srq fails");
	init.srq_type = IBV_SRQT_XRC;
	srq = ibv_create_srq_ex(p->ctx, &init);
	check(p, !srq && errno == EINVAL, "ibv_create_srq_ex of XRC without a domain: %s",
	      srq ? "made" : strerror(errno));
	init.srq_type = IBV_SRQT_TM;
	srq = ibv_create_srq_ex(p->ctx, &init);
	check(p, !srq && errno == EOPNOTSUPP, "ibv_create_srq_ex of tag matching: %s",
	      srq ? "made" : strerror(errno));
}

static void run_use(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, 1, 0, false);
	struct ibv_sge sge[64] = { sge_of(g->from, 0, 1) };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	(void)arg;
	if (end_a(p))
		return;
	check(p, conn_post_recv(g->c[0], 1, sge, 1) == EINVAL,
	      "a queue pair that shares its receives takes one of its own");
	check(p, ibv_destroy_srq(g->s->srq) == EBUSY, "a queue in use can be destroyed");
	check(p, shared_post(g->s, 1, sge, g->s->init.attr.max_sge + 1) == EINVAL,
	      "a receive of too many pieces is taken");
	check(p, !ibv_query_qp(g->c[0]->qp, &attr, IBV_QP_CAP, &init), "ibv_query_qp fails");
	check(p, init.srq == g->s->srq && !attr.cap.max_recv_wr && !attr.cap.max_recv_sge,
	      "the queue pair has room for %u receives of %u pieces", attr.cap.max_recv_wr,
	      attr.cap.max_recv_sge);
}

/* A datagram that does not fit uses no receive: others may need it. */
static void run_short(struct pair *p, const void *arg)
{
	struct group *g = group_new(p, 1, 1, false);
	struct ibv_sge sge = sge_of(g->from, 0, 60), large = sge_of(g->from, 0, 21);
	struct ibv_send_wr wr;
	int i;

	(void)arg;
	for (i = 0; i < 2 && end_b(p); i++)
		check(p, !shared_post(g->s, i, &sge, 1), "posting a receive fails");
	pair_sync(p);
	if (end_a(p)) {
		wr = wr_dgram(g->c[1], 1, &large, 1, IBV_SEND_SIGNALED);
		conn_send(g->c[1], &wr);
		queue_want(g->send, 1, IBV_WC_SUCCESS);
		/* 20 and the header are 60. */
		large.length = 20;
		conn_send(g->c[1], &wr);
		queue_want(g->send, 1, IBV_WC_SUCCESS);
	} else {
		queue_want(g->recv, 0, IBV_WC_SUCCESS);
	}
	pair_sync(p);
	if (end_a(p)) {
		large.length = 60;
		wr = wr_send(2, &large, 1, IBV_SEND_SIGNALED);
		conn_send(g->c[0], &wr);
		queue_want(g->send, 2, IBV_WC_SUCCESS);
	} else {
		queue_want(g->recv, 1, IBV_WC_SUCCESS);
		conn_want_state(g->c[1], IBV_QPS_RTS);
	}
	pair_sync(p);
}

static int dealloc_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

/*
 * Keys in receives belong to the protection domain of the shared receive queue, not of the
 * queue pair.
 */
static void run_domain(struct pair *p, const void *arg)
{
	struct ibv_pd *other = ibv_alloc_pd(p->ctx);
	struct conn_attr attr = conn_defaults(p);
	struct ibv_sge sge, foreign;
	struct ibv_send_wr wr;
	struct shared *s;
	struct conn *c;

	(void)arg;
	check(p, other, "ibv_alloc_pd: %s", strerror(errno));
	undo_later(p, dealloc_pd, other, "ibv_dealloc_pd");
	s = shared_new(p, other, 4);
	attr.srq = s->srq;
	foreign = sge_of(region_new(p, 4096, ALL_ACCESS), 0, 8);
	c = conn_open(p, &attr);
	if (end_b(p)) {
		sge = sge_of(s->r, 0, 8);
		check(p, !shared_post(s, 1, &sge, 1) && !shared_post(s, 2, &foreign, 1),
		      "posting receives fails");
	}
	pair_sync(p);
	wr = wr_send(1, &foreign, 1, IBV_SEND_SIGNALED);
	if (end_a(p)) {
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_SUCCESS);
		conn_send(c, &wr);
		queue_want(c->send, 1, IBV_WC_REM_OP_ERR);
	} else {
		queue_want(c->recv, 1, IBV_WC_SUCCESS);
		queue_want(c->recv, 2, IBV_WC_LOC_PROT_ERR);
	}
	pair_sync(p);
}

static void all_events(struct pair *p)
{
	pair_case(p, run_limit, NULL, "SRQ_LIMIT_REACHED is raised once below the limit");
	pair_case(p, run_last_idle, NULL,
		  "QP_LAST_WQE_REACHED of a queue pair that has taken no receive");
	pair_case(p, run_last_taken, NULL,
		  "QP_LAST_WQE_REACHED after the flush of a receive that was taken");
	pair_case(p, run_last_fault, NULL, "QP_LAST_WQE_REACHED after a message that is too long");
}

static void all_rules(struct pair *p)
{
	pair_case(p, run_sizes, NULL,
		  "sizes up to the device limits are accepted, larger ones refused");
	pair_case(p, run_kinds, NULL, "basic queues can be created, unsupported types cannot");
	pair_case(p, run_use, NULL, "a queue in use is busy, and takes max_wr receives only");
	pair_case(p, run_short, NULL, "a datagram longer than the receive uses no receive");
	pair_case(p, run_domain, NULL,
		  "keys belong to the protection domain of the shared receive queue");
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p, argc, argv);
	if (pair_wants(&p, "events"))
		all_events(&p);
	if (pair_wants(&p, "resize")) {
		pair_case(&p, run_resize, NULL, "resizing keeps the posted receives");
		pair_case(&p, run_resize_long, NULL,
			  "resizing a long queue keeps the posted receives");
	}
	if (pair_wants(&p, "rules"))
		all_rules(&p);
	return pair_close(&p);
}
