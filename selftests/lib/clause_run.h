/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clause_run - execution of a rule, step by step
 */
#ifndef CLAUSE_RUN_H
#define CLAUSE_RUN_H

#include <setjmp.h>

#include "clause.h"
#include "craft.h"

/* The bystander's peer */
#define BYSTANDER_QPN	0x100000

/**
 * struct run - execution of a rule
 * @step: current step; if @times is set, one of its repetitions
 * @times: step with repetitions, or NULL
 * @each: current opcode of clause.each
 * @posted, @sent, @received, @taken: work requests posted, completed; receives posted, completed
 * @state: expected state of the queue pair
 * @seen, @seen_at: PSN of the newest request, and when it came
 * @asked_at: time of the last send completion, or of the step before the first request
 * @trip_ms: time of the first answer to a request, or 0; the queue pair has measured no longer
 *	round trip
 * @late: the host stalled while a request was outstanding
 * @tries: earlier tries of this rule
 */
struct run {
	struct testbed *s;
	const struct clause *clause;
	const struct step *step, *times;
	struct conn *c;
	struct craft craft;
	uint16_t each;
	unsigned int posted, sent, received, taken;
	enum ibv_qp_state state;
	uint32_t seen;
	uint64_t seen_at;
	uint64_t asked_at;
	uint64_t trip_ms;
	bool late;
	unsigned int tries;
};

/* Set at the beginning of a rule, which is tried again if the host has stalled. */
extern jmp_buf run_begin;

/* Post a receive. */
void run_recv(struct run *run);
/* Take run->step, as often as it says. */
void run_step(struct run *run);
/* After the last step: nothing more is sent or completed, except flushed requests in ERR. */
void run_end(struct run *run);

#endif /* CLAUSE_RUN_H */
