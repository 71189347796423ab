// SPDX-License-Identifier: GPL-2.0
/*
 * ktap - printing results; run.sh adds them up
 */
#include <stdarg.h>
#include <stdio.h>

#include "ktap.h"

static unsigned int results, failures;

static void open_once(void)
{
	static bool opened;

	if (!opened)
		puts("KTAP version 1");
	opened = true;
}

static void begin(const char *status)
{
	open_once();
	printf("%s %u ", status, ++results);
}

bool ktap_ok(bool good, const char *format, ...)
{
	va_list args;

	failures += !good;
	begin(good ? "ok" : "not ok");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return good;
}

bool ktap_eq(long long got, long long want, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (got != want)
		ktap_note("got %lld (%#llx), want %lld (%#llx)", got, got, want, want);
	return ktap_ok(got == want, "%s", what);
}

void ktap_skip(const char *what, const char *why)
{
	begin("ok");
	printf("%s # SKIP %s\n", what, why);
}

bool ktap_note(const char *format, ...)
{
	va_list args;

	open_once();
	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return false;
}

int ktap_done(void)
{
	printf("1..%u\n", results);
	return failures ? 1 : 0;
}
