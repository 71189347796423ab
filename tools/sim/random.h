/* SPDX-License-Identifier: GPL-2.0 */
/* random - independent streams of random numbers (xorshift64*) */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <linux/types.h>

/* A hash of two numbers (splitmix64). */
static inline u64 random_hash(u64 a, u64 b)
{
	u64 z = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline void random_seed(u64 *rng, u64 seed, u64 stream)
{
	*rng = random_hash(seed, stream) | 1;
}

static inline u64 random_next(u64 *rng)
{
	*rng ^= *rng >> 12;
	*rng ^= *rng << 25;
	*rng ^= *rng >> 27;
	return *rng * 0x2545f4914f6cdd1dULL;
}

/* 0 to n - 1 */
static inline u64 random_below(u64 *rng, u64 n)
{
	return n ? (random_next(rng) >> 11) % n : 0;
}

/* low to high */
static inline u64 random_between(u64 *rng, u64 low, u64 high)
{
	return low + random_below(rng, high - low + 1);
}

/* True in @part of a billion cases. */
static inline bool random_part(u64 *rng, u64 part)
{
	return part && random_below(rng, 1000000000) < part;
}

#endif /* SIM_RANDOM_H */
