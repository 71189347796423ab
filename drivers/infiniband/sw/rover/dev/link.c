// SPDX-License-Identifier: GPL-2.0
/*
 * link - `rdma link add NAME type rover netdev DEV'
 *
 * The core handles `rdma link delete'.
 */
#include <rdma/rdma_netlink.h>

#include "dev/device.h"
#include "dev/link.h"

static int link_newlink(const char *name, struct net_device *ndev)
{
	return rover_device_add(name, ndev);
}

static struct rdma_link_ops link_ops = {
	.type = "rover",
	.newlink = link_newlink,
};

void rover_link_init(void)
{
	rdma_link_register(&link_ops);
}

void rover_link_exit(void)
{
	rdma_link_unregister(&link_ops);
}
