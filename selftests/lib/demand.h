/* SPDX-License-Identifier: GPL-2.0 */
/*
 * demand - memory on demand, whose pages are taken away while it is registered
 *
 * The memory is a mapped file in memory: the bytes stay the same whatever is done
 * to the mapping, and another mapping shows them.
 *
 * With MEMORY=demand in the environment all regions of a program are such, on
 * demand; with MEMORY=churn a thread also keeps taking their pages away.
 */
#ifndef ROVER_SELFTEST_DEMAND_H
#define ROVER_SELFTEST_DEMAND_H

#include "conn.h"

#define PAGE 4096

/* Is it in the environment? */
bool demand_wanted(void);

/* Memory of so many bytes that no page of is there; its file. */
uint8_t *demand_map(struct pair *p, size_t len, int *fd);

/* A file of memory that the kernel has no map of; -1 where there is no such thing. */
int demand_secret(void);

/* Take these pages away once, in one way or another: the bytes stay. */
void demand_disturb(uint8_t *buf, int fd, size_t at, size_t len, unsigned int how);
#define DISTURBANCES 4

/* A connection that waits for pages as long as that takes. */
struct conn *demand_conn(struct pair *p);

/* Bytes of a pattern, in memory of the usual kind. */
uint8_t *demand_bytes(struct pair *p, uint64_t seed, size_t len);

/* A region on demand, whose bytes can be looked at in view, too. */
struct area {
	struct pair *p;
	struct region *r;
	uint8_t *view;
};

struct area *area_new(struct pair *p, size_t len, int access);

/* Take all its pages away; all of it must hold these bytes. */
void area_empty(struct area *area);
void area_want(struct area *area, size_t at, const uint8_t *want, size_t len, const char *what);

#endif /* ROVER_SELFTEST_DEMAND_H */
