/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktap - results of a test program, one numbered line each
 *
 * Every vector of a table is a result of its own, so that a failure names it;
 * a law that is tried on many numbers is one result, and ktap_note() says
 * before a failure on which number it broke.
 */
#ifndef UNIT_KTAP_H
#define UNIT_KTAP_H

#include <stdbool.h>

/**
 * ktap_ok() - a result
 * @good: passed
 * @format: what was tested, like printf()
 *
 * Return: @good.
 */
bool ktap_ok(bool good, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * ktap_eq() - a result: two numbers are the same
 * @got: what the code says
 * @want: what it should say
 * @format: what was tested, like printf()
 *
 * Return: whether they are.
 */
bool ktap_eq(long long got, long long want, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * ktap_skip() - a result: not tried
 * @what: would have been tested
 * @why: it was not
 */
void ktap_skip(const char *what, const char *why);

/**
 * ktap_note() - a comment on the result that follows
 * @format: like printf()
 *
 * Return: false, for the convenience of laws.
 */
bool ktap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * ktap_done() - the end of the program
 *
 * Return: its exit status.
 */
int ktap_done(void);

#endif /* UNIT_KTAP_H */
