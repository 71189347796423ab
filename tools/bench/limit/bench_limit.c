// SPDX-License-Identifier: GPL-2.0
/*
 * bench_limit: how fast this machine's kernel copies and sums, which no RDMA in software can beat
 *
 * Each reading of one of these files measures anew and gives MB/s (10^6 bytes):
 *
 *	/sys/module/bench_limit/parameters/memcpy	memcpy()
 *	/sys/module/bench_limit/parameters/crc		CRC-32, the quickest the kernel offers
 *	/sys/module/bench_limit/parameters/crc32_le	the library function
 *	/sys/module/bench_limit/parameters/shash	the crypto API's; 0 where there is none
 *
 * Memory is walked as a flow of large messages walks it: a megabyte, a packet of 4 KiB at a time.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#define FLOW_BYTES (1u << 20)
#define PACKET_BYTES 4096u
/* Long enough for a clock and short enough to be done often. */
#define MEASURE_NS (8 * NSEC_PER_MSEC)

static u8 *from, *to;
/* Not known to the compiler, as it is not where packets are copied. */
static size_t packet = PACKET_BYTES;
static struct crypto_shash *shash;

static void one_memcpy(u32 at)
{
	memcpy(to + at, from + at, READ_ONCE(packet));
}

static u32 sum;

static void one_crc32_le(u32 at)
{
	sum = crc32_le(sum, from + at, PACKET_BYTES);
}

static void one_shash(u32 at)
{
	SHASH_DESC_ON_STACK(desc, shash);

	desc->tfm = shash;
	crypto_shash_digest(desc, from + at, PACKET_BYTES, (u8 *)&sum);
}

static u64 rate(void (*one)(u32 at))
{
	u64 begin = ktime_get_ns(), bytes = 0, took;

	do {
		for (u32 at = 0; at < FLOW_BYTES / 4; at += PACKET_BYTES)
			one((bytes + at) % FLOW_BYTES);
		bytes += FLOW_BYTES / 4;
		took = ktime_get_ns() - begin;
		cond_resched();
	} while (took < MEASURE_NS);
	return div64_u64(bytes * 1000, took);
}

static u64 rate_shash(void)
{
	return shash ? rate(one_shash) : 0;
}

static int get_memcpy(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%llu\n", rate(one_memcpy));
}

static int get_crc32_le(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%llu\n", rate(one_crc32_le));
}

static int get_shash(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%llu\n", rate_shash());
}

static int get_crc(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%llu\n", max(rate(one_crc32_le), rate_shash()));
}

static const struct kernel_param_ops memcpy_ops = { .get = get_memcpy };
static const struct kernel_param_ops crc32_le_ops = { .get = get_crc32_le };
static const struct kernel_param_ops shash_ops = { .get = get_shash };
static const struct kernel_param_ops crc_ops = { .get = get_crc };

module_param_cb(memcpy, &memcpy_ops, NULL, 0444);
module_param_cb(crc32_le, &crc32_le_ops, NULL, 0444);
module_param_cb(shash, &shash_ops, NULL, 0444);
module_param_cb(crc, &crc_ops, NULL, 0444);

static int __init limit_init(void)
{
	from = vmalloc(FLOW_BYTES);
	to = vmalloc(FLOW_BYTES);
	if (!from || !to) {
		vfree(from);
		vfree(to);
		return -ENOMEM;
	}
	memset(from, 0x5a, FLOW_BYTES);
	/* Loads whatever module the kernel has for it. */
	shash = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(shash))
		shash = NULL;
	return 0;
}

static void __exit limit_exit(void)
{
	crypto_free_shash(shash);
	vfree(from);
	vfree(to);
}

module_init(limit_init);
module_exit(limit_exit);

MODULE_DESCRIPTION("memcpy and CRC rates of this kernel");
MODULE_LICENSE("GPL");
