/* SPDX-License-Identifier: GPL-2.0 */
/*
 * region - registered memory of a test case, released at the end of the case
 */
#ifndef ROVER_SELFTEST_REGION_H
#define ROVER_SELFTEST_REGION_H

#include "pair.h"

#define ALL_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |	\
		    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* Registered memory, its file if it has one, and address and key at the other end */
struct region {
	uint8_t *buf;
	size_t len;
	int fd;
	struct ibv_mr *mr;
	uint64_t peer_addr;
	uint32_t peer_rkey;
};

struct region *region_new(struct pair *p, size_t len, int access);
struct region *region_in(struct pair *p, struct ibv_pd *pd, size_t len, int access);

/* A region of memory that is mapped and registered already; both end with the case. */
struct region *region_of(struct pair *p, void *buf, size_t len, struct ibv_mr *mr);

/* Register memory of the caller. */
struct ibv_mr *mr_new(struct pair *p, void *buf, size_t len, int access);

/* An ODP region: see lib/demand.h. */
struct region *region_demand(struct pair *p, struct ibv_pd *pd, size_t len, int access);

/* Address and key of memory, for the peer */
struct remote {
	uint64_t addr;
	uint64_t rkey;
};

/* Exchange address and key with the other end; zeros without a region. */
struct remote remote_swap(struct pair *p, const void *buf, const struct ibv_mr *mr);

/* The same for a whole region */
void region_swap(struct pair *p, struct region *region);

#endif /* ROVER_SELFTEST_REGION_H */
