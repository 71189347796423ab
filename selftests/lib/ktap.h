/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktap - the results of test cases, in KTAP
 */
#ifndef ROVER_SELFTEST_KTAP_H
#define ROVER_SELFTEST_KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum ktap_result { KTAP_PASSED, KTAP_FAILED, KTAP_SKIPPED };

/**
 * struct ktap - the results so far
 * @cases, @failed: counts of cases
 * @silent: count only: another process prints the results
 */
struct ktap {
	unsigned int cases, failed;
	bool silent;
};

/* Count a case, and print its line; @why: reason of a skipped case. */
static inline void ktap_result(struct ktap *k, enum ktap_result result, const char *title,
			       const char *why)
{
	k->cases++;
	k->failed += result == KTAP_FAILED;
	if (k->silent)
		return;
	printf("%sok %u - %s", result == KTAP_FAILED ? "not " : "", k->cases, title);
	if (result == KTAP_SKIPPED)
		printf(" # SKIP %s", why);
	printf("\n");
}

/* Print a diagnostic line with the name of the end. */
static inline void ktap_vnote(char end, const char *fmt, va_list ap)
{
	printf("# %c: ", end);
	vprintf(fmt, ap);
	printf("\n");
}

/* Print the plan, the last line; return the exit status of the program. */
static inline int ktap_finish(const struct ktap *k)
{
	if (!k->silent)
		printf("1..%u\n", k->cases);
	return k->failed ? 1 : 0;
}

#endif /* ROVER_SELFTEST_KTAP_H */
