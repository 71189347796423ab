// SPDX-License-Identifier: GPL-2.0
/*
 * device - the life of an RDMA device on its network interface
 *
 * A device follows its interface.  State, MTU, name and speed are looked at
 * when somebody asks, addresses become GIDs by the core's own doing; what is
 * left for us is to tell programs when the link comes and goes, and to go
 * ourselves when the interface does.  An interface that moves to another
 * namespace is gone for those who used it: so is its device.
 *
 * The end of a device has three beginnings (rdma link delete, the interface,
 * the module) and one way: the core takes it from its clients, in reverse
 * order of their registration.  Ours comes before that of the programs, since
 * we are loaded after it, and sets @going: queue pairs that the core then
 * destroys under a program hand back what they hold.  At last the core calls
 * dealloc_driver.  Nobody of us waits for programs.
 */
#define pr_fmt(fmt) "rover: " fmt

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/rtnetlink.h>
#include <rdma/rover-abi.h>

#include "core/dev.h"
#include "dev/device.h"
#include "dev/netns.h"
#include "mem/mkey.h"
#include "qp/cq.h"
#include "verbs/ucontext.h"
#include "verbs/verbs.h"
#include "wire/wire.h"

/* One at a time, so that an interface gets one device. */
static DEFINE_MUTEX(adding);

static void dealloc_driver(struct ib_device *ib)
{
	struct rover_dev *dev = rover_dev(ib);

	WARN_ON(atomic_read(&dev->qps));
	rover_netns_leave(dev);
	WARN_ON(!list_empty(&dev->tap.rules));
	rover_mcast_exit(&dev->mcasts);
	rover_table_destroy(&dev->srqs);
	rover_table_destroy(&dev->ahs);
	rover_table_destroy(&dev->mrs);
	WARN_ON(!xa_empty(&dev->counters));
	free_percpu(dev->stats);
	/* Last: the namespace lives as long as its interfaces. */
	dev_put(dev->ndev);
}

/*
 * Clients come next; also when it comes back, in another RDMA namespace.  While it was
 * away nobody could find it, not even the notifier: so has its interface moved?
 */
static int enable_driver(struct ib_device *ib)
{
	struct rover_dev *dev = rover_dev(ib);

	WRITE_ONCE(dev->going, false);
	rtnl_lock();
	if (!rover_dev_here(dev))
		ib_unregister_device_queued(ib);
	rtnl_unlock();
	return 0;
}

/*
 * ipvlan tells its interfaces apart by IP address, so the frames of RoCE v1 stay with
 * the interface below.  @ndev may be going: its link is not looked at then.
 */
static bool frames_come(const struct net_device *ndev)
{
	const struct rtnl_link_ops *link;
	bool come = true;

	rcu_read_lock();
	link = ndev->rtnl_link_ops;
	if (link && READ_ONCE(ndev->reg_state) == NETREG_REGISTERED &&
	    (!strcmp(link->kind, "ipvlan") || !strcmp(link->kind, "ipvtap")))
		come = link->get_link_net &&
		       net_eq(link->get_link_net(ndev), dev_net(ndev));
	rcu_read_unlock();
	return come;
}

/*
 * The core offers each device the addresses of all interfaces above its own, in any
 * namespace.  One in another namespace is no GID of ours: its packets would have to
 * be routed, filtered and received there.  The interface can have its own device.
 * The core asks again when the interface moves, and takes back what it left behind.
 */
static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	const struct rover_dev *dev = rover_dev(attr->device);
	const struct net_device *ndev;

	/* The core has just set it and shows the entry to nobody yet. */
	ndev = rcu_dereference_protected(attr->ndev, true);
	if (!net_eq(dev_net(ndev), dev->rnet->net))
		return -EXDEV;
	if (attr->gid_type == IB_GID_TYPE_ROCE && !frames_come(ndev))
		return -EOPNOTSUPP;
	return 0;
}

/* The core keeps the table. */
static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static const struct ib_device_ops life = {
	.owner = THIS_MODULE,
	.driver_id = ROVER_DRIVER_ID,
	.add_gid = add_gid,
	.del_gid = del_gid,
	.enable_driver = enable_driver,
	.dealloc_driver = dealloc_driver,
};

/* A device of ours on this interface, with a reference; or NULL. */
static struct rover_dev *get_by_netdev(struct net_device *ndev)
{
	struct ib_device *ib = ib_device_get_by_netdev(ndev, ROVER_DRIVER_ID);

	if (!ib)
		return NULL;
	/* The number is nobody's, and so is nobody's to keep to. */
	if (ib->ops.owner != THIS_MODULE) {
		ib_device_put(ib);
		return NULL;
	}
	return rover_dev(ib);
}

/* The core gives a device on a VLAN no GIDs: they are in that of the real device. */
static void warn_vlan(const struct net_device *ndev)
{
	const struct net_device *real = vlan_dev_real_dev(ndev);

	if (net_eq(dev_net(real), dev_net(ndev)))
		pr_warn_ratelimited("%s is a VLAN: add the link on %s, which then has the GIDs of %s\n",
				    netdev_name(ndev), netdev_name(real),
				    netdev_name(ndev));
	else
		pr_warn_ratelimited("%s is a VLAN: add the link on a macvlan interface on %s\n",
				    netdev_name(ndev), netdev_name(ndev));
}

