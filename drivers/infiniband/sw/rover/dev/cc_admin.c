// SPDX-License-Identifier: GPL-2.0
/*
 * cc_admin - choice of congestion control by administrators
 *
 * net.rover.congestion_control is the algorithm of a namespace, and
 * /sys/class/infiniband/DEV/cc has that of a device and the knobs.  New
 * connections take what is chosen then; knobs apply at once.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>

#include "dev/cc_admin.h"
#include "rc/cc.h"

/* Longest list of algorithms, and longest name */
#define NAMES_MAX	64

/* A device that follows its namespace */
#define FOLLOW		"default"

/* Namespaces *****************************************************************/

static int cc_admin_do_name(rover_ctl_table *table, int write, void *buffer,
			    size_t *size, loff_t *at)
{
	struct rover_net *rnet = table->data;
	char name[NAMES_MAX];
	rover_ctl_table copy = { .data = name, .maxlen = sizeof(name) };
	const struct rover_cc_ops *ops;
	int err;

	strscpy(name, rover_cc_name(READ_ONCE(rnet->cc_ops)), sizeof(name));
	err = proc_dostring(&copy, write, buffer, size, at);
	if (err || !write)
		return err;
	ops = rover_cc_find(name);
	if (!ops)
		return -EINVAL;
	WRITE_ONCE(rnet->cc_ops, ops);
	return 0;
}

static int cc_admin_do_names(rover_ctl_table *table, int write, void *buffer,
			     size_t *size, loff_t *at)
{
	char names[NAMES_MAX];
	rover_ctl_table copy = { .data = names, .maxlen = sizeof(names) };

	rover_cc_names(names, sizeof(names));
	return proc_dostring(&copy, write, buffer, size, at);
}

/* Old kernels need the empty entry at the end. */
static const struct ctl_table cc_admin_sysctls[] = {
	{
		.procname = "congestion_control",
		.maxlen = NAMES_MAX,
		.mode = 0644,
		.proc_handler = cc_admin_do_name,
	}, {
		.procname = "available_congestion_control",
		.maxlen = NAMES_MAX,
		.mode = 0444,
		.proc_handler = cc_admin_do_names,
	}, { }
};

int rover_cc_admin_init(struct rover_net *rnet)
{
	rover_ctl_entry *table;

	if (!IS_ENABLED(CONFIG_SYSCTL))
		return 0;
	table = kmemdup(cc_admin_sysctls, sizeof(cc_admin_sysctls), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table[0].data = rnet;
	rnet->sysctls = register_net_sysctl_sz(rnet->net, "net/rover", table,
					       ARRAY_SIZE(cc_admin_sysctls) - 1);
	if (!rnet->sysctls) {
		kfree(table);
		return -ENOMEM;
	}
	rnet->sysctl_table = table;
	return 0;
}

void rover_cc_admin_exit(struct rover_net *rnet)
{
	if (!rnet->sysctls)
		return;
	unregister_net_sysctl_table(rnet->sysctls);
	kfree(rnet->sysctl_table);
}

/* Devices ********************************************************************/

/**
 * struct cc_admin_knob - file of a knob
 * @attr: the file
 * @knob: which one
 */
struct cc_admin_knob {
	struct device_attribute attr;
	enum rover_dcqcn_knob knob;
};

static struct rover_dev *cc_admin_dev(struct device *device)
{
	return rdma_device_to_drv_device(device, struct rover_dev, ib);
}

/* The core shows a device in other namespaces, whose users own files there. */
static bool cc_admin_may_write(const struct rover_dev *dev)
{
	return ns_capable(dev->rnet->net->user_ns, CAP_NET_ADMIN);
}

static ssize_t algorithm_show(struct device *device,
			      struct device_attribute *attr, char *buf)
{
	const struct rover_cc_ops *ops = READ_ONCE(cc_admin_dev(device)->cc.ops);

	return sysfs_emit(buf, "%s\n", ops ? rover_cc_name(ops) : FOLLOW);
}

static ssize_t algorithm_store(struct device *device,
			       struct device_attribute *attr, const char *buf,
			       size_t size)
{
	struct rover_dev *dev = cc_admin_dev(device);
	const struct rover_cc_ops *ops = NULL;
	char name[NAMES_MAX];

	if (!cc_admin_may_write(dev))
		return -EPERM;
	if (!sysfs_streq(buf, FOLLOW)) {
		strscpy(name, buf, sizeof(name));
		ops = rover_cc_find(strim(name));
		if (!ops)
			return -EINVAL;
	}
	WRITE_ONCE(dev->cc.ops, ops);
	return size;
}

static DEVICE_ATTR_RW(algorithm);

static ssize_t cc_admin_show_knob(struct device *device,
				  struct device_attribute *attr, char *buf)
{
	const struct cc_admin_knob *file =
		container_of(attr, struct cc_admin_knob, attr);
	const struct rover_dev *dev = cc_admin_dev(device);

	return sysfs_emit(buf, "%u\n", READ_ONCE(dev->cc.dcqcn[file->knob]));
}

static ssize_t cc_admin_store_knob(struct device *device,
				   struct device_attribute *attr,
				   const char *buf, size_t size)
{
	const struct cc_admin_knob *file =
		container_of(attr, struct cc_admin_knob, attr);
	const struct rover_dcqcn_knob_info *info = &rover_dcqcn_knobs[file->knob];
	struct rover_dev *dev = cc_admin_dev(device);
	unsigned int value;

	if (!cc_admin_may_write(dev))
		return -EPERM;
	if (kstrtouint(buf, 0, &value) || value < info->least ||
	    value > info->greatest)
		return -EINVAL;
	WRITE_ONCE(dev->cc.dcqcn[file->knob], value);
	return size;
}

static struct cc_admin_knob cc_admin_knobs[] = {
#define X(name, value, least, greatest)					\
	{ __ATTR(name, 0644, cc_admin_show_knob, cc_admin_store_knob),	\
	  ROVER_DCQCN_##name },
	ROVER_DCQCN_KNOBS(X)
#undef X
};

static struct attribute *cc_admin_attrs[] = {
	&dev_attr_algorithm.attr,
#define X(name, value, least, greatest) \
	&cc_admin_knobs[ROVER_DCQCN_##name].attr.attr,
	ROVER_DCQCN_KNOBS(X)
#undef X
	NULL,
};

const struct attribute_group rover_cc_admin_group = {
	.name = "cc",
	.attrs = cc_admin_attrs,
};
