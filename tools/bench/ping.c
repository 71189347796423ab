// SPDX-License-Identifier: GPL-2.0
/*
 * ping: one message there, one back, one at a time, each signalled and its completion awaited
 *
 * Half the round trip is what is reported, of a READ all of it: it is one by itself. A WRITE is
 * noticed by looking at the last byte of where it lands, as there is no completion for it.
 */
#include "verbs.h"

/*
 * What has completed and not been asked for yet. The next message may well be here before
 * the completion of what it answers.
 */
struct due {
	bool sent; /* the own send is still under way */
	unsigned int arrived;
};

static void settle(struct run *run, struct due *due)
{
	struct ibv_wc wc[4];
	int n = await(run, wc, 4);

	for (int i = 0; i < n && !run->tally.failure[0]; i++) {
		if (wc[i].wr_id & RECV_ID) {
			verbs.pairs[0].posted--;
			due->arrived++;
		} else {
			verbs.pairs[0].credits++;
			due->sent = false;
		}
	}
}

/* The other end's next message changes the last byte. */
static bool landed(const struct run *run, char value)
{
	atomic_char *last = (atomic_char *)(verbs.in + run->set.size - 1);

	return atomic_load_explicit(last, memory_order_acquire) == value;
}

static bool send_one(struct run *run, struct due *due, char value)
{
	verbs.out[run->set.size - 1] = value;
	due->sent = true;
	return post_sends(run, 0, 1, true);
}

static bool finish_send(struct run *run, struct due *due)
{
	while (due->sent) {
		settle(run, due);
		if (run_over(run))
			return false;
	}
	return true;
}

/* The other end's message: by its value in memory, or by its completion. */
static bool expect(struct run *run, struct due *due, char value)
{
	if (run->set.op == OP_WRITE) {
		while (!landed(run, value))
			if (run_over(run))
				return false;
		return true;
	}
	while (!due->arrived) {
		settle(run, due);
		if (run_over(run))
			return false;
	}
	due->arrived--;
	return post_receives(run, 0);
}

/* Never 0, which is what memory is before the first round. */
static char after(char value)
{
	return value % 100 + 1;
}

static void drive_ping(struct run *run)
{
	bool alone = run->set.op == OP_READ;
	struct due due = {0};

	for (char value = 1; run_phase(run) < PHASE_DRAIN && !run_over(run); value = after(value)) {
		uint64_t begin = now_ns();

		if (!send_one(run, &due, value) || !finish_send(run, &due) ||
		    (!alone && !expect(run, &due, value)))
			return;
		note_delay(run, (now_ns() - begin) / (alone ? 1 : 2));
		run->sent++;
		note_phase(run);
	}
}

static void echo(struct run *run)
{
	struct due due = {0};

	for (char value = 1; expect(run, &due, value); value = after(value)) {
		run->got++;
		note_phase(run);
		if (!send_one(run, &due, value) || !finish_send(run, &due))
			return;
	}
}

void ping(struct run *run)
{
	if (run->driving)
		drive_ping(run);
	else if (run->set.op != OP_READ)
		echo(run);
}
