/* SPDX-License-Identifier: GPL-2.0 */
/* 6.6 gave receive queues a header of their own. */
#ifndef ROVER_COMPAT_NET_NETDEV_RX_QUEUE_H
#define ROVER_COMPAT_NET_NETDEV_RX_QUEUE_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#include <linux/netdevice.h>
#else
#include_next <net/netdev_rx_queue.h>
#endif

#endif /* ROVER_COMPAT_NET_NETDEV_RX_QUEUE_H */
