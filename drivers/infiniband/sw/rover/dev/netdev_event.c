// SPDX-License-Identifier: GPL-2.0
/*
 * netdev_event - events of the interfaces that have a device
 *
 * Link changes become port events; a device goes with its interface.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_verbs.h>

#include "core/dev.h"
#include "dev/device.h"
#include "dev/netdev_event.h"

/* Newer cores report link changes by themselves, except for bonds. */
static void netdev_event_report_port(struct rover_dev *dev)
{
	enum ib_port_state state = ib_get_curr_port_state(dev->ndev);

	ASSERT_RTNL();
	if (state == dev->port_state)
		return;
	dev->port_state = state;
	ib_dispatch_port_state_event(&dev->ib, dev->ndev);
}

static int netdev_event_notify(struct notifier_block *nb, unsigned long event,
			       void *arg)
{
	struct rover_dev *dev;
	int ret = NOTIFY_DONE;

	dev = rover_device_get_by_netdev(netdev_notifier_info_to_dev(arg));
	if (!dev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		WRITE_ONCE(dev->speed.changed, true);
		netdev_event_report_port(dev);
		break;
	case NETDEV_UNREGISTER:
		/* Queued: unregistering takes RTNL. */
		ib_unregister_device_queued(&dev->ib);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		/* No bond may change to a non-Ethernet type. */
		ret = NOTIFY_BAD;
		break;
	}
	ib_device_put(&dev->ib);
	return ret;
}

static struct notifier_block netdev_event_notifier = {
	.notifier_call = netdev_event_notify,
};

int rover_netdev_event_init(void)
{
	return register_netdevice_notifier(&netdev_event_notifier);
}

void rover_netdev_event_exit(void)
{
	unregister_netdevice_notifier(&netdev_event_notifier);
}
