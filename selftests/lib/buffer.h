/* SPDX-License-Identifier: GPL-2.0 */
/*
 * buffer - dma-bufs that need no hardware: of a program's own memory (udmabuf) and
 * of kernel memory (the system heap)
 */
#ifndef ROVER_SELFTEST_BUFFER_H
#define ROVER_SELFTEST_BUFFER_H

#include <stddef.h>

enum buffer_kind {
	BUFFER_UDMABUF,		/* pages in order */
	BUFFER_SHUFFLED,	/* udmabuf, from the last page to the first */
	BUFFER_HEAP,
	BUFFER_KINDS
};

extern const char *const buffer_names[BUFFER_KINDS];

/* Create a buffer of whole pages; -1 and errno if the kernel does not support this kind. */
int buffer_make(enum buffer_kind kind, size_t len, int flags);

#endif /* ROVER_SELFTEST_BUFFER_H */
