// SPDX-License-Identifier: GPL-2.0
/*
 * gid - entries of the GID table
 *
 * The core owns the table.  It makes entries of the addresses of the device's
 * interface and of its upper interfaces, for each version of RoCE, and asks here
 * for each.
 */
#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/rtnetlink.h>
#include <rdma/ib_verbs.h>

#include "core/dev.h"
#include "dev/gid.h"

/*
 * ipvlan demultiplexes by IP address, so RoCE v1 frames stay with the lower
 * interface, perhaps in another namespace.  If @ndev is going, do not call
 * get_link_net().
 */
static bool gid_gets_rocev1(const struct net_device *ndev)
{
	const struct rtnl_link_ops *link;
	bool arrives = true;

	rcu_read_lock();
	link = ndev->rtnl_link_ops;
	if (link && READ_ONCE(ndev->reg_state) == NETREG_REGISTERED &&
	    (!strcmp(link->kind, "ipvlan") || !strcmp(link->kind, "ipvtap")))
		arrives = link->get_link_net &&
			  net_eq(link->get_link_net(ndev), dev_net(ndev));
	rcu_read_unlock();
	return arrives;
}

int rover_gid_add(const struct ib_gid_attr *attr, void **context)
{
	const struct rover_dev *dev = rover_dev(attr->device);
	const struct net_device *ndev;

	/* The core has not published the entry yet. */
	ndev = rcu_dereference_protected(attr->ndev, true);
	if (!net_eq(dev_net(ndev), dev->rnet->net))
		return -EXDEV;
	if (attr->gid_type == IB_GID_TYPE_ROCE && !gid_gets_rocev1(ndev))
		return -EOPNOTSUPP;
	return 0;
}

int rover_gid_del(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}
