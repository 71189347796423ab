/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hostile - helpers for programs that overwrite their own rings
 */
#ifndef ROVER_SELFTEST_HOSTILE_H
#define ROVER_SELFTEST_HOSTILE_H

#include "pair.h"

#define MAX_MAPS 64

/* The mappings of the device in this process. */
struct maps {
	int n;
	struct { uint8_t *from; size_t len; } map[MAX_MAPS];
};

void list_maps(struct pair *p, struct maps *maps);

/* Return pages with ring headers that were mapped since @before, at most @n. */
int fresh_pages(const struct maps *before, const struct maps *now, uint8_t **page, int n);

/* Ring the doorbell of any queue pair, as the provider does; return the error number. */
int doorbell(struct pair *p, uint32_t qpn);

/* A boundary value, or a random one */
uint32_t nasty(uint64_t *seed, uint32_t near);

/* Access words that the kernel, or another thread, may change at any time. */
static inline void store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline uint32_t load(const void *word)
{
	return __atomic_load_n((const uint32_t *)word, __ATOMIC_SEQ_CST);
}

#endif /* ROVER_SELFTEST_HOSTILE_H */
