/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pattern - bytes that depend on their offset
 *
 * Each aligned word of a pattern is a hash of seed and offset, so a lost, duplicated
 * or misplaced byte is found. Random numbers are hashes, too: both ends compute the
 * same plan from one seed.
 */
#ifndef ROVER_SELFTEST_PATTERN_H
#define ROVER_SELFTEST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Return the next random number, from @lo to @hi. */
static inline unsigned int draw(uint64_t *seed, unsigned int lo, unsigned int hi)
{
	*seed = mix(*seed);
	return lo + *seed % ((uint64_t)hi - lo + 1);
}

void pattern_fill(void *buf, size_t len, uint64_t seed);

/* Return the offset of the first byte in which the buffers differ, or @len. */
size_t pattern_differ(const void *one, const void *two, size_t len);

/* Describe the bytes around an offset of two buffers, for a failure. */
const char *pattern_show(const void *got, const void *want, size_t at, size_t len);

#endif /* ROVER_SELFTEST_PATTERN_H */
