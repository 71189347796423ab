// SPDX-License-Identifier: GPL-2.0
/*
 * flow: as many messages as there is room for, over all queue pairs of a run
 *
 * One post for each message, as perftest does it, unless the setting asks for lists; a queue pair
 * is filled up again as soon as something of it has completed.
 */
#include <errno.h>
#include <string.h>

#include "verbs.h"

#define BATCH 32
#define MAX_LIST 64

static const enum ibv_wr_opcode opcodes[] = {
	[OP_WRITE] = IBV_WR_RDMA_WRITE,
	[OP_READ] = IBV_WR_RDMA_READ,
	[OP_SEND] = IBV_WR_SEND,
	[OP_UD] = IBV_WR_SEND,
};

/* Fill the receive queue up. */
bool post_receives(struct run *run, unsigned int number)
{
	struct pair *pair = &verbs.pairs[number];
	unsigned int room = run->set.qps > 1 ? run->set.depth : RECV_DEPTH;
	/* As long as any message: it may wait for one of a later run. */
	struct ibv_sge sge = {(uintptr_t)verbs.in, MAX_SIZE, verbs.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = RECV_ID | number, .sg_list = &sge, .num_sge = 1}, *bad;

	for (; pair->posted < room; pair->posted++) {
		int error = ibv_post_recv(pair->qp, &wr, &bad);

		if (error) {
			fail(run, "ibv_post_recv", error);
			return false;
		}
	}
	return true;
}

/* Post up to MAX_LIST messages with one call. */
bool post_sends(struct run *run, unsigned int number, unsigned int n, bool signalled)
{
	static struct ibv_send_wr wr[MAX_LIST];
	struct pair *pair = &verbs.pairs[number];
	const struct setting *set = &run->set;
	bool away = set->op != OP_READ;
	struct ibv_sge sge = {(uintptr_t)(away ? verbs.out : verbs.in), set->size, verbs.mr->lkey};
	struct ibv_send_wr *bad;
	int error;

	for (unsigned int i = 0; i < n; i++) {
		bool mark = signalled || ++pair->since >= signal_every(set);

		if (mark)
			pair->since = 0;
		wr[i] = (struct ibv_send_wr){
			.wr_id = number,
			.next = i + 1 < n ? &wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcodes[set->op],
			.send_flags = mark ? IBV_SEND_SIGNALED : 0,
		};
		if (set->ping && away && set->size <= INLINE_MAX)
			wr[i].send_flags |= IBV_SEND_INLINE;
		if (set->op == OP_UD) {
			wr[i].wr.ud.ah = pair->ah;
			wr[i].wr.ud.remote_qpn = pair->there.qpn;
			wr[i].wr.ud.remote_qkey = QKEY;
		} else {
			wr[i].wr.rdma.remote_addr = pair->there.addr;
			wr[i].wr.rdma.rkey = pair->there.rkey;
		}
	}
	pair->credits -= n;
	error = ibv_post_send(pair->qp, wr, &bad);
	if (error)
		fail(run, "ibv_post_send", error);
	return !error;
}

/* Until an event comes, or a signal. */
static bool sleep_for_event(struct run *run)
{
	struct ibv_cq *cq;
	void *context;

	if (!ibv_get_cq_event(verbs.channel, &cq, &context)) {
		ibv_ack_cq_events(cq, 1);
		return true;
	}
	if (errno != EINTR)
		fail(run, "ibv_get_cq_event", errno);
	return false;
}

/* Some completions: polled for, or slept for. None when the run is over, or a signal has come. */
int await(struct run *run, struct ibv_wc *wc, int room)
{
	int n = ibv_poll_cq(verbs.cq, room, wc);

	if (!n && run->set.event && !run_over(run)) {
		/* What came before the arming is polled for once more. */
		ibv_req_notify_cq(verbs.cq, 0);
		n = ibv_poll_cq(verbs.cq, room, wc);
		if (!n && sleep_for_event(run))
			n = ibv_poll_cq(verbs.cq, room, wc);
	}
	if (n < 0)
		fail(run, "ibv_poll_cq", 0);
	for (int i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			fail(run, ibv_wc_status_str(wc[i].status), 0);
	return n;
}

static bool refill(struct run *run, unsigned int number, uint64_t *awaited)
{
	struct pair *pair = &verbs.pairs[number];
	unsigned int list = run->set.list < MAX_LIST ? run->set.list : MAX_LIST;

	while (pair->credits >= list) {
		unsigned int before = pair->since;

		if (!post_sends(run, number, list, false))
			return false;
		/* Each of those that were signalled completes on its own. */
		*awaited += (before + list) / signal_every(&run->set);
	}
	return true;
}

static bool take(struct run *run, const struct ibv_wc *wc, uint64_t *awaited)
{
	unsigned int number = wc->wr_id, done = signal_every(&run->set);

	if (wc->wr_id & RECV_ID) {
		number = wc->wr_id & ~RECV_ID;
		verbs.pairs[number].posted--;
		run->got++;
		return post_receives(run, number);
	}
	verbs.pairs[number].credits += done;
	if (run_phase(run) == PHASE_MEASURE)
		verbs.pairs[number].done += done;
	run->sent += done;
	--*awaited;
	return run_phase(run) >= PHASE_DRAIN || refill(run, number, awaited);
}

/* Jain's index: 1 if all queue pairs had the same, 1 / n if one had all. */
static void judge_shares(struct run *run)
{
	double sum = 0, squares = 0;

	for (unsigned int i = 0; i < verbs.count; i++) {
		double done = verbs.pairs[i].done;

		sum += done;
		squares += done * done;
	}
	if (verbs.count > 1 && squares > 0)
		run->tally.jain_ppm = 1e6 * sum * sum / (verbs.count * squares);
}

static void exchange(struct run *run)
{
	bool sends = run_sends(run);
	struct ibv_wc wc[BATCH];
	uint64_t awaited = 0;

	/* The target of a WRITE or READ has nothing to do, and sleeps until it is over. */
	if (!sends && !takes_receives(&run->set))
		return;
	for (unsigned int i = 0; sends && i < verbs.count; i++)
		if (!refill(run, i, &awaited))
			return;
	while (!run_over(run)) {
		int n = await(run, wc, BATCH);

		for (int i = 0; i < n && !run->tally.failure[0]; i++)
			if (!take(run, &wc[i], &awaited))
				return;
		if (n > 0)
			note_phase(run);
		if (sends && !awaited && run_phase(run) >= PHASE_DRAIN) {
			atomic_store(&run->drained, true);
			if (!takes_receives(&run->set) || !run->set.both)
				return;
		}
	}
}

void flow(struct run *run)
{
	for (unsigned int i = 0; i < verbs.count; i++)
		verbs.pairs[i].done = 0;
	exchange(run);
	judge_shares(run);
}
