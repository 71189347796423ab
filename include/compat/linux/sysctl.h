/* SPDX-License-Identifier: GPL-2.0 */
/* sysctl tables of namespaces, and the tables that handlers get */
#ifndef ROVER_COMPAT_LINUX_SYSCTL_H
#define ROVER_COMPAT_LINUX_SYSCTL_H

#include_next <linux/sysctl.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
/* The table ends with an empty entry. */
#define register_net_sysctl_sz(net, path, table, size) \
	register_net_sysctl(net, path, table)
#endif

/* An entry before it is registered, which no kernel wants to be const */
#define rover_ctl_entry		struct ctl_table

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define rover_ctl_table		struct ctl_table
#else
#define rover_ctl_table		const struct ctl_table
#endif

#endif /* ROVER_COMPAT_LINUX_SYSCTL_H */
