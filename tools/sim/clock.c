// SPDX-License-Identifier: GPL-2.0
/* clock - virtual time, a heap of events, and the kernel's hrtimers on it */
#include "clock.h"
#include "host.h"

/* Children of an entry in the heap. */
#define ARITY	4

struct event {
	u64 at;
	u64 serial;
	void (*fn)(void *arg);
	void *arg;
};

u64 clock_now;

static struct event *clock_heap;
static size_t clock_used, clock_room;
static u64 clock_serial, clock_running;

static bool clock_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->serial < b->serial;
}

u64 clock_at(u64 at, void (*fn)(void *arg), void *arg)
{
	struct event new = { max(at, clock_now), ++clock_serial, fn, arg };
	size_t i = clock_used++;

	if (clock_used > clock_room) {
		clock_room = max_t(size_t, 2 * clock_room, 1024);
		clock_heap = realloc(clock_heap,
				     clock_room * sizeof(*clock_heap));
	}
	for (; i; i = (i - 1) / ARITY) {
		const struct event *up = &clock_heap[(i - 1) / ARITY];

		if (!clock_before(&new, up))
			break;
		clock_heap[i] = *up;
	}
	clock_heap[i] = new;
	return new.serial;
}

static size_t clock_least_child(size_t i)
{
	size_t child = ARITY * i + 1, end = min(child + ARITY, clock_used);
	size_t least = child;

	while (++child < end)
		if (clock_before(&clock_heap[child], &clock_heap[least]))
			least = child;
	return least;
}

/* Put the last event in the place of the first. */
static void clock_sift(void)
{
	struct event last = clock_heap[--clock_used];
	size_t i = 0;

	while (ARITY * i + 1 < clock_used) {
		size_t least = clock_least_child(i);

		if (!clock_before(&clock_heap[least], &last))
			break;
		clock_heap[i] = clock_heap[least];
		i = least;
	}
	if (clock_used)
		clock_heap[i] = last;
}

bool clock_step(void)
{
	struct event next;

	if (!clock_used)
		return false;
	next = clock_heap[0];
	clock_sift();
	clock_now = next.at;
	clock_running = next.serial;
	next.fn(next.arg);
	return true;
}

void clock_reset(void)
{
	free(clock_heap);
	clock_heap = NULL;
	clock_used = 0;
	clock_room = 0;
	/* Zero is no time for rover. */
	clock_now = NSEC_PER_SEC;
}

/* A timer that was started again has other events; they do nothing. */
static void clock_timer_due(void *arg)
{
	struct hrtimer *timer = arg;
	u64 away;

	if (!timer->queued || timer->serial != clock_running)
		return;
	/* Packets precede timers then, as softirqs do. */
	away = timer->end ? host_away(timer->end) : 0;
	if (away) {
		timer->serial = clock_at(away + 1, clock_timer_due, timer);
		return;
	}
	timer->queued = false;
	sim_softirq = true;
	if (timer->function(timer) == HRTIMER_RESTART)
		hrtimer_start(timer, timer->expires, HRTIMER_MODE_ABS_SOFT);
	sim_softirq = false;
}

void hrtimer_start(struct hrtimer *timer, ktime_t at, enum hrtimer_mode mode)
{
	if (mode == HRTIMER_MODE_REL || mode == HRTIMER_MODE_REL_SOFT)
		at += clock_now;
	timer->expires = at;
	timer->queued = true;
	timer->serial = clock_at(at, clock_timer_due, timer);
}

int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	bool queued = timer->queued;

	timer->queued = false;
	return queued;
}
