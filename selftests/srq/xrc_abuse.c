// SPDX-License-Identifier: GPL-2.0
/*
 * xrc_abuse - XRC: forged packets and rings, and queues that are destroyed under
 * traffic
 *
 *	xrc_abuse a|b PORT [GROUP...]	see main() for the groups
 *
 * End a has the initiators, end b targets and queues.
 */
#include <errno.h>
#include <string.h>

#include <rdma/rover-abi.h>

#include "lib/hostile.h"
#include "lib/packet.h"
#include "lib/xrc.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* How long to wait for what must not come. */
#define SILENCE 20

/* ---- messages that change their mind, packet by packet ---- */

#define SEND_FIRST 0xa0
#define SEND_LAST 0xa2
#define ACK 0xb1

/* a: a packet of a SEND for a queue, full unless it is the last, so many after the first. */
static void by_hand(struct conn *c, uint8_t opcode, uint32_t srqn, uint32_t ahead)
{
	uint8_t body[4 + 1024] = { 0, srqn >> 16, srqn >> 8, srqn };

	packet_send(c, opcode, c->own.psn + ahead, body, opcode == SEND_LAST ? 8 : sizeof(body));
}

/* b: the first packet has been taken in. */
static void arm(struct stage *g)
{
	if (end_a(g->p))
		return;
	shared_fill(g->s, 0, 1);
	check(g->p, !shared_modify(g->s, IBV_SRQ_LIMIT, 0, 1), "arming fails");
}

static void see_taken(struct stage *g)
{
	check(g->p, shared_event(g->s, IBV_EVENT_SRQ_LIMIT_REACHED, SOON(g->p)),
	      "no receive was taken");
}

/*
 * The last packet names another queue than the first: the receive that was taken fails in its
 * own queue.
 */
static void run_strays(struct pair *p, const void *arg)
{
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	struct shared *other = NULL;
	uint32_t srqn;

	(void)arg;
	arm(&g);
	if (end_b(p)) {
		other = shared_xrc(p, p->pd, 4, 2, g.d->xrcd, queue_new(p, 8, false, false));
		shared_fill(other, 0, 1);
	}
	srqn = stage_tell(p, other ? other->srqn : 0);
	if (end_a(p))
		by_hand(g.c[0], SEND_FIRST, g.c[0]->srqn, 0);
	else
		see_taken(&g);
	pair_sync(p);
	if (end_a(p)) {
		by_hand(g.c[0], SEND_LAST, srqn, 1);
	} else {
		queue_want(g.s->recv, 0, IBV_WC_REM_INV_REQ_ERR);
		conn_want_state(g.c[0], IBV_QPS_ERR);
		queue_quiet(other->recv, SILENCE);
	}
	stage_well(&g);
}

enum end { TO_ERROR, QUEUE_GOES, QUEUE_GOES_THEN_LAST, TARGET_GOES };

struct half_arg {
	const char *what;
	enum end end;
};

static const struct half_arg halves[] = {
	{ "the target goes to ERR", TO_ERROR },
	{ "the queue is destroyed with its receives", QUEUE_GOES },
	{ "the queue is destroyed before the last packet", QUEUE_GOES_THEN_LAST },
	{ "the target is destroyed", TARGET_GOES },
};

/* During a message, which holds a receive. */
static void run_half(struct pair *p, const void *data)
{
	const struct half_arg *arg = data;
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);

	arm(&g);
	pair_sync(p);
	if (end_a(p)) {
		by_hand(g.c[0], SEND_FIRST, g.c[0]->srqn, 0);
		pair_sync(p);
		if (arg->end == QUEUE_GOES_THEN_LAST)
			by_hand(g.c[0], SEND_LAST, g.c[0]->srqn, 1);
		pair_sync(p);
		return;
	}
	see_taken(&g);
	switch (arg->end) {
	case TO_ERROR:
		check(p, !conn_modify(g.c[0], IBV_QPS_ERR), "ibv_modify_qp to ERR fails");
		queue_want(g.s->recv, 0, IBV_WC_WR_FLUSH_ERR);
		break;
	case TARGET_GOES:
		undo_now(p, g.c[0]);
		queue_quiet(g.s->recv, SILENCE);
		break;
	default:
		undo_now(p, g.s->srq);
		undo_now(p, g.s->recv);
		break;
	}
	pair_sync(p);
	if (arg->end == QUEUE_GOES_THEN_LAST)
		stage_event(&g, IBV_EVENT_QP_REQ_ERR);
	if (arg->end == QUEUE_GOES)
		check(p, !conn_modify(g.c[0], IBV_QPS_ERR), "ibv_modify_qp to ERR fails");
	pair_sync(p);
}

/* A response to a target, and a request to an initiator: both are dropped silently. */
static void run_roles(struct pair *p, const void *arg)
{
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	static const uint8_t aeth[4];

	(void)arg;
	if (end_b(p))
		shared_fill(g.s, 0, 1);
	pair_sync(p);
	if (end_a(p))
		packet_send(g.c[0], ACK, g.c[0]->own.psn, aeth, sizeof(aeth));
	else
		/* To a's initiator, which has no queue at all. */
		by_hand(g.c[0], SEND_FIRST, g.s->srqn, 0);
	pair_sync(p);
	/* What comes then is in sequence at either end. */
	if (end_a(p)) {
		stage_ask(&g, wr_send(1, NULL, 0, IBV_SEND_SIGNALED), IBV_WC_SUCCESS);
	} else {
		queue_want(g.s->recv, 0, IBV_WC_SUCCESS);
		check(p, event_next(p, NULL, SILENCE) < 0, "an event that nobody needs");
	}
	stage_well(&g);
}

