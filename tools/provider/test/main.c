// SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
/*
 * main.c: runs the tests, in KTAP. A test has to leave nothing behind.
 */
#include <stdio.h>
#include <unistd.h>

#include <ccan/array_size.h>

#include "test.h"

static const struct test *const groups[] = {
	post_tests, build_tests, poll_tests, arm_tests, srq_tests, xrc_tests,
	domain_tests, lock_tests, thread_tests, race_tests,
};

/* Longest time a test may take; a lost wake-up is a hang. */
#define PATIENCE	120

static atomic_int failures;

void test_failed(const char *file, int line, const char *what)
{
	atomic_fetch_add(&failures, 1);
	printf("# %s:%d: %s\n", file, line, what);
}

static bool passes(const struct test *test)
{
	int before = atomic_load(&failures);

	kernel = (struct fake_kernel) { 0 };
	alarm(PATIENCE);
	test->run();
	alarm(0);
	expect(!kernel.mapped);
	expect(!kernel.objects);
	return atomic_load(&failures) == before;
}

int main(void)
{
	const struct test *test;
	int n = 0, failed = 0;
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		for (test = groups[i]; test->name; test++) {
			bool good = passes(test);

			failed += !good;
			printf("%sok %d %s\n", good ? "" : "not ", ++n,
			       test->name);
		}
	}
	printf("1..%d\n%d passed, %d failed, 0 skipped\n", n, n - failed, failed);
	return failed != 0;
}
