/* SPDX-License-Identifier: GPL-2.0 */
/*
 * window - a stage for memory windows: end b has the memory and binds windows to
 * it, end a uses their keys
 */
#ifndef ROVER_SELFTEST_WINDOW_H
#define ROVER_SELFTEST_WINDOW_H

#include "conn.h"

/* The memory, and what of it is in the window. */
#define SIZE 40960
#define AT 5000
#define LEN 20003
#define PIECE 9000

#define ALL_REMOTE (ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE)

/* What the memory of b holds, and what a writes. */
enum { HERE = 5, THERE };

struct stage {
	struct pair *p;
	struct conn *c;
	struct region *r;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

/* What is made belongs to the case. */
struct ibv_pd *stage_pd(struct pair *p);
struct ibv_mw *stage_mw(struct pair *p, struct ibv_pd *pd, enum ibv_mw_type type);
struct ibv_mr *stage_mr(struct stage *s, struct ibv_pd *pd, int access);

/* Memory and a connection at both ends; at b a region that allows windows, and a window. */
void stage_open(struct pair *p, struct stage *s, enum ibv_mw_type type, bool extended);

/* The window's place, with these rights. */
struct ibv_mw_bind_info stage_info(struct stage *s, unsigned int access);

/* Bind in the way of the window's type, which has to succeed. */
void stage_bind(struct stage *s, struct conn *c, struct ibv_mw *mw,
		const struct ibv_mw_bind_info *info);

/* Tell the other end where, and by which key. */
void stage_show(struct stage *s, uint64_t addr, uint32_t key, uint64_t *peer_addr,
		uint32_t *peer_key);

/* Memory has to hold so many bytes of a pattern, from one of its bytes on. */
void stage_want(struct stage *s, const void *buf, size_t from, size_t len, int seed,
		const char *what);

#endif /* ROVER_SELFTEST_WINDOW_H */
