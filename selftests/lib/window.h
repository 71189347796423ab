/* SPDX-License-Identifier: GPL-2.0 */
/*
 * window - memory, connection and memory window of a case: end b has the memory
 * and binds windows to it, end a uses their keys
 */
#ifndef ROVER_SELFTEST_WINDOW_H
#define ROVER_SELFTEST_WINDOW_H

#include "conn.h"

/* Length of the memory; offset and length of the window; length of one access */
#define SIZE 40960
#define AT 5000
#define LEN 20003
#define PIECE 9000

#define ALL_REMOTE (ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE)

/* Seeds of patterns: contents of the memory of end b, data of end a */
enum { HERE = 5, THERE };

struct stage {
	struct pair *p;
	struct conn *c;
	struct region *r;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

/* These objects belong to the case. */
struct ibv_pd *stage_pd(struct pair *p);
struct ibv_mw *stage_mw(struct pair *p, struct ibv_pd *pd, enum ibv_mw_type type);
struct ibv_mr *stage_mr(struct stage *s, struct ibv_pd *pd, int access);

/* Create memory and a connection; at end b also a window, and a region to bind it to. */
void stage_open(struct pair *p, struct stage *s, enum ibv_mw_type type, bool extended);

/* Bind information for the usual range, with these rights */
struct ibv_mw_bind_info stage_info(struct stage *s, unsigned int access);

/* Bind as the window's type requires; fail on error. */
void stage_bind(struct stage *s, struct conn *c, struct ibv_mw *mw,
		const struct ibv_mw_bind_info *info);

/* Send address and key to the other end. */
void stage_show(struct stage *s, uint64_t addr, uint32_t key, uint64_t *peer_addr,
		uint32_t *peer_key);

/* Fail unless @buf has @len bytes of the pattern @seed, from offset @from of the pattern on. */
void stage_want(struct stage *s, const void *buf, size_t from, size_t len, int seed,
		const char *what);

#endif /* ROVER_SELFTEST_WINDOW_H */
