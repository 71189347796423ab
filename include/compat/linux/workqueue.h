/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_LINUX_WORKQUEUE_H
#define ROVER_COMPAT_LINUX_WORKQUEUE_H

#include <linux/version.h>
#include_next <linux/workqueue.h>

/* Before, what was not WQ_UNBOUND was per CPU without being asked. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define WQ_PERCPU	0
#endif

#endif /* ROVER_COMPAT_LINUX_WORKQUEUE_H */
