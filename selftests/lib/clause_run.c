// SPDX-License-Identifier: GPL-2.0
/*
 * clause_run - execution of a rule, step by step
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clause_run.h"

/*
 * A request that is not answered for longer than this may be retransmitted: the first probe to a
 * peer comes after 8 ms.  A rule that fails then is tried again, up to TRIES times, since the host
 * may have stalled.
 */
#define LATE_MS		6
/* A packet that came sooner was not sent by a timeout. */
#define PROMPT_MS	30
#define TRIES		8
/* Wait less if many cases fail, as with a mutant of the driver. */
#define SOON_MS(p)	(((p)->ktap.failed > 2 ? 500 : 4000) * (p)->slow)

jmp_buf run_begin;

static bool is_late(struct run *run)
{
	if (run->posted > run->sent && now_ms() > run->asked_at + LATE_MS)
		run->late = true;
	return run->late;
}

static void try_again(struct run *run)
{
	if (is_late(run) && run->tries < TRIES)
		longjmp(run_begin, 1);
}

#define WANT(run, holds, fmt, ...)					\
	do {								\
		if (!(holds)) {						\
			try_again(run);					\
			fail((run)->s->p, "step %ld%s: " fmt, place_of(run), \
			     note_each(run), ##__VA_ARGS__);		\
		}							\
	} while (0)

static long place_of(const struct run *run)
{
	return (run->times ? run->times : run->step) - run->clause->steps + 1;
}

static const char *note_each(const struct run *run)
{
	static char text[40];

	if (!run->clause->repeat)
		return "";
	snprintf(text, sizeof(text), ", opcode 0x%02x", run->each & 0xff);
	return text;
}

/* ---- packets ---- */

static void send_packet(struct run *run)
{
	while (run->step->pause && now_ms() < run->seen_at + run->trip_ms)
		usleep(500);
	craft_send(&run->craft, run->step, run->each);
	if (!run->trip_ms && run->posted > run->sent)
		run->trip_ms = now_ms() - run->asked_at + 1;
}

/* Wait for a packet to the peer's queue pair; false if none comes, or one to the bystander. */
static bool next_packet(struct run *run, unsigned int ms, bool *bystander)
{
	struct peer *peer = &run->s->peer;
	uint32_t qpn;

	while (peer_next(peer, ms)) {
		qpn = peer->bth.qpn & 0xffffff;
		if (qpn == run->craft.peer_qpn)
			return true;
		if (qpn == BYSTANDER_QPN && bystander) {
			*bystander = true;
			return false;
		}
	}
	return false;
}

/* A request was retransmitted since its answer was late. */
static bool is_timeout(struct run *run)
{
	uint32_t psn = run->s->peer.bth.psn & 0xffffff;

	return craft_is_request(&run->craft) && (int32_t)((psn - run->seen) << 8) <= 0 &&
	       is_late(run);
}

static void expect(struct run *run)
{
	uint64_t began = now_ms(), until = began + SOON_MS(run->s->p);
	const char *wrong;

	do {
		WANT(run, next_packet(run, SOON_MS(run->s->p), NULL), "no packet came");
		wrong = craft_judge(&run->craft, run->step);
	} while (wrong && !run->step->promptly && is_timeout(run) && now_ms() < until);
	WANT(run, !wrong, "a packet with opcode 0x%02x: %s", run->s->peer.bth.opcode, wrong);
	WANT(run, !run->step->promptly || now_ms() < began + PROMPT_MS, "a timeout sent it");
	if (craft_is_request(&run->craft)) {
		run->seen = run->s->peer.bth.psn & 0xffffff;
		run->seen_at = now_ms();
	}
}

/*
 * Wait for an answer of the bystander.  Packets are processed in order: an answer of the queue
 * pair comes before it, and with @quiet there must be none.
 */
static void wait_for_bystander(struct run *run, bool quiet)
{
	struct testbed *s = run->s;
	static const uint8_t reth[16];
	struct peer_bth bth = {
		.opcode = WRITE_ONLY, .pkey = 0xffff, .qpn = s->bystander->qp->qp_num,
		.psn = s->bystander_psn++ % 0x1000000 | PEER_ACKREQ,
	};
	bool answered = false;
	uint32_t aeth;

	s->bystander_msn++;
	peer_send(&s->peer, &bth, reth, sizeof(reth), 0);
	while (!answered) {
		if (!next_packet(run, SOON_MS(s->p), &answered)) {
			WANT(run, answered, "the bystander does not answer");
			break;
		}
		WANT(run, !quiet || (!run->step->promptly && is_timeout(run)),
		     "a packet with opcode 0x%02x and PSN 0x%06x came", s->peer.bth.opcode,
		     s->peer.bth.psn & 0xffffff);
	}
	memcpy(&aeth, s->peer.body, sizeof(aeth));
	WANT(run, s->peer.bth.opcode == ACKNOWLEDGE &&
	     (be32toh(aeth) & 0x60ffffff) == s->bystander_msn, "the bystander is not well");
}

static void silence(struct run *run)
{
	wait_for_bystander(run, true);
}

/* ---- work requests and completions ---- */

static void post(struct run *run)
{
	const struct step *step = run->step;
	struct ibv_sge sge = sge_of(run->s->local, step->at, step->len);
	unsigned int id = ++run->posted, flags = IBV_SEND_SIGNALED | step->wc_flags;
	struct ibv_send_wr wr;
	bool add;

	switch (step->op) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		sge.length = 8;
		add = step->op == IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr = wr_atomic(id, step->op, &sge, PEER_VA + step->at, PEER_RKEY,
			       add ? step->value : step->compare, step->value);
		break;
	default:
		wr = wr_rdma(id, step->op, &sge, step->len > 0, flags, PEER_VA + step->at,
			     PEER_RKEY);
	}
	if (step->op == IBV_WR_SEND_WITH_IMM || step->op == IBV_WR_RDMA_WRITE_WITH_IMM)
		wr.imm_data = htobe32(PEER_IMM);
	if (step->op == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = PEER_RKEY;
	conn_send(run->c, &wr);
}

void run_recv(struct run *run)
{
	uint32_t len = run->clause->recv_len ?: RECV_EACH;
	struct ibv_sge sge = sge_of(run->s->recv, run->received * RECV_EACH, len);

	run->received++;
	WANT(run, run->received * RECV_EACH <= RECV_ROOM, "the rule has too many receives");
	conn_recv(run->c, run->received, &sge, 1);
}

static void completed(struct run *run, struct queue *q, unsigned int *count)
{
	const struct step *step = run->step;
	uint64_t until = now_ms() + SOON_MS(run->s->p);
	unsigned int turns = 0;
	struct ibv_wc wc;

	while (!queue_poll(q, &wc, 1)) {
		WANT(run, now_ms() < until, "no completion came");
		relax(run->s->p, &turns);
	}
	(*count)++;
	WANT(run, wc.wr_id == step->id && (int)wc.status == step->status,
	     "completion %u with \"%s\", not %u with \"%s\"", (unsigned int)wc.wr_id,
	     ibv_wc_status_str(wc.status), step->id, ibv_wc_status_str(step->status));
	if (step->kind != STEP_GOT || wc.status)
		return;
	WANT(run, wc.byte_len == step->len, "%u bytes were received, not %u", wc.byte_len,
	     step->len);
	WANT(run, (wc.wc_flags & ~IBV_WC_GRH) == step->wc_flags, "completion flags 0x%x, not 0x%x",
	     wc.wc_flags, step->wc_flags);
	if (step->wc_flags & IBV_WC_WITH_IMM)
		WANT(run, be32toh(wc.imm_data) == PEER_IMM, "wrong immediate data");
	if (step->wc_flags & IBV_WC_WITH_INV)
		WANT(run, wc.invalidated_rkey == run->craft.keys[step->key],
		     "wrong invalidated key");
}

static void not_done(struct run *run)
{
	struct ibv_wc wc;

	silence(run);
	WANT(run, !queue_poll(run->c->send, &wc, 1), "work request %u is completed with \"%s\"",
	     (unsigned int)wc.wr_id, ibv_wc_status_str(wc.status));
}

/* ---- other steps ---- */

static void expect_event(struct run *run)
{
	struct ibv_qp *qp = NULL;
	int is = event_next(run->s->p, &qp, SOON_MS(run->s->p));

	WANT(run, is >= 0, "no event came");
	WANT(run, is == run->step->status && qp == run->c->qp, "event \"%s\"",
	     ibv_event_type_str(is));
}

static void expect_state(struct run *run)
{
	enum ibv_qp_state is = conn_state(run->c);

	run->state = run->step->status;
	WANT(run, is == run->state, "the queue pair is in state %d, not %d", is, run->state);
}

static void expect_memory(struct run *run, const uint8_t *from)
{
	const struct step *step = run->step;
	size_t at = craft_filled(from, step->len, step->fill);

	WANT(run, at == step->len, "byte %zu is 0x%02x, not 0x%02x", at, from[at], step->fill);
}

static void expect_word(struct run *run, const uint8_t *from)
{
	uint64_t is;

	memcpy(&is, from, sizeof(is));
	WANT(run, is == run->step->value, "the word is 0x%llx, not 0x%llx", (unsigned long long)is,
	     (unsigned long long)run->step->value);
}

static void modify(struct run *run)
{
	struct ibv_qp_attr attr = { .qp_state = run->step->status, .en_sqd_async_notify = 1 };
	int mask = IBV_QP_STATE;

	run->state = attr.qp_state;
	if (attr.qp_state == IBV_QPS_SQD)
		mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
	WANT(run, !ibv_modify_qp(run->c->qp, &attr, mask), "no way to state %d", run->state);
}

static int run_shell(void *command)
{
	return system(command);
}

static void shell(struct run *run)
{
	const struct step *step = run->step;

	undo_later(run->s->p, run_shell, (void *)step->undo, step->undo);
	WANT(run, !system(step->text), "%s fails", step->text);
}

/* ---- steps ---- */

static uint8_t *memory_of(struct run *run)
{
	const struct step *step = run->step;
	struct testbed *s = run->s;

	switch (step->kind) {
	case STEP_RECEIVED:
		return s->recv->buf + (step->id - 1) * RECV_EACH + step->at;
	case STEP_LOCAL:
	case STEP_LOCAL_WORD:
		return s->local->buf + step->at;
	default:
		return s->remote->buf + step->at;
	}
}

static void take_step(struct run *run)
{
	const struct step *step = run->step;

	switch (step->kind) {
	case STEP_IN:
		send_packet(run);
		break;
	case STEP_OUT:
		expect(run);
		break;
	case STEP_SILENCE:
	case STEP_IGNORE:
		wait_for_bystander(run, step->kind == STEP_SILENCE);
		break;
	case STEP_NOT_DONE:
		not_done(run);
		break;
	case STEP_POST:
		post(run);
		break;
	case STEP_RECV:
		run_recv(run);
		break;
	case STEP_SENT:
		completed(run, run->c->send, &run->sent);
		break;
	case STEP_GOT:
		completed(run, run->c->recv, &run->taken);
		break;
	case STEP_EVENT:
		expect_event(run);
		break;
	case STEP_STATE:
		expect_state(run);
		break;
	case STEP_MODIFY:
		modify(run);
		break;
	case STEP_MEMORY:
	case STEP_RECEIVED:
	case STEP_LOCAL:
		expect_memory(run, memory_of(run));
		break;
	case STEP_WORD:
	case STEP_LOCAL_WORD:
		expect_word(run, memory_of(run));
		break;
	case STEP_POKE:
		memset(memory_of(run), step->fill, step->len);
		break;
	case STEP_SHELL:
		shell(run);
		break;
	case STEP_END:
		break;
	}
}

static void take_times(struct run *run)
{
	const struct step *of = run->step;
	struct step step = *of;
	unsigned int i;

	if (!of->times) {
		take_step(run);
		return;
	}
	for (i = 0; i < of->times; i++, step.psn++, step.msn++) {
		run->step = &step;
		run->times = of;
		take_step(run);
	}
	run->step = of;
	run->times = NULL;
}

void run_step(struct run *run)
{
	unsigned int sent = run->sent;

	is_late(run);
	take_times(run);
	if (run->posted == run->sent || run->sent != sent)
		run->asked_at = now_ms();
}

/* ---- the end of a rule ---- */

/* In error each remaining request is flushed exactly once. */
static void expect_flushed(struct run *run, struct queue *q, unsigned int count, const char *what)
{
	uint64_t until = now_ms() + SOON_MS(run->s->p);
	unsigned int turns = 0;
	struct ibv_wc wc;

	while (count) {
		if (!queue_poll(q, &wc, 1)) {
			WANT(run, now_ms() < until, "%u %s are not flushed", count, what);
			relax(run->s->p, &turns);
			continue;
		}
		WANT(run, wc.status == IBV_WC_WR_FLUSH_ERR, "a flushed one of %s: \"%s\"", what,
		     ibv_wc_status_str(wc.status));
		count--;
	}
}

void run_end(struct run *run)
{
	struct pair *p = run->s->p;
	struct ibv_wc wc;
	int is;

	silence(run);
	if (run->state == IBV_QPS_ERR) {
		expect_flushed(run, run->c->send, run->posted - run->sent, "work requests");
		if (!run->c->attr.srq)
			expect_flushed(run, run->c->recv, run->received - run->taken, "receives");
	}
	WANT(run, !queue_poll(run->c->send, &wc, 1), "a work request is completed with \"%s\"",
	     ibv_wc_status_str(wc.status));
	WANT(run, !queue_poll(run->c->recv, &wc, 1), "a receive is completed with \"%s\"",
	     ibv_wc_status_str(wc.status));
	is = event_next(p, NULL, 0);
	WANT(run, is < 0, "event \"%s\"", ibv_event_type_str(is));
	is = conn_state(run->c);
	WANT(run, is == (int)run->state, "the queue pair is in state %d, not %d", is, run->state);
}
