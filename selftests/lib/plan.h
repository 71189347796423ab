/* SPDX-License-Identifier: GPL-2.0 */
/*
 * plan - a list of transfers that both ends know, and the check of their result
 *
 * Each transfer takes its bytes from pieces of a source memory and puts them in
 * pieces of a target memory, at unaligned offsets and with gaps in between.  At
 * first source and target have different patterns; afterwards the whole target,
 * gaps included, must have the contents that the plan computes.
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
 * @opcode: opcode of the work request
 * @size: length
 * @inlined: posted inline
 * @imm: immediate data, in host order; for SEND_WITH_INV the key to invalidate
 * @slack: bytes by which the receive is longer than the message
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

/* Add a transfer in @from and @to pieces; at the responder of RDMA there is one piece. */
void plan_add(struct plan *plan, enum ibv_wr_opcode opcode, uint32_t size, int from, int to,
	      bool inlined);

/* Execution of a plan on a connection */
struct job;
struct job *job_new(struct conn *c, struct plan *plan);

/* Post and poll; return true when all transfers are completed at this end. */
bool job_go(struct job *job);

/* Check source and target. */
void job_judge(struct job *job);

/* Execute the plan, and check its result. */
void plan_run(struct conn *c, struct plan *plan);

#endif /* ROVER_SELFTEST_PLAN_H */
