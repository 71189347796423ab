/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROVER_COMPAT_LINUX_HRTIMER_H
#define ROVER_COMPAT_LINUX_HRTIMER_H

#include <linux/version.h>
#include_next <linux/hrtimer.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* ROVER_COMPAT_LINUX_HRTIMER_H */
