/* SPDX-License-Identifier: GPL-2.0 */
/*
 * plan - a list of transfers that both ends know, and the judgement on it
 *
 * Each transfer takes its bytes from pieces of a source memory and puts them
 * in pieces of a target memory, at odd places and with gaps between.  Before,
 * the source holds one pattern and the target another; afterwards the whole
 * target, gaps included, must be what the plan computes.
 */
#ifndef ROVER_SELFTEST_PLAN_H
#define ROVER_SELFTEST_PLAN_H

#include "conn.h"

#define MAX_PIECES 32

struct pieces {
	int n;
	struct { size_t at; uint32_t len; } piece[MAX_PIECES];
};

/**
 * struct transfer - one operation
 * @opcode: of the work request
 * @size: bytes
 * @inlined: to be posted inline
 * @imm: immediate data, in host order; of SEND_WITH_INV the key that the receiver gives up
 * @slack: bytes by which a receive is longer than its message
 * @from: pieces of the source
 * @to: pieces of the target
 */
struct transfer {
	enum ibv_wr_opcode opcode;
	uint32_t size;
	bool inlined;
	uint32_t imm, slack;
	struct pieces from, to;
};

struct plan {
	struct pair *p;
	bool from_b;		/* end b is the requester */
	uint64_t seed;
	struct transfer *list;
	int n, room;
	size_t from_len, to_len;
};

struct plan *plan_new(struct pair *p, bool from_b, uint64_t seed);

/* Add a transfer in so many pieces; RDMA is contiguous at the responder whatever is asked for. */
void plan_add(struct plan *plan, enum ibv_wr_opcode opcode, uint32_t size, int from, int to,
	      bool inlined);

/* A plan at work on a connection. */
struct job;
struct job *job_new(struct conn *c, struct plan *plan);

/* Do what can be done now; true when everything is completed at this end. */
bool job_go(struct job *job);

/* Compare the target, at the end that has it. */
void job_judge(struct job *job);

/* All of it. */
void plan_run(struct conn *c, struct plan *plan);

#endif /* ROVER_SELFTEST_PLAN_H */