/* ---- queues that come and go under traffic ---- */

/* a: requests of all kinds, whatever their status; b: queues of one number after the other. */
static void run_churn(struct pair *p, const void *arg)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE,
	};
	struct conn_attr attr = xrc_defaults(p);
	struct stage g = stage_new(p, &attr);
	int round, k, rounds = p->quick ? 12 : 60;
	struct ibv_sge sge = sge_of(g.r, 0, STAGE_ROOM);
	struct ibv_wc wc[16];
	struct ibv_send_wr wr;
	struct shared *s;
	struct conn *c;
	uint32_t srqn;

	(void)arg;
	attr.send = queue_new(p, 256, false, false);
	attr.recv = attr.send;
	for (round = 0; round < rounds; round++) {
		s = end_b(p) ? shared_xrc(p, p->pd, 16, 2, g.d->xrcd,
					  queue_new(p, 64, false, false)) : NULL;
		srqn = stage_tell(p, s ? s->srqn : 0);
		c = xrc_open(p, &attr, end_a(p), g.d, g.s);
		if (end_b(p))
			shared_fill(s, 0, 12);
		pair_sync(p);
		for (k = 0; k < 24 && end_a(p); k++) {
			wr = wr_rdma(k, ops[k % 4], &sge, 1, IBV_SEND_SIGNALED, g.r->peer_addr,
				     g.r->peer_rkey);
			wr = wr_for(wr, srqn);
			conn_post(c, &wr);
			queue_poll(c->send, wc, 16);
		}
		if (end_b(p)) {
			/* Sooner or later, and then all that it had, at once. */
			for (k = 0; k < round % 12; k++)
				queue_poll(s->recv, wc, 16);
			undo_now(p, s->srq);
			undo_now(p, s->recv);
		}
		pair_sync(p);
		undo_now(p, c);
	}
	stage_well(&g);
}

/* ---- hostile rings ---- */

struct forgery {
	const char *what;
	uint8_t opcode;
	uint32_t imm, srqn, reserved;
};

static const struct forgery forgeries[] = {
	{ "an SRQ number of 25 bits", ROVER_WQE_SEND, 0, 0x1000000 },
	{ "an SRQ number of 32 bits in a READ", ROVER_WQE_READ, 0, 0xffffffff },
	{ "a nonzero field behind the SRQ number", ROVER_WQE_WRITE, 0, 1, 1 },
	{ "an SRQ number of 25 bits in an atomic", ROVER_WQE_FETCH_ADD, 0x1000000 },
	{ "an SRQ number of 32 bits in an atomic", ROVER_WQE_CMP_SWAP, 0xffffffff },
};

/* A request that no provider writes, in the only ring of an initiator. */
static void run_forgery(struct pair *p, const void *data)
{
	const struct forgery *f = data;
	struct conn_attr attr = xrc_defaults(p);
	struct rover_ring_hdr *ring = NULL;
	struct rover_send_wqe *wqe;
	struct maps before, now;
	uint8_t *page[16];
	struct stage g;
	struct ibv_sge sge;
	struct conn *c;

	g = stage_new(p, &attr);
	sge = sge_of(g.r, 0, 8);
	/* Given, so that the only fresh mapping is the send ring. */
	attr.send = queue_new(p, 32, false, false);
	attr.recv = attr.send;
	list_maps(p, &before);
	c = xrc_open(p, &attr, end_a(p), g.d, g.s);
	list_maps(p, &now);
	if (end_a(p)) {
		check(p, fresh_pages(&before, &now, page, 16) > 1, "there is no ring");
		ring = (void *)page[0];
		wqe = (void *)(page[0] + ROVER_RING_HDR_SIZE);
		*wqe = (struct rover_send_wqe){
			.opcode = f->opcode, .flags = ROVER_WQE_SIGNALED, .num_sge = 1,
			.imm = f->imm, .rkey = g.r->peer_rkey, .wr_id = 5,
			.remote_addr = g.r->peer_addr,
		};
		if (!f->imm) {
			wqe->remote_srqn = f->srqn;
			wqe->reserved_2c = f->reserved;
		}
		memcpy(wqe + 1, &sge, sizeof(sge));
		store(&ring->tail, 1);
		check(p, !doorbell(p, c->qp->qp_num), "the doorbell does not ring");
		queue_want(c->send, 5, IBV_WC_LOC_QP_OP_ERR);
		conn_want_state(c, IBV_QPS_ERR);
	}
	pair_sync(p);
	if (end_b(p))
		conn_want_state(c, IBV_QPS_RTS);
	stage_well(&g);
}

int main(int argc, char **argv)
{
	struct pair p;
	unsigned int i;

	pair_open(&p, argc, argv);
	for (i = 0; i < ARRAY_SIZE(halves) && pair_wants(&p, "half"); i++)
		pair_case(&p, run_half, &halves[i], "during a message %s",
			  halves[i].what);
	if (pair_wants(&p, "half")) {
		pair_case(&p, run_strays, NULL,
			  "a message whose last packet names another queue fails");
		pair_case(&p, run_roles, NULL,
			  "responses to a target and requests to an initiator are dropped");
	}
	if (pair_wants(&p, "churn"))
		pair_case(&p, run_churn, NULL, "queues are created and destroyed under traffic");
	for (i = 0; i < ARRAY_SIZE(forgeries) && pair_wants(&p, "forged"); i++)
		pair_case(&p, run_forgery, &forgeries[i],
			  "a forged send WQE with %s is refused", forgeries[i].what);
	return pair_close(&p);
}
