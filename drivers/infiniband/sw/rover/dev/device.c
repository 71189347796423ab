// SPDX-License-Identifier: GPL-2.0
/*
 * device - RDMA device of a network interface
 *
 * A device ends by `rdma link delete', or when its interface goes or changes
 * namespaces, or the module goes.  The core removes clients in reverse order of
 * registration: first this file's, which sets @unregistering so that destroyed
 * user QPs are flushed, then uverbs. dealloc_driver comes last.  Nothing waits
 * for userspace.
 */
#define pr_fmt(fmt) "rover: " fmt

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/rover-abi.h>

#include "core/dev.h"
#include "dev/cc_admin.h"
#include "dev/device.h"
#include "dev/gid.h"
#include "dev/netns.h"
#include "mem/mkey.h"
#include "qp/cq.h"
#include "rc/cc.h"
#include "verbs/ucontext.h"
#include "verbs/verbs.h"
#include "wire/wire.h"

/* Serializes adding: one device per interface. */
static DEFINE_MUTEX(device_add_mutex);

static void device_dealloc_driver(struct ib_device *ib)
{
	struct rover_dev *dev = rover_dev(ib);

	WARN_ON(atomic_read(&dev->qps));
	rover_netns_leave(dev);
	WARN_ON(!list_empty(&dev->flow_input.rules));
	rover_mcast_exit(&dev->mcasts);
	rover_table_destroy(&dev->srqs);
	rover_table_destroy(&dev->ahs);
	rover_table_destroy(&dev->mrs);
	WARN_ON(!xa_empty(&dev->counters));
	free_percpu(dev->stats);
	/* Last: @ndev keeps its namespace alive. */
	dev_put(dev->ndev);
}

/*
 * Called before clients are added, and after a move to another RDMA namespace,
 * when netdev_event cannot find the device: check its interface.
 */
static int device_enable_driver(struct ib_device *ib)
{
	struct rover_dev *dev = rover_dev(ib);

	WRITE_ONCE(dev->unregistering, false);
	rtnl_lock();
	if (!rover_dev_registered(dev))
		ib_unregister_device_queued(ib);
	rtnl_unlock();
	return 0;
}

static const struct ib_device_ops device_lifecycle_ops = {
	.owner = THIS_MODULE,
	.driver_id = ROVER_DRIVER_ID,
	.device_group = &rover_cc_admin_group,
	.add_gid = rover_gid_add,
	.del_gid = rover_gid_del,
	.enable_driver = device_enable_driver,
	.dealloc_driver = device_dealloc_driver,
};

struct rover_dev *rover_device_get_by_netdev(struct net_device *ndev)
{
	struct ib_device *ib = ib_device_get_by_netdev(ndev, ROVER_DRIVER_ID);

	if (!ib)
		return NULL;
	/* ROVER_DRIVER_ID is not reserved: other drivers may use it. */
	if (ib->ops.owner != THIS_MODULE) {
		ib_device_put(ib);
		return NULL;
	}
	return rover_dev(ib);
}

static void device_warn_vlan(const struct net_device *ndev)
{
	const struct net_device *lower = vlan_dev_real_dev(ndev);

	if (net_eq(dev_net(lower), dev_net(ndev)))
		pr_warn_ratelimited("%s is a VLAN: add the link on %s, which then has the GIDs of %s\n",
				    netdev_name(ndev), netdev_name(lower),
				    netdev_name(ndev));
	else
		pr_warn_ratelimited("%s is a VLAN: add the link on a macvlan interface on %s\n",
				    netdev_name(ndev), netdev_name(ndev));
}

static int device_check_netdev(struct net_device *ndev)
{
	struct rover_dev *dev;

	if (ndev->type != ARPHRD_ETHER && ndev->type != ARPHRD_LOOPBACK) {
		pr_warn_ratelimited("%s is not an Ethernet interface: rover needs one\n",
				    netdev_name(ndev));
		return -EOPNOTSUPP;
	}
	if (is_vlan_dev(ndev)) {
		device_warn_vlan(ndev);
		return -EOPNOTSUPP;
	}
	dev = rover_device_get_by_netdev(ndev);
	if (dev) {
		pr_warn_ratelimited("%s already has an RDMA device: use %s or delete it first\n",
				    netdev_name(ndev), dev_name(&dev->ib.dev));
		ib_device_put(&dev->ib);
		return -EEXIST;
	}
	return 0;
}

/* device_dealloc_driver() undoes it in reverse order. */
static int device_setup_resources(struct rover_dev *dev,
				  struct net_device *ndev, struct net *net)
{
	int err;

	dev->ndev = ndev;
	dev_hold(ndev);

