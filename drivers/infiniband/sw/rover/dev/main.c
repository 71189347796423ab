// SPDX-License-Identifier: GPL-2.0
/*
 * main - the beginning and the end
 *
 * RoCEv2 over any Ethernet interface.  Documentation/architecture.rst tells
 * where everything is.
 */
#include <linux/crc32.h>
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "core/kick.h"
#include "dev/device.h"
#include "dev/link.h"
#include "dev/netns.h"
#include "mem/advise.h"
#include "mem/odp_work.h"
#include "qp/affinity.h"
#include "qp/qp_table.h"
#include "run/poller.h"
#include "run/run.h"
#include "rx/ingress.h"
#include "tx/gso_segment.h"
#include "tx/nettx.h"
#include "tx/shortcut.h"
#include "tx/skb_alloc.h"
#include "tx/trailer.h"
#include "verbs/verbs.h"

/* Many rooms have what is of a processor, and is theirs while softirqs are off. */
#if defined(CONFIG_PREEMPT_RT) && !defined(CONFIG_PREEMPT_RT_NEEDS_BH_LOCK)
#error "not for PREEMPT_RT, where softirqs are preempted by others"
#endif

static int __init rover_init(void)
{
	int err;

	rover_compat_crc32_init();
	err = rover_odp_work_init();
	if (err)
		goto err_crc32;
	err = rover_advise_init();
	if (err)
		goto err_pager;
	err = rover_skb_alloc_init();
	if (err)
		goto err_advise;
	err = rover_qp_table_init();
	if (err)
		goto err_buffer;
	rover_kick_init(rover_run_kicked);
	rover_shortcut_init(rover_ingress_shortcut, rover_nettx_resume);
	rover_poller_init();
	err = rover_affinity_init(rover_ingress_heavy);
	if (err)
		goto err_kick;
	rover_trailer_init();
	rover_gso_segment_init();
	err = rover_netns_init();
	if (err)
		goto err_segment;
	err = rover_device_init();
	if (err)
		goto err_netns;
	rover_link_init();
	return 0;

err_netns:
	rover_netns_exit();
err_segment:
	rover_gso_segment_exit();
	rover_affinity_exit();
err_kick:
	rover_shortcut_exit();
	rover_kick_exit();
	rover_qp_table_exit();
err_buffer:
	rover_skb_alloc_exit();
err_advise:
	rover_advise_exit();
err_pager:
	rover_odp_work_exit();
err_crc32:
	rover_compat_crc32_exit();
	return err;
}

static void __exit rover_exit(void)
{
	rover_link_exit();
	rover_device_exit();
	rover_netns_exit();
	/*
	 * Packets of the past are still in other devices' queues.  As long as
	 * they are they may kick, so wait for them first.
	 */
	rover_qp_table_exit();
	rover_poller_exit();
	rover_affinity_exit();
	rover_shortcut_exit();
	rover_kick_exit();
	rover_gso_segment_exit();
	rover_trailer_exit();
	rover_skb_alloc_exit();
	rover_advise_exit();
	rover_odp_work_exit();
	/* Memory regions and whatever else was left to RCU. */
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
