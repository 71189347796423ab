// SPDX-License-Identifier: GPL-2.0
/*
 * main - rover_ktest: find the device, run the cases, report
 *
 *	insmod rover_ktest.ko device=NAME [ipv6=1] [quick=1] [slow=N] [only=GROUP]
 *	cat /sys/kernel/debug/rover_ktest
 *
 * All cases have run when insmod returns: the RDMA core calls the client for
 * each device, and holds the device meanwhile.
 *
 * Process context of insmod.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/vmalloc.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "ktest.h"

#define TEXT_SIZE	(64 * 1024)

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "name of the RDMA device to be tested");

static bool ipv6;
module_param(ipv6, bool, 0444);
MODULE_PARM_DESC(ipv6, "use the IPv6 address of the device instead of the IPv4 one");

static bool quick;
module_param(quick, bool, 0444);
MODULE_PARM_DESC(quick, "fewer rounds");

static unsigned int slow = 1;
module_param(slow, uint, 0444);
MODULE_PARM_DESC(slow, "factor for all time limits");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "run this group of cases only");

static struct ktest main_run;
static struct dentry *main_debugfs_file;
static struct debugfs_blob_wrapper main_debugfs_blob;

static __printf(2, 0) void main_vsay(struct ktest *t, const char *fmt, va_list args)
{
	t->used += vscnprintf(t->text + t->used, TEXT_SIZE - t->used, fmt, args);
}

void ktest_say(struct ktest *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	main_vsay(t, fmt, args);
	va_end(args);
}

bool ktest_check(struct ktest *t, bool good, const char *where, int line,
		 const char *fmt, ...)
{
	va_list args;

	if (good)
		return true;
	t->bad = true;
	ktest_say(t, "# %s, line %d: ", where, line);
	va_start(args, fmt);
	main_vsay(t, fmt, args);
	va_end(args);
	ktest_say(t, "\n");
	return false;
}

/* After each case the queue pairs can be connected again and carry data. */
static void main_check_works(struct stage *st)
{
	struct ktest *t = st->t;
	struct region r;

	if (!check(t, !stage_again(st), "the queue pairs cannot be connected again"))
		return;
	side_fill(&st->a, 77);
	if (!region_simple(&st->b, &r, ALL_RIGHTS))
		return;
	want(post_rdma(&st->a, IB_WR_RDMA_WRITE, st->a.dma, 5000,
		       st->pd->local_dma_lkey, r.mr->iova, r.mr->rkey),
	     IB_WC_SUCCESS);
	check(t, !memcmp(st->b.buf, st->a.buf, 5000), "wrong data after the case");
	want(post_inv(&st->b, r.mr->rkey, 0), IB_WC_SUCCESS);
	region_free(&r);
}

void ktest_run(struct ktest *t, void (*fn)(struct stage *st, const void *arg),
	       const void *arg, const char *fmt, ...)
{
	struct stage *st;
	va_list args;

	t->bad = false;
	t->skip = NULL;
	st = stage_open(t, IB_POLL_WORKQUEUE, 4 * DEPTH);
	if (st) {
		fn(st, arg);
		if (!t->skip)
			main_check_works(st);
		stage_close(st);
	}
	ktest_say(t, "%sok %u - %s", t->bad ? "not " : "", ++t->number,
		  t->ipv4 ? "" : "over IPv6: ");
	va_start(args, fmt);
	main_vsay(t, fmt, args);
	va_end(args);
	if (t->skip)
		ktest_say(t, " # SKIP %s", t->skip);
	ktest_say(t, "\n");
}

/* Find a GID of the device that is not link-local: the core needs a route. */
static int main_find_gid(struct ktest *t)
{
	const struct ib_gid_attr *attr;
	const struct in6_addr *addr;
	int i;

	for (i = 0; i < 16; i++) {
		bool good;

		attr = rdma_get_gid_attr(t->dev, PORT, i);
		if (IS_ERR(attr))
			continue;
		t->gid = attr->gid;
		addr = (const struct in6_addr *)t->gid.raw;
		good = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		       ipv6_addr_v4mapped(addr) == t->ipv4 &&
		       !(ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL);
		rdma_put_gid_attr(attr);
		if (good) {
			t->gid_index = i;
			return 0;
		}
	}
	return -ENOENT;
}

static void main_run_groups(struct ktest *t)
{
	static const struct {
		const char *name;
		void (*fn)(struct ktest *t);
	} groups[] = {
		{ "reg", ktest_reg }, { "iova", ktest_iova },
		{ "invalidate", ktest_invalidate }, { "atomics", ktest_atomics },
		{ "post", ktest_post }, { "cq", ktest_cq },
		{ "srq", ktest_srq }, { "ud", ktest_ud }, { "uc", ktest_uc },
		{ "mcast", ktest_mcast }, { "vector", ktest_vector },
		{ "handler", ktest_handler }, { "stream", ktest_stream },
		{ "qd1", ktest_qd1 },
	};
	unsigned int i;

	if (main_find_gid(t)) {
		ktest_say(t, "not ok 1 - %s has an address\n", device);
		t->number++;
		return;
	}
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		if (!*only || !strcmp(only, groups[i].name))
			groups[i].fn(t);
}

static int main_add_device(struct ib_device *dev)
{
	if (strcmp(dev_name(&dev->dev), device))
		return -EOPNOTSUPP;
	main_run.dev = dev;
	main_run_groups(&main_run);
	main_run.dev = NULL;
	return 0;
}

/* Nothing is left to release. */
static void main_remove_device(struct ib_device *dev, void *data)
{
}

static struct ib_client main_client = {
	.name = "rover_ktest",
	.add = main_add_device,
	.remove = main_remove_device,
};

static int __init ktest_init(void)
{
	int err;

	main_run.ipv4 = !ipv6;
	main_run.quick = quick;
	main_run.slow = max(slow, 1U);
	main_run.text = vzalloc(TEXT_SIZE);
	main_run.pattern = vmalloc(BUF_SIZE + SEEDS);
	err = -ENOMEM;
	if (main_run.text && main_run.pattern) {
		get_random_bytes(main_run.pattern, BUF_SIZE + SEEDS);
		err = ib_register_client(&main_client);
		if (!err)
			ib_unregister_client(&main_client);
	}
	vfree(main_run.pattern);
	if (err) {
		vfree(main_run.text);
		return err;
	}
	ktest_say(&main_run, "1..%u\n", main_run.number);
	main_debugfs_blob.data = main_run.text;
	main_debugfs_blob.size = main_run.used;
	main_debugfs_file = debugfs_create_blob("rover_ktest", 0444, NULL,
						&main_debugfs_blob);
	return 0;
}

static void __exit ktest_exit(void)
{
	debugfs_remove(main_debugfs_file);
	vfree(main_run.text);
}

module_init(ktest_init);
module_exit(ktest_exit);

MODULE_DESCRIPTION("Tests of RDMA verbs for users in the kernel");
MODULE_LICENSE("GPL");
