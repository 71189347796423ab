/* SPDX-License-Identifier: GPL-2.0 */
/* lang - the kernel's dialect of C */
#ifndef SIM_LANG_H
#define SIM_LANG_H

#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define __must_check
#define __percpu
#define __rcu
#define __maybe_unused	__attribute__((unused))
#define ____cacheline_aligned_in_smp
#define noinline	__attribute__((noinline))
#define fallthrough	__attribute__((fallthrough))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define barrier()	__asm__ volatile("" ::: "memory")

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define ALIGN(x, a)		(((x) + (a) - 1) / (a) * (a))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL	DIV_ROUND_UP
#define rounddown(x, y)		((x) - (x) % (y))
#define roundup(x, y)		(((x) + (y) - 1) / (y) * (y))
#define roundup_pow_of_two(n)	((n) < 2 ? 1U : 2U << ilog2((n) - 1))
#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
#define swap(a, b) \
	do { typeof(a) swap_tmp = (a); (a) = (b); (b) = swap_tmp; } while (0)
#undef abs
#define abs(x)	({ typeof(x) abs_x = (x); abs_x < 0 ? -abs_x : abs_x; })
#define U8_MAX		((u8)~0U)
#define U16_MAX		((u16)~0U)
#define U32_MAX		(~0U)
#define S32_MAX		((s32)(U32_MAX >> 1))
#define U64_MAX		(~0ULL)
#define S64_MAX		((s64)(U64_MAX >> 1))
#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define offset_in_page(p)	((unsigned long)(p) & (PAGE_SIZE - 1))
#define IS_ENABLED(option)	0
#define INDIRECT_CALL_1(fn, likely_fn, ...)	((fn)(__VA_ARGS__))

#define scnprintf(buf, size, ...) \
	min_t(int, snprintf(buf, size, __VA_ARGS__), (int)(size) - 1)

void sim_bug(const char *file, int line, const char *what)
	__attribute__((noreturn));

#define sim_assert(cond) \
	((void)(likely(cond) || (sim_bug(__FILE__, __LINE__, #cond), 0)))
#define WARN_ON(cond)	({ sim_assert(!(cond)); false; })
#define WARN_ON_ONCE	WARN_ON

static inline u64 div64_u64(u64 n, u64 d)
{
	return n / d;
}

static inline u64 div_u64(u64 n, u32 d)
{
	return n / d;
}

static inline u64 mul_u64_u32_div(u64 a, u32 mul, u32 d)
{
	return (u64)((__uint128_t)a * mul / d);
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 mul, u64 d)
{
	return (u64)((__uint128_t)a * mul / d);
}

#endif /* SIM_LANG_H */
