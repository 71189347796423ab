// SPDX-License-Identifier: GPL-2.0
/*
 * pattern - bytes that depend on their offset
 */
#include <stdio.h>
#include <string.h>

#include "pattern.h"

void pattern_fill(void *buf, size_t len, uint64_t seed)
{
	uint64_t word;
	size_t at;

	for (at = 0; at + 8 <= len; at += 8) {
		word = mix(seed + at);
		memcpy(buf + at, &word, 8);
	}
	word = mix(seed + at);
	memcpy(buf + at, &word, len - at);
}

size_t pattern_differ(const void *one, const void *two, size_t len)
{
	const uint8_t *a = one, *b = two;
	size_t at = 0, step = 4096;

	while (at + step <= len && !memcmp(a + at, b + at, step))
		at += step;
	while (at < len && a[at] == b[at])
		at++;
	return at;
}

const char *pattern_show(const void *got, const void *want, size_t at, size_t len)
{
	static char text[160];
	size_t n = len - at < 12 ? len - at : 12, i, used;

	used = snprintf(text, sizeof(text), "got");
	for (i = 0; i < n; i++)
		used += snprintf(text + used, sizeof(text) - used, " %02x",
				 ((const uint8_t *)got)[at + i]);
	used += snprintf(text + used, sizeof(text) - used, ", want");
	for (i = 0; i < n; i++)
		used += snprintf(text + used, sizeof(text) - used, " %02x",
				 ((const uint8_t *)want)[at + i]);
	return text;
}
