/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srq_env - a shared receive queue with two queue pairs, for the cases of srq
 */
#ifndef ROVER_KTEST_SRQ_ENV_H
#define ROVER_KTEST_SRQ_ENV_H

#include "ktest.h"

/**
 * struct srq_env - a shared receive queue with two queue pairs
 * @t: the run
 * @st: the queue pairs
 * @owner: side that owns the receives
 * @srq: the queue
 * @max_wr: granted number of receives
 * @max_sge: granted number of entries
 * @posted: receives so far, each with its own place in the buffer
 * @refill: receives to post on a limit event
 * @filled: those receives
 * @limits: number of limit events
 * @others: number of other events
 */
struct srq_env {
	struct ktest *t;
	struct stage *st;
	struct side *owner;
	struct ib_srq *srq;
	u32 max_wr;
	u32 max_sge;
	u32 posted;
	u32 refill;
	struct mark *filled[8];
	atomic_t limits;
	atomic_t others;
};

struct mark *srq_mark_new(struct srq_env *q);
struct mark *srq_post(struct srq_env *q, struct ib_sge *sge, int n);
/* Post a receive of @len bytes in two entries. */
struct mark *srq_post_recv(struct srq_env *q, u32 len);

/* Create q->srq, and set what was granted. */
int srq_make(struct srq_env *q, u32 max_wr, u32 max_sge);
int srq_modify(struct srq_env *q, int mask, u32 max_wr, u32 limit);
bool srq_reconnect(struct srq_env *q);

/* Send @len bytes of the buffer of @s to the other side. */
struct mark *srq_send_from(struct side *s, u32 len);

/* Receive number @n has the data that @from sent to @to. */
bool srq_check_came(struct srq_env *q, struct mark *m, u32 n,
		    const struct side *from, const struct side *to, u32 len);
/* Send to receive number @n, the oldest. */
bool srq_take_oldest(struct srq_env *q, struct mark *m, u32 n);
/* No receive can be posted. */
void srq_want_full(struct srq_env *q);
void srq_want_attr(struct srq_env *q, u32 max_wr, u32 limit);
/* Wait for the last of @limits limit events; there was no other event. */
void srq_want_limits(struct srq_env *q, int limits);

#endif /* ROVER_KTEST_SRQ_ENV_H */
