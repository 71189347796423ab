/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_LINUX_INTERRUPT_H
#define ROVER_COMPAT_LINUX_INTERRUPT_H

#include <linux/version.h>
#include_next <linux/interrupt.h>

/*
 * On PREEMPT_RT a CPU has a lock that keeps sections with softirqs off apart.
 * Until 6.17 always, since then as an option (decision 0054).
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0) && \
	defined(CONFIG_PREEMPT_RT) && !defined(CONFIG_PREEMPT_RT_NEEDS_BH_LOCK)
#error "on PREEMPT_RT, rover needs a kernel with CONFIG_PREEMPT_RT_NEEDS_BH_LOCK"
#endif

#endif /* ROVER_COMPAT_LINUX_INTERRUPT_H */
