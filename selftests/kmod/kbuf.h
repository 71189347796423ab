/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kbuf - what /dev/rover_kbuf is asked: an exporter of dma-bufs for tests
 */
#ifndef ROVER_KBUF_H
#define ROVER_KBUF_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KBUF_WC		1	/* mapped for the kernel write-combined */
#define KBUF_IO		2	/* and as memory of a device */
#define KBUF_MOVES	4	/* the exporter may move it, unless it is pinned */

/**
 * struct kbuf_make - a new buffer
 * @pages: of it
 * @flags: KBUF_*
 * @fd: its file, the answer
 */
struct kbuf_make {
	__u32 pages;
	__u32 flags;
	__s32 fd;
};

/**
 * struct kbuf_counts - what importers have done to a buffer
 * @fd: its file
 * @begins: begin_cpu_access, of
 * @directions: which directions, a bit each
 * @ends: end_cpu_access
 * @outside: of these, or of the mapping's end, those in the wrong order
 * @vmaps: mappings for the kernel that there are
 * @pins: pins that there are
 * @attached: attachments that there are
 * @touched: pages that were used through the present mapping for the kernel, where that
 *	can be known (KBUF_WC)
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
/* Takes the buffer, a file, away from its importers. */
#define KBUF_REVOKE	_IOW('K', 3, __s32)

#endif /* ROVER_KBUF_H */
