/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fuzz - what every fuzzer has
 */
#ifndef UNIT_FUZZ_H
#define UNIT_FUZZ_H

#include <stdlib.h>

#include <linux/types.h>

/* libFuzzer calls this; the Makefile gives it the name that libFuzzer knows. */
int fuzz_one(const u8 *bytes, size_t len);

/* A law: the fuzzer keeps the bytes that break it. */
#define must(truth)	do { if (!(truth)) abort(); } while (0)

#endif /* UNIT_FUZZ_H */