	dev->stats = alloc_percpu(struct rover_stats);
	if (!dev->stats) {
		err = -ENOMEM;
		goto err_ndev;
	}
	mutex_init(&dev->speed.lock);
	rover_cc_config_init(&dev->cc);
	xa_init_flags(&dev->counters, XA_FLAGS_ALLOC1);
	INIT_LIST_HEAD(&dev->flow_input.rules);
	err = rover_table_init(&dev->mrs, ROVER_MKEY_MASK);
	if (err)
		goto err_stats;
	err = rover_table_init(&dev->ahs, U32_MAX);
	if (err)
		goto err_mrs;
	err = rover_table_init(&dev->srqs, ROVER_24BIT);
	if (err)
		goto err_ahs;
	err = rover_mcast_init(&dev->mcasts);
	if (err)
		goto err_srqs;
	err = rover_netns_join(dev, net);
	if (err)
		goto err_mcasts;
	return 0;

err_mcasts:
	rover_mcast_exit(&dev->mcasts);
err_srqs:
	rover_table_destroy(&dev->srqs);
err_ahs:
	rover_table_destroy(&dev->ahs);
err_mrs:
	rover_table_destroy(&dev->mrs);
err_stats:
	free_percpu(dev->stats);
err_ndev:
	dev_put(ndev);
	return err;
}

static void device_describe(struct rover_dev *dev)
{
	struct ib_device *ib = &dev->ib;

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = rover_cq_vectors();
	ib->driver_def = rover_ucontext_defs;
	strscpy(ib->node_desc, "rover", sizeof(ib->node_desc));
	addrconf_addr_eui48((u8 *)&ib->node_guid, dev->ndev->dev_addr);

	ib_set_device_ops(ib, &rover_verbs);
	ib_set_device_ops(ib, &device_lifecycle_ops);
}

static int device_register_link(const char *name, struct net_device *ndev,
				struct net *net)
{
	struct rover_dev *dev;
	int err;

	err = device_check_netdev(ndev);
	if (err)
		return err;
	dev = ib_alloc_device_with_net(rover_dev, ib, net);
	if (!dev)
		return -ENOMEM;
	err = device_setup_resources(dev, ndev, net);
	if (err)
		goto err_dealloc;

	/* From here ib_dealloc_device() calls device_dealloc_driver(). */
	device_describe(dev);
	/* Before ib_register_device(), which adds the interface's GIDs. */
	err = ib_device_set_netdev(&dev->ib, ndev, 1);
	if (err)
		goto err_dealloc;
	err = ib_register_device(&dev->ib, name, NULL);
	/* The core returns -ENFILE if the name is taken. */
	if (err == -ENFILE)
		err = -EEXIST;
	if (err)
		goto err_dealloc;
	/* @dev may be unregistered already. */
	return 0;

err_dealloc:
	ib_dealloc_device(&dev->ib);
	return err;
}

/*
 * netdev_event misses an interface that goes or moves before registration.
 * Under RTNL, this check sees it, or netdev_event runs later.
 */
static int device_recheck_netdev(struct net_device *ndev, struct net *net)
{
	struct rover_dev *dev;
	bool present;

	rtnl_lock();
	present = ndev->reg_state == NETREG_REGISTERED &&
		  net_eq(dev_net(ndev), net);
	dev = rover_device_get_by_netdev(ndev);
	if (dev)
		dev->port_state = ib_get_curr_port_state(ndev);
	rtnl_unlock();

	if (present) {
		if (dev)
			ib_device_put(&dev->ib);
		return 0;
	}
	if (dev)
		ib_unregister_device_and_put(&dev->ib);
	return -ENODEV;
}

int rover_device_add(const char *name, struct net_device *ndev)
{
	struct net *net;
	int err;

	/* Keep the namespace alive even if @ndev moves. */
	rtnl_lock();
	net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();
	if (!net)
		return -ENODEV;
	mutex_lock(&device_add_mutex);
	err = device_register_link(name, ndev, net);
	if (!err)
		err = device_recheck_netdev(ndev, net);
	mutex_unlock(&device_add_mutex);
	put_net(net);
	return err;
}

static int device_client_add(struct ib_device *ib)
{
	return ib->ops.owner == THIS_MODULE ? 0 : -EOPNOTSUPP;
}

static void device_client_remove(struct ib_device *ib, void *data)
{
	WRITE_ONCE(rover_dev(ib)->unregistering, true);
}

static struct ib_client device_ib_client = {
	.name = "rover",
	.add = device_client_add,
	.remove = device_client_remove,
	.no_kverbs_req = true,
};

int rover_device_init(void)
{
	return ib_register_client(&device_ib_client);
}

void rover_device_exit(void)
{
	ib_unregister_driver(ROVER_DRIVER_ID);
	ib_unregister_client(&device_ib_client);
}
