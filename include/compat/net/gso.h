/* SPDX-License-Identifier: GPL-2.0 */
/* 6.5 gave GSO a header of its own. */
#ifndef ROVER_COMPAT_NET_GSO_H
#define ROVER_COMPAT_NET_GSO_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#include <linux/netdevice.h>
#else
#include_next <net/gso.h>
#endif

#endif /* ROVER_COMPAT_NET_GSO_H */
