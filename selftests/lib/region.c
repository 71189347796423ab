// SPDX-License-Identifier: GPL-2.0
/*
 * region - registered memory of a test case
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "demand.h"
#include "region.h"

static int undo_mr(void *mr)
{
	return ibv_dereg_mr(mr);
}

struct ibv_mr *mr_new(struct pair *p, void *buf, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, buf, len, access);

	check(p, mr, "ibv_reg_mr: %s", strerror(errno));
	undo_later(p, undo_mr, mr, "ibv_dereg_mr");
	return mr;
}

static int undo_region(void *what)
{
	struct region *region = what;
	int error = ibv_dereg_mr(region->mr);

	return munmap(region->buf, region->len) ?: error;
}

struct region *region_of(struct pair *p, void *buf, size_t len, struct ibv_mr *mr)
{
	struct region *region = pair_alloc(p, sizeof(*region));

	region->len = len;
	region->buf = buf;
	region->mr = mr;
	undo_later(p, undo_region, region, "ibv_dereg_mr");
	return region;
}

struct region *region_in(struct pair *p, struct ibv_pd *pd, size_t len, int access)
{
	struct ibv_mr *mr;
	void *buf;

	if (demand_wanted())
		return region_demand(p, pd, len, access);
	len = (len + 4095) & ~4095UL;
	buf = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		   -1, 0);
	check(p, buf != MAP_FAILED, "mmap of %zu bytes: %s", len, strerror(errno));
	mr = ibv_reg_mr(pd, buf, len, access);
	check(p, mr, "ibv_reg_mr of %zu bytes, access 0x%x: %s", len, access, strerror(errno));
	return region_of(p, buf, len, mr);
}

struct region *region_new(struct pair *p, size_t len, int access)
{
	return region_in(p, p->pd, len, access);
}

struct remote remote_swap(struct pair *p, const void *buf, const struct ibv_mr *mr)
{
	struct remote mine = {}, theirs;

	if (mr)
		mine = (struct remote){ (uintptr_t)buf, mr->rkey };
	pair_swap(p, &mine, &theirs, sizeof(mine));
	return theirs;
}

void region_swap(struct pair *p, struct region *region)
{
	struct remote theirs = remote_swap(p, region->buf, region->mr);

	region->peer_addr = theirs.addr;
	region->peer_rkey = theirs.rkey;
}
