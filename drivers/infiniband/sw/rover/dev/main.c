// SPDX-License-Identifier: GPL-2.0
/*
 * main - module init and exit
 *
 * RoCEv2 over any Ethernet interface: see Documentation/architecture.rst.
 */
#include <linux/crc32.h>
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "core/kick.h"
#include "dev/device.h"
#include "dev/netdev_event.h"
#include "dev/netns.h"
#include "dev/newlink.h"
#include "mem/odp_pool.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "run/poller.h"
#include "run/run.h"
#include "rx/backlog.h"
#include "rx/steer.h"
#include "tx/gso_segment.h"
#include "tx/nettx.h"
#include "tx/shortcut.h"
#include "tx/skb_alloc.h"
#include "tx/trailer.h"
#include "verbs/verbs.h"

static int __init rover_init(void)
{
	int err;

	rover_compat_crc32_init();
	err = rover_odp_pool_init();
	if (err)
		goto err_crc32;
	err = rover_skb_alloc_init();
	if (err)
		goto err_odp_pool;
	err = rover_qp_table_init();
	if (err)
		goto err_skb_alloc;
	rover_kick_init(rover_run_kicked);
	rover_shortcut_init(rover_steer_shortcut, rover_nettx_send_queued);
	rover_poller_init();
	err = rover_affinity_init(rover_backlog_worker);
	if (err)
		goto err_poller;
	rover_trailer_init();
	rover_gso_segment_init();
	err = rover_netns_init();
	if (err)
		goto err_gso_segment;
	err = rover_netdev_event_init();
	if (err)
		goto err_netns;
	err = rover_device_init();
	if (err)
		goto err_netdev_event;
	rover_newlink_init();
	return 0;

err_netdev_event:
	rover_netdev_event_exit();
err_netns:
	rover_netns_exit();
err_gso_segment:
	rover_gso_segment_exit();
	rover_trailer_exit();
	rover_affinity_exit();
err_poller:
	rover_poller_exit();
	rover_shortcut_exit();
	rover_kick_exit();
	rover_qp_table_exit();
err_skb_alloc:
	rover_skb_alloc_exit();
err_odp_pool:
	rover_odp_pool_exit();
err_crc32:
	rover_compat_crc32_exit();
	return err;
}

static void __exit rover_exit(void)
{
	rover_newlink_exit();
	rover_device_exit();
	rover_netdev_event_exit();
	rover_netns_exit();
	/* First: skbs in netdev queues hold QPs and may kick. */
	rover_qp_table_exit();
	rover_poller_exit();
	rover_affinity_exit();
	rover_shortcut_exit();
	rover_kick_exit();
	rover_gso_segment_exit();
	rover_trailer_exit();
	rover_skb_alloc_exit();
	rover_odp_pool_exit();
	/* For call_rcu(), as of memory regions. */
	rcu_barrier();
	rover_compat_crc32_exit();
}

module_init(rover_init);
module_exit(rover_exit);

MODULE_DESCRIPTION("RoCEv2 RDMA over any Ethernet interface");
MODULE_AUTHOR("The rover developers");
MODULE_LICENSE("GPL");
MODULE_VERSION(ROVER_VERSION);
MODULE_ALIAS_RDMA_LINK("rover");
