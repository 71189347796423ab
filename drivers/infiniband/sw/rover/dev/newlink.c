// SPDX-License-Identifier: GPL-2.0
/*
 * newlink - `rdma link add NAME type rover netdev DEV'
 *
 * The core handles `rdma link delete'.
 */
#include <rdma/rdma_netlink.h>

#include "dev/device.h"
#include "dev/newlink.h"

static int newlink_add(const char *name, struct net_device *ndev)
{
	return rover_device_add(name, ndev);
}

static struct rdma_link_ops newlink_ops = {
	.type = "rover",
	.newlink = newlink_add,
};

void rover_newlink_init(void)
{
	rdma_link_register(&newlink_ops);
}

void rover_newlink_exit(void)
{
	rdma_link_unregister(&newlink_ops);
}
