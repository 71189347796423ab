/* SPDX-License-Identifier: GPL-2.0 */
/* model - what IBTA requires to be seen, checked while it is done */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "qp/qp.h"

struct end;

/* The first broken rule ends the run; its text is printed. */
extern bool model_failed;
/* Time of the last progress of any kind. */
extern u64 model_progress_at;
/* Receives may be flushed from now on. */
extern bool model_closing;

void model_reset(void);
void model_fail(const struct end *end, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Bytes were written to memory of @end. */
void model_placed(struct end *end, u8 *at, u32 len);
/* Test whether memory of @end, or constant data, contains bytes. */
bool model_owns(struct end *end, const u8 *at, u32 len, bool write);
/* @end has executed an atomic that found @orig. */
void model_atomic(struct end *end, u64 orig);

/* @qp sends a READ or atomic: test that the peer has room for it. */
void model_rd_atomic(struct rover_qp *qp);

void model_send_done(struct end *end, const struct rover_cqe *cqe);
void model_recv_done(struct end *end, const struct rover_cqe *cqe);

/* Random bytes: sources of all data. */
extern u8 *model_data;
#define MODEL_DATA	(256UL << 10)

/* Times from post to completion, sorted; ns. */
u64 *model_latencies(size_t *count);

#endif /* SIM_MODEL_H */
