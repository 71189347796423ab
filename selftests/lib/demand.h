/* SPDX-License-Identifier: GPL-2.0 */
/*
 * demand - ODP regions, whose pages can be taken away while they are registered
 *
 * The memory is a mapped memfd: its contents do not change when pages are taken from
 * the mapping, and a second mapping shows them.
 *
 * With MEMORY=demand in the environment all regions of a program are ODP regions;
 * with MEMORY=churn a thread also takes their pages away all the time.
 */
#ifndef ROVER_SELFTEST_DEMAND_H
#define ROVER_SELFTEST_DEMAND_H

#include "conn.h"

#define PAGE 4096

/* Is MEMORY=demand or MEMORY=churn in the environment? */
bool demand_wanted(void);

/* Map @len bytes without any page present; set @fd to the file. */
uint8_t *demand_map(struct pair *p, size_t len, int *fd);

/* Open a memfd_secret() file; -1 if the kernel does not support it. */
int demand_secret(void);

/* Take these pages away by method @how; their contents stay. */
void demand_disturb(uint8_t *buf, int fd, size_t at, size_t len, unsigned int how);
#define DISTURBANCES 4

/* Open a connection with unlimited RNR retries. */
struct conn *demand_conn(struct pair *p);

/* Bytes of a pattern, in ordinary memory */
uint8_t *demand_bytes(struct pair *p, uint64_t seed, size_t len);

/* An ODP region with a second mapping of its bytes */
struct area {
	struct pair *p;
	struct region *r;
	uint8_t *view;
};

struct area *area_new(struct pair *p, size_t len, int access);

/* Take all pages away; fail unless the area has these bytes at @at. */
void area_empty(struct area *area);
void area_want(struct area *area, size_t at, const uint8_t *want, size_t len, const char *what);

#endif /* ROVER_SELFTEST_DEMAND_H */
