/* SPDX-License-Identifier: GPL-2.0 */
/* pair - two connected queue pairs, each with a host of its own */
#ifndef SIM_PAIR_H
#define SIM_PAIR_H

#include "qp/qp.h"
#include "flow.h"

/**
 * struct end - one end of a connection
 * @qp: real
 * @ib: its core object
 * @scq: of sends; written to by fake_cq.c
 * @rcq: of receives
 * @pd: names this end in a cursor
 * @peer: other end
 * @out: what it sends
 * @in: what its peer sends
 * @name: for the ladder
 * @back: it sends backward
 * @rng: of what depends on the time, unlike the workload's
 * @nic_free: when its netdev has sent everything, ps
 * @arrived: packets that the CPU has not seen
 * @arrived_last: its end
 * @receiving: an event to receive is due
 * @pause_at: when the CPU stands still next
 * @away_at: when the CPU does something else next, until @away_until
 * @away_until: likewise
 * @cpu_free: when the CPU has done what it was given
 * @app_due: an event of the program is due
 * @unread: completions that it has not seen
 * @recv_posted: receives
 * @recv_done: receives completed
 * @sampled: oldest PSN without ACK at the last sample
 */
struct end {
	struct rover_qp qp;
	struct rover_ibqp ib;
	struct rover_cq scq;
	struct rover_cq rcq;
	struct rover_pd pd;
	struct end *peer;
	struct flow out;
	struct flow *in;
	char name[16];
	bool back;
	u64 rng;
	u64 nic_free;
	struct sk_buff *arrived;
	struct sk_buff *arrived_last;
	bool receiving;
	u64 pause_at;
	u64 away_at;
	u64 away_until;
	u64 cpu_free;
	bool app_due;
	u32 unread;
	u32 recv_posted;
	u32 recv_done;
	u32 sampled;
};

struct pair {
	struct end ends[2];
};

static inline struct end *pair_end(const struct rover_qp *qp)
{
	return container_of(qp, struct end, qp);
}

extern struct rover_dev pair_dev;
extern struct rover_stats pair_stats;

struct pair *pair_create(u32 number);
/* Move to ERR and begin to flush what is posted. */
void pair_fail(struct pair *pair);
/* Test that all requests are complete, and once. */
void pair_check(struct pair *pair);
/* As rover destroys queue pairs; events may still name them. */
void pair_destroy(struct pair *pair);
/* No event is left. */
void pair_free(struct pair *pair);

#endif /* SIM_PAIR_H */
