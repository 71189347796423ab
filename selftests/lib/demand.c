// SPDX-License-Identifier: GPL-2.0
/*
 * demand - ODP regions, whose pages can be taken away while they are registered
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "demand.h"
#include "pattern.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

#define MOST 256

static bool memory_is(const char *what)
{
	const char *value = getenv("MEMORY");

	return value && !strcmp(value, what);
}

bool demand_wanted(void)
{
	return memory_is("demand") || memory_is("churn");
}

uint8_t *demand_map(struct pair *p, size_t len, int *fd)
{
	uint8_t *buf;

	*fd = memfd_create("demand", MFD_CLOEXEC);
	check(p, *fd >= 0 && !ftruncate(*fd, len), "memfd of %zu bytes: %s", len, strerror(errno));
	buf = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	check(p, buf != MAP_FAILED, "mmap of %zu bytes: %s", len, strerror(errno));
	return buf;
}

void demand_disturb(uint8_t *buf, int fd, size_t at, size_t len, unsigned int how)
{
	uint8_t *here;

	switch (how) {
	case 0:
		madvise(buf + at, len, MADV_DONTNEED);
		break;
	case 1:
		/* Replace the mapping atomically: other threads see no hole. */
		here = mmap(buf + at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, at);
		if (here != buf + at)
			abort();
		break;
	case 2:
		madvise(buf + at, len, MADV_PAGEOUT);
		break;
	default:
		/* Present for reading only: a write needs another page-in. */
		madvise(buf + at, len, MADV_DONTNEED);
		for (here = buf + at; here < buf + at + len; here += PAGE)
			(void)__atomic_load_n(here, __ATOMIC_RELAXED);
	}
}

int demand_secret(void)
{
#ifdef SYS_memfd_secret
	return syscall(SYS_memfd_secret, 0);
#else
	return -1;
#endif
}

/* ---- a thread that takes pages away all the time ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *live[MOST];
static unsigned int num;

static void *churn(void *unused)
{
	uint64_t seed = 4791;

	(void)unused;
	for (;;) {
		pthread_mutex_lock(&lock);
		if (num) {
			struct region *r = live[draw(&seed, 0, num - 1)];
			unsigned int pages = r->len / PAGE, at = draw(&seed, 0, pages - 1);
			unsigned int n = draw(&seed, 1, pages - at < 24 ? pages - at : 24);

			demand_disturb(r->buf, r->fd, (size_t)at * PAGE, (size_t)n * PAGE,
				       draw(&seed, 0, DISTURBANCES - 1));
		}
		pthread_mutex_unlock(&lock);
		usleep(draw(&seed, 20, 400));
	}
	return NULL;
}

/* With MEMORY=churn, begin to take pages of this region away; demand_rest() ends that. */
static void demand_churn(struct region *region)
{
	static pthread_t thread;

	if (!memory_is("churn"))
		return;
	pthread_mutex_lock(&lock);
	if (num < MOST)
		live[num++] = region;
	pthread_mutex_unlock(&lock);
	if (!thread)
		pthread_create(&thread, NULL, churn, NULL);
}

static void demand_rest(struct region *region)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < num; i++)
		if (live[i] == region)
			live[i--] = live[--num];
	pthread_mutex_unlock(&lock);
}

/* ---- helpers ---- */

struct conn *demand_conn(struct pair *p)
{
	struct conn_attr attr = conn_defaults(p);

	attr.rnr_retry = 7;
	return conn_open(p, &attr);
}

uint8_t *demand_bytes(struct pair *p, uint64_t seed, size_t len)
{
	uint8_t *bytes = pair_alloc(p, len);

	pattern_fill(bytes, len, seed);
	return bytes;
}

/* ---- regions ---- */

static int undo_region(void *what)
{
	struct region *region = what;
	int error;

	demand_rest(region);
	error = ibv_dereg_mr(region->mr) ?: munmap(region->buf, region->len);
	close(region->fd);
	return error;
}

struct region *region_demand(struct pair *p, struct ibv_pd *pd, size_t len, int access)
{
	struct region *region = pair_alloc(p, sizeof(*region));

	region->len = (len + PAGE - 1) & ~(PAGE - 1UL);
	region->buf = demand_map(p, region->len, &region->fd);
	region->mr = ibv_reg_mr(pd, region->buf, region->len, access | IBV_ACCESS_ON_DEMAND);
	check(p, region->mr, "ibv_reg_mr of %zu bytes on demand, access 0x%x: %s", region->len,
	      access, strerror(errno));
	undo_later(p, undo_region, region, "ibv_dereg_mr");
	demand_churn(region);
	return region;
}

/* ---- areas ---- */

static int undo_area(void *what)
{
	struct area *area = what;

	return munmap(area->view, area->r->len);
}

struct area *area_new(struct pair *p, size_t len, int access)
{
	struct area *area = pair_alloc(p, sizeof(*area));

	area->p = p;
	area->r = region_demand(p, p->pd, len, access);
	area->view = mmap(NULL, area->r->len, PROT_READ | PROT_WRITE, MAP_SHARED, area->r->fd, 0);
	check(p, area->view != MAP_FAILED, "mmap: %s", strerror(errno));
	undo_later(p, undo_area, area, "munmap");
	return area;
}

void area_empty(struct area *area)
{
	demand_disturb(area->r->buf, area->r->fd, 0, area->r->len, 0);
}

void area_want(struct area *area, size_t at, const uint8_t *want, size_t len, const char *what)
{
	size_t differ = pattern_differ(area->view + at, want, len);

	check(area->p, differ == len, "%s: wrong at byte %zu of %zu: %s", what, differ, len,
	      pattern_show(area->view + at, want, differ, len));
}