static int check_netdev(struct net_device *ndev)
{
	struct rover_dev *dev;

	if (ndev->type != ARPHRD_ETHER && ndev->type != ARPHRD_LOOPBACK) {
		pr_warn_ratelimited("%s is no Ethernet interface\n",
				    netdev_name(ndev));
		return -EOPNOTSUPP;
	}
	if (is_vlan_dev(ndev)) {
		warn_vlan(ndev);
		return -EOPNOTSUPP;
	}
	dev = get_by_netdev(ndev);
	if (dev) {
		pr_warn_ratelimited("%s has a device already: %s\n",
				    netdev_name(ndev), dev_name(&dev->ib.dev));
		ib_device_put(&dev->ib);
		return -EEXIST;
	}
	return 0;
}

/* All that dealloc_driver() takes apart, in its reverse order. */
static int setup(struct rover_dev *dev, struct net_device *ndev,
		 struct net *net)
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
	xa_init_flags(&dev->counters, XA_FLAGS_ALLOC1);
	INIT_LIST_HEAD(&dev->tap.rules);
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

static void describe(struct rover_dev *dev)
{
	struct ib_device *ib = &dev->ib;

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = rover_cq_vectors();
	ib->driver_def = rover_ucontext_defs;
	strscpy(ib->node_desc, "rover", sizeof(ib->node_desc));
	addrconf_addr_eui48((u8 *)&ib->node_guid, dev->ndev->dev_addr);

	ib_set_device_ops(ib, &rover_verbs);
	ib_set_device_ops(ib, &life);
}

static int add(const char *name, struct net_device *ndev, struct net *net)
{
	struct rover_dev *dev;
	int err;

	err = check_netdev(ndev);
	if (err)
		return err;
	dev = ib_alloc_device_with_net(rover_dev, ib, net);
	if (!dev)
		return -ENOMEM;
	err = setup(dev, ndev, net);
	if (err)
		goto err_dealloc;

	/* From here on ib_dealloc_device() calls dealloc_driver(). */
	describe(dev);
	/* Before the registration, which then finds the interface's GIDs. */
	err = ib_device_set_netdev(&dev->ib, ndev, 1);
	if (err)
		goto err_dealloc;
	err = ib_register_device(&dev->ib, name, NULL);
	/* What the core calls a taken name reads as too many open files. */
	if (err == -ENFILE)
		err = -EEXIST;
	if (err)
		goto err_dealloc;
	/* By now somebody may have removed it again: @dev is not ours. */
	return 0;

err_dealloc:
	ib_dealloc_device(&dev->ib);
	return err;
}

/*
 * An interface that went, or went elsewhere, before the core knew our device
 * has told us in vain.  Under RTNL: either its notifier is behind us and we
 * see it, or it comes after us and finds the device.
 */
static int recheck_netdev(struct net_device *ndev, struct net *net)
{
	struct rover_dev *dev;
	bool there;

	rtnl_lock();
	there = ndev->reg_state == NETREG_REGISTERED &&
		net_eq(dev_net(ndev), net);
	dev = get_by_netdev(ndev);
	if (dev)
		dev->port_state = ib_get_curr_port_state(ndev);
	rtnl_unlock();

	if (there) {
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

	/* It may move at any time, and the namespace it has left may end: not now. */
	rtnl_lock();
	net = maybe_get_net(dev_net(ndev));
	rtnl_unlock();
	if (!net)
		return -ENODEV;
	mutex_lock(&adding);
	err = add(name, ndev, net);
	if (!err)
		err = recheck_netdev(ndev, net);
	mutex_unlock(&adding);
	put_net(net);
	return err;
}

/* Newer cores tell programs by themselves, except of bonds. */
static void report_port(struct rover_dev *dev)
{
	enum ib_port_state state = ib_get_curr_port_state(dev->ndev);

	ASSERT_RTNL();
	if (state == dev->port_state)
		return;
	dev->port_state = state;
	ib_dispatch_port_state_event(&dev->ib, dev->ndev);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *arg)
{
	struct rover_dev *dev;
	int verdict = NOTIFY_DONE;

	dev = get_by_netdev(netdev_notifier_info_to_dev(arg));
	if (!dev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		WRITE_ONCE(dev->speed.changed, true);
		report_port(dev);
		break;
	case NETDEV_UNREGISTER:
		/* Not now: this is RTNL, which unregistering wants, too. */
		ib_unregister_device_queued(&dev->ib);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		/* A bond is about to be no Ethernet interface any more. */
		verdict = NOTIFY_BAD;
		break;
	}
	ib_device_put(&dev->ib);
	return verdict;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

static int client_add(struct ib_device *ib)
{
	/* Of other drivers' devices we do not want to hear. */
	return ib->ops.owner == THIS_MODULE ? 0 : -EOPNOTSUPP;
}

static void client_remove(struct ib_device *ib, void *data)
{
	WRITE_ONCE(rover_dev(ib)->going, true);
}

static struct ib_client client = {
	.name = "rover",
	.add = client_add,
	.remove = client_remove,
	.no_kverbs_req = true,
};

int rover_device_init(void)
{
	int err;

	err = ib_register_client(&client);
	if (err)
		return err;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto err_client;
	return 0;

err_client:
	ib_unregister_client(&client);
	return err;
}

void rover_device_exit(void)
{
	ib_unregister_driver(ROVER_DRIVER_ID);
	unregister_netdevice_notifier(&netdev_notifier);
	ib_unregister_client(&client);
}
