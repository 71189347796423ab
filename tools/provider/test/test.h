/* SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause) */
/*
 * test.h: a test is a function in the table of its file; main.c runs them.
 */
#ifndef PROVIDER_TEST_H
#define PROVIDER_TEST_H

#include "fake.h"

/**
 * struct test - one test
 * @name: what it shows
 * @run: does it
 */
struct test {
	const char *name;
	void (*run)(void);
};

extern const struct test post_tests[];
extern const struct test build_tests[];
extern const struct test poll_tests[];
extern const struct test arm_tests[];
extern const struct test srq_tests[];
extern const struct test xrc_tests[];
extern const struct test thread_tests[];
extern const struct test race_tests[];
extern const struct test domain_tests[];
extern const struct test lock_tests[];

void test_failed(const char *file, int line, const char *what);

/* Goes on after a failure, so that one run shows all of them. */
#define expect(cond) \
	((cond) ? (void)0 : test_failed(__FILE__, __LINE__, #cond))

#endif /* PROVIDER_TEST_H */
