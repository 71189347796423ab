/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kbuf - ioctls of /dev/rover_kbuf, an exporter of dma-bufs for tests
 */
#ifndef ROVER_KBUF_H
#define ROVER_KBUF_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KBUF_WC		1	/* the kernel's mapping is write-combined */
#define KBUF_IO		2	/* the kernel's mapping is device memory */
#define KBUF_MOVES	4	/* the exporter can move it, unless it is pinned */

/**
 * struct kbuf_make - create a buffer
 * @pages: number of pages
 * @flags: KBUF_*
 * @fd: returned file descriptor
 */
struct kbuf_make {
	__u32 pages;
	__u32 flags;
	__s32 fd;
};

/**
 * struct kbuf_counts - calls of importers for a buffer
 * @fd: file descriptor
 * @begins: calls of begin_cpu_access()
 * @directions: their directions, a bit each
 * @ends: calls of end_cpu_access()
 * @outside: calls of end_cpu_access() or vunmap() in the wrong order
 * @vmaps: present kernel mappings
 * @pins: present pins
 * @attached: present attachments
 * @touched: pages accessed through the present kernel mapping, if known (KBUF_WC)
 */
struct kbuf_counts {
	__s32 fd;
	__u32 begins;
	__u32 directions;
	__u32 ends;
	__u32 outside;
	__u32 vmaps;
	__u32 pins;
	__u32 attached;
	__u32 touched;
};

#define KBUF_MAKE	_IOWR('K', 1, struct kbuf_make)
#define KBUF_COUNT	_IOWR('K', 2, struct kbuf_counts)
/* Revoke the buffer with this file descriptor from its importers. */
#define KBUF_REVOKE	_IOW('K', 3, __s32)

#endif /* ROVER_KBUF_H */
