/* SPDX-License-Identifier: GPL-2.0 */
/* bitops - bits of words and bitmaps */
#ifndef SIM_BITOPS_H
#define SIM_BITOPS_H

#define BITS_PER_LONG	64
#define BITS_TO_LONGS(n)	DIV_ROUND_UP(n, BITS_PER_LONG)
#define DECLARE_BITMAP(name, n)	unsigned long name[BITS_TO_LONGS(n)]

static inline bool test_bit(unsigned int nr, const unsigned long *map)
{
	return map[nr / BITS_PER_LONG] >> nr % BITS_PER_LONG & 1;
}

static inline void set_bit(unsigned int nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] |= 1UL << nr % BITS_PER_LONG;
}

static inline void clear_bit(unsigned int nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] &= ~(1UL << nr % BITS_PER_LONG);
}

static inline bool test_and_set_bit(unsigned int nr, unsigned long *map)
{
	bool old = test_bit(nr, map);

	set_bit(nr, map);
	return old;
}

static inline bool test_and_clear_bit(unsigned int nr, unsigned long *map)
{
	bool old = test_bit(nr, map);

	clear_bit(nr, map);
	return old;
}

#define __set_bit		set_bit
#define __clear_bit		clear_bit
#define __test_and_set_bit	test_and_set_bit
#define __test_and_clear_bit	test_and_clear_bit

static inline void bitmap_zero(unsigned long *map, unsigned int n)
{
	memset(map, 0, BITS_TO_LONGS(n) * sizeof(*map));
}

static inline bool bitmap_empty(const unsigned long *map, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (test_bit(i, map))
			return false;
	return true;
}

static inline unsigned int bitmap_weight(const unsigned long *map,
					 unsigned int n)
{
	unsigned int i, weight = 0;

	for (i = 0; i < n; i++)
		weight += test_bit(i, map);
	return weight;
}

static inline unsigned int find_next_bit(const unsigned long *map,
					 unsigned int n, unsigned int from)
{
	while (from < n && !test_bit(from, map))
		from++;
	return from;
}

static inline unsigned int find_next_zero_bit(const unsigned long *map,
					      unsigned int n, unsigned int from)
{
	while (from < n && test_bit(from, map))
		from++;
	return from;
}

#define find_first_bit(map, n)		find_next_bit(map, n, 0)
#define find_first_zero_bit(map, n)	find_next_zero_bit(map, n, 0)
#define for_each_set_bit(bit, map, n) \
	for ((bit) = find_first_bit(map, n); (bit) < (n); \
	     (bit) = find_next_bit(map, n, (bit) + 1))

#define hweight32	__builtin_popcount
#define hweight64	__builtin_popcountl
#define ffs		__builtin_ffs
#define __ffs		__builtin_ctzl
#define fls(n)		((n) ? 32 - __builtin_clz(n) : 0)
#define fls64(n)	((n) ? 64 - __builtin_clzl(n) : 0)

#endif /* SIM_BITOPS_H */
