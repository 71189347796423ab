// SPDX-License-Identifier: GPL-2.0
/*
 * bench_limit: how fast this machine's kernel copies and sums, which no RDMA in software can beat
 *
 * Each reading of a file in /sys/module/bench_limit/parameters/ measures anew, in 10^6 bytes/s:
 *
 *	memcpy		memcpy()
 *	crc32_le	the library's CRC-32
 *	shash		the crypto API's; 0 where there is none
 *	crc		the better of the two
 *	overlap		a flow that is nothing but sums and a copy: one processor sums while
 *			another one sums and copies; what the slower of them gets done
 *
 * Memory is walked as a flow of large messages walks it: a megabyte, a packet of 4 KiB at a time.
 */
#include <crypto/hash.h>
#include <linux/cpu.h>
#include <linux/crc32.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define FLOW_BYTES (1u << 20)
/* Long enough for a clock and short enough to be done often. */
#define MEASURE_NS (8 * NSEC_PER_MSEC)

static u8 *from, *to;
static struct crypto_shash *shash;
/* Not known to the compiler, as it is not where packets are copied. */
static size_t packet = 4096;
/* Two processors sum at once, each into its own. */
static u32 sums[2];
static bool shash_wins;

typedef void (*work_fn)(u32 at);

static void one_memcpy(u32 at)
{
	memcpy(to + at, from + at, READ_ONCE(packet));
}

static void one_crc32_le(u32 at)
{
	sums[0] = crc32_le(sums[0], from + at, READ_ONCE(packet));
}

static void digest(u32 at, u32 *sum)
{
	SHASH_DESC_ON_STACK(desc, shash);

	desc->tfm = shash;
	crypto_shash_digest(desc, from + at, READ_ONCE(packet), (u8 *)sum);
}

static void one_shash(u32 at)
{
	digest(at, &sums[0]);
}

static void one_sent(u32 at)
{
	if (shash_wins)
		digest(at, &sums[1]);
	else
		sums[1] = crc32_le(sums[1], from + at, READ_ONCE(packet));
}

static void one_received(u32 at)
{
	if (shash_wins)
		one_shash(at);
	else
		one_crc32_le(at);
	one_memcpy(at);
}

static u64 rate(work_fn one)
{
	u64 begin = ktime_get_ns(), bytes = 0, took;

	do {
		for (u32 at = 0; at < FLOW_BYTES / 4; at += packet)
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

static u64 rate_crc(void)
{
	u64 library = rate(one_crc32_le), crypto = rate_shash();

	shash_wins = crypto > library;
	return max(library, crypto);
}

static u64 rate_sent;

static void send_work(struct work_struct *work)
{
	rate_sent = rate(one_sent);
}

static DECLARE_WORK(sender, send_work);

static u64 rate_overlap(void)
{
	u64 rate_received;

	/* Onto another processor than this one, if there is one. */
	cpus_read_lock();
	queue_work_on(cpumask_any_but(cpu_online_mask, raw_smp_processor_id()) % nr_cpu_ids,
		      system_highpri_wq, &sender);
	cpus_read_unlock();
	rate_received = rate(one_received);
	flush_work(&sender);
	return min(rate_sent, rate_received);
}

static int tell(char *text, const struct kernel_param *kp)
{
	u64 (*measure)(void) = kp->arg;

	return sysfs_emit(text, "%llu\n", measure());
}

static u64 rate_memcpy(void)
{
	return rate(one_memcpy);
}

static u64 rate_crc32_le(void)
{
	return rate(one_crc32_le);
}

static const struct kernel_param_ops ops = { .get = tell };

module_param_cb(memcpy, &ops, rate_memcpy, 0444);
module_param_cb(crc32_le, &ops, rate_crc32_le, 0444);
module_param_cb(shash, &ops, rate_shash, 0444);
module_param_cb(crc, &ops, rate_crc, 0444);
module_param_cb(overlap, &ops, rate_overlap, 0444);

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
	memset(to, 0, FLOW_BYTES);
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
