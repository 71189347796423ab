// SPDX-License-Identifier: GPL-2.0
/*
 * cost: what a run uses up, read at two moments and subtracted
 *
 * Processor time is that of the whole machine that was not idle, since most of what a soft device
 * does happens in interrupts and kernel threads that belong to no program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static uint64_t of_timeval(struct timeval time)
{
	return time.tv_sec * NSEC_PER_SEC + time.tv_usec * 1000ull;
}

/* A file of /proc, whole. */
static const char *slurp(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	while (len < room - 1 && (n = read(fd, text + len, room - 1 - len)) > 0)
		len += n;
	close(fd);
	text[len] = 0;
	return text;
}

/* Ticks of 10 ms: user, nice, system, idle, iowait, irq, softirq, steal. */
static void read_stat(struct cost *cost)
{
	static char text[1 << 16];
	uint64_t idle = 0, all = 0;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const char *at;
	char *end;

	at = strchr(slurp("/proc/stat", text, sizeof(text)), ' ');
	for (int i = 0; i < 8; i++, at = end) {
		uint64_t ticks = strtoull(at, &end, 10);

		all += ticks;
		if (i == 3 || i == 4)
			idle += ticks;
	}
	/* Idle time is measured where all the rest is sampled; but see charged() in figures.py. */
	cost->wall_ns = now_ns();
	cost->busy_ns = cost->wall_ns * processors - idle * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
	at = strstr(text, "\nctxt ");
	cost->switches = at ? strtoull(at + 6, NULL, 10) : 0;
}

void take_cost(struct cost *cost, int counter)
{
	struct rusage usage;

	memset(cost, 0, sizeof(*cost));
	read_stat(cost);
	getrusage(RUSAGE_SELF, &usage);
	cost->user_ns = of_timeval(usage.ru_utime);
	cost->system_ns = of_timeval(usage.ru_stime);
	cost->own_switches = usage.ru_nvcsw + usage.ru_nivcsw;
	if (counter >= 0 && read(counter, &cost->syscalls, sizeof(cost->syscalls)) < 0)
		cost->syscalls = 0;
}

void subtract_cost(struct cost *cost, const struct cost *before)
{
	cost->wall_ns -= before->wall_ns;
	/* One reading may be a tick late, which on an idle machine is less than nothing. */
	cost->busy_ns = cost->busy_ns > before->busy_ns ? cost->busy_ns - before->busy_ns : 0;
	cost->switches -= before->switches;
	cost->user_ns -= before->user_ns;
	cost->system_ns -= before->system_ns;
	cost->own_switches -= before->own_switches;
	cost->syscalls -= before->syscalls;
}

/* A counter of the system calls of the calling thread, or -1. */
int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
	};
	char text[32];
	const char *id = "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id";

	if (access(id, R_OK))
		return -1;
	attr.config = strtoull(slurp(id, text, sizeof(text)), NULL, 10);
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

uint64_t free_memory(void)
{
	static char text[1 << 14];
	const char *at;

	/* Counts that processors keep for themselves are added up by this. */
	slurp("/proc/sys/vm/stat_refresh", text, sizeof(text));
	at = strstr(slurp("/proc/meminfo", text, sizeof(text)), "MemFree:");

	return at ? strtoull(at + 8, NULL, 10) * 1024 : 0;
}
