/* SPDX-License-Identifier: GPL-2.0 */
/* time - ktime and hrtimers on the virtual clock */
#ifndef SIM_TIME_H
#define SIM_TIME_H

#define USEC_PER_SEC	1000000L
#define USEC_PER_MSEC	1000L

typedef s64 ktime_t;

extern u64 clock_now;

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum hrtimer_mode {
	HRTIMER_MODE_ABS,
	HRTIMER_MODE_REL,
	HRTIMER_MODE_ABS_SOFT,
	HRTIMER_MODE_REL_SOFT,
};

#define CLOCK_MONOTONIC	1

/**
 * struct hrtimer - timer
 * @function: called in softirq
 * @expires: ns
 * @serial: of the event in the heap; others are stale
 * @queued: armed
 * @end: whose CPU it interrupts
 */
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	ktime_t expires;
	u64 serial;
	bool queued;
	struct end *end;
};

void hrtimer_start(struct hrtimer *timer, ktime_t at, enum hrtimer_mode mode);
int hrtimer_try_to_cancel(struct hrtimer *timer);

static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      int clock, enum hrtimer_mode mode)
{
	*timer = (struct hrtimer) { .function = function };
}

static inline u64 ktime_get_ns(void)
{
	return clock_now;
}

static inline ktime_t ktime_get(void)
{
	return clock_now;
}

#define HZ			250
#define jiffies			((unsigned long)(clock_now / 4000000))
#define hrtimer_cancel		hrtimer_try_to_cancel
#define hrtimer_is_queued(t)	((t)->queued)
#define hrtimer_active		hrtimer_is_queued
#define hrtimer_get_expires(t)	((t)->expires)
#define ns_to_ktime(ns)		((ktime_t)(ns))
#define ktime_to_ns(t)		((s64)(t))
#define ktime_add_ns(t, ns)	((t) + (s64)(ns))

#endif /* SIM_TIME_H */
